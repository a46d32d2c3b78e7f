/* SPDX-License-Identifier: Apache-2.0
 *
 * setup: installs, compiles for, and removes the ascgrad package. The .run file unpacks itself
 * privately and becomes this program; scripts/compile.sh and scripts/uninstall.sh of an installed
 * package start it, too. It is static and needs no other program, except a compiler to compile.
 *
 * Everything is put together in a private directory beside the target, the stage, and takes its
 * place in one step. Up to that step whatever fails leaves the target as it was; behind it nothing
 * turns back. docs/install.md has the states as a table.
 */
#ifndef ASCGRAD_SETUP_SETUP_H
#define ASCGRAD_SETUP_SETUP_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "../../package/manifest.h"
#include "../../package/owners.h"
#include "../../package/text.h"

#define VENDOR       "ascgrad"
#define STAGE_PREFIX "." VENDOR "."
#define CONFIG_NAME  "config.ini"

#define OLD_NAME "old" /* of the old version in the stage, where it takes two renames */

/* Exit status. A function that ends the work returns one of these after saying why. LOST is DONE,
 * but an operator type that was ours is ours no more, and nobody asked for that. */
enum { DONE = 0, USAGE = 1, REFUSED = 2, FAILED = 3, LOST = 4 };

enum action { INSTALL, COMPILE, UNINSTALL };

struct options {
    enum action action;
    const char *payload;      /* unpacked .run; NULL for an installed package */
    const char *temporary;    /* to be removed at the end, or NULL */
    const char *install_path; /* NULL: CANN's own directory */
    const char *chips;        /* with commas; NULL: those of this machine */
    const char *signals;      /* that the .run found not ignored, with commas; NULL: look */
    bool fusion, no_fusion;   /* neither: as it was, and off at first */
    bool for_all, no_override, graph_only, no_compile, force, dry_run, quiet;
    bool only_fusion; /* `ascgrad fusion`: nothing else changes, and no owner is decided */
};

struct target {
    bool own;            /* a directory of the user's; else CANN's, whose config.ini we edit */
    const char *from;    /* where its name comes from */
    char root[PATH_MAX]; /* holds vendors/ */
    char vendors[PATH_MAX + 16], dir[PATH_MAX + 32], config[PATH_MAX + 32];
    char real_vendors[PATH_MAX]; /* without links on the way; for what is unmade */
    bool there;                  /* vendors/ was, when we looked */
    mode_t dir_mode, file_mode;
    int root_fd, vendors_fd; /* -1 until they are there and open */
    struct text fresh;       /* directories that this run made, innermost first, a line each */
    struct text made;        /* these, and what earlier versions made: for package.info */
};

/* What this installation decides about a type. */
struct decision {
    bool left;         /* to CANN */
    bool cann_has;     /* on a chip that counts here; also if its files there cannot be read */
    bool here;         /* ours with complete binaries on a chip that counts here */
    struct text why;   /* one sentence without its end, if it is not simply ours */
    struct text chips; /* of ours, with complete binaries; with commas */
    struct text has;   /* chips that ours has a kernel for at all */
};

struct setup {
    struct options options;
    struct target target;
    struct manifest source; /* of what is installed from */
    int source_fd, arch_fd; /* the package to install from; files of this machine only, or -1 */
    char arch[32];
    bool looked; /* at the directories above, and warned */
    bool has_old;
    struct manifest old;
    int old_fd;
    ino_t old_ino, new_ino;              /* 0: there is none */
    char stage_name[32], stage_kept[32]; /* now; and if it had to stay */
    int stage_fd, tree_fd;               /* the stage, and the new version in it; -1 without */
    struct text chips;  /* that count on this machine, with commas; empty: not known */
    struct text unread; /* files of CANN that say nothing to us, a line each */
    struct decision decision[MAX_TYPES];
    bool cann_known;          /* there was a CANN to look at */
    const char *compile_note; /* why there are no fresh binaries, or NULL */
    bool compile_failed;      /* although it was tried */
};

/* Set by a signal; looked at wherever stopping is safe. */
extern volatile sig_atomic_t setup_stopped;

/* messages.c */
void say(const struct setup *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What must be known even with --quiet, but is no trouble. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
int give_up(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A refusal that --force turns into a warning. */
int refuse(const struct setup *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* target.c */
int target_choose(struct setup *s);
int target_check(struct setup *s); /* refuses what can be refused without writing */

/* ground.c */
int target_lock(struct setup *s);      /* makes the root if need be */
int target_prepare(struct setup *s);   /* under the lock: vendors/, leftovers of earlier runs */
void target_unmake(struct setup *s);   /* removes what any version made, if it is empty */
void target_back_out(struct setup *s); /* removes what this run made */

/* stage.c */
int stage_make(struct setup *s);   /* -1 with errno */
int stage_open(struct setup *s);   /* the same, in words */
int stage_copy(struct setup *s);   /* the package as shipped, and what depends on the machine */
int stage_seal(struct setup *s);   /* modes, package.info, files of others */
void stage_close(struct setup *s); /* removes it, unless the old version is still needed */
/* Is the old version in this stage the one that should be in vendors? -1: cannot tell. */
int stage_has_old(int stage, int vendors);
int stage_restore(int stage, int vendors); /* puts it there. -1 with errno */

/* keep.c */
bool is_stranger(const struct manifest *m, const char *path);
int keep_strangers(struct setup *s);    /* from the old version to the new one */
int keep_copy(struct setup *s, int to); /* all of the old version. -1 with errno */

/* types.c */
int types_check_chips(const struct setup *s);   /* those of --chip= */
int types_find_chips(struct setup *s);          /* needs the old version */
int types_decide(struct setup *s, int package); /* by what lies in the open package directory */
/* Should this type have binaries for the chip, and has not? */
bool types_lacks(const struct setup *s, size_t type, const char *chip);
/* Who has it: VENDOR, "CANN"; on aclnn's road also "refused" and "nobody". */
const char *owner_in_graphs(const struct decision *d);
const char *owner_of_calls(const struct decision *d);

/* switches.c */
int switches_apply(struct setup *s);  /* the decisions, to the stage */
int switches_forget(struct setup *s); /* earlier ones: every type has its records again */

/* compile.c */
int compile_kernels(struct setup *s);

/* place.c */
int place(struct setup *s);             /* the one step, and config.ini */
void tell_state(const struct setup *s); /* after a failure: what is on the disk now */

/* listing.c: our name in config.ini. The new file is born in the stage. */
struct listing {
    bool listed; /* are we in it? */
    bool change; /* there is something to put in place */
    bool remove; /* nothing would be left of it */
    bool over;   /* the disk is full: what is left of it goes over it */
    struct text shorter;
};
int listing_add(struct setup *s, struct listing *listing);
int listing_drop(struct setup *s, struct listing *listing);
int listing_commit(struct setup *s, struct listing *listing); /* -1 with errno */
bool is_listed(const struct setup *s);

/* remove.c */
int uninstall(struct setup *s);

/* report.c */
void preview(const struct setup *s);
int report(const struct setup *s); /* DONE or LOST */

#endif
