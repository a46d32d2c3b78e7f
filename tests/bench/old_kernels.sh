#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the command with the kernels and tilings of an older version in today's twin, so that today's model prices both:
#   old_kernels.sh COMMIT FOLDER        then: sweep.py FOLDER/build/bin/ascgrad --record VERSION
# 1.0.0 is 658f022, 2.0.0 is 0bc7bd5. Kernels of then keep masks that today's checker forbids; that rule is left out here.
set -eu
commit=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."

git archive HEAD | tar x -C "$folder"
rm -r "$folder/op_kernel" "$folder/op_tiling"
git archive "$commit" op_kernel op_tiling op_proto/inc | tar x -C "$folder"
cd "$folder"
sed -i '/^void twin_check_lanes/,/^}/s/^    if (lanes->current) {/    if (lanes) return;\n&/' twin/check_mask.c

if ! git -C "$OLDPWD" cat-file -e "$commit:core/node.h" 2>/dev/null; then # 1.0.0: other parameters
  cat >op_tiling/then.h <<'C'
#include "../core/node.h"
#define ascgrad_need_concrete(n, i, name, e)  ((void)(name), (ascgrad_need_concrete)(n, i, e))
#define ascgrad_need_dtype(n, e, names, a, b) ((void)(names), (ascgrad_need_dtype)(n, a, b, e))
C
  sed -i 's#\.\./ge/node\.h#then.h#; s/node->\(in\|out\)puts/node->ir->\1puts/g' op_tiling/*.[ch]
fi
cmake -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Release
ninja -C build ascgrad_command
