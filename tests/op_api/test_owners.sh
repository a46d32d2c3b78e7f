#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who answers where the package is not there, or not whole: a code and a sentence, or CANN's own
# operator with CANN's own tiling, and never one half of each. CANN here is a kernel index and a
# library of tiling functions that has ExpSegsumGrad and RotaryPositionEmbeddingGrad.
#
#   test_owners.sh BUILD INSTALLED
set -eu
here=$(cd -P "$(dirname "$0")" && pwd -P)
build=$(cd -P "$1" && pwd -P)
installed=$(cd -P "$2" && pwd -P)
dir=$(mktemp -d "${TMPDIR:-/tmp}/ascgrad-opapi.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
fail() {
    echo "FAIL: $*" >&2
    failed=1
}

export LD_LIBRARY_PATH="$build/standin/lib:$build/stubs"

# answers OPP TYPE: code and message of a good call.
answers() { ASCEND_OPP_PATH=$1 "$build/bin/test_answer" "$2" 2>&1; }

# expect WHAT OPP TYPE CODE WORDS
expect() {
    got=$(answers "$2" "$3")
    case $got in
    "$4 "*"$5"*) ;;
    *) fail "$1: $3 answers '$got', not '$4' and '$5'" ;;
    esac
}

# cann DIR: an opp folder with CANN's own two operators.
tbe=op_impl/ai_core/tbe
cann() {
    mkdir -p "$1/built-in/$tbe/kernel/config/ascend910b" "$1/built-in/$tbe/config/ascend910b" \
        "$1/built-in/$tbe/op_tiling/lib/linux/$(uname -m)"
    "${PYTHON:-/usr/bin/python3}" -B "$here/cann.py" \
        "$installed/opp/vendors/ascgrad/$tbe" "$1/built-in/$tbe" ExpSegsumGrad RotaryPositionEmbeddingGrad
    "${CC:-cc}" -shared -fPIC -O1 -fvisibility=hidden -DKEY=77 \
        '-DTYPES="ExpSegsumGrad","RotaryPositionEmbeddingGrad"' "$here/../cann/registry/tiling_library.c" \
        -o "$1/built-in/$tbe/op_tiling/lib/linux/$(uname -m)/libopmaster_rt2.0.so"
}

# install DIR OPTION...
install() {
    ASCEND_OPP_PATH=$1 sh "$installed/ascgrad.run" --quiet "$2" >"$dir/log" 2>&1 ||
        fail "the installer: $(cat "$dir/log")"
}

expect "installed" "$installed/opp" ExpSegsumGrad 0 ''
mkdir "$dir/none"
expect "not installed, no CANN" "$dir/none" ExpSegsumGrad 361001 'scripts/compile.sh'
cann "$dir/cann"
expect "not installed" "$dir/cann" RopeGrad 561003 'no kernel binaries of RopeGrad'
expect "not installed" "$dir/cann" ExpSegsumGrad 361001 'with key 77' # CANN's, whole; not run here
cann "$dir/source"
install "$dir/source" --no-compile
expect "source only" "$dir/source" RopeGrad 561003 'no kernel binaries of RopeGrad'
expect "source only" "$dir/source" ExpSegsumGrad 361001 'with key 77'
cann "$dir/graph"
install "$dir/graph" --graph-only
expect "graph only" "$dir/graph" ExpSegsumGrad 561002 'a kernel that is not ascgrad'
expect "graph only" "$dir/graph" RotaryPositionEmbeddingGrad 561002 'a kernel that is not ascgrad'

[ "$failed" = 0 ] && echo "nobody got half an operator"
exit "$failed"
