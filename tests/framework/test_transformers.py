# SPDX-License-Identifier: Apache-2.0
"""ascgrad.torch.use() against the whole library of models: every rotary function of every modelling file of transformers
is classified; what would be replaced is compared with the original at the sizes of real models, forward and backward.
The numbers are in docs/clients.md, and this test holds the page to them (for the transformers that the page names).

usage: test_transformers.py [docs/clients.md]
"""
import ast
import collections
import glob
import importlib
import inspect
import os
import re
import sys
import warnings

import torch
from run_tests import run_tests

from ascgrad.torch import models

try:
    import transformers
except ImportError:
    print("skipped: no transformers")
    sys.exit(77)

SEED = 20266
HEAD, TOKENS, BATCH = (64, 80, 128), 9, 2
NAME = re.compile(r"(apply|rotate|rotary|rope).*(rotary|rope)|^_?(vision_)?apply_.*(rotary|rope)")
DTYPES = ((torch.float32, torch.float32, 1e-5), (torch.bfloat16, torch.bfloat16, 3e-2), (torch.bfloat16, torch.float32, 3e-2))


def functions():
    """(file, module, names): every function with such a name that a modelling file defines."""
    folder = os.path.join(os.path.dirname(transformers.__file__), "models")
    for path in sorted(glob.glob(os.path.join(folder, "*", "modeling_*.py"))):
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and NAME.search(n.name)]
        if names:
            part, name = path.split(os.sep)[-2:]
            yield part, importlib.import_module(f"transformers.models.{part}.{name[:-3]}"), names


