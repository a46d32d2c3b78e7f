#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the .run file: puts the package tree together and hands it to makeself.
#
#   make_run.sh --ir BUILD/ir.json --version V --out FILE.run
#                              BUILD/op_api/include has the headers of the aclnn functions
#       --lib-dir-x86_64 DIR   holds libcust_opsproto_rt2.0.so, libcust_opmaster_rt2.0.so, setup and,
#                              if they exist, ascgrad (the command), probe and
#                              accept_aclnn (its helpers), libcust_tf_parsers.so, libcust_onnx_parsers.so, libcust_opapi.so,
#                              libascgrad_fusion.so
#       --lib-dir-aarch64 DIR  the same for aarch64; one of the two may be left out
#       --bin-x86_64 FILE      the ascgrad command, if it is not in the library directory
#       --bin-aarch64 FILE
#       --work DIR             for intermediate files and msopgen/*.json (default: FILE.run.d)
#       --compile CHIPS        add kernel binaries for these chips, or for all that the toolkit here
#                              knows; see kernels.py
#       --source DIR           the source tree (default: the one this script is in)
#       --payload DIR          only put the tree together, in DIR, without the Python package: the wheel carries it
#
# The same input gives the same file, bit for bit, whatever the folder, time, umask, locale or user.
# SOURCE_DATE_EPOCH sets the time stamps inside. Beside FILE.run goes FILE.run.sha256.
set -eu
umask 022
unset CDPATH
export LC_ALL=C TZ=UTC

die() {
    printf 'make_run: %s\n' "$*" >&2
    exit 1
}

packaging=$(cd -P "$(dirname "$0")" && pwd -P)
source=$(dirname "$packaging")
ir='' version='' out='' work='' compile='' payload=''
lib_x86_64='' lib_aarch64='' bin_x86_64='' bin_aarch64=''
while [ $# -gt 1 ]; do
    case $1 in
    --ir) ir=$2 ;;
    --version) version=$2 ;;
    --out) out=$2 ;;
    --work) work=$2 ;;
    --compile) compile=$2 ;;
    --source) source=$2 ;;
    --payload) payload=$2 ;;
    --lib-dir-x86_64) lib_x86_64=$2 ;;
    --lib-dir-aarch64) lib_aarch64=$2 ;;
    --bin-x86_64) bin_x86_64=$2 ;;
    --bin-aarch64) bin_aarch64=$2 ;;
    *) die "unknown option $1" ;;
    esac
    shift 2
done
[ $# -eq 0 ] || die "$1 has no value"
[ -f "$ir" ] || die "--ir: no file '$ir'"
[ -n "$out$payload" ] || die "--out is missing"
case $version in
'' | *[!0-9A-Za-z.+_-]*) die "--version: '$version' is not a version" ;;
esac
[ -n "$lib_x86_64$lib_aarch64" ] || die "no --lib-dir-x86_64 and no --lib-dir-aarch64"
work=${work:-${out:-$payload}.d}
mkdir -p "$work"
work=$(cd -P "$work" && pwd -P)

[ -z "$payload" ] || out=''
payload=${payload:-$work/payload}
tree=$payload/packages/vendors/ascgrad
tbe=$tree/op_impl/ai_core/tbe
impl=$tbe/ascgrad_impl
rm -rf "$payload" "$work/msopgen" "$work/tmp"
mkdir -p "$tree" "$work/tmp"

# What repeats the IR.
python3 -B "$packaging/generate.py" --ir "$ir" --socs "$packaging/socs.txt" --vendor "$tree" \
    --kernels "$source/op_kernel" --msopgen "$work/msopgen"
