#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The promises of the command line: output, exit statuses, files. usage: test_cli.sh ASCGRAD PYTHON IR
set -u
ascgrad=$1
python=$2
ir=$3
page=$(cd "$(dirname "$0")/../.." && pwd)/docs/command.md
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0 failed=0

# expect STATUS WORDS COMMAND...: the exit status, and words that stdout or stderr must have.
expect() {
  status=$1 words=$2
  shift 2
  "$@" >out 2>err
  got=$?
  if [ "$got" != "$status" ] || { [ -n "$words" ] && ! cat out err | grep -qF -e "$words"; }; then
    failed=$((failed + 1))
    printf 'FAIL: %s\n  wanted status %s and "%s", got status %s and:\n' "$*" "$status" "$words" "$got"
    sed 's/^/  /' out err
  else
    passed=$((passed + 1))
  fi
}

absent() {
  if [ -e "$1" ]; then
    failed=$((failed + 1))
    printf 'FAIL: %s must not exist\n' "$1"
  else
    passed=$((passed + 1))
  fi
}

"$python" - <<'PY'
import numpy as np
one = np.ones((1, 4, 4), np.float32)
np.save("a.npy", one)
np.save("half.npy", one.astype(np.float16))
np.save("bf16.npy", (one.view(np.uint32) >> 16).astype(np.uint16))
np.save("fortran.npy", np.asfortranarray(np.arange(16, dtype=np.float32).reshape(4, 4)))
np.save("double.npy", one.astype(np.float64))
np.save("wide.npy", np.ones((1, 4, 5), np.float32))
open("short.npy", "wb").write(open("a.npy", "rb").read()[:-4])
open("text.npy", "w").write("hello")
PY

# ops, help, version, wrong words
expect 0 'RopeGrad' "$ascgrad" ops
expect 0 '"type": "ExpSegsumGrad"' "$ascgrad" ops --json
"$ascgrad" ops --json >ops.json
expect 0 'as in the IR' "$python" - "$ir" <<'PY'
import json, sys
ours, ir = json.load(open("ops.json")), json.load(open(sys.argv[1]))
for part in ("type", "kernel"):
    assert [op[part] for op in ours] == [op[part] for op in ir]
for part in ("inputs", "outputs", "attrs"):
    assert [[a["name"] for a in op[part]] for op in ours] == [[a["name"] for a in op[part]] for op in ir]
for mine, op in zip(ours, ir):
    for a, b in zip(mine["attrs"], op["attrs"]):
        assert (a["type"], a["required"], a.get("default")) == (b["type"], b["required"], b.get("default")), (a, b)
print("as in the IR")
PY
expect 0 '| ExpSegsumGrad |' "$ascgrad" support
expect 0 'usage:' "$ascgrad" --help
expect 0 'ascgrad ' "$ascgrad" version
expect 1 'usage:' "$ascgrad"
expect 1 "no command 'frobnicate'" "$ascgrad" frobnicate
expect 1 "no operator 'Nope'" "$ascgrad" infer Nope
expect 1 'which operator' "$ascgrad" infer

