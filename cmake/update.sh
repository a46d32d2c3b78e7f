#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# update.sh FOLDER PROGRAM WORDS...: the program writes into a folder that is its last word; then every file that differs
# is moved from there to the same place below FOLDER. Files that are the same already are left as they are.
set -eu
to=$1
shift
new=$to.new
rm -rf "$new"
mkdir -p "$new"
"$@" "$new"
(cd "$new" && find . -type f) | while IFS= read -r file; do
  if ! cmp -s "$new/$file" "$to/$file"; then
    mkdir -p "$(dirname "$to/$file")"
    mv "$new/$file" "$to/$file"
  fi
done
rm -rf "$new"
