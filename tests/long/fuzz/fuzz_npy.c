/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a .npy file (tools/call/npy.c). What is accepted has exactly the data that its shape
 * says.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../tools/call/npy.h"
#include "../../../tools/call/request.h"

bool ascgrad_describe(uint32_t index, struct ascgrad_op_info *info) {
    (void)index, (void)info;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct ascgrad_tensor tensor = {.rank = -1};
    const char *wrong = npy_parse(data + 1, size - 1, data[0] & 1, &tensor);
    if (!wrong) {
        int64_t bytes = text_tensor_bytes(&tensor);
        if (tensor.rank < 0 || tensor.rank > 25 || bytes < 0 || (size_t)bytes >= size) abort();
        if (bytes && memcmp(tensor.data, data + size - bytes, (size_t)bytes) != 0) abort();
    } else if (!wrong[0] || tensor.data) {
        abort();
    }
    free(tensor.data);
    return 0;
}