# help: of all, of one; the page and the completion made of it; what is nearly right; both styles of options
expect 0 'cycle model' "$ascgrad" help
expect 0 '--html FILE' "$ascgrad" perf --help
expect 0 '--html FILE' "$ascgrad" help perf
expect 1 "no command 'pref'; did you mean perf?" "$ascgrad" pref
expect 1 'there are ops, infer' "$ascgrad" help frobnicate
expect 1 'did you mean RopeGrad? There are RotaryMulGrad' "$ascgrad" infer RopeGard
expect 1 "no chip 'ascend910b7'; did you mean ascend910b" "$ascgrad" tile RopeGrad --soc ascend910b7
expect 1 'ascend350_354f' "$ascgrad" tile RopeGrad --soc=h100
expect 1 'did you mean --quick?' "$ascgrad" accept --quik
expect 1 '--json takes no value' "$ascgrad" ops --json=1
expect 1 'dtypes: fp32, fp16, bf16' "$ascgrad" infer ExpSegsumGrad --in 'grad_self=bfloat16[4]'
expect 1 "no attribute 'mod'; it has qSeqLen, exact_grad, head_size" "$ascgrad" infer RopeGrad --attr mod=1
expect 4 'perf takes shapes' "$ascgrad" run ExpSegsumGrad --in 'grad_self=bf16[4,4]'
expect 0 '--out NAME=FILE keeps an output' "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --in grad_self=a.npy
expect 0 'grad_input=fp16[2,-1]' "$ascgrad" infer ExpSegsumGrad --in='grad_output=fp16[2,-1,-1]' --in='grad_self=fp16[2,-1,-1]'
expect 0 'ExpSegsumGrad grad_output' "$ascgrad" check --list ExpSegsumGrad
for command in infer tile run perf accept; do # every option with a value that the help has is one
  for option in $("$ascgrad" "$command" --help | sed -n 's/^  \(--[a-z-]*\) [A-Z].*/\1/p'); do
    case $command in
      accept) expect 1 "$option wants a value" "$ascgrad" accept "$option" ;;
      *) expect 1 "$option wants a value" "$ascgrad" "$command" RopeGrad "$option" ;;
    esac
  done
done
for family in ascend910b ascend910_93 ascend950 ascend350 ascend910; do
  expect 0 '"format": 1' "$ascgrad" tile RotaryMulGrad --soc $family --in 'x=fp16[1,2,3,64]' --in 'r1=fp16[1,2,1,64]' \
    --in 'r2=fp16[1,2,1,64]' --in 'dy=fp16[1,2,3,64]'
done
expect 0 "default: $("$ascgrad" perf ExpSegsumGrad --in 'grad_output=fp32[4,4]' --in 'grad_self=fp32[4,4]' |
  sed -n 's/.*"soc": "\(.*\)".*/\1/p')" "$ascgrad" tile --help
"$ascgrad" completion bash >completion.sh
sed -n "s/.*--soc) words='\(.*\) ' ;;/\1/p" completion.sh | tr ' ' '\n' | sort >chips
expect 0 ascend950 cat chips
expect 0 '' sort -c -u chips # none is offered twice
cat >complete.sh <<'SH'
. ./completion.sh
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_ascgrad
echo "${COMPREPLY[@]}"
SH
expect 0 '--html' bash complete.sh ascgrad perf --h
expect 0 'ascend910_93' bash complete.sh ascgrad tile RopeGrad --soc ascend910_
expect 0 'RopeGrad' bash complete.sh ascgrad tile Rop
expect 1 'completion bash' "$ascgrad" completion fish
expect 0 '.SS accept' "$ascgrad" man
if command -v groff >/dev/null; then
  "$ascgrad" man | groff -man -Tutf8 -ww >page 2>errors
  expect 0 '' sh -c 'grep -q "doctor" page && [ ! -s errors ]'
fi

