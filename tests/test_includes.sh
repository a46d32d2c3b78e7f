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
# found there.
allowed() {
    case "$1:$2" in
    op_kernel:op_kernel/*.h | op_kernel:kernel_operator.h | op_kernel:'<stdint.h>') ;;
    op_kernel:*) return 1 ;;
    op_tiling:core/node.h | op_tiling:op_kernel/*_tiling_data.h | op_tiling:op_tiling/*.h) ;;
    op_proto:core/node.h | op_proto:op_proto/*.h | op_proto:ge/include/graph/*.h) ;;
    ge:ge/* | ge:ascgrad_ops.inc | ge:exe_graph/* | ge:register/*) ;; # generated; the toolkit's
    twin:twin/* | twin:op_kernel/* | twin:op_tiling/* | twin:op_proto/*) ;;
    twin:core/node.h | twin:core/ir.h) ;;
    tools:tools/* | tools:twin/ascgrad.h) ;;
    tools:tests/reference/* | tools:tests/cases/*) ;; # what `ascgrad check` compares with
    framework:framework/* | framework:twin/ascgrad.h | framework:ge/include/graph/*.h) ;;
    framework:ge/include/*) ;;                       # stands in for the toolkit's headers
    *:'<'*) ;;                                       # system headers
    *:ge/* | *:op_*/* | *:twin/* | *:tools/* | *:framework/* | *:tests/*) return 1 ;;
    twin:* | tools:* | framework:*) ;;               # generated, or someone else's
    *) return 1 ;;
    esac
}

# The project path of "$2" as included by file $1, or $2 itself if the project has no such file.
resolve() {
    if [ -f "$(dirname "$1")/$2" ]; then
        path=$(cd "$(dirname "$1")/$(dirname "$2")" && pwd -P)/$(basename "$2")
        echo "${path#"$root"/}"
        return
    fi
    for place in . ge ge/include op_proto op_proto/inc op_tiling op_kernel tests/reference twin; do
        if [ -f "$root/$place/$2" ]; then
            [ "$2" = kernel_operator.h ] && break # on the device it is Ascend C's own
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
    for folder in op_kernel op_tiling op_proto ge twin tools framework; do
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
mkdir -p "$work/op_kernel" "$work/op_tiling" "$work/op_proto" "$work/ge" "$work/twin" "$work/tools"
touch "$work/core/node.h" "$work/ge/context.h" "$work/twin/ascgrad.h" "$work/twin/run.h" \
    "$work/op_kernel/a_tiling_data.h" "$work/op_kernel/a_grad.h"
plant() { # FILE INCLUDE ok|bad
    echo "#include $2" > "$work/$1"
    if [ -n "$(violations "$work")" ]; then seen=bad; else seen=ok; fi
    if [ "$seen" != "$3" ]; then
        echo "FAIL: $1 with #include $2 should be $3" >&2
        failed=1
    fi
    rm "$work/$1"
}
plant op_kernel/a.cpp '"a_grad.h"' ok
plant op_kernel/a.cpp '"kernel_operator.h"' ok
plant op_kernel/a.cpp '<vector>' bad
plant op_kernel/a.cpp '"../core/node.h"' bad
plant op_tiling/a.c '"../op_kernel/a_tiling_data.h"' ok
plant op_tiling/a.c '"../op_kernel/a_grad.h"' bad
plant op_tiling/a.c '"context.h"' bad
plant op_tiling/a.c '"../twin/run.h"' bad
plant op_proto/a.c '"../core/node.h"' ok
plant op_proto/a.c '"../op_tiling/a.h"' bad
plant ge/a.c '"../twin/ascgrad.h"' bad
plant ge/a.c '"../op_kernel/a_tiling_data.h"' bad
plant tools/a.c '"../twin/ascgrad.h"' ok
plant tools/a.c '"../twin/run.h"' bad
plant twin/a.c '"../ge/context.h"' bad

[ "$failed" = 0 ] && echo "everyone includes only what they may"
exit "$failed"
