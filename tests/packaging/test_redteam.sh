#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What an attacker, a clumsy user or a bare machine does to the installer: nothing outside the target
# is touched, nothing hangs, nothing is lost, and the words are right.
. "$(dirname "$0")/lib.sh"
base=$fix/redteam
mkdir -p "$base"
cd "$base" || exit 1
# What the .run files do once they have unpacked themselves.
for name in one two; do
    printf 'exec "%s" install --payload="%s" "$@"\n' \
        "$fix/$name/packages/vendors/ascgrad/scripts/$(uname -m)/setup" "$fix/$name" >"$base/$name"
done
one=$base/one
two=$base/two

# fresh: a CANN with version 1.0.0 in it, and somebody's files beside it.
fresh() {
    make_cann "$base/cann"
    rm -rf "$base/victim"
    mkdir -p "$base/victim/empty"
    echo keep >"$base/victim/file"
    opp=$base/cann/opp
    ours=$opp/vendors/ascgrad
    export ASCEND_OPP_PATH="$opp"
    unpacked one --quiet --no-compile >/dev/null 2>&1
}
victim_is_well() {
    same "$1: the victim" "$(cd "$base/victim" && find . | sort | paste -sd' ' -)" \
        ". ./empty ./file"
}

# package.info names files outside, or directories of others.
sum=$(printf %064d 0)
for name in ../../../../victim/file "$base/victim/file" op_proto/../../../../../victim/file ./x a//b; do
    fresh
    sed -i "s,^end .*,," "$ours/package.info"
    entries=$(grep -c '^[0-9a-f]\{64\}  \|^link ' "$ours/package.info")
    sed -i '$d' "$ours/package.info"
    printf '%s  %s\nend %d\n' "$sum" "$name" $((entries + 1)) >>"$ours/package.info"
    echo mine >"$ours/mine.txt"
    before=$(snapshot "$opp")
    for action in --uninstall --no-compile; do
        status 2 "package.info names $name, $action" sh "$two" "$action"
        said spoilt
        same "spoilt by $name: nothing is removed" "$(snapshot "$opp")" "$before"
    done
    victim_is_well "package.info names $name"
done
fresh
sed -i "s,^kernel \([A-Za-z]*\) .*,kernel \1 ../../../../../../../../../victim," "$ours/package.info"
status 2 "a kernel named like a path" sh "$ours/scripts/compile.sh" --chip=ascend910b
said spoilt
victim_is_well "a kernel named like a path"
fresh
sed -i "s,^version=,made=$base/victim/empty\nversion=," "$ours/package.info"
expect "made= names a directory of others" sh "$one" --uninstall
victim_is_well made=
expect "it is uninstalled all the same" [ ! -e "$ours" ]
fresh
head -n 12 "$ours/package.info" >"$base/cut" && cp "$base/cut" "$ours/package.info"
status 2 "a package.info that was cut" sh "$one" --uninstall
said spoilt

# A directory of ours was moved to a bigger disk.
for moved in op_impl bin; do
    fresh
    mv "$ours/$moved" "$base/victim/moved"
    ln -s "$base/victim/moved" "$ours/$moved"
    before=$(snapshot "$base/victim")
    expect "$moved is a link, uninstall" sh "$one" --uninstall
    said "$moved"
    same "what is behind the link $moved stays" "$(snapshot "$base/victim")" "$before"
    fresh
    mv "$ours/$moved" "$base/victim/moved"
    ln -s "$base/victim/moved" "$ours/$moved"
    before=$(snapshot "$base/victim")
    expect "$moved is a link, upgrade" sh "$two" --no-compile
    same "what is behind the link $moved stays" "$(snapshot "$base/victim")" "$before"
    expect "is whole without the link $moved" usable "$opp"
done

# Files of others in the place of ours, or of a directory of ours.
fresh
rm "$ours/LICENSE"
mkdir "$ours/LICENSE"
echo mine >"$ours/LICENSE/mine"
expect "a directory in the place of a file" sh "$one" --uninstall
same "it is left" "$(cat "$ours/LICENSE/mine")" mine
rm -r "$ours"
mkdir "$ours"
echo mine >"$ours/op_proto"
status 2 "a file in the place of a directory" sh "$one" --no-compile
same "it stays" "$(cat "$ours/op_proto")" mine
fresh
rm "$ours/LICENSE"
sed -i '/  LICENSE$/d' "$ours/package.info"
entries=$(grep -c '^[0-9a-f]\{64\}  \|^link ' "$ours/package.info")
sed -i "s/^end .*/end $entries/" "$ours/package.info"
echo mine >"$ours/LICENSE"
status 2 "a file that the new version would replace" sh "$two" --no-compile
said "move it away"
said "nothing was changed"
same "that file stays" "$(cat "$ours/LICENSE")" mine