# infer: known, unknown dimensions and rank, refusals
expect 0 'grad_input=fp16[2,-1]' "$ascgrad" infer ExpSegsumGrad --in 'grad_output=fp16[2,-1,-1]' --in 'grad_self=fp16[2,-1,-1]'
expect 0 'grad_input=bf16[-2]' "$ascgrad" infer ExpSegsumGrad --in 'grad_output=bf16[-2]' --in 'grad_self=bf16[-2]'
expect 0 'dcos=fp32[1,-1,1,8]' "$ascgrad" infer RotaryPositionEmbeddingGrad --in 'dy=fp32[2,-1,3,8]' --in 'cos=fp32[1,-1,1,8]' --in 'sin=fp32[1,-1,1,8]' --attr mode=1
expect 2 'ExpSegsumGrad' "$ascgrad" infer ExpSegsumGrad --in 'grad_output=fp16[4]' --in 'grad_self=fp16[4]'
expect 1 "no input 'x'" "$ascgrad" infer ExpSegsumGrad --in 'x=fp16[4]'
expect 1 'given twice' "$ascgrad" infer ExpSegsumGrad --in 'grad_self=fp16[4]' --in 'grad_self=fp16[4]'
expect 1 'needs input grad_self' "$ascgrad" infer ExpSegsumGrad --in 'grad_output=fp16[4,4]'
expect 1 'not dtype[shape]' "$ascgrad" infer ExpSegsumGrad --in 'grad_output=int8[4,4]'
expect 1 'no attribute' "$ascgrad" infer ExpSegsumGrad --attr mode=1
expect 1 'is of type int' "$ascgrad" infer RotaryPositionEmbeddingGrad --attr mode=half
expect 1 'needs attribute qSeqLen' "$ascgrad" infer RopeGrad --in 'q=fp16[3,4]' --in 'k=fp16[3,4]' --in 'cos=fp16[3,4]' --in 'sin=fp16[3,4]'
expect 1 'wants a value' "$ascgrad" infer ExpSegsumGrad --in

# tile
expect 0 '"block_dim": ' "$ascgrad" tile ExpSegsumGrad --in 'grad_output=fp32[9,64,64]' --in 'grad_self=fp32[9,64,64]'
"$ascgrad" tile RopeGrad --in 'q=fp16[9,256]' --in 'k=fp16[9,128]' --in 'cos=fp16[8,128]' --in 'sin=fp16[8,128]' --attr qSeqLen=5,4 --cores 3 >tile.json
expect 0 '' "$python" -c 'import json; t = json.load(open("tile.json")); assert t["fields"] and 1 <= t["block_dim"] <= 3'
"$ascgrad" tile RotaryPositionEmbeddingGrad --in 'dy=fp32[2,3,5,8]' --in 'cos=fp32[1,3,1,8]' --in 'sin=fp32[1,3,1,8]' >rotary.json
"$ascgrad" tile NormRopeConcatGrad --in 'grad_query_output=fp32[1,2,5,16]' --in 'grad_key_output=fp32[1,2,7,16]' \
  --in 'grad_value_output=fp32[1,2,7,16]' --in 'query=fp32[1,3,2,16]' --in 'key=fp32[1,4,2,16]' \
  --in 'encoder_query=fp32[1,2,2,16]' --in 'encoder_key=fp32[1,3,2,16]' >norm.json
expect 0 '' "$python" - <<'PY'
import json
for name, field, first in (("rotary", "slab_stride", None), ("rotary", "cos_rows", 3), ("norm", "stream.lines", None)):
    t = json.load(open(name + ".json"))
    raw = bytes.fromhex(t["tiling_hex"])
    assert len(raw) == t["tiling_bytes"] and field in t["fields"], (name, field)
    values = [v for f in t["fields"].values() for v in (f if isinstance(f, list) else [f])]
    assert 4 * len(values) <= len(raw) <= 8 * len(values), (name, len(values))
    if first: assert t["fields"][field] == first == int.from_bytes(raw[:8], "little"), t["fields"]
PY
# inputs that exceed the chip's L2 are read past it, others are not
while read -r soc least; do
  for more in 0 1; do
    rows=$((least + more)) matrices=$((least / 4 + more)) tokens=$((least / 2 + more))
    expect 0 "\"stream\": $more" "$ascgrad" tile RotaryPositionEmbeddingGrad --soc "$soc" --in "dy=bf16[$rows,1,16,128]" \
      --in 'cos=bf16[1,1,1,128]' --in 'sin=bf16[1,1,1,128]'
    expect 0 "\"stream\": $more" "$ascgrad" tile RopeGrad --soc "$soc" --in "q=bf16[$tokens,2048]" --in "k=bf16[$tokens,2048]" \
      --in "cos=bf16[$tokens,128]" --in "sin=bf16[$tokens,128]" --attr "qSeqLen=$tokens"
    expect 0 "\"stream\": $more" "$ascgrad" tile ExpSegsumGrad --soc "$soc" --in "grad_output=bf16[$matrices,64,64]" \
      --in "grad_self=bf16[$matrices,64,64]"
  done
