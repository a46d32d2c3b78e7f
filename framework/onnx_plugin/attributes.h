/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer attributes of an ONNX node, out of the JSON text in which GE's parser hands them over:
 * {"attribute": [{"name": "mode", "type": 2, "i": 1}, {"name": "qSeqLen", "type": 7, "ints": [5,
 * 7]}]}
 */
#ifndef ASCGRAD_ONNX_ATTRIBUTES_H
#define ASCGRAD_ONNX_ATTRIBUTES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ONNX_ABSENT = -1, ONNX_MALFORMED = -2 };

/* Stores up to room integers of the attribute and returns how many it has, ONNX_ABSENT or
 * ONNX_MALFORMED. */
long onnx_attribute(const char *json, const char *name, int64_t *values, size_t room);

#ifdef __cplusplus
}
#endif
#endif
