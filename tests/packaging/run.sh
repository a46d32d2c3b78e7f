#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of the package, the installer and doctor: run.sh [NAME[:ARGUMENT]...], where NAME is the
# middle of test_NAME.sh or test_NAME.py. Nothing outside a temporary directory is touched. They need a build;
# environment, all optional:
#   ASCGRAD_BUILD   the build directory (default: build/)
#   ASCGRAD_RUN     a finished .run, which is then installed and examined too
#   PYTHON          default /usr/bin/python3
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# No dot before the random part: nnopbase takes the first ".o" of a path for the end of a kernel's.
fix=$(mktemp -d "${TMPDIR:-/tmp}/ascgrad-test-XXXXXX")
trap 'chmod -R u+rwX "$fix"; rm -rf "$fix"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$fix"
umask 022
ASCGRAD_BUILD=${ASCGRAD_BUILD:-$top/build}
ASCGRAD_BIN=$ASCGRAD_BUILD/bin/ascgrad
ir=$ASCGRAD_BUILD/ir.json
# made for one machine only, a .run has that machine in its name
[ -f "${ASCGRAD_RUN:-}" ] || ASCGRAD_RUN=${ASCGRAD_RUN:+${ASCGRAD_RUN%x86_64_aarch64.run}$(uname -m).run}
export fix ir ASCGRAD_BUILD ASCGRAD_BIN ASCGRAD_RUN
build_fixture

[ $# -gt 0 ] || set -- install targets config silence fusion doctor damage redteam faults signals parallel \
    reproducible kernels owners opp shellcheck contents launchers real

one() {
    if [ -f "$tests/test_${1%%:*}.py" ]; then
        case $1 in
        *:*) "${PYTHON:-/usr/bin/python3}" -B "$tests/test_${1%%:*}.py" "${1#*:}" ;;
        *) "${PYTHON:-/usr/bin/python3}" -B "$tests/test_$1.py" ;;
        esac
    else
        sh "$tests/test_$1.sh"
    fi
}

# Two at a time: every test has its own directory. One test alone may be skipped.
bad=0
if [ $# -eq 1 ]; then
    one "$1"
    exit
fi
while [ $# -gt 0 ]; do
    one "$1" &
    first=$!
    if [ $# -gt 1 ]; then one "$2" || bad=1; fi
    wait "$first" || bad=1
    shift
    [ $# -eq 0 ] || shift
done
exit $bad
