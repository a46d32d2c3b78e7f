#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The promise of docs/architecture.md: a sixth operator is the files that the page names, and nothing else. The files of
# one (examples/operator: a float attribute, an optional input, two outputs) are laid over a copy of the tree; it builds,
# its tests pass, every tier runs its rows, and leaving out any one file fails with that file's name.
#     sixth.sh BUILD [quick]        quick: the leaving out and the tests that every operator has; else the whole short tier
set -eu
build=$(cd "$1" && pwd)
quick=${2:-}
cd "$(dirname "$0")/../.."
here=$PWD/examples/operator
tree=$build/sixth
python=${PYTHON:-/usr/bin/python3}
op=SwishGluGrad kernel=swish_glu_grad family=swish_glu
die() { echo "FAIL: $*"; exit 1; }

# The copy, and over it exactly what the page's table has.
mkdir -p "$tree"
for name in * .[a-z]*; do
  case $name in
    build.sh) cp -p "$name" "$tree/" ;;
    .git | build | build[-.]*) ;;
    *) rm -rf "${tree:?}/$name" && cp -rp "$name" "$tree/" ;;
  esac
done
files="op_proto/${family}_infer.c op_tiling/${family}_tiling.c op_kernel/${kernel}_tiling_data.h op_kernel/$kernel.cpp
  op_reference/$kernel.c op_reference/${kernel}_rows.h tests/op_tiling/property_$family.c docs/$kernel.md docs/zh/$kernel.md"
for file in $files; do
  [ ! -e "$file" ] || die "$file is there already"
done
(cd "$here" && find . -type f ! -name reg_op.h ! -name add.sh | sed 's,^\./,,' | LC_ALL=C sort) >"$build/sixth.have"
# shellcheck disable=SC2086
printf '%s\n' $files | LC_ALL=C sort | cmp -s - "$build/sixth.have" || die "examples/operator has other files than the page"
cd "$tree"
sh "$here/add.sh" "$tree"

configure() { cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DASCGRAD_PYTHON="$python" >build.log 2>&1; }
target() { cmake --build build -j "${JOBS:-$(nproc)}" --target "$@" >build.log 2>&1; }
configure || { tail -n 20 build.log; die "it does not configure"; }

# Without any one of them there is a sentence that names it.
for file in $files; do
  mv "$file" kept
  case $file in
    *_infer.c) word='op_proto/<family>_infer.c' ;;
    *_tiling.c) word='op_tiling/<family>_tiling.c' ;;
    */property_*) word='tests/op_tiling/property_<family>.c' ;;
    *_tiling_data.h) word=${kernel}_tiling_data.h ;;
    *) word=$file ;;
  esac
  if configure && target test_rows; then die "it builds without $file"; fi
  tr '\n' ' ' <build.log | tr -s ' ' | grep -qF "$word" || { tail -n 20 build.log; die "$file is missing, and nobody says so"; }
  echo "without $file: $(tr '\n' ' ' <build.log | tr -s ' ' | grep -oE "($op: [^;]*|[^ ]*: No such file)" | head -n 1)"
  mv kept "$file"
done
configure || { tail -n 20 build.log; die "it does not configure"; }

# The recorded IR, the README's matrix and the counts of the pages: each has a test that wants it.
target irdump irdump_kinds || { tail -n 20 build.log; die "irdump"; }
sh tests/op_proto/test_ir.sh build/bin/irdump build/bin/irdump_kinds >said 2>&1 && die "the recorded IR is not looked at"
grep -q 'ir.recorded.json' said || die "nobody names ir.recorded.json"
build/bin/irdump --json >tests/op_proto/ir.recorded.json
if [ -n "$quick" ]; then set -- ascgrad_command ascgrad host_tests ir_json; else set -- all; fi
target "$@" || { tail -n 30 build.log; die "it does not build"; }
"$python" - build/bin/ascgrad README.md README.zh.md <<'PY'
import re, subprocess, sys
table = subprocess.run([sys.argv[1], "support"], check=True, capture_output=True, text=True).stdout
for page in sys.argv[2:]:
    text = open(page, encoding="utf-8").read()
    new = re.sub(r"(<!-- support:[^>]*-->\n).*?(<!-- /support -->)", lambda m: m[1] + table + m[2], text, flags=re.S)
    open(page, "w", encoding="utf-8").write(new)
PY
"$python" -B tests/docs/test_counts.py build --write

# Every tier that runs rows runs its rows; its roofline is its own.
ascgrad=build/bin/ascgrad
ctest --test-dir build -j "${JOBS:-$(nproc)}" --output-on-failure --no-tests=error \
  -R "^(host_rows|tiling_property|ge_.*|house|style|ir_recorded|docs_zh|check_$kernel)\$" -E ge_old_systems >said ||
  { tail -n 40 said; die "tests that every operator has"; }
grep 'tests passed' said
"$python" tests/long/random_rows.py --run "$ascgrad" --count 40 --kernels op_kernel $op
mkdir -p bits
"$python" tests/long/same_bits.py bits "$ascgrad" "$ascgrad" >said || { cat said; die "the bits differ"; }
"$ascgrad" perf $op --in 'dy=bf16[4096,1024]' --in 'a=bf16[4096,1024]' --in 'b=bf16[4096,1024]' >said
grep -q "\"min_bytes\": $((5 * 4096 * 1024 * 2))" said || { cat said; die "perf has another operator's roofline"; }

if [ -z "$quick" ]; then
  ./build.sh --no-cann --arch="$(uname -m)" >build.log 2>&1 || { tail -n 30 build.log; die "./build.sh"; }
  find build/packaging -name "$kernel*" | grep -q . || die "the .run does not carry it"
  ./build.sh test >build.log 2>&1 || { tail -n 60 build.log; die "./build.sh test"; }
  tail -n 8 build.log
fi
PYTHONPATH=framework/python ASCGRAD_LIB=$PWD/build/lib/libascgrad.so "$python" - <<'PY' || die "torch does not see it"
import torch
import ascgrad.torch
x = torch.ones(3, 5)
da, db = torch.ops.ascgrad.swish_glu_grad(x, x, x, None, 1.0)
assert da.shape == db.shape == x.shape and abs(float(db[0, 0]) - 0.7310586) < 1e-6, db
PY
echo "the sixth operator is its own files"
