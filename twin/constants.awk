# SPDX-License-Identifier: Apache-2.0
# The constants of the cycle model as a table: every #define of cycle_constants.h whose value has a point.
#   awk -v what=names     "NAME",
#   awk -v what=values    VALUE,
#   awk -v what=table     the names again, but read from the table of the run
/\\$/ {
    sub(/\\$/, "")
    held = held $0
    next
}
{
    words = split(held $0, word, /[ \t]+/)
    held = ""
    if (words < 3 || word[1] != "#define" || word[3] !~ /^[0-9]+\.[0-9]+$/) next
    if (what == "names") printf "\"%s\",\n", word[2]
    if (what == "values") printf "%s,\n", word[3]
    if (what == "table") printf "#undef %s\n#define %s (twin_cycle[%d])\n", word[2], word[2], count++
}
