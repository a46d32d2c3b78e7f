#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the kernels that the ascgrad package lacks which this script lies in, for the chips it was
# installed for and those of this machine, or --chip=A,B, and takes over the operator types whose
# binaries are then complete. CANN's set_env.sh must have been sourced. Options: --chip=A,B, --quiet.
# Exit status as that of the .run file.
set -u
unset CDPATH
here=$(cd -P "$(dirname "$0")/.." && pwd -P) || exit 3
case " $* " in
*" --help "* | *" -h "*)
    echo "compile.sh [--chip=A,B] [--quiet]: compiles the kernels of $here"
    exit 0
    ;;
esac
exec "$here/scripts/$(uname -m)/setup" compile --installed="$here" "$@"
