# SPDX-License-Identifier: Apache-2.0
"""Words that the front doors of all frameworks use."""

MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}  # of RotaryPositionEmbedding
STREAMS = ("norm_query", "norm_key", "norm_added_query", "norm_added_key")  # of NormRopeConcat
