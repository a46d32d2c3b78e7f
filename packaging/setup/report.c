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

/* One sentence: why types are not on the aclnn road, and how to change that. */
static void say_compile(const struct setup *s) {
    size_t without = 0;
    char log[PATH_MAX + 64];
    struct text sentence = {0};
    for (size_t i = 0; i < s->source.types; i++)
        without += !s->decision[i].here && !(s->options.no_override && s->decision[i].left);
    if (!without || !s->compile_note) return;
    snprintf(log, sizeof log, "%s/compile.log", s->target.dir);
    text_add(&sentence, "%zu operator types are without kernel binaries, because %s", without,
             s->compile_note);
    if (access(log, F_OK) == 0) text_add(&sentence, " (see %s)", log);
    text_add(&sentence, "; to try again: sh ");
    text_quoted(&sentence, s->target.dir);
    if (s->compile_failed) {
        warn("%s/scripts/compile.sh", text_of(&sentence));
    } else {
        say(s, "%s/scripts/compile.sh", text_of(&sentence));
    }
    text_free(&sentence);
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

void report(const struct setup *s) {
    const struct target *t = &s->target;
    struct text dir = {0};
    char builtin[PATH_MAX + 16];
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
    if (!s->options.quiet) puts("SUCCESS");
}
