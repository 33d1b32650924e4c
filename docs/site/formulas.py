"""The pages of formulas: each central file with its formulas, and the lines of comments with the same formulas."""

import functools
import re
from dataclasses import dataclass

import tree
from latex2mathml.converter import convert

PAGES = ["docs/formulas.md", "docs/formulas-encodings.md"]


def words(text):
    """The text for comparison: without comment marks, and with one space for any gap."""
    return re.sub(r"\s+", " ", re.sub(r"^\s*(//|#)", " ", text, flags=re.M))


def says(text, line):
    """Whether these words, as a whole, are somewhere in the text."""
    return re.search(rf"(?<!\S){re.escape(words(line).strip())}(?!\w)", words(text)) is not None


@dataclass
class Quote:
    files: list[str]                               # the files that contain it
    line: str


@dataclass
class Formula:
    page: str
    files: list[str]                               # that compute it
    tex: str
    said: list[Quote]

    def is_said_in(self, comment):
        return any(says(comment, quote.line) for quote in self.said)


def mathml(tex):
    """The text between two quads is a separate formula: beside the one before, or below it without room."""
    parts = [convert(one, display="block") for one in tex.split(r"\qquad")]
    return f'<div class="formula">{"".join(parts)}</div>'


@functools.cache
def formulas():
    """All formulas of the pages, in order."""
    return [f for page in PAGES for f in formulas_on(page, (tree.ROOT / page).read_text())]


def formulas_on(page, text):
    """A heading is followed by links to files, then blocks of math, each with the corresponding lines of comments under
    their files: // FILE, FILE."""
    found, files, sayers = [], [], []
    text = text[text.index("\n## "):]
    parts = r"^### |\]\(\.\./([^)]+)\)|^```math\n((?s:.*?))^```$|^    // (.*)$|^    (\S.*)$"
    for m in re.finditer(parts, text, re.M):
        file, tex, named, said = m.groups()
        if file:
            files.append(file)
        elif tex:
            found.append(Formula(page, files, tex.strip(), []))
            sayers = []
        elif named:
            sayers = named.split(", ")
        elif said:
            found[-1].said.append(Quote(sayers, said))
        else:
            files = []
    return found


def formulas_of(name):
    return [f for f in formulas() if name in f.files]


def stale():
    """The formulas on the pages that the tree lacks: a line each."""
    found = []
    for f in formulas():
        found += [f"{f.page}: there is no file {file}" for file in f.files if file not in tree.files()]
        if not f.said:
            found.append(f"{f.page}: below {f.tex.splitlines()[0]} no line of a comment is quoted")
        for quote in f.said:
            if not quote.files:
                found.append(f"{f.page}: above {quote.line!r} no file is named that says it: // FILE")
            for file in quote.files:
                if file not in f.files:
                    found.append(f"{f.page}: {quote.line!r} is quoted from {file}, which its heading does not link to")
                elif file in tree.files() and not says((tree.ROOT / file).read_text(), quote.line):
                    found.append(f"{f.page}: {file} lacks {quote.line!r}; write formula and line anew")
    return found
