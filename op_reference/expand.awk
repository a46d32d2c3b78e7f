# SPDX-License-Identifier: Apache-2.0
# The rows that the patterns of *_rows.h stand for (docs/architecture.md, "A row"), one per line: for `ascgrad check` and
# every test that takes rows. Lines that are no rows stay as they are.

function fail(what) {
    print FILENAME ":" FNR ": " what > "/dev/stderr"
    failed = 1
    exit 1
}

# Every string of one list with every string of the other behind it; "\n" stands between the strings of a list.
function cross(one, other, a, b, n, m, i, k, out) {
    n = split(one, a, "\n")
    m = split(other, b, "\n")
    for (i = 1; i <= n; i++)
        for (k = 1; k <= m; k++)
            out = out (out == "" ? "" : "\n") a[i] b[k]
    return out
}

# Axis k of n: sizes with | between; "." is that of the first input, counted from the end, "?" is that and 1.
function axis(word, k, n, part, m, i, out) {
    m = split(word, part, "|")
    k += first_rank - n
    for (i = 1; i <= m; i++) {
        if (part[i] !~ /^([.?]|-?[0-9]+)$/) fail("'" word "' is no size")
        if (part[i] ~ /^[.?]$/ && (k < 1 || k > first_rank)) fail("the first input has no axis for '" word "'")
        out = out (i > 1 ? "\n" : "") (part[i] ~ /^[.?]$/ ? first_size[k] : part[i]) (part[i] == "?" ? "\n1" : "")
    }
    return out
}

# "fp16|bf16[2,3|4]" as a list.
function tensors(value, part, n, k, out) {
    if (value !~ /^[^\[]+\[[^\[]*\]$/) fail("'" value "' is no dtype with sizes")
    out = substr(value, 1, index(value, "[") - 1)
    gsub(/\|/, "\n", out)
    value = substr(value, index(value, "[") + 1)
    n = split(substr(value, 1, length(value) - 1), part, ",")
    for (k = 1; k <= n; k++)
        out = cross(cross(out, k == 1 ? "[" : ","), axis(part[k], k, n))
    return cross(out, n ? "]" : "[]")
}

# What may stand behind NAME=, as a list: a tensor, the name of an input before it, or an attribute's values.
function values(value) {
    if (value in given) return given[value]
    if (value ~ /\[/) return tensors(value)
    gsub(/\|/, "\n", value)
    return value
}

# Words number i and on, behind what has been chosen for those before.
function expand(i, text, word, name, list, choice, n, k) {
    if (i > words) {
        print before text after
        return
    }
    word = pattern[i]
    if (sub(/^\?/, "", word)) expand(i + 1, text) # it may be left out
    if (!index(word, "=")) fail("'" word "' is not NAME=VALUE")
    name = substr(word, 1, index(word, "=") - 1)
    list = values(substr(word, index(word, "=") + 1))
    n = split(list, choice, "\n")
    if (!n) choice[n = 1] = "" # an empty list
    for (k = 1; k <= n; k++) {
        if (i == 1) {
            first_rank = split(choice[k], first_size, /[\[,\]]/) - 2
            # "fp32[2,3]" is cut into fp32, 2, 3 and nothing: sizes count from 1
            for (m = 1; m <= first_rank; m++)
                first_size[m] = first_size[m + 1]
        }
        if (choice[k] ~ /\[/) given[name] = choice[k]
        expand(i + 1, text (i > 1 ? " " : "") name "=" choice[k])
        delete given[name]
    }
}

/^(CASE|REFUSE|LARGE)\("[A-Za-z]+", "/ {
    if (!match($0, /^[A-Z]+\("[A-Za-z]+", "/)) fail("no row")
    before = substr($0, 1, RLENGTH)
    after = substr($0, RLENGTH + 1)
    end = index(after, "\"")
    words = split(substr(after, 1, end - 1), pattern, " ")
    after = substr(after, end)
    split("", given)
    first_rank = 0
    expand(1, "")
    next
}
/^(CASE|REFUSE|LARGE)/ { fail("a row is NAME(\"Operator\", \"words\"...") }
{ print }
END { exit failed }
