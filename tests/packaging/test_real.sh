#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The finished package, if ASCGRAD_RUN names one: installs, and doctor and the checks are content.
. "$(dirname "$0")/lib.sh"
if [ ! -f "${ASCGRAD_RUN:-}" ]; then
    echo "$(basename "$0"): skipped, there is no package ${ASCGRAD_RUN:-}"
    exit 0
fi
base=$fix/real
make_cann "$base"
opp=$base/opp
ours=$opp/vendors/ascgrad
libs=$fix/lib/cann
expect "--check" sh "$ASCGRAD_RUN" --check
expect "--extract" sh "$ASCGRAD_RUN" --extract="$base/x" --noexec
expect "contents" "${PYTHON:-/usr/bin/python3}" -B "$tests/test_contents.py" \
    "$base/x/packages/vendors/ascgrad"
expect "runs on old systems" sh "$tests/../ge/test_old_systems.sh" "$base/x/packages"
expect "install" env "ASCEND_OPP_PATH=$opp" sh "$ASCGRAD_RUN"
expect "is whole" usable "$opp"
# Under two seconds on a quiet machine. Processor time is counted, which other work does not change.
"${PYTHON:-/usr/bin/python3}" - "$ASCGRAD_RUN" "$opp" >"$base/time" <<'END'
import os, resource, subprocess, sys, time
began = time.monotonic()
subprocess.run(["sh", sys.argv[1], "--quiet", "--no-compile"], check=True,
               env=dict(os.environ, ASCEND_OPP_PATH=sys.argv[2]))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.0f %.0f" % (1000 * (used.ru_utime + used.ru_stime), 1000 * (time.monotonic() - began)))
END
read -r used took <"$base/time"
expect "an installation without compiling: $used ms of processor" [ "$used" -lt 2000 ]
expect "its own command" "$ours/bin/ascgrad" ops
doctor() { env "ASCEND_OPP_PATH=$opp" "LD_LIBRARY_PATH=$libs" "$ours/bin/ascgrad" doctor; }
expect "its own doctor" doctor
wheel=$(echo "$ours"/python/ascgrad-*_"$(uname -m)".whl)
expect "the wheel of this machine" cmp "$wheel" "$(dirname "$ASCGRAD_RUN")/$(basename "$wheel")"
expect "leaving out" env "ASCEND_OPP_PATH=$opp" sh "$ASCGRAD_RUN" --no-override
expect "doctor after leaving out" doctor
said "--no-override: CANN has it"
expect "uninstall" env "ASCEND_OPP_PATH=$opp" sh "$ASCGRAD_RUN" --uninstall
echo "$(basename "$0"): an installation without compiling: $used ms of processor, $took ms in all"
finish