types=$(python3 -c 'import json, sys
for op in json.load(open(sys.argv[1])): print(op["type"], op["kernel"])' "$ir")
ops=$(echo "$types" | cut -d' ' -f1 | paste -sd' ' -)
kernels=$(echo "$types" | cut -d' ' -f2)
socs=$(python3 -B "$packaging/socs.py" "$packaging/socs.txt")

# Kernels as source: one directory per operator, headers where every launcher looks.
mkdir -p "$impl/ascendc/common"
cp "$source"/op_kernel/*.h "$impl/ascendc/common"
for name in $kernels; do
    mkdir "$impl/ascendc/$name"
    cp "$source/op_kernel/$name.cpp" "$impl/ascendc/$name" || die "no kernel for $name"
done
sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\(.*\)".*/\1/p' \
    "$impl"/ascendc/*/*.cpp "$impl"/ascendc/common/*.h | sort -u | while read -r header; do
    [ "$header" = kernel_operator.h ] || [ -f "$impl/ascendc/common/$header" ] ||
        die "a kernel includes $header, which is not in op_kernel/"
done

# The header for graph programs, also under the name that CANN's own tools give it. Both are whole:
# the vendor's test kit reads the prototypes from the text of *_proto.h, and does not follow includes.
mkdir -p "$tree/op_proto/inc"
cp "$source/op_proto/inc/ascgrad_ops.h" "$tree/op_proto/inc"
cp "$source/op_proto/inc/ascgrad_ops.h" "$tree/op_proto/inc/op_proto.h"

# The headers of the aclnn functions, which the build has made beside the IR.
aclnn=$(dirname "$ir")/op_api/include
mkdir -p "$tree/op_api/include/aclnnop"
for name in $kernels; do
    cp "$aclnn/aclnn_$name.h" "$tree/op_api/include"
    cp "$aclnn/aclnnop/aclnn_$name.h" "$tree/op_api/include/aclnnop"
done
cp "$packaging/../op_api/include/ascgrad_acl.h" "$tree/op_api/include"

# What `ascgrad accept` builds its runner of graphs from, on the machine with the toolkit.
mkdir -p "$tree/share/accept"
cp "$packaging/../tools/accept/run_ge.cpp" "$packaging/../tools/accept/wire.h" "$packaging/../tools/accept/build_ge.sh" \
    "$packaging/../examples/geir/ge_session.h" "$tree/share/accept"
python3 -B "$packaging/../tools/accept/probe/make.py" "$tree/share/accept/probe"

# add_arch ARCH LIB_DIR COMMAND
add_arch() {
    proto=$tree/op_proto/lib/linux/$1
    tiling=$tbe/op_tiling/lib/linux/$1
    mkdir -p "$proto" "$tiling" "$tree/bin/$1" "$tree/scripts/$1"
    cp "$2/libcust_opsproto_rt2.0.so" "$proto"
    cp "$2/libcust_opmaster_rt2.0.so" "$tiling"
    [ ! -f "${3:-$2/ascgrad}" ] || cp "${3:-$2/ascgrad}" "$tree/bin/$1/ascgrad"
    for helper in probe accept_aclnn; do
        [ ! -f "$2/$helper" ] || cp "$2/$helper" "$tree/bin/$1"
    done
    cp "$2/setup" "$tree/scripts/$1"
    # The Python package, for the machine that has no network: pip install it.
    wheel=ascgrad-$version-py3-none-manylinux_2_17_$1.whl
    [ -z "$out" ] || [ ! -f "$2/$wheel" ] || { mkdir -p "$tree/python" && cp "$2/$wheel" "$tree/python"; }
    # There is one place for the aclnn functions of all machines, and GE opens every library below
    # framework/: the installer adds those of its machine only.
    if [ -f "$2/libcust_opapi.so" ]; then
        mkdir -p "$payload/packages/arch/$1/op_api/lib"
        cp "$2/libcust_opapi.so" "$payload/packages/arch/$1/op_api/lib"
    fi
    for framework in tf:tensorflow onnx:onnx; do
        parser=libcust_${framework%:*}_parsers.so
        [ -f "$2/$parser" ] || continue
        mkdir -p "$payload/packages/arch/$1/framework/${framework#*:}"
        cp "$2/$parser" "$payload/packages/arch/$1/framework/${framework#*:}"
    done
    # The graph pass likewise; it is moved to where GE looks if the user wants it.
    if [ -f "$2/libascgrad_fusion.so" ]; then
        mkdir -p "$payload/packages/arch/$1/fusion"
        cp "$2/libascgrad_fusion.so" "$payload/packages/arch/$1/fusion"
    fi
    arches="$arches $1"
}
arches=
[ -z "$lib_x86_64" ] || add_arch x86_64 "$lib_x86_64" "$bin_x86_64"
[ -z "$lib_aarch64" ] || add_arch aarch64 "$lib_aarch64" "$bin_aarch64"
arches=${arches# }
first=${arches%% *}
# Cases for the vendor's test kit, from whichever command runs here.
case $(uname -m) in
x86_64) command=${bin_x86_64:-$lib_x86_64/ascgrad} ;;
*) command=${bin_aarch64:-$lib_aarch64/ascgrad} ;;
esac
if [ -x "$command" ]; then
    mkdir -p "$tree/share"
    "$command" ttk "$tree/share/ttk" >"$work/tmp/ttk.log" || die "$(cat "$work/tmp/ttk.log")"