# Pipes never hold us up, whatever they stand for; the installer says what it cannot read.
fresh
mkfifo "$ours/pipe"
expect "a pipe in our directory, upgrade" timeout 20 sh "$two" --no-compile
expect "the pipe is kept" [ -p "$ours/pipe" ]
expect "a pipe in our directory, uninstall" timeout 20 sh "$two" --uninstall
expect "the pipe is left" [ -p "$ours/pipe" ]
expect "install beside the pipe" timeout 20 sh "$two" --no-compile
rm "$ours/LICENSE"
mkfifo "$ours/LICENSE"
expect "a pipe in the place of a file" timeout 20 sh "$two" --no-compile
fresh
rm "$opp/vendors/config.ini"
mkfifo "$opp/vendors/config.ini"
before=$(snapshot "$opp")
status 3 "config.ini is a pipe, upgrade" timeout 20 sh "$two" --no-compile
said "not a file"
said "nothing was changed"
status 3 "config.ini is a pipe, uninstall" timeout 20 sh "$two" --uninstall
said "nothing was changed"
same "config.ini is a pipe" "$(snapshot "$opp")" "$before"
fresh
rm "$ours/package.info"
mkfifo "$ours/package.info"
status 2 "package.info is a pipe" timeout 20 sh "$two" --no-compile

# config.ini loses no line, whatever tools the machine lacks.
mkdir "$base/few"
for tool in sh head tail sha256sum uname mktemp tar gzip rm cat; do
    ln -s "$(command -v $tool)" "$base/few/$tool"
done
make_cann "$base/cann"
printf 'load_priority=alpha,beta\n[other]\nx=1' >"$base/cann/opp/vendors/config.ini"
expect "a machine with few tools" env PATH="$base/few" sh "$fix/one.run" --no-compile
same "config.ini with few tools" "$(cat "$base/cann/opp/vendors/config.ini")" \
    "$(printf 'load_priority=ascgrad,alpha,beta\n[other]\nx=1')"
expect "uninstall with few tools" env PATH="$base/few" sh "$fix/one.run" --uninstall
same "config.ini at the end" "$(cat "$base/cann/opp/vendors/config.ini")" \
    "$(printf 'load_priority=alpha,beta\n[other]\nx=1')"
printf 'load_priority=a\nb\0c\n' >"$base/cann/opp/vendors/config.ini"
status 3 "a zero byte in config.ini" sh "$one" --no-compile
fresh
mv "$opp/vendors/config.ini" "$base/victim/config.ini"
ln -s "$base/victim/config.ini" "$opp/vendors/config.ini"
rm -rf "$ours"
echo load_priority=other >"$base/victim/config.ini"
expect "config.ini is a link" sh "$one" --no-compile
said "was a symbolic link"

# Temporary directories and shells of all kinds; none is left over.
fresh
mkdir -p "$base/-tmp" "$base/relative"
expect "TMPDIR begins with a dash" env TMPDIR=-tmp sh "$fix/one.run" --no-compile
expect "TMPDIR is relative" env TMPDIR=relative sh "$fix/one.run" --no-compile
status 3 "TMPDIR is not there" env TMPDIR=nowhere sh "$fix/one.run" --no-compile
said "TMPDIR"
same "temporary directories are gone" "$(find ./-tmp relative -name "ascgrad*" | wc -l)" 0
for shell in bash zsh ksh mksh "busybox sh"; do
    command -v "${shell%% *}" >/dev/null || continue
    # shellcheck disable=SC2086
    expect "run by $shell" $shell "$fix/one.run" --no-compile
done
expect "by its name alone" sh -c 'cd "$1" && sh one.run --no-compile' sh "$fix"
same "standard output that is closed" "$(sh "$fix/one.run" --no-compile 2>&1 >&-)" ""
expect "is whole with standard output closed" usable "$opp"
expect "a signal that is ignored stays so" sh -c 'trap "" HUP; sh "$1" --no-compile & pid=$!
    for _ in 1 2 3 4 5 6 7 8 9; do kill -HUP $pid 2>/dev/null; sleep 0.02; done; wait $pid' sh "$fix/one.run"

# A directory open to others: every user, a group, the sticky bit.
fresh
chmod 1777 "$opp/vendors"
status 2 "vendors/ that every user may write in" sh "$one" --no-compile
expect "what is there may go" sh "$ours/scripts/uninstall.sh"
chmod 755 "$opp/vendors"
mkdir -p "$base/dangling"
ln -s nowhere "$base/dangling/link"
status 2 "a link that leads nowhere" sh "$one" --install-path="$base/dangling/link"
said "leads nowhere"

# What lies in vendors/ with a name like ours but is not ours stays; what a killed run left goes.
fresh
mkdir "$opp/vendors/.ascgrad.notes"
mkdir -p "$opp/vendors/.ascgrad.0123456789AB/ascgrad" "$opp/vendors/.ascgrad.new.77"
ln -s "$base/victim/pwned" "$opp/vendors/.ascgrad.config.78"
expect "leftovers" sh "$two" --no-compile
same "leftovers are gone" "$(cd "$opp/vendors" && echo .asc*)" .ascgrad.notes
victim_is_well leftovers
mv "$ours" "$opp/vendors/.ascgrad.old"
expect "what 1.0.0 left between two renames" sh "$two" --no-compile
said "in place of 2.0.0"
mkdir "$opp/vendors/.ascgrad.0123456789AB"
mv "$ours" "$opp/vendors/.ascgrad.0123456789AB/old"
expect "what we leave between two renames" sh "$two" --uninstall
said "removed 2.0.0"
expect "both are gone" [ ! -e "$ours" ]

