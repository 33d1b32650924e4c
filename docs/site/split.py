"""Source files in parts: comments at the beginning of a line as prose, and the code below each.

Comments within a function or after code stay in the code.
"""

import re
from dataclasses import dataclass, field
from pathlib import PurePath

CPP = {".h", ".cpp", ".cu", ".cuh", ".def", ".mjs", ".js"}
SHELL = {".py", ".sh", ".cmake", ".toml", ""}


@dataclass
class Section:
    prose: list[str] = field(default_factory=list)  # lines of a comment, without their mark
    code: list[int] = field(default_factory=list)   # numbers of lines


def mark_of(path):
    """The beginning of a comment in a file of this name; empty if unknown."""
    suffix = PurePath(path).suffix
    return "//" if suffix in CPP else "#" if suffix in SHELL else ""


def sections(text, mark):
    """Each comment with the code up to the next one. The first has no prose unless the file begins with a
    comment."""
    found = [Section()]
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if mark and line.startswith(mark) and not line.startswith("#!"):
            if any(not lines[n - 1].startswith("#!") for n in found[-1].code):
                found.append(Section())
            line = line.removeprefix(mark).removeprefix(" ").rstrip()
            found[-1].prose.append(re.sub(r"^-- (.*) -{3,}$", r"\1", line))    # a heading with a rule
        else:
            found[-1].code.append(number)
    for section in found:
        while section.code and not lines[section.code[0] - 1].strip():
            del section.code[0]
        while section.code and not lines[section.code[-1] - 1].strip():
            del section.code[-1]
    return found


def paragraphs(prose):
    """A comment as [(whether it is a formula or a table, lines)]: formulas and tables are indented, or have gaps of
    three spaces."""
    found = []
    begins = True
    for line in prose:
        if not line.strip():
            begins = True
            continue
        formula = line.startswith("  ") or bool(re.search(r"\S {3,}\S", line))
        if found and found[-1][0] == formula and (formula or not begins):
            found[-1][1].extend(["", line] if begins else [line])
        else:
            found.append((formula, [line]))
        begins = False
    return found


def escaped(text):
    """Text as Markdown, in which only backquotes are marks."""
    parts = re.split(r"(`[^`]+`)", text)
    text = "".join(p if p.startswith("`") else re.sub(r"([\\`*_{}\[\]<>#$|~&])", r"\\\1", p) for p in parts)
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", re.sub(r"^([-+=:])", r"\\\1", text))


def as_markdown(prose, language="text"):
    out = []
    for formula, lines in paragraphs(prose):
        out += [f"```{language}", *lines, "```", ""] if formula else [escaped(" ".join(lines)), ""]
    return out
