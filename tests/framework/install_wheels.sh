#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes a virtual environment with the wheels that the TensorFlow and MindSpore tests need. The downloads are 804 MB for
# MindSpore and 274 MB for TensorFlow (x86_64, Python 3.11); installed they are 2.5 GB and 1.3 GB, 4.2 GB with what they
# need. NumPy is held at 1.26: with NumPy 2 MindSpore 2.10 cannot hand out bfloat16 tensors.
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
[ -x "$dir/bin/python" ] || "$python" -m venv "$dir"
"$dir/bin/python" -m pip install --no-input --quiet --disable-pip-version-check \
    tensorflow-cpu==2.21.0 mindspore==2.10.0 numpy==1.26.4 'ml-dtypes<0.6'
"$dir/bin/python" -c 'import sys; print("wheels are in", sys.prefix)'
