#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What used to go wrong without a word: a machine without npu-smi, files of CANN that nobody can read, compilers that
# outlive a killed installer, a description of opc that is not understood, tar's and gzip's own variables.
. "$(dirname "$0")/lib.sh"
base=$fix/silence
mkdir -p "$base"
make_toolkit "$base/toolkit"
path=$base/toolkit/bin:/usr/bin:/bin
tbe=op_impl/ai_core/tbe
store=$tbe/config/ascend910b/aic-ascend910b-ops-info.json
type=$(first_type)

begin() {
    rm -rf "$base/cann"
    make_cann "$base/cann"
    opp=$base/cann/opp
    ours=$opp/vendors/ascgrad
    export ASCEND_OPP_PATH="$opp"
}
owner() { sed -n "s/^owner $1 \(ge=[^ ]* aclnn=[^ ]*\) .*/\1/p" "$ours/package.info"; }

# ---- no npu-smi, and no --chip=
begin
status 0 "nobody names a chip" env "PATH=$path" sh "$fix/one.run" --quiet
said "nobody names the chip"
same "the type is left" "$(owner "$type")" "ge=CANN aclnn=CANN"
command=$(sed -n 's/.*to compile them: //p' "$fix/out.$$")
status 0 "the command that was printed" env "PATH=$path" sh -c "$command"
same "then it is ours" "$(owner "$type")" "ge=ascgrad aclnn=ascgrad"
said "$type belonged to CANN and now belongs to ascgrad"
begin
mkdir -p "$opp/built-in/$tbe/kernel/config/ascend910b"
status 0 "CANN has kernels for one chip" env "PATH=$path" sh "$fix/one.run" --quiet
same "nothing to say" "$(cat "$fix/out.$$")" ""
same "that chip counts" "$(sed -n 's/^machine=//p' "$ours/package.info")" ascend910b
same "the type is ours" "$(owner "$type")" "ge=ascgrad aclnn=ascgrad"
status 0 "more chips" env "PATH=$path" sh "$fix/one.run" --quiet --chip=ascend910_93
same "are added" "$(sed -n 's/^machine=//p' "$ours/package.info")" ascend910b,ascend910_93

# ---- files of CANN
# unread WHAT [STATUS]: after a change of CANN's ops-info the type is not taken over, and both say why.
unread() {
    status "${2:-0}" "$1" env "PATH=$path" sh "$fix/one.run" --quiet --chip=ascend910b
    said "$store"
    same "$1: left to CANN" "$(owner "$type")" "ge=CANN aclnn=CANN"
    LD_LIBRARY_PATH=$fix/lib/cann "$ASCGRAD_BIN" doctor --opp "$opp" >"$base/doctor" 2>&1
    grep -A1 '^\[WARN\]' "$base/doctor" | grep -qF "$store" && pass || fail "$1: doctor: $(cat "$base/doctor")"
}
begin
cp "$opp/built-in/$store" "$base/good"
file=$opp/built-in/$store
(printf '\357\273\277' && cat "$base/good") >"$file"
status 0 "a byte order mark" env "PATH=$path" sh "$fix/one.run" --quiet --chip=ascend910b
same "is no trouble" "$(cat "$fix/out.$$")" ""
same "the type is ours with binaries" "$(owner "$type")" "ge=ascgrad aclnn=ascgrad"
status 4 "without" env PATH=/usr/bin:/bin sh "$fix/one.run" --quiet --no-compile
same "and CANN's without: its file was read" "$(owner "$type")" "ge=CANN aclnn=CANN"
for what in 'a trailing comma' 'a cut file' 'an empty file' 'an array' 'a zero byte' 'a link to nothing'; do
    begin
    file=$opp/built-in/$store
    case $what in
    'a trailing comma') sed 's/}$/,}/' "$base/good" >"$file" ;;
    'a cut file') head -c 100 "$base/good" >"$file" ;;
    'an empty file') : >"$file" ;;
    'an array') echo '[]' >"$file" ;;
    'a zero byte') (cat "$base/good" && printf '\000') >"$file" ;;
    'a link to nothing') rm "$file" && ln -s nowhere.json "$file" ;;
    esac
    unread "$what"
