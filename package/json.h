/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON as the files of an operator package need it: read, take a member out, write.
 */
#ifndef ASCGRAD_SETUP_JSON_H
#define ASCGRAD_SETUP_JSON_H

#include "text.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    char *name; /* key inside an object, else NULL */
    char *text; /* of a string, a number, or true/false */
    struct json *child, *next;
};

/* NULL if the text is not one JSON value; *line then says where. Release with json_free. */
struct json *json_parse(const char *text, int *line);
void json_free(struct json *value);

const struct json *json_get(const struct json *object, const char *name);
/* The string at object[name], or NULL. */
const char *json_string(const struct json *object, const char *name);

/* Takes the member out of an object, if it is there. */
void json_drop(struct json *object, const char *name);
/* As Python's json.dumps(indent=4) writes it, with an end of line. */
void json_print(struct text *out, const struct json *value);

#endif
