# SPDX-License-Identifier: Apache-2.0
"""The ascgrad operators in PyTorch.

    import torch, ascgrad.torch
    y = ascgrad.torch.rotary_mul(x, cos, sin)          # differentiable; the backward is RotaryMulGrad
    dx, dr1, dr2 = torch.ops.ascgrad.rotary_mul_grad(x, cos, sin, dy)

Importing it defines torch.ops.ascgrad.* for CPU (libascgrad), Meta, and the NPU in eager mode (docs/aclnn.md). In graph
mode call ascgrad.torch.converters.register() once: torchair then puts our operators into the GE graph.
ascgrad.torch.use(model) makes a model of the Hugging Face kind use them.
"""
from . import converters, forward, library, npu
from .functions import (exp_segsum, norm_rope_concat, qk_norm_rope, rope, rope_packed, rotary, rotary_mul,
                        rotary_position_embedding)
from .models import use

__all__ = ["converters", "exp_segsum", "forward", "library", "norm_rope_concat", "qk_norm_rope", "rope", "rope_packed",
           "rotary", "rotary_mul", "rotary_position_embedding", "use"]

npu.register(library.of_torch)
