"""Runs published implementations on small cases and writes tests/data/published/NAME.json (README.md).

make.py [NAME...]     all cases, or the named ones
"""

import importlib
import json
import math
import pathlib
import sys
from importlib import metadata

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "reference")]
GOLDEN = HERE.parent / "data/published"

from cases import CASES, Drawn  # noqa: E402

LIBRARIES = ("from_transformers", "from_lucidrains", "from_fla", "from_others")


def short(x):
    return float(f"{x:.12g}")


def numbers(case, drawn, result):
    """The numbers that the C++ test compares, row by row; in a causal case, only for keys that a query sees."""
    if case.expects in ("embedding", "output"):
        shape = (1, drawn.T, drawn.C) if case.expects == "embedding" else (1, drawn.T, drawn.H, drawn.D)
    else:
        shape = (1, drawn.H, drawn.T, drawn.T)
    if tuple(result.shape) != shape:
        raise SystemExit(f"{case.name}: shape {tuple(result.shape)}, but {case.expects} must have {shape}")
    rows = result.detach().double().reshape(-1, shape[-1]).tolist()
    if case.causal and len(shape) == 4 and case.expects != "output":
        rows = [row[: n % drawn.T + 1] for n, row in enumerate(rows)]
    if not all(math.isfinite(x) for row in rows for x in row):
        raise SystemExit(f"{case.name}: not finite")
    return [short(x) for row in rows for x in row]


def run(case):
    drawn = Drawn(case)
    result = case.function(drawn)
    golden = {
        "name": case.name,
        "encoding": case.encoding,
        "source": f"{case.library} {metadata.version(case.library)}: {case.code}",
        "causal": case.causal,
        "heads": drawn.H,
        "head_dim": drawn.D,
        "max_position": case.max_position,
        "layer": case.layer,
        "positions": drawn.p.tolist(),
        "width": drawn.width,
        "parameters": drawn.parameters,
        "tolerance": case.tolerance,
        "why": case.why,
        "expects": case.expects,
        "values": numbers(case, drawn, result),
    }
    text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items())
    (GOLDEN).mkdir(exist_ok=True)
    (GOLDEN / f"{case.name}.json").write_text("{\n" + text + "\n}\n")
    print(f"{case.name:28} {case.encoding:32} {golden['source']}")


def main(names):
    for library in LIBRARIES:
        importlib.import_module(library)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        raise SystemExit(f"no case {', '.join(unknown)}; there are {', '.join(CASES)}")
    for case in CASES.values():
        if not names or case.name in names:
            run(case)
    for old in (GOLDEN).glob("*.json"):
        if old.stem not in CASES:
            old.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
