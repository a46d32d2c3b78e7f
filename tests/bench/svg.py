# SPDX-License-Identifier: Apache-2.0
"""Plots as plain SVG: two bars per case, time / copy in memory and time / L2 rate, each with its limit."""
import os

FAMILIES = {"rotary": "RotaryPositionEmbeddingGrad", "rope": "RopeGrad", "norm_rope_concat": "NormRopeConcatGrad",
            "exp_segsum": "ExpSegsumGrad"}
LEFT, ROW, WIDTH, SCALE = 330, 24, 900, 480


def draw(rows, folder):
    for family, op in FAMILIES.items():
        mine = [r for r in rows if r[0] == op]
        top = max(max(r[3]["ratio"], r[3]["ratio_l2"], r[5], r[6]) for r in mine)
        x = lambda v: LEFT + SCALE * v / top
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{ROW * (len(mine) + 3)}" '
                 'font-family="sans-serif" font-size="12">',
                 '<rect width="100%" height="100%" fill="white"/>',
                 f'<text x="10" y="18" font-size="14">{op}: modelled time / a measured copy, and time / the L2 rate, '
                 'ascend910b1</text>']
        for i, (_, title, dtype, r, _, limit, limit_l2, _, _) in enumerate(mine):
            y = ROW * (i + 1.5)
            parts.append(f'<text x="10" y="{y + 14}">{title}, {dtype}</text>')
            for at, value, colour, most in ((y, r["ratio"], "#4a7fb5", limit), (y + 10, r["ratio_l2"], "#8fbc8f", limit_l2)):
                parts.append(f'<rect x="{LEFT}" y="{at}" width="{x(value) - LEFT:.1f}" height="8" fill="{colour}"/>')
                parts.append(f'<line x1="{x(most):.1f}" x2="{x(most):.1f}" y1="{at - 1}" y2="{at + 9}" stroke="#c0392b" '
                             'stroke-width="2"/>')
            parts.append(f'<text x="{x(max(r["ratio"], r["ratio_l2"], limit, limit_l2)) + 8:.1f}" y="{y + 14}">'
                         f'{r["ratio"]:.2f}, {r["ratio_l2"]:.2f}</text>')
        y = ROW * (len(mine) + 2)
        parts.append(f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="{ROW}" y2="{y}" stroke="#999" stroke-dasharray="4"/>')
        parts.append(f'<text x="10" y="{y + 12}">blue: data in memory, against a copy; green: data in the L2, against its '
                     'rate; red lines: limits; dashed: 1</text></svg>')
        with open(os.path.join(folder, f"roofline_{family}.svg"), "w") as f:
            f.write("\n".join(parts) + "\n")
