#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The build works in a folder of any name that CMake and Ninja can bear, and neither runs nor writes anything because of
# the name. Only what is generated while building is made, and one kernel that counts: that is where paths meet a shell.
# usage: test_folder.sh SOURCE
set -eu
source=$1
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
die() { printf 'FAIL: %s\n' "$*"; exit 1; }

# A name would, cut at an odd character or expanded, hit the bystander `a` or make a file `pwned`.
check() { # NAME
  folder=$base/$1
  mkdir "$folder"
  printf 'precious\n' >"$base/a"
  (cd "$source" && find . -mindepth 1 -maxdepth 1 ! -name build ! -name .git -exec cp -R {} "$folder" \;)
  cd "$base"
  cmake -S "$folder" -B "$folder/build" -G Ninja >"$base/log" 2>&1 || die "'$1': $(tail -n 15 "$base/log")"
  cmake --build "$folder/build" --target ir_headers ir_json tiling_fields kernel_rope_grad_0_1 >"$base/log" 2>&1 ||
    die "'$1': $(tail -n 15 "$base/log")"
  [ "$(cat "$base/a")" = precious ] || die "'$1': a file outside the folder was written"
  [ -z "$(find "$base" -name 'pwned*')" ] || die "'$1': its name was run"
  grep -q '"ExpSegsumGrad"' "$folder/build/ir.json" || die "'$1': ir.json is not there"
  grep -q 'RopeGradMany' "$folder/build/generated/fields.c" || die "'$1': fields.c is not there"
  rm -rf "$folder" "$base/a"
}

check 'a b'
# shellcheck disable=SC2016
check 'a b'\''c&touch pwned&(d)`touch pwned`$HOME@x@'
echo "2 passed, 0 failed"
