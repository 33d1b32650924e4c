"""Typical wrong answers to the steps of the course, and the words of the hints that name the mistakes.

tests/course/wrong/NN.txt has those of step NN, with an empty line between them:

    [5 product] no scale                the key of the body, and what is wrong
    - double(x.scale) * s               text that is taken out of the project's body, line by line,
    + s                                 and text that replaces it; or a whole body, with "| " before its lines
    hint: is forgotten: x.scale         words of the hint; or "no hint" if only formula, place and numbers are reported
"""

import pathlib
import re


def change_of(key, lines):
    """The function that turns the project's lines into the wrong ones that these lines describe."""
    def after(mark):
        return "\n".join(line[2:] for line in lines if line.startswith(mark))

    whole, old, new = after("|"), after("-"), after("+")

    def change(body):
        text = "\n".join(body)
        assert old in text, f"'{key}' has no '{old}' any more; write tests/course/wrong anew for it"
        return text.replace(old, new).split("\n")

    return change if old else lambda body: whole.split("\n")


def answer(path, text):
    """(key of the body, what is wrong, how the lines of the body change, words of the hint or None)"""
    first, *lines, last = text.split("\n")
    head, hint = re.match(r"\[(.+?)\] (.+)$", first), re.match(r"hint: (.+)$|no hint$", last)
    assert head and hint and lines and all(line[0] in "-+|" for line in lines), f"{path} has no form in\n{text}"
    return *head.groups(), change_of(head[1], lines), hint[1]


answers = [answer(path, text) for path in sorted((pathlib.Path(__file__).parent / "wrong").glob("*.txt"))
           for text in path.read_text().rstrip("\n").split("\n\n")[1:]]
