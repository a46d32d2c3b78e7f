/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose kernel meets whose tiling and whose IR. CANN takes them from different places (packaging/
 * setup/owners.h has the rule), and nothing there notices when they do not belong together.
 * Everything is looked up here as CANN does it, package by package, on both roads, and the
 * libraries are asked themselves: an operator type may be in a library that no ops-info speaks of.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../package/owners.h"
#include "parts.h"

#define CANN   "CANN"
#define NOBODY "nobody"

/* A package, or CANN's own operators, which come last. */
struct provider {
    const char *name;
    const struct package *package; /* NULL: CANN's own */
    int fd;
    struct offer offer; /* for the chip that is looked at */
    struct text types;  /* what its tiling libraries answered, one after the other */
    struct text irs;    /* what its libraries of prototypes answered */
    bool mute, dumb;    /* none of the former, of the latter could be asked */
};

enum { GE, ACLNN, ROADS };

/* One line of the table. */
struct row {
    const char *type, *why;
    char chip[64];
    struct text kernel[ROADS]; /* owner; several with '+' if not all keys have the same */
    const char *tiling, *ir;
    bool said[ROADS];
};

struct table {
    struct provider provider[MAX_PACKAGES + 1];
    size_t providers;
    struct row *row;
    size_t rows;
    bool hidden; /* CANN has files that nobody can read */
};

static bool ends_in(const char *name, const char *end) {
    const size_t n = strlen(name), size = strlen(end);
    return n >= size && strcmp(name + n - size, end) == 0;
}

/* GE opens every library of a vendor, and of its own those for this kind of registry; for the sake
 * of the IR all of its own, too. */
static void ask_libraries(struct doctor *d, struct provider *p, const char *dir, bool protos) {
    char path[3 * PATH];
    DIR *list = opendir(dir);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        struct text answer = {0};
        TEXT(path, "%s/%s", dir, entry->d_name);
        if (!ends_in(entry->d_name, p->package || protos ? ".so" : "rt2.0.so") ||
            !doctor_is_file(path))
            continue;
        doctor_ask_library(path, protos ? &d->manifest : NULL, &answer);
        if (text_of(&answer)[0] != '!') {
            *(protos ? &p->dumb : &p->mute) = false;
            text_add(protos ? &p->irs : &p->types, "%s", text_of(&answer));
        } else if (p->package && p->package != d->ours) {
            doctor_say(d, LEVEL_WARN, "owners", "ask its maker, or take it out",
                       "%s cannot be used, so nobody knows which operators it would take: %s", path,
                       text_of(&answer) + 1);
        }
        text_free(&answer);
    }
    if (list) closedir(list);
}

static void add_provider(struct doctor *d, struct table *t, const struct package *package, int fd,
                         const char *dir) {
    struct provider *p = &t->provider[t->providers++];
    char path[2 * PATH];
    *p = (struct provider){.name = package ? package->name : CANN,
                           .package = package,
                           .fd = fd,
                           .mute = true,
                           .dumb = true};
    TEXT(path, "%s/op_proto/lib/linux/%s", dir, d->arch);
    ask_libraries(d, p, path, true);
    TEXT(path, "%s/" TBE "/op_tiling/lib/linux/%s", dir, d->arch);
    ask_libraries(d, p, path, false);
    if (package) return;
    TEXT(path, "%s/op_graph/lib/linux/%s", dir, d->arch); /* both in newer CANNs */
    ask_libraries(d, p, path, true);
    TEXT(path, "%s/" TBE "/op_host/lib/linux/%s", dir, d->arch);
    ask_libraries(d, p, path, false);
}

/* Custom packages first. CANN's own libraries may not load outside its processes; then its ops-info
 * and index are believed. */
static const char *tiling_of(const struct table *t, const char *type) {
    for (size_t i = 0; i < t->providers; i++) {
        const struct provider *p = &t->provider[i];
        if (doctor_tiles(text_of(&p->types), type)) return p->name;
        if (!p->package && p->mute && offer_has(&p->offer, type)) return p->name;
    }
    return NOBODY;
}

/* GE keeps the IR that it is told first. */
static const char *ir_of(const struct table *t, const char *type) {
    for (size_t i = 0; i < t->providers; i++) {
        const struct provider *p = &t->provider[i];
        if (doctor_describes(text_of(&p->irs), type)) return p->name;
        if (!p->package && p->dumb && offer_has(&p->offer, type)) return p->name;
    }
    return NOBODY;
}

