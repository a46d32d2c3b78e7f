/* SPDX-License-Identifier: Apache-2.0
 *
 * What the matcher finds in a recorded graph, one line per match, and on stderr what it passed over
 * and why.
 *
 * usage: show_matches GRAPH
 */
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

static void say(void *self, const char *sentence) {
    (void)self;
    fprintf(stderr, "%s\n", sentence);
}

static void show(const struct fusion_graph *graph, const char *name, int32_t tensor,
                 enum fusion_how how) {
    static const char *const ways[] = {"", "/halves", "/pairs"};
    if (tensor == FUSION_ABSENT) return;
    const struct fusion_tensor *t = &graph->tensor[tensor];
    printf(" %s=%s:%d%s", name, graph->node[t->node].name, t->port, ways[how]);
}

int main(int argc, char **argv) {
    struct recorded r;
    struct fusion_found found;
    struct ascgrad_error error;
    const struct fusion_listener listener = {say, NULL};
    if (argc != 2 || !read_recorded(argv[1], &r)) return 1;
    if (fusion_find(r.graph, &found, &listener, &error) != ASCGRAD_DONE) {
        fprintf(stderr, "%s\n", error.text);
        free_recorded(&r);
        return 2;
    }
    for (int32_t i = 0; i < found.count; i++) {
        const struct fusion_match *m = &found.match[i];
        printf("mode=%d", m->mode);
        show(r.graph, "dx", m->dx, FUSION_WHOLE);
        show(r.graph, "dy", m->dy, FUSION_WHOLE);
        show(r.graph, "cos", m->cos.tensor, m->cos.how);
        show(r.graph, "sin", m->sin.tensor, m->sin.how);
        show(r.graph, "x", m->x, FUSION_WHOLE);
        show(r.graph, "dcos", m->dcos, FUSION_WHOLE);
        show(r.graph, "dsin", m->dsin, FUSION_WHOLE);
        putchar('\n');
    }
    free(found.match);
    free_recorded(&r);
    return 0;
}
