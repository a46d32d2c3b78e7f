# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What the scripts of this folder share: a build tree of the same project with other options, and its tests by label.
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
python=${PYTHON:-/usr/bin/python3}
jobs=${JOBS:-$(nproc)}
export PYTHONDONTWRITEBYTECODE=1

skip() { echo "skipped: $*"; exit 77; }
need() { command -v "$1" >/dev/null || { echo "$1 is missing; ./build.sh test --long installs it" >&2; exit 1; }; }

# tree FOLDER OPTIONS...: configures it; what runs while building comes from the first build tree.
tree() {
  folder=$1
  shift
  mkdir -p "$folder"
  cmake -S . -B "$folder" -G Ninja -DASCGRAD_IRDUMP="$build/bin/irdump" -DASCGRAD_PYTHON="$python" "$@" \
    >"$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; exit 1; }
}

# targets FOLDER NAMES...
targets() {
  folder=$1
  shift
  cmake --build "$folder" -j "$jobs" --target "$@" >"$folder/build.log" 2>&1 || { tail -n 30 "$folder/build.log"; exit 1; }
}

# tests FOLDER LABEL: runs them; there is at least one.
tests() {
  ctest --test-dir "$1" -L "^($2)\$" -j "$jobs" --no-tests=error --output-on-failure >"$1/tests.log" 2>&1 ||
    { tail -n 60 "$1/tests.log"; exit 1; }
  echo "$2: $(grep 'tests passed' "$1/tests.log")"
}
