"""The C++ reference: the declarations of each header of a floor, with their comments, as Markdown."""

import re

import tree
from split import as_markdown, sections

FLOORS = {
    "core": "tensors, memory, random numbers, threads and kernels",
    "autograd": "the ops and the tape",
    "encodings": "samplers, schemes and temperatures",
    "nn": "models and the optimizer",
    "tasks": "the tasks and their batches",
    "experiment": "an experiment as values: configuration, state, training step, evaluation",
    "lab": "everything that opens files: runs, checkpoints, loops, pages",
}


def declarations(text):
    """A header without includes, its guard and the braces of namespaces."""
    lines = text.splitlines()
    drop = re.compile(r"^(#(pragma once|include\b.*)|(inline )?namespace .*\{|\}  // namespace.*)$")
    return "\n".join("" if drop.match(line) else line for line in lines)


def blocks(lines):
    """The code in blocks, divided by blank lines outside of braces."""
    found, depth = [[]], 0
    for line in lines:
        if not line.strip() and depth == 0:
            found.append([])
        else:
            found[-1].append(line)
        bare = re.sub(r'//.*|"(\\.|[^"])*"|\'(\\.|[^\'])\'', "", line)
        depth += bare.count("{") - bare.count("}")
    return [b for b in found if b]


def type_of(block):
    """The class, struct or enum that a block begins with, if it defines one."""
    m = re.match(r"(?:template <.*>\n)?(?:class|struct|enum class|enum) (\w+)[^;(]*\{", "\n".join(block))
    return m and m.group(1)


def header(name):
    """A heading for the header and one for each type, so that contents and search find them."""
    text = declarations((tree.ROOT / name).read_text())
    lines = text.splitlines()
    first, *others = sections(text, "//")
    out = [f"## {name}", "", f"[Source](../../{name})", "", *as_markdown(first.prose)]
    first.prose = []                               # the comment of the header, not of the first type
    for section in [first, *others]:
        prose = as_markdown(section.prose)
        for block in blocks([lines[n - 1] for n in section.code]) or [[]]:
            if type_of(block):
                out += [f"### {type_of(block)}", ""]
            out += prose
            prose = []
            if block:
                out += ["```cpp", *block, "```", ""]
    return out


def page(floor):
    names = [n for n in tree.files() if n.startswith(floor + "/") and n.endswith(".h") and "/cpu/" not in n]
    out = [f"# {floor}: {FLOORS[floor]}", "",
           f"The headers of [`{floor}/`](../../{floor}), as they declare and explain themselves.", ""]
    for name in names:
        out += header(name)
    return "\n".join(out)


def overview():
    rows = [f"| [{floor}]({floor}.md) | {about} |" for floor, about in FLOORS.items()]
    toc = ["```{toctree}", ":hidden:", *FLOORS, "```"]
    return "\n".join([
        "# C++ reference", "", "[Using it as a library](../../docs/library.md) has programs to begin with, and"
        " [Design](../../docs/design.md) says how the floors stand on each other. Each page has the declarations of the"
        " headers of a floor, from the lowest on.", "", "| floor | what is there |", "|---|---|", *rows, "", *toc, ""])


def write_all(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for floor in FLOORS:
        (folder / f"{floor}.md").write_text(page(floor))
    (folder / "index.md").write_text(overview())
