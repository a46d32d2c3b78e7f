#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds ascgrad, packages it and tests it. CMake does the work; this script only calls it.
set -eu
cd "$(dirname "$0")"

usage() {
  cat <<'TEXT'
usage: ./build.sh [COMMAND] [OPTIONS]

  (none)              install what is missing, build, package the .run, run `ascgrad check`
  test                run the tests that a change needs; with an option another tier of tests instead:
    --long            random calls and rows for minutes, fuzzing, coverage, mutation, sanitizers, qemu
    --frameworks      PyTorch, TensorFlow, MindSpore, torchair: 10 GB from PyPI, kept in --cache=DIR (default:
                      $ASCGRAD_FRAMEWORK_CACHE, else ascgrad in $XDG_CACHE_HOME or ~/.cache)
    --soak            what takes hours, and planted faults that each tier must notice
  bench               measure speed, also beside the PyTorch of --frameworks (6 GB from PyPI); rewrites the tables of
                      docs/benchmarks.md
  clean               remove build/

  --cann=DIR          check against this CANN toolkit (default: $ASCEND_HOME_PATH if it is set)
  --no-cann           build without a toolkit even if there is one
  --arch=ARCH         build and package only x86_64 or aarch64 (default: both)
  --binary            with a toolkit: compile the kernels ahead of time and add them to the package
  --debug             debug build
  --help              this text

Needs Linux, GCC 10 and CMake 3.20 or newer; docs/install.md lists systems. As root, missing packages are installed with
apt-get; otherwise the one command to run is printed. Results: build/bin/ascgrad, a wheel for each machine in build/, and
build/ascgrad-opp_<version>_linux-<arch>.run, where <arch> is x86_64_aarch64 if it is for both.
TEXT
}

say() { printf '%s\n' "build.sh: $*"; }
die() { printf '%s\n' "build.sh: $*" >&2; exit 1; }

command=build cann=${ASCEND_HOME_PATH:-} only='' type=Release binary='' tiers='' cache=''
for word in "$@"; do
  case $word in
    test | bench | clean) command=$word ;;
    --cann=*) cann=${word#*=} ;;
    --no-cann) cann='' ;;
    --arch=x86_64 | --arch=aarch64) only=${word#*=} ;;
    --debug) type=Debug ;;
    --binary) binary=1 ;;
    --long | --frameworks | --soak) tiers="$tiers ${word#--}" ;;
    --cache=*) cache=$word ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; die "there is no '$word'" ;;
  esac
done
if [ -n "$tiers$cache" ] && [ "$command" != test ]; then
  die "--long, --frameworks, --soak and --cache go with test"
fi

if [ -n "$binary" ] && [ "$command$cann" = build ]; then
  die "--binary needs a CANN toolkit: source its set_env.sh or give --cann=DIR"
fi

native=$(uname -m)
case $native in
  x86_64) other=aarch64 triple=aarch64-linux-gnu ;;
  aarch64) other=x86_64 triple=x86-64-linux-gnu ;;
  *) die "this machine is $native; x86_64 and aarch64 are known" ;;
esac
jobs=$(nproc)
python=${PYTHON:-/usr/bin/python3}

# need PACKAGE TEST...: remember the package if the test fails.
missing=''
need() {
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}

# The missing packages as Fedora and openEuler call them; makeself may have to come from elsewhere.
dnf_names() {
  # shellcheck disable=SC2086
  printf '%s\n' $missing | sed -e 's/^g++/gcc-c++/' -e 's/^libc6-dev$/glibc-devel glibc-static libstdc++-static/' \
    -e 's/^libcmocka-dev$/libcmocka-devel/' -e 's/^pyflakes3$/python3-pyflakes/' -e 's/^pkg-config$/pkgconf/' \
    -e 's/^clang-format$/clang-tools-extra/' -e 's/^shellcheck$/ShellCheck/' -e '/^python3-venv$/d' | tr '\n' ' '
}

install_missing() {
  [ -n "$missing" ] || return 0
  line="apt-get update && sudo apt-get install -y --no-install-recommends$missing"
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing$missing"
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    missing=''
  else
    command -v dnf >/dev/null && line="dnf install $(dnf_names)"
    die "missing:$missing; run: sudo $line"
  fi
}

need_build_tools() {
  need gcc command -v gcc
  need g++ command -v g++
  need libc6-dev test -e /usr/include/stdlib.h
  need cmake command -v cmake
  need ninja-build command -v ninja
  need makeself command -v makeself
  need python3 "$python" -c ''
  need libcmocka-dev test -e /usr/include/cmocka.h
  if [ "$only" != "$native" ]; then
    need "gcc-$triple" command -v "$(echo $triple | sed s/x86-64/x86_64/)-gcc"
    need "g++-$triple" command -v "$(echo $triple | sed s/x86-64/x86_64/)-g++"
  fi
  install_missing
}

