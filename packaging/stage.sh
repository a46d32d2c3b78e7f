# SPDX-License-Identifier: Apache-2.0
# Puts a new version together in the directory $stage: the shipped files, what depends on this
# machine and this target, the modes, the manifest. Used by install.sh.
# shellcheck shell=sh disable=SC2154

# drop_record FILE TYPE: takes one operator out of a JSON file as generate.py writes it.
drop_record() {
    awk -v head="    \"$2\": {" '
        $0 == head { skip = 1; next }
        skip { if ($0 ~ /^    },?$/) skip = 0; next }
        $0 == "}" { sub(/,$/, "", held) }
        NR > 1 && held != "" { print held }
        { held = $0 }
        END { print held }' "$1" >"$1.new" && cat "$1.new" >"$1" && rm "$1.new"
}

# leave_out TYPE: so that GE uses CANN's own operator, whole: its kernel through ops-info, and its
# tiling because the switch in our libraries no longer offers ours.
leave_out() {
    kernel=$(sed -n "s/^kernel $1 //p" "$files/package.info")
    [ -n "$kernel" ] || return 1
    sed -n "s/^switch $1 //p" "$files/package.info" >"$stage/.switches"
    [ -s "$stage/.switches" ] || return 1
    while read -r offset library; do
        [ "$(dd if="$stage/$library" bs=1 skip="$offset" count=1 2>/dev/null)" = 1 ] || return 1
        printf 0 | dd of="$stage/$library" bs=1 seek="$offset" conv=notrunc 2>/dev/null || return 1
    done <"$stage/.switches"
    rm "$stage/.switches"
    for json in "$stage/$tbe"/config/*/*.json \
        "$stage/$tbe"/kernel/config/*/binary_info_config.json \
        "$stage/framework/tensorflow/npu_supported_ops.json"; do
        [ ! -f "$json" ] || drop_record "$json" "$1" || return 1
    done
    impl=$stage/$tbe/${vendor}_impl
    rm -rf "$impl/dynamic/$kernel.py" "$impl/ascendc/$kernel" \
        "$stage/$tbe"/kernel/*/"$kernel" "$stage/$tbe"/kernel/config/*/"$kernel.json"
}

# What TensorFlow 2 always needs, and everybody after --install-path.
write_set_env() {
    cat >"$stage/bin/set_env.bash" <<END
# Source this before starting Python or any program that uses CANN: puts ascgrad first in
# ASCEND_CUSTOM_OPP_PATH, once, and leaves no empty element in it.
_ascgrad_dir=$(quote "$target")
END
    cat >>"$stage/bin/set_env.bash" <<'END'
_ascgrad_path=$_ascgrad_dir
_ascgrad_rest=${ASCEND_CUSTOM_OPP_PATH-}:
while [ -n "$_ascgrad_rest" ]; do
    _ascgrad_one=${_ascgrad_rest%%:*}
    _ascgrad_rest=${_ascgrad_rest#*:}
    case $_ascgrad_one in
    '' | "$_ascgrad_dir") ;;
    *) _ascgrad_path=$_ascgrad_path:$_ascgrad_one ;;
    esac
done
export ASCEND_CUSTOM_OPP_PATH="$_ascgrad_path"
unset _ascgrad_dir _ascgrad_path _ascgrad_rest _ascgrad_one
END
}

# Puts the new version together in $stage. Any failure ends the script; undo() then cleans up.
build_stage() {
    cp -RP "$files/." "$stage" || die 3 "cannot copy to $stage"
    sed -n '/^[0-9a-f]\{64\}  /p' "$files/package.info" |
        (cd "$stage" && sha256sum -c >/dev/null) || die 3 "the copy in $stage is not what was sent"
    if [ -d "$payload/packages/arch/$arch" ]; then
        cp -RP "$payload/packages/arch/$arch/." "$stage" || die 3 "cannot copy to $stage"
    fi
    # One tiling library and one command of this machine's kind, where others look for them.
    point "lib/linux/$arch/libcust_opmaster_rt2.0.so" "$tbe/op_tiling" liboptiling.so
    point "$arch/ascgrad" bin ascgrad
    write_set_env || die 3 "cannot write $stage/bin/set_env.bash"
    for type in $left_out; do
        leave_out "$type" || die 3 "--no-override: this package cannot leave out $type"
    done
    find "$stage" -type d -exec chmod "$dir_mode" {} + || die 3 "cannot set modes in $stage"
    find "$stage" -type f -exec chmod "$file_mode" {} + || die 3 "cannot set modes in $stage"
    find "$stage/bin" "$stage/scripts" -type f -exec chmod "$dir_mode" {} + ||
        die 3 "cannot set modes in $stage"
    write_manifest || die 3 "cannot write $stage/package.info"
    keep_strangers || die 3 "cannot keep a file that others put into $target"
}

# point FILE DIR LINK: a link in the stage, or none if its file is not there.
point() {
    rm -f "$stage/$2/$3" || die 3 "cannot write in $stage"
    [ ! -f "$stage/$2/$1" ] || ln -s "$1" "$stage/$2/$3" || die 3 "cannot write in $stage"
}

# package.info as shipped, plus what this installation did, plus the files as they are now.
write_manifest() {
    sums=$(cd "$stage" && find . -type f ! -name package.info | sed 's,^\./,,' | sort |
        xargs sha256sum) || return 1
    links=$(cd "$stage" && find . -type l | sed 's,^\./,,' | sort |
        while read -r link; do echo "link $link $(readlink "$link")"; done) || return 1
    {
        sed '/^[0-9a-f]\{64\}  /d; /^link /d; /^switch /d; /^$/d' "$files/package.info"
        echo "left_out=$left_out"
        [ -z "$made" ] || printf '%s\n' "$made" | sed '/^$/d; s/^/made=/'
        printf '\n%s\n%s\n' "$sums" "$links"
    } >"$stage/package.info"
}

# Files that others put into the old version move on into the new one.
keep_strangers() {
    is_ours "$target" || return 0
    strangers "$target" | while IFS= read -r file; do
        if [ -e "$stage/$file" ]; then
            warn "$file was not ours but is now; the new one replaces it"
            continue
        fi
        say "keeping $file, which ascgrad did not install"
        mkdir -p "$stage/$(dirname "$file")" || exit 1
        cp -pP "$target/$file" "$stage/$file" || exit 1
    done
}