static void add_name(struct text *names, const char *name) {
    if (!word_in(name, text_of(names), '+')) text_add(names, "%s%s", names->size ? "+" : "", name);
}

/* GE: the first ops-info that has the type. */
static void ge_kernel(const struct table *t, struct row *row) {
    for (size_t i = 0; i < t->providers && !row->kernel[GE].size; i++)
        if (offer_record(&t->provider[i].offer, row->type))
            add_name(&row->kernel[GE], t->provider[i].name);
}

/* aclnn: for every key that somebody has, the first index with it. */
static void aclnn_kernel(const struct table *t, struct row *row) {
    struct text keys = {0}, *names = &row->kernel[ACLNN];
    struct line key;
    for (size_t i = 0; i < t->providers; i++)
        binaries_keys(offer_binaries(&t->provider[i].offer, row->type), &keys);
    for (const char *at = text_of(&keys); next_line(&at, &key);) {
        size_t i = 0;
        while (!binaries_answer(offer_binaries(&t->provider[i].offer, row->type), key.s, key.size))
            i++; /* the one that the key comes from ends this */
        add_name(names, t->provider[i].name);
    }
    for (size_t i = 0; i < t->providers && !names->size; i++)
        if (offer_binaries(&t->provider[i].offer, row->type)) add_name(names, t->provider[i].name);
    text_free(&keys);
}

/* Files that say nothing to us may hide any operator type. */
static void say_unread(struct doctor *d, struct table *t, const struct provider *p,
                       const char *chip) {
    struct line line;
    if (!p->package && (p->offer.unread.size || p->offer.trouble)) t->hidden = true;
    for (const char *at = text_of(&p->offer.unread); next_line(&at, &line);)
        doctor_say(d, LEVEL_WARN, "owners",
                   p->package ? "ask its maker, or take it out"
                              : "repair that file of CANN's; then " INSTALL_AGAIN,
                   "%.*s: nobody can tell which operators %s has on %s", (int)line.size, line.s,
                   p->name, chip);
    if (p->offer.trouble)
        doctor_say(d, LEVEL_WARN, "owners", "let this user read them",
                   "cannot read all files of %s about %s: %s", p->name, chip,
                   strerror(p->offer.trouble));
}

static void look_at_chip(struct doctor *d, struct table *t, const char *chip) {
    const struct manifest *m = &d->manifest;
    struct row *more = realloc(t->row, (t->rows + m->types) * sizeof *more);
    if (!more) return;
    t->row = more;
    for (size_t i = 0; i < t->providers; i++) {
        offer_add(t->provider[i].fd, chip, &t->provider[i].offer);
        say_unread(d, t, &t->provider[i], chip);
    }
    for (size_t i = 0; i < m->types; i++) {
        struct row *row = &t->row[t->rows++];
        *row = (struct row){.type = m->type[i], .why = m->why[i]};
        TEXT(row->chip, "%s", chip);
        row->tiling = tiling_of(t, row->type);
        row->ir = ir_of(t, row->type);
        ge_kernel(t, row);
        aclnn_kernel(t, row);
        for (size_t road = 0; road < ROADS; road++)
            if (!row->kernel[road].size) add_name(&row->kernel[road], NOBODY);
    }
    for (size_t i = 0; i < t->providers; i++)
        offer_free(&t->provider[i].offer);
}

/* A kernel with somebody else's tiling. Operators of an older make have no such function at all. */
static bool is_half(const struct row *row, size_t road) {
    const char *kernel = text_of(&row->kernel[road]);
    return strcmp(kernel, NOBODY) != 0 && strcmp(row->tiling, NOBODY) != 0 &&
           strcmp(kernel, row->tiling) != 0;
}

/* A kernel whose calls GE reads by somebody else's IR. */
static bool is_misread(const struct row *row) {
    const char *kernel = text_of(&row->kernel[GE]);
    return strcmp(kernel, NOBODY) != 0 && strcmp(row->ir, NOBODY) != 0 &&
           strcmp(kernel, row->ir) != 0;
}

static const struct package *package_named(const struct doctor *d, const char *name) {
    for (size_t i = 0; i < d->packages; i++)
        if (strcmp(d->package[i].name, name) == 0) return &d->package[i];
    return NULL;
}

