"""Figures for print, from a page of poslab or from runs:

  python -m poslab.figures report.html -o figures.pdf
  python -m poslab.figures runs/rope runs/alibi -o curves.pdf --width 77 --label rope=RoPE --label alibi=ALiBi
"""

import argparse
import json
import os
import pathlib
import re
import sys

from . import draw, style

NEEDED = "matplotlib draws the figures, and it is not installed; run `python -m pip install matplotlib`"


class BadInput(ValueError):
    pass


def millimetres(word):
    named = {"column": style.COLUMN, "page": style.PAGE}
    try:
        width = named.get(word) or float(word.removesuffix("mm"))
    except ValueError:
        width = 0
    if not 40 <= width <= 400:
        raise BadInput(f"--width {word}: use column (84 mm), page (174 mm), or a number of millimetres from 40 to 400")
    return width


def ending_of(words):
    known = list(style.BEGINS)
    ending = words.format or pathlib.Path(words.out).suffix.removeprefix(".")
    if ending not in known:
        raise BadInput(f"-o {words.out}: what kind of file is this? Name it {', '.join('.' + k for k in known)}")
    return ending


def check_output(path, ending):
    if path == "-" or not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        begin = file.read(len(style.BEGINS[ending]))
    if begin and begin != style.BEGINS[ending]:
        raise BadInput(f"-o {path}: this file exists and holds something else; choose another name, or remove it")


def of_page(path):
    """The data in a page, or in a file of data ("-": the standard input)."""
    try:
        text = sys.stdin.read() if path == "-" else pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is not text'}") from None
    found = re.search(r'<script[^>]*\bid="data"[^>]*>(.*?)</script>', text, re.DOTALL)
    try:
        figures = draw.figures_of(json.loads(found[1] if found else text))
    except (ValueError, KeyError, TypeError, AttributeError):
        figures = []
    if not figures:
        raise BadInput(f"{path} has no figures: give a page of `poslab report`, `show`, `inspect` or `graph`, or run "
                       "folders; `reproduce` and `compare` write theirs with --figures pdf")  # fmt: skip
    return figures


def of_runs(paths):
    """The data of runs, in the form of `poslab report -o x.json`."""
    from .._poslab import _inside

    try:
        return json.loads(_inside.report(paths, "figures.json"))["figures"]
    except ValueError as error:
        raise BadInput(str(error)) from None


def figures_of(inputs):
    pages = [one == "-" or os.path.isfile(one) and not one.endswith(".jsonl") for one in inputs]
    if not any(pages):
        return of_runs(inputs)
    if len(inputs) > 1:
        raise BadInput(f"{' '.join(inputs)}: give one page, or run folders")
    return of_page(inputs[0])


def only(figures, names):
    known = [figure.get("id", figure["title"]) for figure in figures]
    for name in names:
        if name not in known:
            raise BadInput(f"--only {name}: there is no such figure; there are {', '.join(known)}")
    return [figure for figure, name in zip(figures, known) if not names or name in names]


def labelled(figures, labels, signs):
    """Applies labels NAME=TEXT to curves, titles and axes. For a curve named "encoding=rope", NAME may also be rope."""
    places = [(figure, key) for figure in figures for key in ("title", "x", "y", "row", "col") if key in figure]
    places += [(curve, "name") for figure in figures for curve in figure.get("curves", [])]
    names = {}
    for place, key in places:
        for name in {place[key], place[key].rpartition("=")[2]}:
            names.setdefault(name, []).append((place, key))
    new = {}
    for label in labels:
        fitting = [name for name in names if label.startswith(name + "=")]
        if not fitting:
            known = ", ".join(dict.fromkeys(place[key] for place, key in places))
            raise BadInput(f"--label {label}: no curve or text has that name; write NAME=TEXT with one of {known}")
        name = max(fitting, key=len)
        new[name] = label[len(name) + 1 :]
    draw.escaped(figures, signs)
    for name, text in new.items():
        for place, key in names[name]:
            place[key] = text
    return figures


def parser():
    made = argparse.ArgumentParser(prog="python -m poslab.figures", description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    made.add_argument("inputs", nargs="+", metavar="FILE.html|RUN", help="a page, or run folders")
    made.add_argument("-o", "--out", required=True, metavar="FILE", help=".pdf, .svg, .png, or .pgf for LaTeX")
    made.add_argument("--width", default="column", metavar="column|page|MM", help="its width in print (column: 84 mm)")
    made.add_argument("--label", action="append", default=[], metavar="NAME=TEXT",
                      help="renames a curve, a title or an axis; may be repeated")  # fmt: skip
    made.add_argument("--style", action="append", default=[], metavar="STYLE",
                      help="a matplotlib style, by name or file, on top of poslab's; may be repeated")  # fmt: skip
    made.add_argument("--only", action="append", default=[], metavar="FIGURE", help="only this figure; may be repeated")
    made.add_argument("--format", metavar="pdf|svg|png|pgf", help="the format if the file's name has no ending")
    return made


def run(words):
    width, ending = millimetres(words.width), ending_of(words)
    check_output(words.out, ending)
    figures = only(figures_of(words.inputs), words.only)
    vector = style.BEGINS[ending] == style.PGF
    labelled(figures, words.label, style.TEX if vector else {"$": r"\$"})
    try:
        import matplotlib
        from matplotlib import style as styles
    except ImportError:
        raise style.Missing(NEEDED) from None
    with matplotlib.rc_context(style.settings(ending=ending)):
        for one in words.style:
            try:
                styles.use(one)
            except OSError:
                raise BadInput(f"--style {one}: there is no such file, and matplotlib has no such style; it has "
                               f"{', '.join(styles.available)}") from None  # fmt: skip
        drawing = style.saved(draw.canvas(figures, width, vector), ending)
    if words.out == "-":
        sys.stdout.buffer.write(drawing)
        return
    partial = pathlib.Path(words.out + ".partial")
    try:
        partial.write_bytes(drawing)
        os.replace(partial, words.out)
    except OSError as error:
        raise BadInput(f"cannot write {words.out}: {error.strerror}; choose another path") from None


def main():
    try:
        run(parser().parse_args())
    except BadInput as error:
        print(f"poslab: {error}", file=sys.stderr)
        return 2
    except style.Missing as error:
        print(f"poslab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
