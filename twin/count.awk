# SPDX-License-Identifier: Apache-2.0
#
# Makes a kernel count its own instructions. Reads the assembler text of a build with -g1 and
# -fsanitize-coverage=trace-pc, where every basic block begins with a call of __sanitizer_cov_trace_pc, and puts a call of
# twin_count_<n> in its place, n being the block's instructions that come from files matching `files`; blocks without
# any lose the call. Works for x86-64 and AArch64, GCC and Clang: only labels, directives and names are looked at.

function flush_block(    i, rest, n) {
    for (rest = own; rest > 0; rest -= n) {
        n = rest > 64 ? 64 : rest
        line = call
        sub(/__sanitizer_cov_trace_pc/, "twin_count_" n, line)
        print line
    }
    for (i = 1; i <= lines; i++) print held[i]
    own = lines = 0
    call = ""
}

$1 == ".file" && $2 ~ /^[0-9]+$/ { # "folder/name", or "folder" "name"
    name = $0
    gsub(/" "/, "/", name)
    counted[$2] = name ~ files
}
$1 == ".loc" { here = counted[$2] }

/__sanitizer_cov_trace_pc/ && $1 != ".globl" && $1 != ".hidden" {
    if (call != "") {
        flush_block()
    } else {
        own = prologue
    }
    prologue = 0
    call = $0
    next
}

# An instruction: a word behind a tab that is neither a directive nor a label.
/^\t[a-z]/ && here && $1 !~ /^(nop|nopw|nopl|endbr64)$/ {
    if (call != "") own++
    else prologue++
}

call != "" { held[++lines] = $0 }
call == "" { print }

$1 == ".cfi_endproc" || $1 == ".size" {
    if (call != "") flush_block()
    prologue = 0
}

END { if (call != "") flush_block() }
