/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in front of every command an installer calls: counts the calls in the file SHIM_COUNT and,
 * before call number SHIM_STOP, kills the whole process group as kill -9 would. Otherwise runs the
 * real command.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    const char *stop = getenv("SHIM_STOP");
    char path[4096];
    int count = open(getenv("SHIM_COUNT"), O_WRONLY | O_APPEND | O_CREAT, 0666);
    (void)argc;
    if (count < 0 || write(count, ".", 1) != 1) return 125;
    const long number = (long)lseek(count, 0, SEEK_CUR); /* ours, whoever writes beside us */
    close(count);
    if (stop && number == atol(stop)) kill(0, SIGKILL);
    static const char *const places[] = {"/usr/bin", "/bin"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", places[i], name);
        execv(path, argv);
    }
    return 127;
}
