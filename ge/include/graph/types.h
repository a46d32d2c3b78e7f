/* SPDX-License-Identifier: Apache-2.0
 *
 * The few of GE's basic types that we name, for machines without a CANN toolkit. The numbers are
 * GE's.
 */
#ifndef ASCGRAD_GRAPH_TYPES_H
#define ASCGRAD_GRAPH_TYPES_H

namespace ge {

enum DataType { DT_FLOAT = 0, DT_FLOAT16 = 1, DT_INT32 = 3, DT_INT64 = 9, DT_BF16 = 27 };
enum Format { FORMAT_ND = 2 };

} // namespace ge

#endif
