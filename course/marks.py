"""Finds the bodies that course/holes.toml names, and the holes that a student's folder has in their place.

There is no second copy of a body: a hole is cut out of the project's own file, and stands in the student's file between
`// course N: NAME` and `// course end`. What a student wrote is found again between these two lines.
"""

import functools
import pathlib
import re
import tomllib

root = pathlib.Path(__file__).resolve().parent.parent
steps = 14
begins = re.compile(r"^( *)// course (\d+): ([a-z_0-9 ]+)$")
ends = re.compile(r"^ *// course end$")
empty = re.compile(r"^ *hole\(\"(\d+ [a-z_0-9 ]+)\"\);")

# The files that steps 9 to 14 need beyond the list of docs/spine.md; marks.py adds their includes.
beside_the_spine = """encodings/sincos.cpp encodings/learned.cpp encodings/rows_at.cpp encodings/alibi.cpp
encodings/by_distance.cpp encodings/relative.cpp encodings/distances.cpp encodings/samplers_subset.cpp
encodings/rerope.cpp encodings/windows.cpp encodings/explicit_weights.cpp encodings/window.cpp nn/transformer_copies.cpp
core/cpu/matmul.cpp cuda/naive/linear.cu cuda/softmax.cu cuda/emulate.cpp""".split()


class Broken(Exception):
    """An error: the fault of a file, and the remedy."""


class Region:
    """A body: its step, its name, and its lines with those of the two marks (lines[0] and lines[-1])."""

    def __init__(self, path, first, lines):
        indent, step, self.name = begins.match(lines[0]).groups()
        self.path, self.first, self.lines, self.step, self.indent = path, first, lines, int(step), indent

    @property
    def key(self):
        return f"{self.step} {self.name}"

    @property
    def body(self):
        return self.lines[1:-1]

    @property
    def is_hole(self):
        return any(empty.match(line) for line in self.body)

    def cut(self):
        page = page_of(self.step)
        return [f'{self.indent}hole("{self.key}");   // your code in place of this line: {page}']


def page_of(step):
    return next((root / "docs/course").glob(f"{step:02}_*.md")).relative_to(root).as_posix()


def title_of(step):
    return (root / page_of(step)).read_text().splitlines()[0].lstrip("# ")


def regions(path, text):
    """The marked bodies of a file, in order; those of steps to come are left out. Raises Broken where marks do not come
    in pairs."""
    found, lines, start = [], text.split("\n"), None
    for number, line in enumerate(lines):
        if begins.match(line) and start is None:
            start = number
        elif ends.match(line) and start is not None:
            found.append(Region(path, start, lines[start:number + 1]))
            start = None
        elif "// course " in line:
            raise Broken(f"{path}:{number + 1}: '{line.strip()}' is no mark, or has no partner; a body stands between "
                         "'// course N: NAME' and '// course end'")
    if start is not None:
        raise Broken(f"{path}:{start + 1}: '{lines[start].strip()}' has no '// course end'")
    return [region for region in found if region.step <= steps]


@functools.cache
def holes():
    """{file: {key: words of its function}} of course/holes.toml."""
    return tomllib.loads((root / "course/holes.toml").read_text())


def with_marks(path, text):
    """The text of the project's file with the two marks around each body that holes() names."""
    lines, marks = text.split("\n"), []
    for key, words in holes().get(path, {}).items():
        def first(what, start, fits):
            at = next((n for n in range(start, len(lines)) if fits(lines[n])), None)
            if at is None:
                raise Broken(f"course/holes.toml: '{key}' of {path} has no line {what}; name a function that has one")
            return at

        if text.count(words) != 1:
            raise Broken(f"course/holes.toml: '{key}' of {path} is in '{words}', which is there {text.count(words)} "
                         "times; give words that occur once")
        start = first("of its function", 0, lambda line: words in line)
        start = first("that ends with {", start, lambda line: re.search(r"\{ *(//.*)?$", line)) + 1
        indent = re.match(" *", lines[start])[0]
        end = first("that ends it", start, lambda line: line.strip() and not line.startswith(("#", indent)))
        marks += [(end, f"{indent}// course end"), (start, f"{indent}// course {key.replace(' ', ': ', 1)}")]
    for at, mark in sorted(marks, reverse=True):
        lines.insert(at, mark)
    return "\n".join(lines)


def with_bodies(path, text, body_of):
    """The text with other bodies: body_of(region) is a list of lines, or None to leave it."""
    lines = text.split("\n")
    for region in reversed(regions(path, text)):
        body = body_of(region)
        if body is not None:
            lines[region.first + 1:region.first + len(region.lines) - 1] = body
    return "\n".join(lines)


def included(path):
    return re.findall(r'^#include "([^"]+)"', (root / path).read_text(), re.M)


@functools.cache
def files():
    """The sources of a student's folder: those of docs/spine.md, those of the later steps, and their includes."""
    page = (root / "docs/spine.md").read_text()
    todo = re.findall(r"[(`](?:\.\./)?([a-z0-9_/]+\.(?:h|cpp|def))[)`]", page) + beside_the_spine
    seen = set()
    while todo:
        path = todo.pop()
        if path not in seen and (root / path).exists():
            seen.add(path)
            todo += included(path)
    return sorted(seen)


def marked():
    """The files among them that hold bodies."""
    return [path for path in files() if path in holes()]


def text_of(folder, path):
    """A file as a student has it: the project's has marks here."""
    try:
        text = (folder / path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Broken(f"{path}: its byte {error.start} is no UTF-8; save the file as UTF-8") from None
    return with_marks(path, text) if folder == root else text


def of_folder(folder, step=None):
    """The regions of a folder, by their keys."""
    found = {}
    for path in marked():
        if (folder / path).exists():
            for region in regions(path, text_of(folder, path)):
                if step is None or region.step == step:
                    found[region.key] = region
    return found