if [ "$(id -u)" != 0 ]; then
    finish
    exit
fi

# Only as root: planted names, and trees of other users.
fresh
rm -rf "$ours"
chgrp 65534 "$opp/vendors"
chmod 775 "$opp/vendors"
"${PYTHON:-/usr/bin/python3}" -c 'import os, sys
for i in range(4000): os.symlink(sys.argv[1], sys.argv[2] + str(int(sys.argv[3]) + i))' \
    "$base/victim/pwned" "$opp/vendors/.ascgrad.config." $$
expect "planted links, group-writable vendors/" sh "$one" --no-compile
said "group 65534 may write"
victim_is_well "planted links"
expect "config.ini is a file" [ ! -L "$opp/vendors/config.ini" ]
fresh
chown 65534 "$opp/vendors"
expect "vendors/ of another user" sh "$one" --no-compile
said "belongs to user 65534"

make_cann "$base/cann"
chown -R 65534:65534 "$base/cann"
unpacked one --quiet --no-compile 2>/dev/null
before=$(snapshot "$opp")
for options in --no-compile --uninstall; do
    status 2 "a user meets root's tree, $options" as_user env ASCEND_OPP_PATH="$opp" \
        sh "$two" "$options"
    said "belongs to user 0"
done
same "root's tree" "$(snapshot "$opp")" "$before"
chown -R 65534:65534 "$ours"
mkdir "$ours/of_root"
echo x >"$ours/of_root/file"
status 2 "a user meets root's directory" as_user env ASCEND_OPP_PATH="$opp" sh "$two" --no-compile
said "of_root"
rm -r "$ours/of_root"
mkdir -m 700 "$base/closed"
status 0 "a working directory that is closed" sh -c 'cd "$1" && shift && exec "$@"' sh "$base/closed" \
    setpriv --reuid=65534 --regid=65534 --clear-groups env ASCEND_OPP_PATH="$opp" TMPDIR=/tmp \
    sh "$fix/two.run" --no-compile
expect "is whole from there" usable "$opp"

unshare -m true 2>/dev/null || {
    finish
    exit
}

# No /proc; a file system that is read-only; one that cannot rename directories of a lower layer.
fresh
expect "no /proc" timeout 60 unshare -m sh -c 'mount -t tmpfs none /proc && exec sh "$1" --no-compile' \
    sh "$two"
same "no /proc: version" "$(version_in "$opp")" 2.0.0
status 2 "a read-only file system" unshare -m sh -c \
    'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec sh "$2" --no-compile' sh \
    "$base/cann" "$one"
said "read-only"
fresh
echo mine >"$ours/mine.txt"
mkdir "$base/disk"
cat >"$base/overlay.sh" <<'END'
set -e
mount -t tmpfs none "$1/disk"
mkdir "$1/disk/upper" "$1/disk/work"
mount -t overlay none -o "lowerdir=$1/cann,upperdir=$1/disk/upper,workdir=$1/disk/work,redirect_dir=off" "$1/cann"
sh "$2" --no-compile
sed -n 's/^version=/now /p' "$1/cann/opp/vendors/ascgrad/package.info"
(cd "$1/cann/opp/vendors/ascgrad" && sed -n '/^[0-9a-f]\{64\}  /p' package.info | sha256sum -c --quiet)
cat "$1/cann/opp/vendors/ascgrad/mine.txt"
ls -A "$1/cann/opp/vendors" | grep '^\.' && exit 1
umount "$1/cann"
rm -rf "$1/disk/upper" "$1/disk/work" && mkdir "$1/disk/upper" "$1/disk/work"
rm "$1/cann/opp/vendors/ascgrad/mine.txt"
mount -t overlay none -o "lowerdir=$1/cann,upperdir=$1/disk/upper,workdir=$1/disk/work,redirect_dir=off" "$1/cann"
sh "$2" --uninstall
[ ! -e "$1/cann/opp/vendors/ascgrad" ] && echo gone
END
if unshare -m sh -c 'mount -t tmpfs none "$1/disk" && mkdir "$1/disk/u" "$1/disk/w" &&
    mount -t overlay none -o "lowerdir=$1/cann,upperdir=$1/disk/u,workdir=$1/disk/w" "$1/cann"' sh \
    "$base" 2>/dev/null; then
    expect "a directory of an image layer" unshare -m sh "$base/overlay.sh" "$base" "$two"
    said "now 2.0.0"
    said "mine"
    said "gone"
fi
finish
