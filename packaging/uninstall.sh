#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Removes the ascgrad package that this script lies in: its own files, its name in config.ini, and
# the directories that the installer made, if they are empty. Options: --quiet.
set -u
unset CDPATH
LC_ALL=C
export LC_ALL
scripts=$(cd -P "$(dirname "$0")" && pwd -P) || exit 3
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$scripts/common.sh"
for option; do
    case $option in
    --quiet | -q) quiet=yes ;;
    --help | -h)
        echo "uninstall.sh [--quiet]: removes ascgrad from $(dirname "$scripts")"
        exit 0
        ;;
    *) die 1 "unknown option: $option" ;;
    esac
done
case $scripts in
*/vendors/$vendor/scripts) choose_root "${scripts%/vendors/"$vendor"/scripts}" ;;
*) die 2 "$scripts is not inside vendors/$vendor" ;;
esac
check_target
cd /
lock
clean_leftovers
remove_package
