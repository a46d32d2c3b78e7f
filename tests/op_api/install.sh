#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the package of a build and installs it into DIR/opp, as on a machine with a toolkit. The
# toolkit's kernel compiler is a stand-in, and so are the kernels that come of it: the stand-in for
# CANN in build/standin runs the real ones, on the twin. DIR/set_env.sh is then what programs need:
#
#   install.sh BUILD DIR [OPTION...]     options go to the installer; default: --chip=ascend910b
#   . DIR/set_env.sh
set -eu
build=$(cd -P "$1" && pwd -P)
mkdir -p "$2"
dir=$(cd -P "$2" && pwd -P)
shift 2
[ $# -gt 0 ] || set -- --chip=ascend910b
# shellcheck source-path=SCRIPTDIR source=../packaging/lib.sh
. "$(dirname "$0")/../packaging/lib.sh"
tests=$top/tests/packaging
make_toolkit "$dir/toolkit"
: >"$dir/toolkit/$(uname -m)-linux/data/platform_config/Ascend950PR_9599.ini"
[ -f "$dir/ascgrad.run" ] || sh "$top/packaging/make_run.sh" --ir "$build/ir.json" --version 2.0.0 \
    "--lib-dir-$(uname -m)" "$build/package" --out "$dir/ascgrad.run"
mkdir -p "$dir/opp/built-in"
env "PATH=$dir/toolkit/bin:$PATH" "ASCEND_HOME_PATH=$dir/toolkit" "ASCEND_OPP_PATH=$dir/opp" \
    sh "$dir/ascgrad.run" --quiet "$@"
cat >"$dir/set_env.sh" <<END
export ASCEND_OPP_PATH=$(quoted "$dir/opp")
export LD_LIBRARY_PATH=$(quoted "$build/standin/lib:$build/stubs:$dir/opp/vendors/ascgrad/op_api/lib")
END
