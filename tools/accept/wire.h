/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ascgrad accept` says to a runner, a program that can open CANN's libraries, and what it
 * answers: structs and the bytes of tensors on two pipes. Both ends run on one machine. C and C++.
 *
 *   request, data of the present inputs, data of the list attributes
 *   answer, for every run done the data of the outputs
 */
#ifndef ASCGRAD_ACCEPT_WIRE_H
#define ASCGRAD_ACCEPT_WIRE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define WIRE_MAGIC 0x33636361u /* changes with the structs */

enum {
    WIRE_NAME = 96,
    WIRE_TENSORS = 35,
    WIRE_ATTRS = 8,
    WIRE_RANK = 8,
    WIRE_RUNS = 8,
    WIRE_TIMES = 20,
    WIRE_TEXT = 1024,
};

struct wire_tensor {
    char name[WIRE_NAME];
    int32_t dtype; /* as in acl and GE: 0 fp32, 1 fp16, 27 bf16 */
    int32_t rank;  /* -1: an optional input that is not there */
    int32_t place; /* of an output: the input whose memory it may have, or -1 */
    int64_t dim[WIRE_RANK];
    uint64_t bytes;
};

struct wire_attr {
    char name[WIRE_NAME];
    char kind; /* i int, b bool, f float, l list of int64_t, r list of float */
    int64_t value;
    float real;
    uint64_t count, bytes; /* of a list */
};

/* One run of the call: on so many cores (0: all), with unknown dimensions in the graph or not, with
 * outputs in the memory of inputs or not. */
struct wire_run {
    uint32_t cores, dynamic, in_place;
};

/* WIRE_GAUGE: like WIRE_ASK, but times are taken; x and y are made on the device, the output is the
 * end of y. */
enum wire_kind { WIRE_HELLO, WIRE_CALL, WIRE_ASK, WIRE_GAUGE };

struct wire_request {
    uint32_t magic, kind;
    char type[WIRE_NAME];
    uint32_t inputs, outputs, attrs, runs;
    uint32_t used; /* attributes up to the last one that has not its default */
    struct wire_tensor tensor[WIRE_TENSORS]; /* inputs, then outputs, by IR index */
    struct wire_attr attr[WIRE_ATTRS];
    struct wire_run run[WIRE_RUNS];
    uint32_t times; /* how often to take the time of a run on all cores */
};

enum wire_status {
    WIRE_DONE,
    WIRE_FAILED,    /* text says why */
    WIRE_NOT_THERE, /* no such function or operator on this road */
};

struct wire_answer {
    uint32_t magic;
    int32_t status;
    char text[WIRE_TEXT]; /* WIRE_HELLO: lines of name=value */
    uint32_t done;        /* runs whose outputs follow, by bits */
    uint32_t times;
    float us[WIRE_TIMES]; /* of the device, or of the whole call on the host */
    uint32_t again_times; /* of the device, the call before being the same one */
    float again_us[WIRE_TIMES];
    uint32_t on_host;
    uint32_t broken; /* the device is not to be trusted any more: start another runner */
};

/* Ends the text of an answer that has come. One that fills its room was cut, maybe within a word.
 */
static inline void wire_end(struct wire_answer *answer) {
    size_t n = 0;
    answer->text[WIRE_TEXT - 1] = 0;
    while (answer->text[n])
        n++;
    if (n < WIRE_TEXT - 1) return;
    while (n > 0 && answer->text[n - 1] != ' ' && answer->text[n - 1] != '\n')
        answer->text[--n] = 0;
}

/* All of it, or false. */
static inline bool wire_read(int fd, void *to, size_t size) {
    char *at = (char *)to;
    while (size > 0) {
        const ssize_t n = read(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static inline bool wire_write(int fd, const void *from, size_t size) {
    const char *at = (const char *)from;
    while (size > 0) {
        const ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

#endif
