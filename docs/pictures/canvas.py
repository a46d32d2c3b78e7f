# SPDX-License-Identifier: Apache-2.0
"""A sheet to draw on: boxes, bars, arrows and words as plain SVG, in the reader's light or dark theme. A sheet is as wide
as a telephone shows it, so that its words stay readable there; tests/docs/test_pictures.py looks at every sheet."""
from html import escape

WIDTH = 480
LIGHT = {"back": "#ffffff", "ink": "#1f2328", "quiet": "#59636e", "line": "#8c959f", "box": "#f6f8fa", "ours": "#1a7f64",
         "other": "#b9c0c8", "second": "#8fb8de", "kept": "#cfe8dd", "summed": "#fbe3c8", "row": "#e4e7eb"}
DARK = {"back": "#0d1117", "ink": "#e6edf3", "quiet": "#9198a1", "line": "#656c76", "box": "#161b22", "ours": "#3fb68b",
        "other": "#59626c", "second": "#34618f", "kept": "#17463a", "summed": "#5a3d1c", "row": "#2a313a"}


def _style():
    def theme(colours):
        fills = "".join(f".{name}{{fill:{colours[name]}}}" for name in colours if name not in ("ink", "line"))
        return (fills + f"text{{fill:{colours['ink']}}}text.quiet{{fill:{colours['quiet']}}}"
                f".edge{{stroke:{colours['line']};fill:none}}.tip{{fill:{colours['line']}}}")
    return ("text{font:13px sans-serif}.head{font-weight:bold}.mono{font-family:monospace}"
            + theme(LIGHT) + "@media(prefers-color-scheme:dark){" + theme(DARK) + "}")


class Sheet:
    def __init__(self, title):
        self.parts, self.title, self.bottom = [], title, 0

    def text(self, x, y, words, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"' + (f' class="{kind}"' if kind else "")
                          + f'>{escape(words)}</text>')
        self.bottom = max(self.bottom, y + 6)

    def bar(self, x, y, width, height, kind):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:.1f}" height="{height:g}" class="{kind}"/>')
        self.bottom = max(self.bottom, y + height)

    def line(self, x1, y1, x2, y2, dashed=False):
        self.parts.append(f'<path class="edge" d="M{x1:g} {y1:g}L{x2:g} {y2:g}"'
                          + (' stroke-dasharray="3 3"' if dashed else "") + "/>")

    def arrow(self, x1, y1, x2, y2):
        """A line with a tip at its end."""
        far = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        dx, dy = (x2 - x1) / far, (y2 - y1) / far
        bx, by = x2 - 7 * dx, y2 - 7 * dy
        self.line(x1, y1, round(bx, 1), round(by, 1))
        self.parts.append(f'<path class="tip" d="M{x2:g} {y2:g}L{bx - 4 * dy:.1f} {by + 4 * dx:.1f}'
                          f'L{bx + 4 * dy:.1f} {by - 4 * dx:.1f}z"/>')

    def box(self, x, y, width, lines, kind="box"):
        """A box with centred lines, the first of them bold; its height."""
        height = 18 * len(lines) + 10
        self.bar(x, y, width, height, kind + " edge" if kind == "box" else kind)
        for i, words in enumerate(lines):
            self.text(x + width / 2, y + 18 * (i + 1), words, "head" if i == 0 else "quiet", "middle")
        return height

    def svg(self):
        height = self.bottom + 8
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
                          f'height="{height:g}" role="img" aria-label="{escape(self.title, True)}">',
                          f"<title>{escape(self.title)}</title>", f"<style>{_style()}</style>",
                          f'<rect class="back" width="{WIDTH}" height="{height:g}"/>', *self.parts, "</svg>", ""])
