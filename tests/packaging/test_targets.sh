#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where the installer goes and where it refuses to go; options; odd config.ini files.
. "$(dirname "$0")/lib.sh"
base=$fix/targets
mkdir -p "$base"
cd "$base" || exit 1

# Wrong options are refused before anything is written.
make_cann "$base/cann"
before=$(snapshot "$base/cann")
export ASCEND_OPP_PATH="$base/cann/opp"
for option in --instal-path=x --install-path --install-path= --upgrade x -x --quite --extract= \
    '--force ' ''; do
    status 1 "option '$option'" sh "$fix/one.run" "$option"
done
status 1 "a good and a wrong option" sh "$fix/one.run" --quiet --nonsense
status 1 "setup itself" unpacked one --nonsense
status 1 "two modes at once" sh "$fix/one.run" --graph-only --no-override
status 1 "a chip that is not ours" sh "$fix/one.run" --chip=ascend310p
said "ascend310p"
same "nothing is written" "$(snapshot "$base/cann")" "$before"

# ASCEND_CUSTOM_OPP_PATH is never a target, however it looks.
for value in "$base/cann/opp/vendors/ascgrad2" "$base/a:$base/b" "$base/a:" ":"; do
    make_cann "$base/cann"
    expect "with '$value'" env "ASCEND_CUSTOM_OPP_PATH=$value" sh "$fix/one.run"
    expect "goes to the default" usable "$base/cann/opp"
    same "nothing nested" "$(find "$base/cann/opp/vendors/ascgrad2" -name vendors | wc -l)" 0
    same "nothing named like the list" "$(find "$base" -maxdepth 1 -name 'a*' | wc -l)" 0
done
unset ASCEND_OPP_PATH
status 2 "no target at all" env "ASCEND_CUSTOM_OPP_PATH=$base/a" HOME=/nonexistent sh "$fix/one.run"
said "ASCEND_OPP_PATH"
status 2 "ASCEND_OPP_PATH leads nowhere" env "ASCEND_OPP_PATH=$base/nowhere" sh "$fix/one.run"
expect "made ASCEND_OPP_PATH" [ ! -e "$base/nowhere" ]

# Odd but legal install paths.
show='. "$0"; echo "$ASCEND_CUSTOM_OPP_PATH"'
for name in 'with space' "quote'd" 'double"quoted' '-dash' '$HOME' 'back`tick' 'a*b' \
    'new/and/deep' 'tra\iling///'; do
    path="$base/p/$name"
    expect "install into '$name'" sh "$fix/one.run" --install-path="$path"
    expect "is whole in '$name'" usable "$path"
    expect "--install-path writes no config.ini ($name)" [ ! -e "$path/vendors/config.ini" ]
    same "set_env.bash in '$name'" \
        "$(sh -c "$show" "$path/vendors/ascgrad/bin/set_env.bash")" \
        "${path%%///}/vendors/ascgrad"
    expect "upgrade in '$name'" sh "$fix/two.run" --install-path="$path"
    same "version in '$name'" "$(version_in "$path")" 2.0.0
    expect "uninstall from '$name'" sh "$path/vendors/ascgrad/scripts/uninstall.sh"
    expect "something is left in '$name'" [ ! -e "$base/p" ]
done
expect "a warning for GE" sh "$fix/one.run" --install-path="$base/with space"
said "GE compiles kernels only from paths"
expect "uninstall by the .run" sh "$fix/one.run" --uninstall --install-path="$base/with space"
expect "something is left" [ ! -e "$base/with space" ]

# Refused install paths.
mkdir -p "$base/refuse/file" "$base/refuse/open" "$base/refuse/sticky"
: >"$base/refuse/file/vendors"
chmod 777 "$base/refuse/open"
chmod 1777 "$base/refuse/sticky"
for path in relative ./relative -dash "$base/a/../b" "$base/.." "$base/a:b" "$base/a
b" / // "$base/refuse/file" "$base/refuse/open" "$base/refuse/open/deep" \
    "$base/refuse/file/vendors/x"; do
    status 2 "install path '$path'" sh "$fix/one.run" --install-path="$path"
done
same "refusals write nothing" "$(find "$base/refuse" -type f)" "$base/refuse/file/vendors"
expect "sticky is fine" sh "$fix/one.run" --install-path="$base/refuse/sticky/mine"
expect "open to all, forced" sh "$fix/one.run" --install-path="$base/refuse/open" --force
if [ "$(id -u)" = 0 ]; then
    make_cann "$base/cann"
    status 2 "a user in root's CANN" as_user env "ASCEND_OPP_PATH=$base/cann/opp" sh "$fix/one.run"
    said "--install-path"
fi