done <<'CHIPS'
ascend910b1 49152
ascend910b4 24576
ascend950 32768
CHIPS
expect 1 "no chip 'ascend1'" "$ascgrad" tile ExpSegsumGrad --in 'grad_output=fp32[4,4]' --in 'grad_self=fp32[4,4]' --soc ascend1
expect 1 'from 1 to 64' "$ascgrad" tile ExpSegsumGrad --cores 0
expect 1 'from 1 to 64' "$ascgrad" tile ExpSegsumGrad --cores 65
expect 1 '--soc is given twice' "$ascgrad" tile ExpSegsumGrad --soc ascend910b1 --soc ascend910b2
expect 1 "no option '--fast'" "$ascgrad" tile ExpSegsumGrad --fast

# run: the worked example in three dtypes, checked and fast
expect 0 '' "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --in grad_self=a.npy --out grad_input=o.npy --report r.json
expect 1 'o.npy is to be written twice' "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --in grad_self=a.npy \
  --out grad_input=o.npy --report o.npy
expect 0 '' "$python" -c 'import numpy as np, json; assert np.load("o.npy").tolist() == [[0, 3, 4, 3]]; assert json.load(open("r.json"))["gm_write"] == 16'
expect 0 '' "$ascgrad" run ExpSegsumGrad --in grad_output=half.npy --in grad_self=half.npy --out grad_input=h.npy --fast
expect 0 '' "$python" -c 'import numpy as np; a = np.load("h.npy"); assert a.dtype == np.float16 and a.tolist() == [[0, 3, 4, 3]]'
expect 0 '' "$ascgrad" run ExpSegsumGrad --in grad_output=bf16.npy:bf16 --in grad_self=bf16.npy:bf16 --out grad_input=b.npy
expect 0 '' "$python" -c 'import numpy as np; a = np.load("b.npy"); assert a.dtype == np.uint16 and (a.astype(np.uint32) << 16).view(np.float32).tolist() == [[0, 3, 4, 3]]'

# run: what is wrong with files and data; a refusal leaves no file
expect 2 'ExpSegsumGrad' "$ascgrad" run ExpSegsumGrad --in grad_output=wide.npy --in grad_self=wide.npy --out grad_input=no.npy
absent no.npy
expect 2 'ExpSegsumGrad' "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --in grad_self=half.npy --out grad_input=no.npy
absent no.npy
expect 4 'nowhere.npy' "$ascgrad" run ExpSegsumGrad --in grad_output=nowhere.npy --in grad_self=a.npy
expect 4 'cut off' "$ascgrad" run ExpSegsumGrad --in grad_output=short.npy --in grad_self=a.npy
expect 4 'not a .npy' "$ascgrad" run ExpSegsumGrad --in grad_output=text.npy --in grad_self=a.npy
expect 4 'C order' "$ascgrad" run ExpSegsumGrad --in grad_output=fortran.npy --in grad_self=a.npy
expect 4 'only <f4' "$ascgrad" run ExpSegsumGrad --in grad_output=double.npy --in grad_self=a.npy
expect 4 ':bf16' "$ascgrad" run ExpSegsumGrad --in grad_output=bf16.npy --in grad_self=a.npy
expect 4 'no/such/dir' "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --in grad_self=a.npy --out grad_input=no/such/dir/o.npy
expect 1 "no output 'dx'" "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --out dx=o.npy

expect 4 'directory' "$ascgrad" run ExpSegsumGrad --in grad_output=. --in grad_self=a.npy
expect 1 'given twice' "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --out grad_input=o.npy --out grad_input=p.npy

