/* SPDX-License-Identifier: Apache-2.0
 *
 * What the user is told at the end: what is where, whose each operator type is, what to do next.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "setup.h"

static void say_types(const struct setup *s, const char *would) {
    struct text ours = {0};
    for (size_t i = 0; i < s->source.types; i++)
        if (!s->decision[i].left) text_add(&ours, " %s", s->source.type[i]);
    say(s, "operators:%s", ours.size ? text_of(&ours) : " none");
    for (size_t i = 0; i < s->source.types; i++)
        if (s->decision[i].left)
            say(s, "%sleft to CANN: %s: %s", would, s->source.type[i],
                text_of(&s->decision[i].why));
    text_free(&ours);
}

void preview(const struct setup *s) {
    say(s, "would install %s in %s%s%s", s->source.version, s->target.dir,
        s->has_old ? " in place of " : "", s->has_old ? s->old.version : "");
    say_types(s, "would be ");
    if (!s->options.no_compile && !s->options.graph_only && s->chips.size)
        say(s, "would first try to compile kernels for %s, which may change the line above",
            text_of(&s->chips));
    for (size_t i = 0; i < s->source.entries; i++)
        say(s, "  %s/%s", s->target.dir, s->source.entry[i].path);
    if (!s->target.own)
        say(s, "would put " VENDOR " first in load_priority of %s", s->target.config);
    say(s, "dry run: nothing was changed");
}

/* One sentence: why types are not on the aclnn road, and how to change that. What was asked for
 * with an option is no warning. */
static void say_compile(const struct setup *s) {
    size_t without = 0;
    char log[PATH_MAX + 64], chip[64];
    const char *at = s->source.chips;
    const bool asked = s->options.no_compile || s->options.graph_only;
    struct text sentence = {0};
    for (size_t i = 0; i < s->source.types; i++)
        without += !s->decision[i].here && !(s->options.no_override && s->decision[i].left);
    if (!without || !s->compile_note) return;
    snprintf(log, sizeof log, "%s/compile.log", s->target.dir);
    text_add(&sentence, "%zu operator type%s without kernel binaries, because %s", without,
             without == 1 ? " is" : "s are", s->compile_note);
    if (access(log, F_OK) == 0) text_add(&sentence, " (see %s)", log);
    if (!s->chips.size)
        text_add(&sentence, ". Choose the chip (the package is for %s)", s->source.chips);
    text_add(&sentence, "; to compile them: sh ");
    text_quoted(&sentence, s->target.dir);
    text_add(&sentence, "/scripts/compile.sh");
    if (!s->chips.size && next_word(&at, ' ', chip, sizeof chip))
        text_add(&sentence, " --chip=%s", chip);
    if (asked && s->options.action == INSTALL) {
        say(s, "%s", text_of(&sentence));
    } else {
        warn("%s", text_of(&sentence));
    }
    text_free(&sentence);
}

/* A type's owners in the old version; "" where its package.info does not say. */
static void owners_before(const struct manifest *old, const char *type, char graphs[32],
                          char calls[32]) {
    graphs[0] = calls[0] = 0;
    for (size_t i = 0; i < old->types; i++) {
        if (strcmp(old->type[i], type) != 0) continue;
        if (!old->why[i] || sscanf(old->why[i], "ge=%31s aclnn=%31s", graphs, calls) != 2)
            strcpy(graphs, manifest_offers(old, type) ? VENDOR : "CANN");
    }
}