need_test_tools() {
  need python3-numpy "$python" -c 'import numpy'
  need python3-torch "$python" -c 'import torch'
  need python3-venv "$python" -c 'import venv, ensurepip'
  need shellcheck command -v shellcheck
  need clang-format command -v clang-format
  need pyflakes3 command -v pyflakes3
  need pkg-config command -v pkg-config
  need chromium command -v chromium
  case $tiers in *long* | *soak*)
    need qemu-user command -v qemu-aarch64
    need gcovr command -v gcovr
    need clang command -v clang
    # shellcheck disable=SC2016 # for that shell
    need libclang-rt-14-dev sh -c 'test -e "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-$(uname -m).a"'
    ;;
  esac
  install_missing
}

configure() {
  if [ -n "$cann" ]; then
    [ -d "$cann" ] || die "there is no toolkit at $cann; give --cann=DIR or --no-cann"
    say "CANN toolkit: $cann"
  else
    say "CANN toolkit: none (not needed)"
  fi
  say "$(gcc --version | head -n 1), $(cmake --version | head -n 1), $native"
  mkdir -p build
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=$type -DASCGRAD_CANN="$cann" -DASCGRAD_PYTHON="$python" \
    >build/configure.log 2>&1 || { cat build/configure.log >&2; die "configuring failed"; }
}

# The other architecture: the same libraries and command, cross-compiled.
cross() {
  cmake -S . -B build/$other -G Ninja -DCMAKE_BUILD_TYPE=$type \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/$other.cmake" -DASCGRAD_IRDUMP="$PWD/build/bin/irdump" \
    >build/configure-$other.log 2>&1 || { cat build/configure-$other.log >&2; die "configuring $other failed"; }
  say "building for $other"
  cmake --build build/$other -j "$jobs" --target package_parts
  cp build/$other/ascgrad-*.whl build/$other/ascgrad-*.whl.sha256 build/
}

package() {
  version=$(sed -n 's/^project(ascgrad VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  set --
  label=''
  for arch in x86_64 aarch64; do
    [ -z "$only" ] || [ "$arch" = "$only" ] || continue
    dir=build
    [ "$arch" = "$native" ] || dir=build/$arch
    set -- "$@" "--lib-dir-$arch" "$dir/package"
    label=$label${label:+_}$arch
  done
  run=build/ascgrad-opp_${version}_linux-$label.run
  set -- --ir build/ir.json --version "$version" "$@" --work build/packaging --out "$run"
  [ -z "$binary" ] || set -- "$@" --compile all
  sh packaging/make_run.sh "$@"
  say "package: $run"
  say "wheels: $(echo build/ascgrad-"$version"-*.whl)"
}

# run_tier NAME: the tests of one tier, and nothing else; the last line counts them.
run_tier() {
  record=$PWD/build/tier-$1.xml
  rm -f "$record"
  case $1 in
    short) set -- "$1" -LE '^(long|frameworks|soak)$' ;;
    *) set -- "$1" -L "^$1\$" ;;
  esac
  tier=$1
  shift
  case $tier in
    frameworks) sh tests/framework/install_wheels.sh ${cache:+"$cache"} build/frameworks || return 1 ;;
    soak) sh tests/framework/install_wheels.sh --soak ${cache:+"$cache"} build/frameworks || return 1 ;;
  esac
  ctest --test-dir build -j "$jobs" --output-on-failure --no-tests=error --output-junit "$record" "$@" || :
  "$python" -B tests/tally.py build "$tier"
}

case $command in
  clean)
    rm -rf build
    exit 0
    ;;
  build)
    need_build_tools
    configure
    if [ "$only" != "$other" ]; then
      say "building for $native"
      cmake --build build -j "$jobs"
    else
      cmake --build build -j "$jobs" --target irdump ir_json aclnn_code
    fi
    [ "$only" = "$native" ] || cross
    package
    [ "$only" = "$other" ] || build/bin/ascgrad check
    ;;
  test)
    need_build_tools
    need_test_tools
    [ -e build/build.ninja ] || configure
    cmake --build build -j "$jobs"
    bad=0
    for tier in ${tiers:-short}; do
      run_tier "$tier" || bad=1
    done
    exit $bad
    ;;
  bench)
    need_build_tools
    need_test_tools
    [ -e build/build.ninja ] || configure
    cmake --build build -j "$jobs"
    # the PyTorch that the frameworks tier pins
    sh tests/framework/install_wheels.sh --only=torch build/frameworks || :
    if [ -e build/frameworks/torch/complete ]; then
      python=build/frameworks/torch/bin/python
    else
      say "no environment with the pinned PyTorch: comparing with the one of $python"
    fi
    "$python" tests/bench/bench.py --build build
    ;;
esac
