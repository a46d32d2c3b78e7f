#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The look of the tree, as Debian 12's tools see it: clang-format 14 for C and C++, shellcheck for shell, pyflakes3 for
# Python. Tables of rows are data and keep their own lines.
#
# usage: test_style.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
failed=0

files() { # PATTERN...: files of the tree, without what was built
    for pattern in "$@"; do
        find . -name 'build*' -type d -prune -o -name .git -prune -o -type f -name "$pattern" -print
    done | LC_ALL=C sort
}

# look TOOL WORDS...: the tool, with the names in the list, is content.
look() {
    command -v "$1" >/dev/null || { echo "$1 is missing; ./build.sh test installs it"; failed=1; return; }
    if ! xargs "$@" <"$list" >"$said" 2>&1; then
        echo "FAIL: $1:"
        head -n 40 "$said" | cut -c 1-160
        failed=1
    fi
}

said=$(mktemp) list=$(mktemp)
trap 'rm -f "$said" "$list"' EXIT
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    files '*.c' '*.h' '*.cpp' | grep -v -e '_rows\.h$' -e '/refusals\.h$' -e '/reg_op\.h$' >"$list"
    look clang-format --dry-run -Werror
else
    echo "clang-format 14 is missing: the look of C and C++ was not compared"
    failed=1
fi
files '*.sh' >"$list"
look shellcheck -x
files '*.py' >"$list"
look pyflakes3

# The changelog: every bullet below Breaking, Added, Changed or Fixed, in this order, each once for a version.
changelog() { # FILE
    awk 'function bad(what) { print FILENAME ":" FNR ": " what; failed = 1 }
        BEGIN { order["Breaking"] = 1; order["Added"] = 2; order["Changed"] = 3; order["Fixed"] = 4 }
        /^## / { if (seen[$2]++) bad($2 " stands there twice"); last = 0 }
        /^### / { if (!order[$2] || order[$2] <= last) bad($2 " is not in its place"); last = order[$2] }
        /^- / && !last { bad("a line of no section") }
        END { exit failed }' "$1"
}
changelog CHANGELOG.md || failed=1

# The check must see what it is there for.
work=$(mktemp -d)
printf 'int  f ( void );\n' >"$work/a.c"
printf '#!/bin/sh\nread x\n' >"$work/a.sh"
printf 'import os\n' >"$work/a.py"
clang-format --style=file --dry-run -Werror "$work/a.c" 2>/dev/null && { echo "FAIL: clang-format sees nothing"; failed=1; }
shellcheck "$work/a.sh" >/dev/null && { echo "FAIL: shellcheck sees nothing"; failed=1; }
pyflakes3 "$work/a.py" >/dev/null && { echo "FAIL: pyflakes3 sees nothing"; failed=1; }
for fault in '## 1\n- a' '## 1\n### Fixed\n- a\n### Added\n- b' '## 1\n### Added\n- a\n## 1' '## 1\n### News\n- a'; do
    # shellcheck disable=SC2059
    printf "$fault\n" >"$work/a.md"
    changelog "$work/a.md" >/dev/null && { echo "FAIL: the changelog may be '$fault'"; failed=1; }
done
rm -rf "$work"

[ "$failed" = 0 ] && echo "the tree looks as it should"
exit "$failed"
