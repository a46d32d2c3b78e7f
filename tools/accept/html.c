/* SPDX-License-Identifier: Apache-2.0
 *
 * report.html: accept/report.html with report.json in it.
 */
#include <string.h>

#include "accept.h"

extern const char accept_page[]; /* made by cmake/embed.cmake */

#define MARK "/*REPORT*/"

void accept_html(const struct text *json, struct text *out) {
    const char *mark = strstr(accept_page, MARK);
    text_bytes(out, accept_page, (size_t)(mark - accept_page));
    /* "<" is only in strings there, and must not end the script */
    for (const char *at = text_of(json); *at; at++) {
        const size_t n = strcspn(at, "<");
        text_bytes(out, at, n);
        at += n;
        if (!*at) break;
        text_add(out, "\\u003c");
    }
    text_add(out, "%s", mark + strlen(MARK));
    if (json->failed) out->failed = true;
}