done
begin
env "PATH=$path" sh "$fix/one.run" --quiet --chip=ascend910b
: >"$opp/built-in/$store"
unread "a file that is spoilt later" 4
nested=$("${PYTHON:-/usr/bin/python3}" -c 'print("[" * 200 + "]" * 200)')
begin
sed "s/^{/{\"Deep\": $nested, /" "$base/good" >"$opp/built-in/$store"
status 0 "deep nesting" env PATH=/usr/bin:/bin sh "$fix/one.run" --quiet --no-compile --chip=ascend910b
same "is read" "$(owner "$type")" "ge=CANN aclnn=CANN"
grep -q "cannot be read" "$ours/package.info" && fail "deep nesting is not read" || pass

# ---- a killed installer
begin
compilers() { pgrep -cf "cann/opc/opc.py.*$base"; }
(cd / && OPC_SLEEP=20 PATH=$path exec "$fix/one/packages/vendors/ascgrad/scripts/$(uname -m)/setup" install \
    --payload="$fix/one" --chip=ascend910b >/dev/null 2>&1) &
setup=$!
for _ in $(seq 200); do
    [ "$(compilers)" = 0 ] || break
    sleep 0.1
done
[ "$(compilers)" != 0 ] && pass || fail "no compiler was started"
kill -9 "$setup"
wait "$setup" 2>/dev/null
for _ in $(seq 50); do
    [ "$(compilers)" != 0 ] || break
    sleep 0.1
done
same "no compiler outlives it" "$(compilers)" 0
status 0 "the next run" env "PATH=$path" sh "$fix/one.run" --quiet --chip=ascend910b
same "has nothing to say" "$(cat "$fix/out.$$")" ""
same "and clears up" "$(find "$opp/vendors" -maxdepth 1 -name '.ascgrad*')" ""

# ---- a description that is not understood
begin
mkdir -p "$base/odd/bin"
cat >"$base/odd/bin/opc" <<END
#!/bin/sh
"$base/toolkit/bin/opc" "\$@" || exit 1
case \$* in
*$type*) for f in "\$@"; do case \$f in --output=*) for d in "\${f#*=}"/*.json; do echo '{}' >"\$d"; break; done ;; esac; done ;;
esac
END
sed -i "s/\*$type\*/*$(kernel_of "$type").py*/" "$base/odd/bin/opc"
chmod 755 "$base/odd/bin/opc"
status 0 "one type's descriptions are odd" env "PATH=$base/odd/bin:/usr/bin:/bin" sh "$fix/one.run" --chip=ascend910b
same "it is left" "$(owner "$type")" "ge=CANN aclnn=CANN"
same "the others are not" "$(owner "$(last_type)")" "ge=ascgrad aclnn=ascgrad"
grep -q Traceback "$fix/out.$$" && fail "a traceback" || pass
log=$(sed -n 's/.*(see \([^)]*\)).*/\1/p' "$fix/out.$$")
grep -q "is not what this script understands" "$log" && pass || fail "the log says nothing: $log"
grep -qE "see [^)]*/\.ascgrad\.[0-9A-F]{12}/" "$fix/out.$$" && fail "names a file that is gone" || pass

# ---- the environment of the .run
begin
status 0 "GZIP and TAR_OPTIONS" env GZIP=-t TAR_OPTIONS=--to-stdout sh "$fix/one.run" --quiet --no-compile
expect "is whole" usable "$opp"
begin
mkdir "$base/small"
status 0 "few files at a time" env "TMPDIR=$base/small" sh -c 'ulimit -n 20 && exec sh "$0" --quiet --no-compile' "$fix/one.run"
status 3 "too few" env "TMPDIR=$base/small" sh -c 'ulimit -n 14 && exec sh "$0" --quiet --no-compile' "$fix/one.run"
same "nothing is left" "$(ls -A "$base/small")" ""
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    status 3 "a full TMPDIR" unshare -m sh -c \
        'mount -t tmpfs -o size=100k none "$1" && TMPDIR=$1 exec sh "$2"' sh "$base/small" "$fix/one.run"
    said "cannot unpack into"
    same "says it in a line" "$(wc -l <"$fix/out.$$")" 1
fi
finish
