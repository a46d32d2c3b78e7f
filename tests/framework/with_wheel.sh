#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs a Python program in the virtual environment of install_wheels.sh; status 77 (skipped) if the module is not there.
#
# usage: with_wheel.sh ENVIRONMENT MODULE PROGRAM [ARGUMENTS...]
set -eu
python=$1/bin/python
module=$2
shift 2
if ! [ -x "$python" ] || ! "$python" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$module') is None)"; then
    echo "skipped: no $module; './build.sh test --frameworks' installs it"
    exit 77
fi
exec "$python" "$@"