/* How to get a vendor's package out of the way. */
static void put_first(const struct doctor *d, const struct package *p, char fix[2 * PATH]) {
    if (p->from_env) {
        doctor_text(fix, 2 * PATH,
                    "take %s out of ASCEND_CUSTOM_OPP_PATH, or put ascgrad before it", p->dir);
    } else if (p < d->ours) {
        doctor_text(fix, 2 * PATH, INSTALL "    (puts ascgrad before %s)", p->name);
    } else {
        doctor_text(fix, 2 * PATH, "take %s out of %s, or ask its maker for whole operators",
                    p->name, d->config);
    }
}

static void say_half(struct doctor *d, const struct row *row, size_t road, const char *types) {
    static const char *const called[] = {"GE graphs", "aclnn calls"};
    const char *kernel = text_of(&row->kernel[road]), *ours = d->ours->name;
    const struct package *vendor = package_named(d, row->tiling);
    char fix[2 * PATH], quoted[PATH];
    if (vendor == d->ours) vendor = package_named(d, kernel);
    const bool graph_only = road == ACLNN && strcmp(d->manifest.mode, "graph-only") == 0 &&
                            strcmp(row->tiling, ours) == 0;
    if (vendor && vendor != d->ours) {
        put_first(d, vendor, fix);
    } else if (road == ACLNN && strcmp(row->tiling, ours) == 0) {
        TEXT(fix, "sh %s/scripts/compile.sh    or " INSTALL " --no-override",
             doctor_quote(d->ours->dir, quoted, sizeof quoted));
    } else {
        TEXT(fix, INSTALL_AGAIN);
    }
    doctor_say(d, graph_only ? LEVEL_WARN : LEVEL_FAIL, "owners", fix,
               graph_only ? "%s on %s would run the kernel of %s with the tiling of %s; ascgrad "
                            "refuses them (--graph-only):%s"
                          : "%s on %s would run the kernel of %s with the tiling of %s:%s",
               called[road], row->chip, kernel, row->tiling, types);
}

static void say_misread(struct doctor *d, const struct row *row) {
    const struct package *vendor = package_named(d, row->ir);
    char fix[2 * PATH] = INSTALL_AGAIN;
    if (vendor && vendor != d->ours) put_first(d, vendor, fix);
    doctor_say(d, LEVEL_FAIL, "owners", fix,
               "GE graphs on %s would read %s by the IR of %s and run the kernel of %s", row->chip,
               row->type, row->ir, text_of(&row->kernel[GE]));
}

/* Whole, but not ours, although this installation offers it. */
static void say_lost(struct doctor *d, const struct row *row, const char *types) {
    const struct package *p = package_named(d, text_of(&row->kernel[GE]));
    char fix[2 * PATH] = INSTALL_AGAIN;
    if (p) put_first(d, p, fix);
    doctor_say(d, LEVEL_FAIL, "duplicates", fix, "%s comes before ascgrad and also has:%s",
               p ? p->dir : CANN, types);
}

static bool is_lost(const struct doctor *d, const struct row *row) {
    const char *kernel = text_of(&row->kernel[GE]);
    return manifest_offers(&d->manifest, row->type) && strcmp(kernel, NOBODY) != 0 &&
           strcmp(kernel, d->ours->name) != 0 && !is_half(row, GE);
}

/* The same finding for several types is one line. */
static bool same_finding(const struct row *a, const struct row *b, size_t road) {
    return strcmp(a->chip, b->chip) == 0 && strcmp(a->tiling, b->tiling) == 0 &&
           strcmp(text_of(&a->kernel[road]), text_of(&b->kernel[road])) == 0;
}

/* Left to CANN, which has it on no chip that is looked at. True for the first row of a type only.
 */
static bool is_gone(const struct doctor *d, const struct table *t, const struct row *row) {
    if (t->hidden || manifest_offers(&d->manifest, row->type)) return false;
    for (size_t i = 0; i < t->rows; i++) {
        const struct row *other = &t->row[i];
        if (strcmp(other->type, row->type) != 0) continue;
        if (other < row || strcmp(text_of(&other->kernel[GE]), NOBODY) != 0) return false;
    }
    return true;
}

