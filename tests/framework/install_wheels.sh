#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes one virtual environment for each framework that the tests use: tensorflow, mindspore, and PyTorch three times,
# with the newest torch_npu (torch), an older one (torch-old), and the newest PyTorch there is (torch-new). torch_npu is
# unpacked beside them, not installed: of it the tests use torchair's Python, and it cannot be imported without CANN.
# The downloads are 7 GB (x86_64, Python 3.11), 20 GB when installed; PIP_FIND_LINKS may name a folder of wheels. NumPy is
# held at 1.26: with NumPy 2 MindSpore 2.10 cannot hand out bfloat16 tensors.
#
# usage: install_wheels.sh DIR [PYTHON]
set -eu
dir=${1:?usage: install_wheels.sh DIR [PYTHON]}
python=${2:-}
if [ -z "$python" ]; then
    for candidate in python3.11 python3.10 python3.12 python3; do
        if command -v "$candidate" > /dev/null && "$candidate" -c 'import venv, ensurepip' 2> /dev/null; then
            python=$candidate
            break
        fi
    done
fi
[ -n "$python" ] || {
    echo "install_wheels: no python3 with venv (Debian: apt-get install python3-venv)" >&2
    exit 1
}

environment() { # NAME PACKAGES...
    name=$1
    shift
    [ -x "$dir/$name/bin/python" ] || "$python" -m venv "$dir/$name"
    "$dir/$name/bin/python" -m pip install --no-input --quiet --disable-pip-version-check numpy==1.26.4 "$@"
}

torchair() { # NAME VERSION
    [ -d "$dir/$1/torchair/torch_npu" ] || "$dir/$1/bin/python" -m pip install --no-input --quiet \
        --disable-pip-version-check --no-deps --target "$dir/$1/torchair" "torch-npu==$2"
}

environment tensorflow tensorflow-cpu==2.21.0 'ml-dtypes<0.6'
environment mindspore mindspore==2.10.0
environment torch torch==2.14.0 transformers==5.22.2 protobuf packaging pyyaml
torchair torch 2.14.0
environment torch-old torch==2.8.0 transformers==5.22.2 protobuf packaging pyyaml
torchair torch-old 2.8.0
environment torch-new torch transformers==5.22.2
echo "wheels are in $dir"
