#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Twenty installers and uninstallers at once on one CANN, then on one private path: the end is
# consistent.
. "$(dirname "$0")/lib.sh"
base=$fix/parallel
make_cann "$base/cann"
ASCEND_OPP_PATH=$base/cann/opp
export ASCEND_OPP_PATH

# all_done: waits for $pids and counts the failures.
all_done() {
    bad=0
    for pid in $pids; do wait "$pid" || bad=$((bad + 1)); done
}

pids=
for _ in 1 2 3 4 5 6 7 8 9 10; do
    unpacked one --quiet &
    pids="$pids $!"
    unpacked two --quiet &
    pids="$pids $!"
done
all_done
same "twenty succeed" $bad 0
expect "the winner is whole" usable "$base/cann/opp"
same "config.ini" "$(cat "$base/cann/opp/vendors/config.ini")" \
    "load_priority=ascgrad,ascgrad2,ascgrad-x,ascgrad.x,xascgrad"
same "nothing hidden is left" "$(find "$base/cann/opp" -name '.ascgrad*' | wc -l)" 0

# Installing and uninstalling at once: a path that comes and goes.
pids=
for _ in 1 2 3 4 5 6; do
    unpacked one --quiet --install-path="$base/p/q" 2>/dev/null &
    pids="$pids $!"
    unpacked one --quiet --install-path="$base/p/q" --uninstall >/dev/null 2>&1 &
    pids="$pids $!"
done
all_done
same "all of them succeed" $bad 0
if [ -e "$base/p/q/vendors/ascgrad" ]; then
    expect "what is left is whole" usable "$base/p/q"
else
    pass
fi
expect "the last one out" unpacked one --install-path="$base/p/q" --uninstall
same "no files are left" "$(find "$base/p" ! -type d 2>/dev/null | wc -l)" 0
finish
