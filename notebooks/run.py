#!/usr/bin/env python3
"""usage: notebooks/run.py [--write] [NOTEBOOK...]     tools/notebooks calls it with the right Python

Runs the notebooks from their .py files (jupytext's percent format), each in its own process.
Fails if a cell fails or warns, if the .ipynb has other cells, if a link leads nowhere, if an exercise without an answer
counts as right, or if a solution does not. --write puts the outputs into the .ipynb. Ends with a line that
./dev test counts.
"""

import argparse
import base64
import io
import re
import resource
import sys
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

HERE = Path(__file__).parent
SLOW = 180                                    # the most seconds for a notebook on two cores
COLOUR = re.compile("\x1b\\[[0-9;]*m")
LINK = re.compile(r"\]\(([^)#:]+)(#[^)]*)?\)")
PREDICTION = re.compile(r"\*\*Predict\b")
SOLUTION = re.compile(r"<details>.*?```python\n(.*?)```", re.S)


def cells_of(path):
    """The notebook of a .py, with cell ids that do not change from run to run."""
    notebook = jupytext.read(path)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        asked = number > 0 and PREDICTION.search(notebook.cells[number - 1].source)
        folded = cell.cell_type == "code" and asked  # Jupyter shows the output after a click
        cell.metadata = {"jupyter": {"outputs_hidden": True}} if folded else {}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def with_solutions(notebook):
    """The notebook with two marked cells after each exercise: the solution's code, and its check once more."""
    cells, check = [], None
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code" and "@check(" in cell.source:
            check = cell
        solution = SOLUTION.search(cell.source) if cell.cell_type == "markdown" else None
        if solution:
            if check is None:
                raise ValueError(f"there is no cell with @check above the solution\n{cell.source}")
            cells += [marked(solution[1], "solution"), marked(check.source, "checked")]
            check.metadata["mark"], check = "check", None
    if check is not None:
        raise ValueError(f"there is no solution below the check\n{check.source}")
    return nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)


def marked(source, mark):
    return nbformat.v4.new_code_cell(source, metadata={"mark": mark})


def lost_links(notebook):
    """Errors for links to files that are not there."""
    targets = [m[1] for c in notebook.cells if c.cell_type == "markdown" for m in LINK.finditer(c.source)]
    return [f"there is no {target}" for target in targets if not (HERE / target).exists()]


def text_of(cell):
    return "".join(o.get("text", "") for o in cell.outputs)


def faults(cells):
    for cell in cells:
        mark = cell.metadata.get("mark")
        if mark == "check" and not text_of(cell).startswith("Not answered yet"):
            yield f"an exercise without an answer should say so, and says {text_of(cell)!r}\n{cell.source}"
        if mark == "checked" and text_of(cell) != "Right.\n":
            yield f"the solution should be right, and the check says {text_of(cell)!r}\n{cell.source}"
        if cell.cell_type == "code" and not mark:
            yield from (f"a cell warns: {o.text}\n{cell.source}" for o in cell.outputs if o.get("name") == "stderr")


def smaller(png):
    """The same picture with 256 colours, in a third of the bytes."""
    small = io.BytesIO()
    Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB").quantize(dither=Image.Dither.NONE).save(
        small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode()


def plain(notebook):
    """The notebook as it is committed: without solutions and marks, with small pictures."""
    notebook.cells = [c for c in notebook.cells if c.metadata.get("mark") not in ("solution", "checked")]
    for number, cell in enumerate(c for c in notebook.cells if c.cell_type == "code"):
        cell.execution_count = number + 1
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number + 1
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = smaller(output.data["image/png"])
    for cell in notebook.cells:
        cell.metadata = {k: v for k, v in cell.metadata.items() if k == "jupyter"}
    return notebook


def sources(notebook):
    """The parts of the cells that running them does not change."""
    return [(c.cell_type, c.source, c.metadata) for c in notebook.cells]


def run(path, write):
    """The faults of a notebook, a list."""
    pair = path.with_suffix(".ipynb")
    notebook = cells_of(path)
    if not write and not pair.exists():
        return [f"there is no {pair.name}; tools/notebooks --write makes it"]
    if not write and sources(nbformat.read(pair, as_version=4)) != sources(notebook):
        return [f"{pair.name} has other cells than {path.name}; tools/notebooks --write {path.stem} makes it again"]
    solved = with_solutions(notebook)
    client = NotebookClient(solved, timeout=SLOW, kernel_name="python3", resources={"metadata": {"path": str(HERE)}})
    try:
        client.execute()
    except CellExecutionError as error:
        return [COLOUR.sub("", str(error))]
    wrong = [*faults(solved.cells), *lost_links(notebook)]
    if write and not wrong:
        nbformat.write(plain(solved), pair)
    return wrong


def seconds():
    """Seconds on the clock, and of the processor time of kernels."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    ask.add_argument("notebooks", nargs="*", metavar="NOTEBOOK", help="01 or 01_tensor; all without one")
    ask.add_argument("--write", action="store_true", help="put the outputs into the .ipynb")
    asked = ask.parse_args()
    there = sorted(HERE.glob("[0-9][0-9]_*.py"))
    chosen = [p for p in there if not asked.notebooks or any(p.stem.startswith(n) for n in asked.notebooks)]
    for name in asked.notebooks:
        if not any(p.stem.startswith(name) for p in there):
            ask.error(f"there is no notebook {name}; there are {', '.join(p.stem for p in there)}")
    failed = 0
    for path in chosen:
        began = seconds()
        wrong = run(path, asked.write)
        took, busy = (now - then for now, then in zip(seconds(), began))
        if took > SLOW:
            wrong.append(f"it took longer than {SLOW} seconds")
        print(f"{'FAILED' if wrong else 'ran'} {path.stem}, {took:.0f} s, {busy:.0f} s of processor time", *wrong,
              sep="\n  ", flush=True)
        failed += bool(wrong)
    print(f"test cases: {len(chosen)} | {len(chosen) - failed} passed | {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
