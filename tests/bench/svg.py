# SPDX-License-Identifier: Apache-2.0
"""Roofline plots as plain SVG: one bar per case, time / roofline, with its limit and the public kernel's value."""
import os

FAMILIES = {"rotary": "RotaryPositionEmbeddingGrad", "rope": "RopeGrad", "norm_rope_concat": "NormRopeConcatGrad",
            "exp_segsum": "ExpSegsumGrad"}
LEFT, ROW, WIDTH, SCALE = 330, 24, 900, 480


def draw(rows, folder):
    for family, op in FAMILIES.items():
        mine = [r for r in rows if r[0] == op]
        top = max(max(r[3]["ratio"], r[5], r[6] or 0) for r in mine)
        x = lambda v: LEFT + SCALE * v / top
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{ROW * (len(mine) + 3)}" '
                 'font-family="sans-serif" font-size="12">',
                 '<rect width="100%" height="100%" fill="white"/>',
                 f'<text x="10" y="18" font-size="14">{op}: modelled time / memory roofline (1 = roofline), '
                 'ascend910b1</text>']
        for i, (_, title, dtype, r, _, limit, public) in enumerate(mine):
            y = ROW * (i + 1.5)
            parts.append(f'<text x="10" y="{y + 12}">{title}, {dtype}</text>')
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{x(r["ratio"]) - LEFT:.1f}" height="14" fill="#a9c4e0"/>')
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{x(r["ratio_free"]) - LEFT:.1f}" height="14" fill="#4a7fb5"/>')
            parts.append(f'<line x1="{x(limit):.1f}" x2="{x(limit):.1f}" y1="{y - 2}" y2="{y + 16}" stroke="#c0392b" '
                         'stroke-width="2"/>')
            if public:
                parts.append(f'<circle cx="{x(public):.1f}" cy="{y + 7}" r="4" fill="#555"/>')
            parts.append(f'<text x="{x(max(r["ratio"], public or 0)) + 8:.1f}" y="{y + 12}">{r["ratio"]:.2f}</text>')
        y = ROW * (len(mine) + 2)
        parts.append(f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="{ROW}" y2="{y}" stroke="#999" stroke-dasharray="4"/>')
        parts.append(f'<text x="10" y="{y + 12}">bar: this package, light: scalar time; red line: limit without it; dot: public kernel in the same '
                     'model; dashed: roofline</text></svg>')
        with open(os.path.join(folder, f"roofline_{family}.svg"), "w") as f:
            f.write("\n".join(parts) + "\n")