def calls(function, head):
    """Arguments as models have them: heads first or last, packed or flat; tables whole, of half and of a quarter."""
    parameters = inspect.signature(function).parameters
    tensors = [n for n, p in parameters.items() if p.kind != p.VAR_KEYWORD and (p.default is p.empty or p.default is None)
               and n not in ("cos", "sin", "position_ids", "mrope_section", "unsqueeze_dim", "freqs_cis", "freqs_ci")]
    random = torch.Generator().manual_seed(SEED)
    layouts = (((BATCH, "h", TOKENS), (BATCH, TOKENS), {}), ((BATCH, TOKENS, "h"), (BATCH, TOKENS), {"unsqueeze_dim": 2}),
               ((BATCH, TOKENS, "h"), (BATCH, TOKENS), {}), ((TOKENS, "h"), (TOKENS,), {}),
               ((BATCH, "h", TOKENS), (1, TOKENS), {}), ((BATCH, "h", TOKENS), (TOKENS,), {}),
               ((BATCH, TOKENS, "h"), (TOKENS,), {}), ((BATCH, "h", TOKENS), (BATCH, 1, TOKENS), {}),
               ((1, "h", TOKENS), (1, TOKENS), {}), ((BATCH, TOKENS), (BATCH, TOKENS), {}),
               ((BATCH, "h", TOKENS + 5), (TOKENS,), {}), ((BATCH, "h", TOKENS), (200,), {"position_ids": (BATCH, TOKENS)}),
               ((BATCH, "h", TOKENS), (3, BATCH, TOKENS), {"mrope_section": [head // 4, head // 8, head // 8]}))
    for (x, table, options), width in ((l, w) for l in layouts for w in (head, head // 2, head // 4)):
        if set(options) - set(parameters):
            continue
        angle = torch.rand(*table, width // 2, generator=random) * 7
        angle = torch.cat((angle, angle), -1)  # as every model makes its tables
        given = {name: torch.randn(*(8 >> i if n == "h" else n for n in x), head, generator=random)
                 for i, name in enumerate(tensors)}
        if "cos" in parameters:
            given.update(cos=angle.cos(), sin=angle.sin())
        else:
            given[next(n for n in ("freqs_cis", "freqs_ci") if n in parameters)] = torch.polar(torch.ones_like(angle), angle)
        for name, value in options.items():
            given[name] = torch.randint(0, table[0], value, generator=random) if name == "position_ids" else value
        yield tensors, given


def outcome(function, tensors, given, dtype, table_dtype):
    """Results and the gradients of the tensors, or None if it refuses, or if the result has not the shapes of x."""
    leaves = [given[name].detach().to(dtype).requires_grad_() for name in tensors]
    tables = {n: t.to(table_dtype) if n in ("cos", "sin") else t for n, t in given.items()}
    try:
        out = function(**{**tables, **dict(zip(tensors, leaves))})
    except Exception:
        return None
    out = list(out) if isinstance(out, (tuple, list)) else [out]
    if [y.shape for y in out] != [x.shape for x in leaves]:
        return None
    return out + list(torch.autograd.grad(out, leaves, [y.detach().cos() for y in out]))


def judged(rotation):
    """(calls compared, of these computed by ours, disagreements)."""
    compared, wrong, own, seen = 0, [], 0, []
    plain = rotation.ours

    def watched(given):
        out = plain(given)
        seen.append(out is not None)
        return out

    rotation.ours = watched

    for head in HEAD:
        for tensors, given in calls(rotation.original, head):
            for dtype, table_dtype, bound in DTYPES:
                want = outcome(rotation.original, tensors, given, dtype, table_dtype)
                if want is None:
                    continue
                got = outcome(rotation, tensors, given, dtype, table_dtype)
                compared += 1
                own += bool(seen and seen[-1])
                seen.clear()
                where = f"{[list(given[n].shape) for n in given if isinstance(given[n], torch.Tensor)]} {dtype} {table_dtype}"
                if got is None or any(a.dtype != b.dtype for a, b in zip(got, want)):
                    wrong.append(f"refused or of another dtype: {where}")
                elif max(float((a.float() - b.float()).abs().max()) for a, b in zip(got, want)) > bound * 4:
                    wrong.append(f"other numbers: {where}")
    rotation.ours = plain
    return compared, own, wrong


def text(function):
    """The function with the functions of its file that it calls: the same text has the same numbers."""
    found, names = [inspect.getsource(function)], inspect.unwrap(function)
    for name in sorted(models._helpers(names.__code__, vars(sys.modules[function.__module__]))):
        other = vars(sys.modules[function.__module__])[name]
        if inspect.isfunction(other) and other.__module__ == function.__module__:
            found.append(inspect.getsource(other))
    return "\n".join(re.sub(r'"""[^"]*"""', "", part) for part in found)


def table():
    """The lines of the page."""
    kinds, left, total, known = collections.Counter(), [], collections.Counter(), {}
    for part, module, names in functions():
        replaced, others = models.classify(vars(module), names)
        for name in names:
            total["functions"] += 1
            if name in others:
                total["left"] += 1
                left.append(f"| `{part}` `{name}` | {others[name]} |")
                continue
            key = text(replaced[name].original), str(replaced[name])
            if key not in known:
                known[key] = judged(replaced[name])
                total["texts"] += 1
                total["calls"] += known[key][0]
                total["ours"] += known[key][1]
            _, own, wrong = known[key]
            total["replaced"] += 1
            total["wrong"] += bool(wrong)
            kinds[str(replaced[name])] += 1
            assert own, f"{part} {name}: ours is never called"
            for where in wrong:
                print(f"WRONG {part} {name} ({replaced[name]}): {where}")
    lines = [f"transformers {transformers.__version__}: {total['functions']} rotary functions, {total['replaced']} replaced, "
             f"{total['left']} left alone, {total['wrong']} wrong.", "",
             "| rotation | functions |", "|---|---|", *(f"| {kind} | {n} |" for kind, n in kinds.most_common()), "",
             "| left alone | why |", "|---|---|", *left]
    print("\n".join(lines))
    print(f"{total['texts']} different texts; {total['calls']} calls compared, {total['ours']} of them ours")
    return lines, total


def test_every_rotary_function():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines, total = table()
    assert total["functions"] > 200 and total["wrong"] == 0, dict(total)
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            page = file.read()
        named = re.search(r"transformers ([0-9.]+): \d+ rotary functions", page)
        assert named, "the page has no table of transformers"
        if named.group(1) == transformers.__version__:
            assert "\n".join(lines) in page, "the page has other numbers"
        elif f"transformers {transformers.__version__}:" in page:
            assert lines[0] in page.replace("\n", " "), f"the page has other numbers than: {lines[0]}"


def test_names_are_known():
    """use() looks at every function that this test found by its own rule."""
    for part, _, names in functions():
        assert not [n for n in names if not models._NAME.match(n)], (part, names)


if __name__ == "__main__":
    torch.manual_seed(SEED)
    sys.exit(run_tests(globals(), f"transformers {transformers.__version__}, torch {torch.__version__}, seed {SEED}"))
