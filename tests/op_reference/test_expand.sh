#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The patterns of rows: what they stand for, and that a wrong one is refused.
#
# usage: test_expand.sh EXPAND.AWK
set -u
awk=$1
passed=0 failed=0

note() { # GOOD WHAT
    if [ "$1" = 1 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL: $2"; fi
}

# stands WORDS: the rows follow on stdin, without what they have in common.
stands() {
    want=$(sed 's/.*/CASE("Op", "&")/')
    got=$(printf 'CASE("Op", "%s")\n' "$1" | awk -f "$awk") || got="status $?"
    if [ "$got" = "$want" ]; then note 1; else note 0 "'$1' stands for
$got"; fi
}

# refused WORDS SENTENCE
refused() {
    said=$(printf 'CASE("Op", "%s")\n' "$1" | awk -f "$awk" 2>&1 >/dev/null) && note 0 "'$1' is accepted"
    case $said in *"$2") note 1 ;; *) note 0 "'$1': $said" ;; esac
}

stands 'dy=*[2,3] list=1,2 none= real=1e-5' <<END
dy=*[2,3] list=1,2 none= real=1e-5
END
stands 'dy=*[2|3,4] mode=0|1' <<END
dy=*[2,4] mode=0
dy=*[2,4] mode=1
dy=*[3,4] mode=0
dy=*[3,4] mode=1
END
stands 'dy=fp16|bf16[5|6,8] cos=fp32[1,.] sin=cos x=dy' <<END
dy=fp16[5,8] cos=fp32[1,8] sin=fp32[1,8] x=fp16[5,8]
dy=fp16[6,8] cos=fp32[1,8] sin=fp32[1,8] x=fp16[6,8]
dy=bf16[5,8] cos=fp32[1,8] sin=fp32[1,8] x=bf16[5,8]
dy=bf16[6,8] cos=fp32[1,8] sin=fp32[1,8] x=bf16[6,8]
END
stands 'dy=*[3,4,8] cos=*[?,?,.] weight=*[.] scalar=*[]' <<END
dy=*[3,4,8] cos=*[3,4,8] weight=*[8] scalar=*[]
dy=*[3,4,8] cos=*[3,1,8] weight=*[8] scalar=*[]
dy=*[3,4,8] cos=*[1,4,8] weight=*[8] scalar=*[]
dy=*[3,4,8] cos=*[1,1,8] weight=*[8] scalar=*[]
END
stands 'q=*[3,-1] ?x=q ?exact=true' <<END
q=*[3,-1]
q=*[3,-1] exact=true
q=*[3,-1] x=*[3,-1]
q=*[3,-1] x=*[3,-1] exact=true
END
refused 'dy=*[3,4] cos=*[.,.,.]' "the first input has no axis for '.'"
refused 'dy=*[?,4]' "the first input has no axis for '?'"
refused 'dy=*[3,x]' "'x' is no size"
refused 'dy=*[3,4' "'*[3,4' is no dtype with sizes"
refused 'dy=*[3,4] mode' "'mode' is not NAME=VALUE"
other=$(printf '/* a note */\n#ifdef LARGE\nREFUSE("Op", "dy=*[1|2]", "got | or ?")\n#endif\n' | awk -f "$awk" | paste -sd'~' -)
want='/* a note */~#ifdef LARGE~REFUSE("Op", "dy=*[1]", "got | or ?")~REFUSE("Op", "dy=*[2]", "got | or ?")~#endif'
if [ "$other" = "$want" ]; then note 1; else note 0 "other lines: $other"; fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
