#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds libascgrad_tf.so against a TensorFlow (1.15, 2.6 or newer).
#
# usage: build.sh OUTPUT LIBASCGRAD [PYTHON]      PYTHON is the one that has TensorFlow, python3 if not given
set -eu
here=$(cd "$(dirname "$0")" && pwd)
output=${1:?usage: build.sh OUTPUT LIBASCGRAD [PYTHON]}
library=${2:?usage: build.sh OUTPUT LIBASCGRAD [PYTHON]}
python=${3:-python3}

# TensorFlow's own flags, one per line; the paths may hold spaces.
flags=$(TF_CPP_MIN_LOG_LEVEL=3 "$python" -c '
import tensorflow as tf
print("\n".join(tf.sysconfig.get_compile_flags() + ["-Wl,--as-needed"] + tf.sysconfig.get_link_flags()))')
folder=$(cd "$(dirname "$library")" && pwd)
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
"${CC:-cc}" -std=c11 -O2 -fPIC -Wall -Wextra -c "$here/forward.c" -o "$objects/forward.o"

IFS='
'
for source in grad_ops forward_ops; do
    # shellcheck disable=SC2086 # split at newlines only
    "${CXX:-c++}" -O2 -fPIC -fvisibility=hidden -w $flags -I"$here" -I"$here/../../twin" \
        -c "$here/$source.cpp" -o "$objects/$source.o" &
    jobs="${jobs:-} $!"
done
IFS=' '
for job in $jobs; do wait "$job"; done
IFS='
'
# shellcheck disable=SC2086
"${CXX:-c++}" -shared "$objects/grad_ops.o" "$objects/forward_ops.o" "$objects/forward.o" "$library" $flags \
    -Wl,-rpath,"$folder" -o "$output"
echo "built $output"
