/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of an ONNX node's attributes, out of the JSON text in which GE's parser hands them over:
 * {"attribute": [{"name": "mode", "type": 2, "i": 1}, {"name": "qSeqLen", "type": 7, "ints": [5,
 * 7]}, {"name": "eps", "type": 1, "f": "1e-05"}]}
 * GE writes floats as text; numbers are taken too.
 */
#ifndef ASCGRAD_ONNX_ATTRIBUTES_H
#define ASCGRAD_ONNX_ATTRIBUTES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ONNX_ABSENT = -1, ONNX_MALFORMED = -2 };

/* Stores up to room numbers of the attribute and returns how many it has, ONNX_ABSENT or
 * ONNX_MALFORMED. */
long onnx_attribute(const char *json, const char *name, double *values, size_t room);

#ifdef __cplusplus
}
#endif
#endif
