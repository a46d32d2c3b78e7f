#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs a Python program in one of the virtual environments of install_wheels.sh; status 77 (skipped) if it is not there.
#
# usage: with_wheel.sh ENVIRONMENT PROGRAM [ARGUMENTS...]
set -eu
python=$1/bin/python
if ! [ -x "$python" ]; then
    echo "skipped: no $1; './build.sh test --frameworks' makes it"
    exit 77
fi
shift
exec "$python" "$@"
