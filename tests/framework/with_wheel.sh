#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs a Python program in one of the virtual environments of install_wheels.sh. Status 77 (skipped) and the reason if its
# download failed; an environment that is not there, or not whole, is a failure.
#
# usage: with_wheel.sh ENVIRONMENT PROGRAM [ARGUMENTS...]
set -eu
environment=$1
shift
if [ -e "$environment.skipped" ]; then
    echo "skipped: $(cat "$environment.skipped")"
    exit 77
fi
if ! [ -e "$environment/complete" ]; then
    echo "no environment $environment; './build.sh test --frameworks' makes it"
    exit 1
fi
exec "$environment/bin/python" "$@"