static void judge(struct doctor *d, struct table *t) {
    bool well = true;
    for (size_t i = 0; i < t->rows; i++) {
        for (size_t road = 0; road < ROADS; road++) {
            struct row *row = &t->row[i];
            struct text types = {0};
            const bool half = is_half(row, road), lost = road == GE && is_lost(d, row);
            if (row->said[road] || !(half || lost)) continue;
            for (size_t k = i; k < t->rows; k++) {
                struct row *other = &t->row[k];
                if (!same_finding(row, other, road) || (lost && !is_lost(d, other))) continue;
                other->said[road] = true;
                text_add(&types, " %s", other->type);
            }
            if (half) say_half(d, row, road, text_of(&types));
            if (lost) say_lost(d, row, text_of(&types));
            well = false;
            text_free(&types);
        }
        if (is_misread(&t->row[i])) {
            say_misread(d, &t->row[i]);
            well = false;
        }
        if (is_gone(d, t, &t->row[i])) {
            doctor_say(d, LEVEL_FAIL, "owners", INSTALL_AGAIN,
                       "%s was left to CANN, but CANN has none", t->row[i].type);
            well = false;
        }
    }
    if (well && t->rows)
        doctor_say(d, LEVEL_OK, "owners", NULL,
                   "kernel, tiling and IR of every operator belong together, in GE graphs and in "
                   "aclnn calls");
}

/* package.info has "ge=X aclnn=Y" before the reason. */
static const char *reason(const struct row *row) {
    const char *why = row->why ? strchr(row->why, ' ') : NULL;
    why = why ? strchr(why + 1, ' ') : NULL;
    return why ? why + 1 : "";
}

static void print_json(struct text *out, const struct row *row) {
    static const char *const road_name[] = {"ge", "aclnn"};
    text_add(out, "%s\n    {\"type\": ", out->size ? "," : "");
    doctor_json_text(out, row->type);
    text_add(out, ", \"chip\": ");
    doctor_json_text(out, row->chip);
    for (size_t road = 0; road < ROADS; road++) {
        text_add(out, ", \"%s\": {\"kernel\": ", road_name[road]);
        doctor_json_text(out, text_of(&row->kernel[road]));
        text_add(out, ", \"tiling\": ");
        doctor_json_text(out, row->tiling);
        if (road == GE) {
            text_add(out, ", \"ir\": ");
            doctor_json_text(out, row->ir);
        }
        text_add(out, "}");
    }
    text_add(out, ", \"why\": ");
    doctor_json_text(out, reason(row));
    text_add(out, "}");
}

static void print_line(struct text *out, const struct row *row) {
    if (!out->size)
        text_add(out, "%-13s %-28s %-16s %-16s %s\n", "chip", "operator type", "GE graphs", "aclnn",
                 "why (kernel/tiling where they differ)");
    text_add(out, "%-13s %-28s", row->chip, row->type);
    for (size_t road = 0; road < ROADS; road++) {
        char both[600];
        TEXT(both, is_half(row, road) ? "%s/%s" : "%s", text_of(&row->kernel[road]), row->tiling);
        text_add(out, " %-16s", both);
    }
    text_add(out, " %s\n", reason(row));
}

void doctor_check_owners(struct doctor *d) {
    struct table *t = d->manifest.types ? calloc(1, sizeof *t) : NULL;
    char builtin[2 * PATH], chip[64];
    if (!t) return;
    for (size_t i = 0; i < d->packages; i++)
        add_provider(d, t, &d->package[i], d->package[i].fd, d->package[i].dir);
    TEXT(builtin, "%s/built-in", d->opp);
    const int cann = open(builtin, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cann >= 0) add_provider(d, t, NULL, cann, builtin);
    const char between = d->chips.size ? ',' : ' ';
    for (const char *at = d->chips.size ? text_of(&d->chips) : d->manifest.chips;
         next_word(&at, between, chip, sizeof chip);)
        look_at_chip(d, t, chip);
    judge(d, t);
    for (size_t i = 0; i < t->rows; i++) {
        (d->json ? print_json : print_line)(&d->owners, &t->row[i]);
        text_free(&t->row[i].kernel[GE]);
        text_free(&t->row[i].kernel[ACLNN]);
    }
    for (size_t i = 0; i < t->providers; i++) {
        text_free(&t->provider[i].types);
        text_free(&t->provider[i].irs);
    }
    if (cann >= 0) close(cann);
    free(t->row);
    free(t);
}
