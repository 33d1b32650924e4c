"""docs/formulas.md: each central file with its formulas, and the lines of its comments that say the same."""

import functools
import re
from dataclasses import dataclass

import tree
from latex2mathml.converter import convert

PAGE = "docs/formulas.md"


def words(text):
    """What is compared: without the marks of comments, and with one space for any gap."""
    return re.sub(r"\s+", " ", re.sub(r"^\s*(//|#)", " ", text, flags=re.M))


@dataclass
class Formula:
    files: list[str]                               # that compute it
    tex: str
    said: list[str]                                # what a comment of these files says

    def is_said_in(self, comment):
        return any(words(line).strip() in words(comment) for line in self.said)


def mathml(tex):
    """What stands between two quads is a formula of its own: beside the one before, or below it where room is short."""
    parts = [convert(one, display="block") for one in tex.split(r"\qquad")]
    return f'<div class="formula">{"".join(parts)}</div>'


@functools.cache
def formulas():
    """All of the page, in its order. A heading is followed by links to files, then come blocks of math, each with the
    lines that it stands for."""
    found, files = [], []
    text = (tree.ROOT / PAGE).read_text()
    text = text[text.index("\n## "):]
    for m in re.finditer(r"^### |\]\(\.\./([^)]+)\)|^```math\n((?s:.*?))^```$|^    (\S.*)$", text, re.M):
        file, tex, said = m.groups()
        if file:
            files.append(file)
        elif tex:
            found.append(Formula(files, tex.strip(), []))
        elif said:
            found[-1].said.append(said)
        else:
            files = []
    return found


def formulas_of(name):
    return [f for f in formulas() if name in f.files]


def stale():
    """What the page says and the tree does not: a line each."""
    found = []
    for f in formulas():
        gone = [file for file in f.files if file not in tree.files()]
        found += [f"{PAGE}: there is no file {file}" for file in gone]
        text = "".join(words((tree.ROOT / file).read_text()) for file in f.files if file not in gone)
        if not f.said:
            found.append(f"{PAGE}: below {f.tex.splitlines()[0]} no line of a comment is quoted")
        found += [f"{PAGE}: {' and '.join(f.files)} do not say {line!r} any more; write formula and line anew"
                  for line in f.said if words(line).strip() not in text]
    return found
