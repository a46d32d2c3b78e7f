#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the virtual environments of the frameworks tier, each with one framework from PyPI.
#     install_wheels.sh [--soak] [--cache=DIR] [--only=NAME] LINKS
#
# An environment lies in the cache under its name and versions, so that every clone of this tree uses the same one;
# LINKS/NAME leads to it. A file `complete` is written into it last: what has none is an attempt that was interrupted and
# is continued, with the wheels that had arrived by then. A download that fails leaves its reason in LINKS/NAME.skipped;
# anything else that goes wrong is a failure.
#
# torch_npu is unpacked beside PyTorch, not installed: the tests use the Python of torchair, which is part of it, and
# torch_npu itself cannot be imported without CANN. NumPy is held at 1.26: with NumPy 2 MindSpore 2.10 cannot hand out
# bfloat16 tensors.
set -eu
cache=${ASCGRAD_FRAMEWORK_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/ascgrad}
soak='' links='' only=''
for word in "$@"; do
  case $word in
    --soak) soak=1 ;;
    --cache=*) cache=${word#*=} ;;
    --only=*) only=${word#*=} ;;
    -*) echo "install_wheels: there is no '$word'" >&2; exit 1 ;;
    *) links=$word ;;
  esac
done
[ -n "$links" ] || { echo "usage: install_wheels.sh [--soak] [--cache=DIR] [--only=NAME] LINKS" >&2; exit 1; }
say() { printf '%s\n' "install_wheels: $*"; }
die() { say "$*" >&2; exit 1; }

python=''
for candidate in /usr/bin/python3.11 python3.11 python3.10 python3.12 python3; do
  if command -v "$candidate" >/dev/null && "$candidate" -c 'import venv, ensurepip' 2>/dev/null; then
    python=$(command -v "$candidate")
    break
  fi
done
[ -n "$python" ] || die "no python3 with venv (Debian: apt-get install python3-venv)"
version=$("$python" -c 'import sys; print("py%d.%d" % sys.version_info[:2])')
mkdir -p "$cache" "$links"
cache=$(cd "$cache" && pwd)
exec 9>"$cache/lock" # one installation at a time
flock -n 9 || { say "another installation into $cache is under way; waiting for it"; flock 9; }
# pip keeps every wheel here as soon as it is whole; removed with the environment's last step.
export PIP_CACHE_DIR="$cache/downloads" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

size() { du -sh "$1" | cut -f 1; }
status=0

# pip_install LOG WORDS...: pip in the environment; its lines on what it fetches are shown.
pip_install() {
  log=$1
  shift
  if "$place/bin/python" -m pip install --progress-bar off "$@" >"$log" 2>&1 9>&-; then return 0; fi
  tail -n 15 "$log"
  return 1
}

# environment NAME GIGABYTES TORCH_NPU PACKAGES...: TORCH_NPU is a version, or - for none.
environment() {
  name=$1 gigabytes=$2 npu=$3
  shift 3
  [ -z "$only" ] || [ "$only" = "$name" ] || return 0
  place=$cache/$name-$(printf '%s' "${1#*==}" | tr -c 'A-Za-z0-9.\n' -)-$version
  rm -f "$links/$name" "$links/$name.skipped"
  wanted="$* $npu"
  if [ "$(cat "$place/complete" 2>/dev/null)" = "$wanted" ]; then
    ln -s "$place" "$links/$name"
    say "$name: $place, as it was"
    return 0
  fi
  [ ! -e "$place/complete" ] || rm -rf "$place" # made for other packages
  more=$*
  [ "$npu" = - ] || more="$more, torchair of torch_npu $npu"
  say "$name: $more into $place; about $gigabytes GB of disk"
  begin=$(date +%s)
  "$python" -m venv "$place" || die "$name: no virtual environment"
  log=$place/pip.log
  (watch_log "$log" 9>&-) &
  watcher=$!
  good=1
  pip_install "$log" "numpy==$numpy" "$@" || good=''
  if [ -n "$good" ] && [ "$npu" != - ]; then
    rm -rf "$place/torchair"
    pip_install "$log" --no-deps --target "$place/torchair" "torch-npu==$npu" || good=''
    # only torchair and the list of operators are read
    [ -z "$good" ] || find "$place/torchair" -name '*.so*' -delete
  fi
  kill $watcher 2>/dev/null || :
  wait $watcher 2>/dev/null || :
  if [ -n "$good" ]; then
    printf '%s\n' "$wanted" >"$place/complete"
    rm -rf "$PIP_CACHE_DIR"
    ln -s "$place" "$links/$name"
    say "$name: done in $(($(date +%s) - begin)) s, $(size "$place")"
  elif only_network "$log"; then
    reason=$(grep -E "$network" "$log" | tail -n 1 | cut -c 1-160)
    printf '%s\n' "the download failed: $reason" >"$links/$name.skipped"
    say "$name: skipped, the download failed; the next run goes on from here"
  else
    say "$name: FAILED, see $log"
    status=1
  fi
}

# Whether nothing but the network is to blame: pip complains of connections, and of nothing that is not their consequence.
network='Retrying \(|Connection|timed out|Timeout|IncompleteRead|Max retries|HTTP error 5'
only_network() {
  grep -qE "$network" "$1" &&
    ! grep '^ERROR' "$1" | grep -qvE "$network|Could not find a version|No matching distribution|ERROR: Exception:\$"
}

# What pip fetches, line by line, and a sign of life while it unpacks.
watch_log() {
  seen=0 quiet=0
  while sleep 2 && kill -0 $$ 2>/dev/null; do # not longer than this script
    [ -e "$1" ] || continue
    lines=$(grep -c 'Downloading \|Using cached \|Installing ' "$1" || :)
    if [ "$lines" -lt "$seen" ]; then seen=0; fi
    if [ "$lines" -gt "$seen" ]; then
      grep 'Downloading \|Using cached \|Installing ' "$1" | tail -n +$((seen + 1)) | cut -c 1-120
      seen=$lines quiet=0
    fi
    quiet=$((quiet + 1))
    [ $((quiet % 15)) -ne 0 ] || say "still at it: $(size "$(dirname "$1")")"
  done
}

transformers="transformers==5.23.0 protobuf packaging pyyaml"
tensorflow='tensorflow-cpu' numpy=1.26.4
[ "$(uname -m)" = x86_64 ] || tensorflow=tensorflow # elsewhere it is for the CPU anyway
# shellcheck disable=SC2086 # words
{
  environment torch 6.0 2.14.0 torch==2.14.0 $transformers
  environment tensorflow 1.7 - $tensorflow==2.21.0 'ml-dtypes<0.6'
  environment mindspore 2.9 - mindspore==2.10.0
  if [ -n "$soak" ]; then
    environment torch-old 7.0 2.8.0 torch==2.8.0 $transformers
    environment torch-new 6.0 - torch==2.15.0 $transformers
    if python=$(command -v python3.9); then # the newest that TensorFlow 2.6.5 has wheels for
      version=py3.9 numpy=1.19.5
      environment tensorflow-old 1.5 - $tensorflow==2.6.5 'protobuf<3.20'
    else
      rm -f "$links/tensorflow-old"
      printf 'there is no python3.9\n' >"$links/tensorflow-old.skipped"
    fi
  fi
}
say "the environments take $(size "$cache") in $cache"
exit $status