# Symbolic links are neither followed nor silently replaced where a directory belongs.
make_cann "$base/cann"
export ASCEND_OPP_PATH="$base/cann/opp"
mkdir "$base/victim"
ln -s "$base/victim" "$base/cann/opp/vendors/ascgrad"
status 2 "vendors/ascgrad is a link" sh "$fix/one.run"
status 2 "vendors/ascgrad is a link, uninstall" sh "$fix/one.run" --uninstall
rm "$base/cann/opp/vendors/ascgrad"
mv "$base/cann/opp/vendors" "$base/cann/elsewhere"
ln -s "$base/cann/elsewhere" "$base/cann/opp/vendors"
status 2 "vendors is a link" sh "$fix/one.run"
same "nothing went through the link" "$(ls -A "$base/victim")" ""
expect "nor through the other" [ ! -e "$base/cann/elsewhere/ascgrad" ]
make_cann "$base/cann"
mv "$base/cann/opp" "$base/cann/8.1"
ln -s 8.1 "$base/cann/opp"
expect "opp itself may be a link" sh "$fix/one.run"
expect "is whole" usable "$base/cann/8.1"
rm -rf "$base/cann/8.1/vendors/ascgrad/op_proto"
mkdir "$base/cann/8.1/vendors/ascgrad/op_proto"
ln -s "$base/victim" "$base/cann/8.1/vendors/ascgrad/op_proto/inc"
expect "links inside the old version" sh "$fix/two.run"
same "the link was not followed" "$(ls -A "$base/victim")" ""
echo "load_priority=other" >"$base/victim/real.ini"
ln -sf "$base/victim/real.ini" "$base/cann/8.1/vendors/config.ini"
expect "config.ini is a link" sh "$fix/two.run"
same "the file behind the link" "$(cat "$base/victim/real.ini")" "load_priority=other"
same "config.ini now" "$(cat "$base/cann/opp/vendors/config.ini")" "load_priority=ascgrad,other"

# config CONTENT WANT: what becomes of a config.ini.
config() {
    make_cann "$base/cann"
    # shellcheck disable=SC2059
    printf "$1" >"$base/cann/opp/vendors/config.ini"
    expect "config.ini '$1'" sh "$fix/one.run"
    # shellcheck disable=SC2059
    same "config.ini after '$1'" "$(cat "$base/cann/opp/vendors/config.ini")" "$(printf "$2")"
}
mark='# the lines below are those from before ascgrad was installed\n'
config '' "load_priority=ascgrad\n$mark"
config 'load_priority=\n' "load_priority=ascgrad\n${mark}load_priority=\n"
config 'load_priority=a,b' 'load_priority=ascgrad,a,b\n'
config 'load_priority=a,ascgrad,b\n' 'load_priority=ascgrad,a,b\n'
config 'load_priority=ascgrad\n' 'load_priority=ascgrad\n'
config 'load_priority=a, ascgrad ,b,,a\r\n' 'load_priority=ascgrad,a, b,,a\r\n'
config 'load_priority=ascgrad\r\n' 'load_priority=ascgrad\n'
config '# comment\nload_priority=a\nother=1\n' \
    "load_priority=ascgrad,a\n${mark}# comment\nload_priority=a\nother=1\n"
config 'other=1\n' "load_priority=ascgrad\n${mark}other=1\n"
config 'load_priority=ascgrad-x,ascgrad2,xascgrad,ascgrad.x\n' \
    'load_priority=ascgrad,ascgrad-x,ascgrad2,xascgrad,ascgrad.x\n'
expect "uninstall among neighbours" sh "$fix/one.run" --uninstall
same "neighbours stay" "$(cat "$base/cann/opp/vendors/config.ini")" \
    "load_priority=ascgrad-x,ascgrad2,xascgrad,ascgrad.x"
make_cann "$base/cann"
echo "load_priority=a=b" >"$base/cann/opp/vendors/config.ini"
before=$(snapshot "$base/cann")
status 3 "a second '=' that GE would reject" sh "$fix/one.run"
same "backed out" "$(snapshot "$base/cann")" "$before"
echo "load_priority=a" >"$base/cann/opp/vendors/config.ini"
expect "1.0.0 over a good config.ini" sh "$fix/one.run"
echo "load_priority=ascgrad,a=b" >"$base/cann/opp/vendors/config.ini"
before=$(snapshot "$base/cann")
status 3 "an upgrade that fails at the last step" sh "$fix/two.run"
same "the old version is back" "$(snapshot "$base/cann")" "$before"

# A machine the package was not built for.
make_cann "$base/cann"
before=$(snapshot "$base/cann")
status 2 "another machine" setarch i686 sh "$fix/one.run"
said "no libraries for i686"
same "another machine writes nothing" "$(snapshot "$base/cann")" "$before"

# A temporary directory where nothing may be started.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    mkdir "$base/noexec"
    status 3 "a temporary directory mounted noexec" unshare -m sh -c \
        'mount -t tmpfs -o noexec none "$1" && TMPDIR=$1 exec sh "$2"' sh "$base/noexec" "$fix/one.run"
    said "TMPDIR"
    same "noexec writes nothing" "$(snapshot "$base/cann")" "$before"
fi
finish
