#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The build works in a folder of any name that CMake can bear (not a double quote and no end of line: its own checks of the
# compiler fail there), and neither runs nor writes anything because of the name. Every command of both trees, this
# machine's and the cross-compiled one, is looked at as the shell takes it apart. Then what is generated while building is
# made, and one kernel that counts; or, with `whole`, all that a default build makes.
# usage: test_folder.sh SOURCE [whole]
set -eu
source=$1
whole=${2:-}
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
die() { printf 'FAIL: %s\n' "$*"; exit 1; }

# look TREE: nothing in its commands comes from the name.
look() {
  "${PYTHON:-/usr/bin/python3}" -B "$source/tests/tools/folder_commands.py" "$folder/$1" "$folder" >"$base/log" 2>&1 ||
    die "$1: $(tail -n 15 "$base/log")"
  tail -n 1 "$base/log"
}

# A name would, cut at an odd character or expanded, hit the bystander `a` or make a file `pwned`.
check() { # NAME
  folder=$base/$1
  mkdir "$folder"
  printf 'precious\n' >"$base/a"
  (cd "$source" && find . -mindepth 1 -maxdepth 1 ! -name build ! -name .git -exec cp -R {} "$folder" \;)
  cd "$base"
  cmake -S "$folder" -B "$folder/build" -G Ninja >"$base/log" 2>&1 || die "'$1': $(tail -n 15 "$base/log")"
  look build
  if command -v aarch64-linux-gnu-g++ >/dev/null; then
    cmake -S "$folder" -B "$folder/build/aarch64" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$folder/cmake/aarch64.cmake" \
      -DASCGRAD_IRDUMP="$folder/build/bin/irdump" >"$base/log" 2>&1 || die "'$1', aarch64: $(tail -n 15 "$base/log")"
    look build/aarch64
  fi
  set -- "$1" --target ir_headers ir_json tiling_fields kernel_rope_grad_0_1
  [ -z "$whole" ] || set -- "$1"
  name=$1
  shift
  cmake --build "$folder/build" -j "$(nproc)" "$@" >"$base/log" 2>&1 || die "'$name': $(tail -n 15 "$base/log")"
  set -- "$name"
  [ "$(cat "$base/a")" = precious ] || die "'$1': a file outside the folder was written"
  [ -z "$(find "$base" -name 'pwned*')" ] || die "'$1': its name was run"
  grep -q '"ExpSegsumGrad"' "$folder/build/ir.json" || die "'$1': ir.json is not there"
  grep -q 'RopeGradMany' "$folder/build/generated/fields.c" || die "'$1': fields.c is not there"
  rm -rf "$folder" "$base/a"
}

[ -n "$whole" ] || check 'a b'
# shellcheck disable=SC2016
check 'a b'\''c&touch pwned&(d)`touch pwned`$HOME@x@'
echo "passed"