# run: where a result goes. A pipe and a link are written to, a read-only file is refused, nobody's link is followed.
segsum() { # OUT
  expect 0 '' "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --in grad_self=a.npy --out "grad_input=$1"
}
right() { # FILE
  expect 0 '' "$python" -c 'import sys, numpy as np; assert np.load(sys.argv[1]).tolist() == [[0, 3, 4, 3]]' "$1"
}
mkfifo pipe
timeout 20 cat pipe >piped.npy &
segsum pipe
wait
expect 0 '' test -p pipe
right piped.npy
timeout 20 dd if=a.npy of=pipe status=none &
expect 0 '' "$ascgrad" run ExpSegsumGrad --in grad_output=pipe --in grad_self=a.npy
wait
mkdir deep
echo old >deep/kept.npy
ln -s deep/kept.npy link.npy
segsum link.npy
expect 0 '' test -L link.npy
right deep/kept.npy
ln -s nowhere dangling.npy
expect 4 'leads nowhere' "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --in grad_self=a.npy --out grad_input=dangling.npy
absent nowhere
cp a.npy locked.npy
chmod 444 locked.npy
expect 4 'read-only' "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --in grad_self=a.npy --out grad_input=locked.npy
expect 0 '' cmp a.npy locked.npy
echo precious >victim
ln -s victim planted.npy.part
segsum planted.npy
right planted.npy
expect 0 'precious' cat victim
long=$(printf '%0247d.npy' 0)
segsum "$long"
right "$long"
expect 0 '' sh -c '! ls -A | grep -q "^[.]ascgrad"'

# reports, traces and pages go the same way, and a run that fails leaves what was there
writes() { # STATUS WORDS OPTION FILE
  case $3 in
  --report) expect "$1" "$2" "$ascgrad" run ExpSegsumGrad --in grad_output=a.npy --in grad_self=a.npy "$3" "$4" ;;
  *) expect "$1" "$2" "$ascgrad" perf ExpSegsumGrad --in 'grad_output=fp32[4,4]' --in 'grad_self=fp32[4,4]' "$3" "$4" ;;
  esac
}
for option in --report --html --trace; do
  rm -f hard target link sly
  echo precious >hard
  ln hard target
  ln -s target link
  ln -s nowhere sly
  writes 0 '' "$option" link
  expect 0 '' test -L link
  expect 1 '' grep -q precious target
  expect 0 precious cat hard
  writes 4 'leads nowhere' "$option" sly
  absent nowhere
  chmod 444 target
  writes 4 'read-only' "$option" target
done
echo precious >kept
for kind in --html --trace; do
  expect 2 '' "$ascgrad" perf ExpSegsumGrad --in 'grad_output=fp32[4,4]' --in 'grad_self=fp32[4,5]' "$kind" kept
  expect 0 precious cat kept
done
expect 1 'written twice' "$ascgrad" perf ExpSegsumGrad --in 'grad_output=fp32[4,4]' --in 'grad_self=fp32[4,4]' \
  --html same --trace same
absent same
expect 0 '' sh -c '! ls -A | grep -q "^[.]ascgrad"'

# what is not a .npy file is seen at once, however much there is of it; a pipe may promise more than it has
# shellcheck disable=SC2016 # the inner shell expands it
expect 4 'not a .npy file' timeout 20 sh -c 'ulimit -v 2000000; exec "$0" run ExpSegsumGrad --in grad_output=/dev/zero --in grad_self=a.npy' "$ascgrad"
"$python" -c 'import sys
text = b"{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (1, 1000000, 1000000), }\n"
open("huge.npy", "wb").write(b"\x93NUMPY\1\0" + bytes([len(text), 0]) + text)'
expect 4 'cut off' "$ascgrad" run ExpSegsumGrad --in grad_output=huge.npy --in grad_self=a.npy
timeout 20 dd if=huge.npy of=pipe status=none 2>dd.err &
# shellcheck disable=SC2016
expect 4 'cut off' sh -c 'ulimit -v 2000000; exec "$0" run ExpSegsumGrad --in grad_output=pipe --in grad_self=a.npy' "$ascgrad"
wait