/* No type changes hands in silence. LOST: one that was ours is not, and nobody asked for that. */
static int tell_changes(const struct setup *s) {
    const bool asked =
        s->options.action == INSTALL && (s->options.no_override || s->options.graph_only);
    int status = DONE;
    for (size_t i = 0; s->has_old && i < s->source.types; i++) {
        const struct decision *d = &s->decision[i];
        const char *type = s->source.type[i];
        char graphs[32], calls[32];
        owners_before(&s->old, type, graphs, calls);
        const bool moved = graphs[0] && strcmp(graphs, owner_in_graphs(d)) != 0;
        const bool called = calls[0] && strcmp(calls, owner_of_calls(d)) != 0;
        if (!moved && !called) continue;
        const bool lost =
            (moved && strcmp(graphs, VENDOR) == 0) || (called && strcmp(calls, VENDOR) == 0);
        struct text line = {0};
        if (moved)
            text_add(&line, "%s belonged to %s and now belongs to %s", type, graphs,
                     owner_in_graphs(d));
        else
            text_add(&line, "aclnn calls of %s: %s before, %s now", type, calls, owner_of_calls(d));
        text_add(&line, ": %s", text_of(&d->why));
        if (lost)
            warn("%s", text_of(&line));
        else
            tell("%s", text_of(&line));
        text_free(&line);
        if (lost && !asked) status = LOST;
    }
    return status;
}

static void say_dangers(const struct setup *s) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.-";
    const char *dir = s->target.dir;
    if (s->has_old && *s->old.ir && strcmp(s->old.ir, s->source.ir) != 0)
        warn("the operators' IR differs from that of %s: rebuild saved models (.om)",
             s->old.version);
    if (dir[strspn(dir, plain)])
        warn("GE compiles kernels only from paths of letters, digits and _-./ ; %s has others",
             dir);
    struct line line;
    for (const char *at = text_of(&s->unread); next_line(&at, &line);)
        warn("%.*s: CANN may have any operator type in it, so types on that chip are left to CANN",
             (int)line.size, line.s);
    if (!s->cann_known)
        warn(
            "there is no CANN to look at (ASCEND_OPP_PATH): every operator type is offered. Where "
            "CANN has one of them too, its aclnn calls are refused until compile.sh has run there");
    if (s->options.graph_only)
        for (size_t i = 0; i < s->source.types; i++)
            if (s->decision[i].cann_has && !s->decision[i].here)
                warn("--graph-only: %s works in GE graphs only. Eager PyTorch, MindSpeed and "
                     "MindSpore O0/O1 calls of CANN's own %s fail on this machine",
                     s->source.type[i], s->source.type[i]);
}

int report(const struct setup *s) {
    const struct target *t = &s->target;
    struct text dir = {0};
    char builtin[PATH_MAX + 16];
    if (s->options.only_fusion) {
        say(s, "the graph pass is %s in %s", s->options.fusion ? "on" : "off", t->dir);
        if (!s->options.quiet) puts("SUCCESS");
        return DONE;
    }
    text_quoted(&dir, t->dir);
    if (s->options.action == COMPILE) {
        say(s, "kernels of %s in %s", s->source.version, t->dir);
    } else {
        say(s, "installed %s in %s%s%s", s->source.version, t->dir,
            s->has_old ? " in place of " : "", s->has_old ? s->old.version : "");
    }
    say_types(s, "");
    say(s, "chips: %s; machine: %s%s%s", s->source.chips, s->arch, s->chips.size ? " with " : "",
        text_of(&s->chips));
    const int status = tell_changes(s);
    say_compile(s);
    say_dangers(s);
    snprintf(builtin, sizeof builtin, "%s/built-in", t->root);
    if (!t->own && access(builtin, F_OK) != 0)
        warn("%s has no built-in/: GE then ignores custom packages. Is it CANN's opp directory?",
             t->root);
    if (s->options.action == INSTALL) {
        say(s, "%s: . %s/bin/set_env.bash",
            t->own ? "next, before any program that uses CANN" : "TensorFlow 2 also needs",
            text_of(&dir));
        say(s, "to check the installation: %s/bin/ascgrad doctor", text_of(&dir));
    }
    text_free(&dir);
    if (!s->options.quiet)
        puts(status == DONE ? "SUCCESS" : "DONE, but types that were ours are not: see above");
    return status;
}
