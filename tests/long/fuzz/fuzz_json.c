/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text as JSON (package/json.c).
 */
#include <stdlib.h>
#include <string.h>

#include "../../../package/json.h"

static void walk(const struct json *value) {
    for (; value; value = value->next) {
        if (value->kind == JSON_STRING && !value->text) abort();
        json_string(value, "name");
        walk(value->child);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    int line = 0;
    struct json *value = json_parse(text, &line);
    if (line < 1) abort();
    walk(value);
    json_free(value);
    free(text);
    return 0;
}