# a full disk under standard output
printf 'ExpSegsumGrad grad_output=fp32[4,4] grad_self=fp32[4,4]\n' >rows
for words in ops 'ops --json' support version --help 'check --rows rows' 'check ExpSegsumGrad --list' \
  'infer ExpSegsumGrad --in grad_output=fp32[4,4] --in grad_self=fp32[4,4]' \
  'tile ExpSegsumGrad --in grad_output=fp32[4,4] --in grad_self=fp32[4,4]' \
  'perf ExpSegsumGrad --in grad_output=fp32[4,4] --in grad_self=fp32[4,4]'; do
  # shellcheck disable=SC2086
  expect 4 'standard output' sh -c '"$@" >/dev/full' sh "$ascgrad" $words
done

# perf and its trace
"$ascgrad" perf ExpSegsumGrad --in 'grad_output=bf16[16,128,128]' --in 'grad_self=bf16[16,128,128]' --trace t.json >perf.json
expect 0 '' "$python" - <<'PY'
import json
p = json.load(open("perf.json"))
assert 0 < p["ratio_free"] <= p["ratio"] <= p["ratio_worst"], p
assert p["time_free_us"] <= p["time_low_us"] <= p["time_us"] <= p["time_high_us"] <= p["time_worst_us"], p
assert p["roofline_us"] < p["copy_us"] and p["roofline_us"] <= p["time_free_us"], p
assert p["time_free_us"] <= p["time_us"] <= p["time_worst_us"] and p["busy"]["S"] > 0 and p["scalar_instructions"] > 0, p
assert p["cycles"] > 0 and p["gm_read"] > 0 and p["launch_us"] > 0, p
assert p["min_bytes"] == 16 * (128 * 127 + 128) * 2
for ratio, time, over in (("ratio", "time_us", "copy_us"), ("ratio_roofline", "time_us", "roofline_us"),
                          ("ratio_l2", "time_l2_us", "copy_l2_us")):
    assert abs(p[ratio] - p[time] / p[over]) < 0.01 * p[ratio], ratio
assert p["copy_l2_us"] < p["roofline_us"] and p["time_l2_us"] < p["time_us"] and p["l2_share"] == 1, p
trace = json.load(open("t.json"))
rows = {e["tid"] for e in trace["traceEvents"]}
assert [trace["otherData"][key] for key in ("memory", "time_us", "time_l2_us")] == ["cold", p["time_us"], p["time_l2_us"]]
assert rows == {"S", "V", "MTE2", "MTE3"}, rows
assert p["warnings"] == 0 and p["warning"] == []
assert p["inputs"] == {"grad_output": "bf16[16,128,128]", "grad_self": "bf16[16,128,128]"} and p["attrs"] == {}, p
PY
expect 1 'every dimension' "$ascgrad" perf ExpSegsumGrad --in 'grad_output=bf16[-1,-1]' --in 'grad_self=bf16[-1,-1]'

# every key of every JSON output stands in docs/command.md
"$ascgrad" doctor --json --opp nowhere >doctor.json
expect 0 'keys' "$python" - "$(dirname "$ir")" "$page" <<'PY'
import json, re, sys
page, seen = open(sys.argv[2], encoding="utf-8").read(), set()
def walk(value, stop=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            seen.add(key)
            if key not in stop: walk(inner, stop)
    elif isinstance(value, list):
        for inner in value: walk(inner, stop)
for name in ("ops", "tile", "perf", "doctor"):
    walk(json.load(open(name + ".json")), ("fields", "checks", "owners", "inputs", "attrs") if name != "ops" else ())
missing = sorted(key for key in seen if f"`{key}`" not in page)
assert not missing and len(seen) > 50, missing
print(len(seen), "keys")
PY

# check
expect 0 'ExpSegsumGrad grad_output' "$ascgrad" check ExpSegsumGrad --list
expect 1 "no operator 'Nope'" "$ascgrad" check Nope

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
