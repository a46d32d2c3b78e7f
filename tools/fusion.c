/* SPDX-License-Identifier: Apache-2.0
 *
 * ascgrad fusion on|off|status [--opp DIR]: whether GE finds the graph pass of the installed
 * package. The installer in the package makes the change, as a whole new version that differs in
 * nothing else.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "commands.h"
#include "../package/manifest.h"

/* The package that this command is in (bin/ARCH/ascgrad), or that of an opp directory. */
static bool find_package(const char *opp, char dir[PATH_MAX]) {
    char own[PATH_MAX], info[PATH_MAX + 32];
    const char *home = getenv("ASCEND_HOME_PATH");
    ssize_t size = opp ? -1 : readlink("/proc/self/exe", own, sizeof own - 1);
    for (int i = 0; size > 0 && i < 3; i++) {
        own[size] = 0;
        char *slash = strrchr(own, '/');
        if (!slash) break;
        *slash = 0;
        size = slash - own;
    }
    if (size > 0) {
        snprintf(info, sizeof info, "%s/" MANIFEST_NAME, own);
        if (access(info, F_OK) == 0) {
            snprintf(dir, PATH_MAX, "%s", own);
            return true;
        }
    }
    if (!opp) opp = getenv("ASCEND_OPP_PATH");
    if (opp && *opp)
        snprintf(own, sizeof own, "%s", opp);
    else
        snprintf(own, sizeof own, "%s/opp", home ? home : "");
    if (snprintf(info, sizeof info, "%s/vendors/ascgrad", own) >= PATH_MAX) return false;
    return realpath(info, dir) != NULL;
}

static int change(const char *dir, bool on) {
    char setup[PATH_MAX + 128], installed[PATH_MAX + 16];
    struct utsname machine;
    if (uname(&machine) != 0) return EXIT_FILES;
    snprintf(setup, sizeof setup, "%s/scripts/%s/setup", dir, machine.machine);
    snprintf(installed, sizeof installed, "--installed=%s", dir);
    fflush(NULL);
    execl(setup, "setup", "compile", installed, on ? "--fusion" : "--no-fusion", "--quiet",
          (char *)NULL);
    complain("fusion: cannot start %s", setup);
    return EXIT_FILES;
}

int cmd_fusion(int argc, char **argv) {
    char dir[PATH_MAX], active[PATH_MAX + 64];
    const bool named = argc == 3 && strcmp(argv[1], "--opp") == 0;
    const char *what = argc >= 1 ? argv[0] : "";
    const bool on = strcmp(what, "on") == 0, off = strcmp(what, "off") == 0;
    if ((argc != 1 && !named) || (!on && !off && strcmp(what, "status") != 0)) {
        complain("usage: fusion on|off|status [--opp DIR]");
        return EXIT_USAGE;
    }
    if (!find_package(named ? argv[2] : NULL, dir)) {
        complain("fusion: no package of ascgrad is installed here; name CANN's opp directory: "
                 "--opp DIR");
        return EXIT_REFUSED;
    }
    snprintf(active, sizeof active, "%s/" FUSION_ACTIVE, dir);
    const bool is_on = access(active, F_OK) == 0;
    if ((on && !is_on) || (off && is_on)) return change(dir, on);
    printf("graph pass: %s (%s)\n", is_on ? "on" : "off", dir);
    return EXIT_DONE;
}
