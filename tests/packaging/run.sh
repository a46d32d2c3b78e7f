#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of the package, the installer and doctor: run.sh [NAME...], where NAME is the middle of
# test_NAME.sh or test_NAME.py. Nothing outside a temporary directory is touched. Environment, all
# optional:
#   ASCGRAD_IR      output of irdump --json (default: the recorded IR)
#   ASCGRAD_BIN     the ascgrad command, for doctor (default: doctor is compiled here)
#   ASCGRAD_RUN     a finished .run, which is then installed and examined too
#   ASCGRAD_STUBS   directory of libregister.so and libplatform.so for it (default: empty ones)
#   PYTHON          default /usr/bin/python3
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fix=$(mktemp -d "${TMPDIR:-/tmp}/ascgrad-test.XXXXXX")
trap 'chmod -R u+rwX "$fix"; rm -rf "$fix"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$fix"
umask 022
build_fixture
export fix ir
if [ -z "${ASCGRAD_BIN:-}" ]; then
    echo '#include "doctor.h"
    int main(int c, char **v) { return ascgrad_doctor(c - 2, v + 2); }' >"$fix/doctor.c"
    gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined -I "$top/tools" \
        "$top"/tools/doctor*.c "$fix/doctor.c" -o "$fix/ascgrad" -ldl
    ASCGRAD_BIN=$fix/ascgrad
fi
export ASCGRAD_BIN

[ $# -gt 0 ] || set -- install kill targets doctor damage parallel reproducible override binary \
    shellcheck contents launchers real

one() {
    if [ -f "$tests/test_$1.py" ]; then
        "${PYTHON:-/usr/bin/python3}" -B "$tests/test_$1.py"
    else
        sh "$tests/test_$1.sh"
    fi
}

# Two at a time: every test has its own directory.
bad=0
while [ $# -gt 0 ]; do
    one "$1" &
    first=$!
    if [ $# -gt 1 ]; then one "$2" || bad=1; fi
    wait "$first" || bad=1
    shift
    [ $# -eq 0 ] || shift
done
exit $bad
