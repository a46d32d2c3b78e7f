#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Who may include whom. The table below is the rule of the house: a folder, and what its files may
# include. First the project is checked, then the check itself, on a small tree with planted
# violations.
#
# usage: test_includes.sh [ROOT]
set -eu

# May FILE (of folder $1) include $2? $2 is a path in the project, or the bare name of what is not
# found there: the system's, GE's, a framework's, or generated.
allowed() {
    case "$1:$2" in
    "$1:$1"/*) ;;
    op_kernel:kernel_operator.h | op_kernel:'<stdint.h>') ;;
    op_kernel:*) return 1 ;; # the device has nothing else
    *:'<'*) ;;
    op_tiling:core/* | op_tiling:op_kernel/*_tiling_data.h | op_api:op_kernel/*_tiling_data.h) ;;
    op_proto:core/* | op_reference:core/* | irdump:core/* | ge:core/* | op_api:core/* | fusion:core/*) ;;
    twin:core/* | twin:op_proto/* | twin:op_tiling/* | twin:op_kernel/*) ;;
    tools:twin/ascgrad.h | framework:twin/ascgrad.h | tools:op_reference/*) ;;
    tools:twin/gauge.h) ;; # accept: kernels that belong to no operator, timed by the model
    tools:op_proto/inc/ascgrad_ops.h) ;; # accept's runner is a program with a graph
    tools:package/* | packaging:package/*) ;;
    tools:ge/layout.h) ;; # doctor's probe asks libraries as GE does
    *:core/* | *:op_*/* | *:irdump/* | *:ge/* | *:fusion/* | *:framework/* | *:package/* | *:packaging/* | *:twin/* | *:tools/* | *:tests/*)
        return 1
        ;;
    core:* | package:* | op_tiling:* | op_reference:*) return 1 ;; # pure: the project's own and the system's
    esac
}

# The project path of "$2" as included by file $1, or $2 itself if the project has no such file.
resolve() {
    if [ -f "$(dirname "$1")/$2" ]; then
        path=$(cd "$(dirname "$1")/$(dirname "$2")" && pwd -P)/$(basename "$2")
        echo "${path#"$root"/}"
        return
    fi
    # twin/kernel_operator.h and ge/include stand in for Ascend C's and GE's own
    for place in . core op_proto op_proto/inc op_tiling op_kernel op_reference ge twin; do
        if [ -f "$root/$place/$2" ]; then
            [ "$2" = kernel_operator.h ] && break
            path=$place/$2
            echo "${path#./}"
            return
        fi
    done
    echo "$2"
}

# Prints the violations of the tree at $1.
violations() {
    root=$(cd "$1" && pwd -P)
    for folder in core op_proto op_tiling op_kernel op_reference op_api fusion irdump ge framework package packaging twin tools; do
        [ -d "$root/$folder" ] || continue
        find "$root/$folder" -type f -name '*.[ch]' -o -name '*.cpp' | LC_ALL=C sort |
            while read -r file; do
                sed -n 's/^ *# *include *\(["<][^">]*[">]\).*/\1/p' "$file" |
                    while read -r what; do
                        case $what in
                        '<'*) target=$what ;;
                        *)
                            name=${what#\"}
                            target=$(resolve "$file" "${name%\"}")
                            ;;
                        esac
                        allowed "$folder" "$target" || echo "${file#"$root"/} includes $target"
                    done
            done
    done
}

failed=0
here=$(cd "$(dirname "$0")/.." && pwd)
found=$(violations "${1:-$here}")
if [ -n "$found" ]; then
    echo "FAIL: against the rule of who may include whom:" >&2
    echo "$found" >&2
    failed=1
fi

# The check must see what it is there for.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/core" "$work/op_proto" "$work/op_tiling" "$work/op_kernel" "$work/op_reference" "$work/ge" \
    "$work/twin" "$work/tools" "$work/package" "$work/packaging/setup"
touch "$work/core/node.h" "$work/ge/context.h" "$work/twin/ascgrad.h" "$work/twin/launch.h" \
    "$work/op_kernel/a_tiling_data.h" "$work/op_kernel/a_grad.h" "$work/op_reference/reference.h" \
    "$work/op_tiling/a.h" "$work/package/text.h" "$work/packaging/setup/setup.h"
plant() { # FILE INCLUDE ok|bad
    echo "#include $2" > "$work/$1"
    if [ -n "$(violations "$work")" ]; then seen=bad; else seen=ok; fi
    if [ "$seen" != "$3" ]; then
        echo "FAIL: $1 with #include $2 should be $3" >&2
        failed=1
    fi
    rm "$work/$1"
}
plant core/a.c '"node.h"' ok
plant core/a.c '"../ge/context.h"' bad
plant core/a.c '"ascgrad_ops.inc"' bad
plant op_kernel/a.cpp '"a_grad.h"' ok
plant op_kernel/a.cpp '"kernel_operator.h"' ok
plant op_kernel/a.cpp '<vector>' bad
plant op_kernel/a.cpp '"../core/node.h"' bad
plant op_tiling/a.c '"../op_kernel/a_tiling_data.h"' ok
plant op_tiling/a.c '"../op_kernel/a_grad.h"' bad
plant op_tiling/a.c '"context.h"' bad
plant op_tiling/a.c '"../twin/launch.h"' bad
plant op_proto/a.c '"../core/node.h"' ok
plant op_proto/a.c '"../op_tiling/a.h"' bad
plant op_reference/a.c '"node.h"' ok
plant op_reference/a.c '"../op_kernel/a_tiling_data.h"' bad
plant ge/a.c '"../core/node.h"' ok
plant ge/a.c '"../twin/ascgrad.h"' bad
plant ge/a.c '"../op_kernel/a_tiling_data.h"' bad
plant tools/a.c '"../twin/ascgrad.h"' ok
plant tools/a.c '"../op_reference/reference.h"' ok
plant tools/a.c '"../twin/launch.h"' bad
plant tools/a.c '"../core/node.h"' bad
plant tools/a.c '"../package/text.h"' ok
plant tools/a.c '"../packaging/setup/setup.h"' bad
plant packaging/setup/a.c '"../../package/text.h"' ok
plant packaging/setup/a.c '"../../core/node.h"' bad
plant package/a.c '"../packaging/setup/setup.h"' bad
plant package/a.c '"../twin/ascgrad.h"' bad
plant twin/a.c '"../core/node.h"' ok
plant twin/a.c '"../ge/context.h"' bad
plant twin/a.c '"../op_reference/reference.h"' bad

[ "$failed" = 0 ] && echo "everyone includes only what they may"
exit "$failed"
