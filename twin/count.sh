#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles one kernel so that it counts its own scalar instructions. Stands before the compiler, as a launcher does:
#     count.sh FILES COMPILER COMMAND... -o OBJECT -c SOURCE
# FILES is a pattern of the source files that count, see count.awk; COMPILER assembles.
set -eu
here=$(dirname "$0")
files=$1
compiler=$2
shift 2
object='' before=''
for word in "$@"; do # the same command, but assembler text instead of an object
  shift
  if [ "$before" = -o ]; then
    object=$word
    word=$word.s
  fi
  before=$word
  [ "$word" != -c ] || word=-S
  set -- "$@" "$word"
done
"$@" -g1 -fsanitize-coverage=trace-pc -fno-optimize-sibling-calls
awk -v files="$files" -f "$here/count.awk" "$object.s" >"$object.counted.s"
"$compiler" -c -x assembler "$object.counted.s" -o "$object"
rm "$object.s" "$object.counted.s"
