# SPDX-License-Identifier: Apache-2.0
"""same_bits.py COMMAND_A COMMAND_B WORK: runs each operator with both commands, checked and fast; the files must be equal."""
import os
import subprocess
import sys

import numpy as np

# operator, inputs, attributes, outputs
RUNS = (
    ("RotaryMulGrad", {"x": (2, 9, 3, 130), "r1": (1, 9, 1, 130), "r2": (1, 9, 1, 130), "dy": (2, 9, 3, 130)}, (),
     ("dx", "dr1", "dr2")),
    ("RotaryPositionEmbeddingGrad", {"dy": (40, 5, 64), "cos": (1, 5, 64), "sin": (1, 5, 64), "x": (40, 5, 64)}, ("mode=1",),
     ("dx", "dcos", "dsin")),
    ("RopeGrad", {"q": (11, 256), "k": (11, 128), "cos": (6, 64), "sin": (6, 64)}, ("qSeqLen=2,1,4,4", "exact_grad=true"),
     ("q_grad", "k_grad")),
    ("NormRopeConcatGrad",
     {"grad_query_output": (2, 3, 7, 40), "grad_key_output": (2, 3, 5, 40), "grad_value_output": (2, 3, 5, 40),
      "query": (2, 4, 3, 40), "key": (2, 5, 3, 40), "encoder_query": (2, 3, 3, 40), "norm_query_weight": (40,),
      "norm_query_mean": (2, 4, 3, 1), "norm_query_rstd": (2, 4, 3, 1), "norm_key_weight": (40,), "norm_key_mean": (2, 5, 3, 1),
      "norm_key_rstd": (2, 5, 3, 1), "rope_sin": (5, 40), "rope_cos": (5, 40)},
     ("norm_type=2", "rope_type=2", "concat_order=1"), ("grad_query", "grad_key", "grad_encoder_query", "grad_norm_query_weight")),
    ("ExpSegsumGrad", {"grad_output": (3, 200, 200), "grad_self": (3, 200, 200)}, (), ("grad_input",)),
)


def main(argv):
    commands, work, bad = [argv[1].split(), argv[2].split()], argv[3], 0
    rng = np.random.default_rng(9)
    for op, inputs, attrs, outputs in RUNS:
        for dtype in (np.float32, np.float16):
            words = []
            for name, shape in inputs.items():
                narrow = dtype if not name.endswith(("_mean", "_rstd")) else np.float32
                path = os.path.join(work, f"{name}.npy")
                np.save(path, rng.standard_normal(shape).astype(narrow))
                words += ["--in", f"{name}={path}"]
            for attr in attrs:
                words += ["--attr", attr]
            for mode in ([], ["--fast"]):
                said = []
                for i, command in enumerate(commands):
                    files = [os.path.join(work, f"{name}.{i}.npy") for name in outputs]
                    outs = [w for name, f in zip(outputs, files) for w in ("--out", f"{name}={f}")]
                    subprocess.run(command + ["run", op] + words + outs + mode, check=True)
                    said.append([open(f, "rb").read() for f in files])
                same = said[0] == said[1]
                bad += not same
                print(f"{op} {np.dtype(dtype).name}{' fast' if mode else ''}: {'same bits' if same else 'THE BITS DIFFER'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
