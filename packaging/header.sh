# SPDX-License-Identifier: Apache-2.0
# Sourced by makeself in place of its own header: writes the first part of the .run, which
# make_run.sh has already filled in. makeself only says where.
# shellcheck shell=sh disable=SC2154
cat "$ASCGRAD_STUB" >"$archname"
