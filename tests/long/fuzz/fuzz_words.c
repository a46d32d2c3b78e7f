/* SPDX-License-Identifier: Apache-2.0
 *
 * Any words on the command line (tools/call/request.c): "fp16[2,3]", "qSeqLen=1,2,3", "mode=1", for
 * each operator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../core/ir.h"
#include "../../../tools/call/request.h"

static void spec(const char *word) {
    struct ascgrad_tensor tensor, again;
    if (!text_parse_spec(word, &tensor)) return;
    char dims[1024], copy[1100];
    if (tensor.rank < 0 || tensor.rank > ASCGRAD_RANK_MAX) abort();
    text_print_dims(dims, sizeof dims, &tensor);
    snprintf(copy, sizeof copy, "%s[%s]", text_dtype(tensor.dtype), dims);
    if (!text_parse_spec(copy, &again) || memcmp(&tensor, &again, sizeof tensor) != 0) abort();
    if (text_tensor_bytes(&tensor) > 0 && text_tensor_elements(&tensor) <= 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    char *text = malloc(size), *save = NULL;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    struct request r;
    if (!request_begin(&r, ascgrad_ir_table[data[0] % ascgrad_ir_count].type)) abort();
    for (char *word = strtok_r(text, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
        char why[ASCGRAD_WHY] = "";
        spec(word);
        request_input(&r, word);
        request_output(&r, word);
        if (!request_attr(&r, word, why) && !why[0]) abort();
    }
    request_free(&r);
    free(text);
    return 0;
}
