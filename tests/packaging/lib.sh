# SPDX-License-Identifier: Apache-2.0
# Helpers of the packaging tests, and the two packages they install. Sourced by run.sh, test_*.sh.
# shellcheck shell=sh disable=SC2034
tests=$(cd -P "$(dirname "$0")" && pwd -P)
top=$(cd -P "$tests/../.." && pwd -P)
passed=0
failed=0
unset ASCEND_OPP_PATH ASCEND_HOME_PATH ASCEND_CUSTOM_OPP_PATH CDPATH

# quoted TEXT: as one word of a shell script, whatever it holds.
quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s: %s\n' "$(basename "$0")" "$*" >&2
}

# expect WHAT COMMAND...: the command succeeds.
expect() {
    expected=$1
    shift
    if "$@" >"$fix/out.$$" 2>&1; then pass; else
        fail "$expected (status $?)"
        sed 's/^/    /' "$fix/out.$$" >&2
    fi
}

# status N WHAT COMMAND...: the command ends with status N.
status() {
    want_status=$1 expected=$2
    shift 2
    got=0
    "$@" >"$fix/out.$$" 2>&1 || got=$?
    if [ "$got" = "$want_status" ]; then pass; else
        fail "$expected (status $got, not $want_status)"
        sed 's/^/    /' "$fix/out.$$" >&2
    fi
}

# said TEXT: the last command said so.
said() { grep -qF -- "$1" "$fix/out.$$" && pass || fail "did not say '$1': $(cat "$fix/out.$$")"; }

# same WHAT A B
same() { [ "$2" = "$3" ] && pass || fail "$1: '$2' is not '$3'"; }

# snapshot DIR: names, types, modes, link targets and contents below DIR.
snapshot() {
    (cd "$1" && find . -printf '%p %y %m %l\n' | sort && find . -type f -exec sha256sum {} + | sort)
}

# The operator types of the IR; some tests need one of them, some a kernel's name.
types() { "$ASCGRAD_BIN" ops | sed '/^ /d; /^$/d'; }
first_type() { types | sed -n 1p; }
last_type() { types | sed -n '$p'; }
kernel_of() { sed -n "s/^kernel $1 //p" "$fix/one/packages/vendors/ascgrad/package.info"; }

# A CANN with the first operator type of ours, and neighbours whose names resemble ours.
make_cann() {
    rm -rf "$1"
    whole=$fix/one/packages/vendors/ascgrad/scripts/whole/op_impl/ai_core/tbe/config/ascend910b
    whole=$whole/aic-ascend910b-ops-info.json
    (
        umask 022
        mkdir -p "$1/opp/built-in/op_impl/ai_core/tbe/config/ascend910b"
        "${PYTHON:-/usr/bin/python3}" -c 'import json, sys
record = json.load(open(sys.argv[1]))[sys.argv[2]]
json.dump({sys.argv[2]: record, "Add": {}}, sys.stdout)' "$whole" "$(first_type)" \
            >"$1/opp/built-in/op_impl/ai_core/tbe/config/ascend910b/aic-ascend910b-ops-info.json"
        for name in ascgrad2 ascgrad-x ascgrad.x xascgrad; do
            mkdir -p "$1/opp/vendors/$name/op_proto"
            echo "$name" >"$1/opp/vendors/$name/op_proto/data"
        done
        chmod 600 "$1/opp/vendors/ascgrad2/op_proto/data"
        chmod 700 "$1/opp/vendors/xascgrad"
        echo "load_priority=ascgrad2,ascgrad-x,ascgrad.x,xascgrad" >"$1/opp/vendors/config.ini"
        chmod 640 "$1/opp/vendors/config.ini"
    )
}

# make_toolkit DIR: a toolkit whose opc is the stand-in, and which knows A2 and A3.
make_toolkit() {
    mkdir -p "$1/bin" "$1/$(uname -m)-linux/data/platform_config"
    printf '#!/bin/sh\nexec %s -B %s "$@"\n' "${PYTHON:-/usr/bin/python3}" \
        "$(quoted "$top/tests/cann/opc/opc.py")" >"$1/bin/opc"
    chmod 755 "$1/bin/opc"
    : >"$1/$(uname -m)-linux/data/platform_config/Ascend910B1.ini"
    : >"$1/$(uname -m)-linux/data/platform_config/Ascend910_9391.ini"
}

# usable ROOT: the installation below ROOT is whole: every file as its manifest says.
usable() {
    sed -n '/^[0-9a-f]\{64\}  /p' "$1/vendors/ascgrad/package.info" |
        (cd "$1/vendors/ascgrad" && sha256sum -c --quiet) || return 1
    [ -e "$1/vendors/ascgrad/op_impl/ai_core/tbe/op_tiling/liboptiling.so" ]
}

version_in() { sed -n 's/^version=//p' "$1/vendors/ascgrad/package.info"; }

# as_user COMMAND...: as an ordinary user, if we are root.
as_user() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"
    else
        "$@"
    fi
}

# build_libraries DIR: what make_run.sh packs, of this machine; the other one gets the same libraries,
# and both a command and parsers that say whose they are.
build_libraries() {
    native=$(uname -m)
    for arch in x86_64 aarch64; do
        mkdir -p "$1/$arch"
        cp "$ASCGRAD_BUILD/package"/*_rt2.0.so "$ASCGRAD_BUILD/package/setup" "$1/$arch"
        printf '#!/bin/sh\necho %s\n' "$arch" >"$1/$arch/ascgrad"
        echo "parsers for $arch" >"$1/$arch/libcust_tf_parsers.so"
        echo "pass for $arch" >"$1/$arch/libascgrad_fusion.so"
    done
    cp "$ASCGRAD_BUILD/package/libascgrad_fusion.so" "$1/$native"
    ln -s "$ASCGRAD_BUILD/stubs" "$1/cann"
}

# build_source DIR: a source tree with as much as make_run.sh needs.
build_source() {
    mkdir -p "$1/op_proto/inc"
    cp "$top/op_proto/inc/ascgrad_ops.h" "$1/op_proto/inc"
    echo license >"$1/LICENSE"
    cp -r "$top/op_kernel" "$1"
}

# make_run VERSION SOURCE OUT [MORE...]
make_run() {
    version=$1 source=$2 out=$3
    shift 3
    sh "$top/packaging/make_run.sh" --ir "$ir" --version "$version" --source "$source" \
        --lib-dir-x86_64 "$fix/lib/x86_64" --lib-dir-aarch64 "$fix/lib/aarch64" --out "$out" "$@"
}

# Versions 1 and 2; 1 has a header that 2 has not.
build_fixture() {
    build_libraries "$fix/lib"
    build_source "$fix/src1"
    build_source "$fix/src2"
    echo '#include <stdint.h>' >"$fix/src1/op_kernel/gone_in_2.h"
    make_run 1.0.0 "$fix/src1" "$fix/one.run" --work "$fix/work1"
    make_run 2.0.0 "$fix/src2" "$fix/two.run" --work "$fix/work2"
    mkdir "$fix/one" "$fix/two"
    sh "$fix/one.run" --extract="$fix/one" --noexec
    sh "$fix/two.run" --extract="$fix/two" --noexec
}

# unpacked NAME [OPTION...]: what one.run or two.run does once it has unpacked itself.
unpacked() {
    which=$1
    shift
    "$fix/$which/packages/vendors/ascgrad/scripts/$(uname -m)/setup" install \
        --payload="$fix/$which" "$@"
}

finish() {
    echo "$(basename "$0"): $passed passed, $failed failed"
    [ "$failed" = 0 ]
}
