/* SPDX-License-Identifier: Apache-2.0
 *
 * A text that grows. A failed allocation is remembered and shows at the end, so that a chain of
 * additions needs one check.
 */
#ifndef ASCGRAD_SETUP_TEXT_H
#define ASCGRAD_SETUP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *s; /* NULL while nothing was added */
    size_t size, room;
    bool failed;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_bytes(struct text *text, const void *data, size_t size);
void text_free(struct text *text);
/* The characters; "" while nothing was added. */
const char *text_of(const struct text *text);

/* The next line of a text, without its end; false behind the last one. Begin with *at at the text.
 */
struct line {
    const char *s;
    size_t size;
};
bool next_line(const char **at, struct line *line);

/* Is the line "<name><anything>"? Then rest is what follows the name. */
bool line_after(struct line line, const char *name, struct line *rest);

/* Is the word one of those in a list separated by `between`? */
bool word_in(const char *word, const char *list, char between);

/* The next word of such a list, cut to the buffer; false behind the last one. */
bool next_word(const char **at, char between, char *word, size_t size);

/* A path as a word of the shell. */
void text_quoted(struct text *text, const char *path);

#endif