fi
ln -s "lib/linux/$first/libcust_opmaster_rt2.0.so" "$tbe/op_tiling/liboptiling.so"
[ ! -f "$tree/bin/$first/ascgrad" ] || ln -s "$first/ascgrad" "$tree/bin/ascgrad"
find "$tree/bin" "$tree/scripts" -type d -empty -delete
mkdir -p "$tree/bin" "$tree/scripts"
[ ! -f "$source/LICENSE" ] || cp "$source/LICENSE" "$tree"
cp "$packaging/uninstall.sh" "$packaging/compile.sh" "$packaging/kernels.py" "$tree/scripts"

if [ -n "$compile" ]; then
    [ "$compile" != all ] || compile=
    native=lib/linux/$(uname -m)/libcust_opmaster_rt2.0.so
    [ ! -f "$tbe/op_tiling/$native" ] || ln -sf "$native" "$tbe/op_tiling/liboptiling.so"
    python3 -B "$tree/scripts/kernels.py" --vendor "$tree" --chips "$compile" ||
        die "kernels are missing; see $tree/compile.log"
    ln -sf "lib/linux/$first/libcust_opmaster_rt2.0.so" "$tbe/op_tiling/liboptiling.so"
    mv "$tree/compile.log" "$work"
fi

# package.info: see package/manifest.h.
libraries=$(cd "$tree" && find . -name 'libcust_op*.so' | sed 's,^\./,,' | sort)
{
    cat <<END
package=ascgrad-opp
version=$version
format=2
arch=$arches
soc=$socs
ops=$ops
ir_sha256=$(sha256sum <"$ir" | cut -d' ' -f1)
glibc=$(cd "$tree" && echo "$libraries" | xargs grep -haoE 'GLIBC_2\.[0-9]+' |
        sed 's/GLIBC_//' | sort -t. -k2,2n | tail -n 1)
END
    echo "$types" | sed 's/^/kernel /'
    echo
    (
        cd "$tree"
        find . -type f ! -name package.info | sed 's,^\./,,' | sort | xargs sha256sum
        find . -type l | sed 's,^\./,,' | sort |
            while read -r link; do echo "link $link $(readlink "$link")"; done
    )
} >"$tree/package.info"
echo "end $(sed '1,/^$/d' "$tree/package.info" | wc -l)" >>"$tree/package.info"

find "$payload" -type d -exec chmod 755 {} +
find "$payload" -type f -exec chmod 644 {} +
find "$tree/bin" -type f -exec chmod 755 {} +
chmod 755 "$tree"/scripts/*.sh "$tree"/scripts/*.py "$tree"/scripts/*/setup
if [ -z "$out" ]; then
    rm -rf "$work/tmp"
    exit 0
fi

# The text in front of the archive.
{
    echo "package: ascgrad-opp $version"
    echo "operators: $ops"
    echo "chips: $socs"
    echo "machines: $arches"
    echo "CANN: 8.1 or later, with its toolkit (kernels are compiled on the target)"
    [ ! -d "$tbe/kernel" ] || echo "kernel binaries: $(cd "$tbe/kernel" && echo ascend*)"
    echo "IR: $(sed -n 's/^ir_sha256=//p' "$tree/package.info")"
} >"$work/info"
lines=$(($(wc -l <"$packaging/stub.sh.in") + $(wc -l <"$work/info") - 1))
sed -e "/^@INFO@\$/{r $work/info" -e 'd;}' -e "s/@NAME@/ascgrad-opp/g" \
    -e "s/@VERSION@/$version/g" -e "s/@FILE@/$(basename "$out")/g" \
    -e "s/@DATA@/$((lines + 1))/g" "$packaging/stub.sh.in" >"$work/stub.sh"
[ "$(wc -l <"$work/stub.sh")" -eq "$lines" ] || die "the stub has not $lines lines"

epoch=${SOURCE_DATE_EPOCH:-1767225600}
ASCGRAD_STUB=$work/stub.sh TMPDIR=$work/tmp makeself --quiet --nomd5 --nocrc --gzip --complevel 9n \
    --header "$packaging/header.sh" --tar-format gnu \
    --tar-extra "--owner=0 --group=0 --numeric-owner --mtime=@$epoch" \
    "$payload" "$work/unsigned.run" "ascgrad-opp $version" ./setup

# Line 3 becomes the checksum of all the others.
sum=$({ head -n 2 "$work/unsigned.run" && tail -n +4 "$work/unsigned.run"; } | sha256sum)
{
    head -n 2 "$work/unsigned.run"
    echo "# ${sum%% *}"
    tail -n +4 "$work/unsigned.run"
} >"$work/signed.run"
chmod 755 "$work/signed.run"
mkdir -p "$(dirname "$out")"
mv "$work/signed.run" "$out"
(cd "$(dirname "$out")" && sha256sum "$(basename "$out")" >"$(basename "$out").sha256")
rm -rf "$work/tmp" "$work/unsigned.run"
