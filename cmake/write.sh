#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# write.sh FILE PROGRAM WORDS...: the program's output as a file. A file that has it already is left as it is, so that
# what depends on it is not built again.
set -eu
out=$1
shift
"$@" >"$out.new"
if cmp -s "$out.new" "$out"; then
  rm "$out.new"
else
  mv "$out.new" "$out"
fi
