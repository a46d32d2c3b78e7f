#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Removes the ascgrad package that this script lies in: its own files, its name in config.ini, and
# the directories that installing made, if they are empty. Options: --quiet.
set -u
unset CDPATH
here=$(cd -P "$(dirname "$0")/.." && pwd -P) || exit 3
case " $* " in
*" --help "* | *" -h "*)
    echo "uninstall.sh [--quiet]: removes ascgrad from $here"
    exit 0
    ;;
esac
exec "$here/scripts/$(uname -m)/setup" uninstall --installed="$here" "$@"
