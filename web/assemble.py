#!/usr/bin/env python3
"""Writes the page Past the edge as one HTML file, with its style, its modules, the engine and the recorded lanes.

usage: web/assemble.py ENGINE_FOLDER OUT.html
    ENGINE_FOLDER has lab.wasm, and may have lab_relaxed.wasm, for browsers with relaxed SIMD

A module becomes a function that returns its exports; its imports come from the modules before it. Of the forms of
import and export, only those that the page's modules use are accepted.
"""

import base64
import gzip
import json
import os
import re
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
MOST, MOST_ENGINE = 4_000_000, 1_500_000  # limits in bytes of the page, and of an engine in it
IMPORT = re.compile(r"^import \{([^}]*)\} from '(\.[^']*)';\n", re.M)
EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const|let)) (\w+)", re.M)


def stop(words):
    sys.exit(f"web/assemble.py: {words}")


def modules_of(entry, order, above=()):
    """Adds `entry` and its imports to `order`, {path: text}, dependencies first."""
    if entry in above:
        stop(f"{entry.name} imports itself through {', '.join(m.name for m in above)}; move what both use to a third")
    if entry in order:
        return
    if not entry.exists():
        stop(f"{above[-1].name if above else 'the page'} imports {entry}, which is not there")
    text = entry.read_text()
    for _, path in IMPORT.findall(text):
        modules_of((entry.parent / path).resolve(), order, (*above, entry))
    order[entry] = text


def bundled(entry):
    """One classic script made of `entry` and its imports."""
    order = {}
    modules_of(entry.resolve(), order)
    name = {path: f"${path.stem}" for path in order}
    if len(set(name.values())) < len(name):
        stop(f"two modules of {entry.name} have the same name")
    made = ["'use strict';\n"]
    exported = {path: {m[1] for m in EXPORT.findall(text)} for path, text in order.items()}
    for path, text in order.items():
        def taken(found):
            names = re.sub(r"\s+", " ", found[1]).strip().strip(",")
            if lost := set(names.split(", ")) - exported[(path.parent / found[2]).resolve()]:
                stop(f"{path.name} imports {', '.join(lost)}, which {found[2]} does not export in a line of its own")
            return f"const {{{names}}} = {name[(path.parent / found[2]).resolve()]};\n"

        body = EXPORT.sub(r"\1 \2", IMPORT.sub(taken, text))
        if wrong := re.search(r"^(import|export)\b.*", body, re.M):
            stop(f"{path.name} has {wrong[0]!r}; write import {{a, b}} from './x.mjs' or export function f")
        names = ", ".join(m[1] for m in EXPORT.findall(text))
        made.append(f"const {name[path]} = (() => {{\n{body}return {{{names}}};\n}})();\n")
    return "".join(made).replace("</script", r"<\/script")


def engine_of(folder):
    """The packed engine, in elements that browsers do not execute."""
    made = []
    for name, key in (("lab.wasm", "wasm"), ("lab_relaxed.wasm", "wasm-relaxed")):
        file = folder / name
        if file.exists():
            if file.stat().st_size > MOST_ENGINE:
                stop(f"{file} has {file.stat().st_size} bytes, more than {MOST_ENGINE}; leave out what no page calls")
            text = base64.b64encode(gzip.compress(file.read_bytes(), 9, mtime=0)).decode()
            made.append(f'<script type="text/plain" id="{key}">{text}</script>\n')
        elif key == "wasm":
            stop(f"{file} is not there; tools/web builds it")
    return "".join(made)


def colours():
    """The colours of the program's pages: the text of page.css before the first rule of an element."""
    return (WEB.parent / "lab/page/page.css").read_text().split("* {")[0]


def version():
    return re.search(r"^project\(poslab VERSION (\S+)", (WEB.parent / "CMakeLists.txt").read_text(), re.M)[1]


def page(folder):
    snapshots = json.loads((WEB / "page/snapshots.json").read_text())
    parts = {"style": colours() + (WEB / "page/page.css").read_text(),
             "version": version(),
             "snapshots": json.dumps(snapshots, separators=(",", ":")).replace("<", "\\u003c"),
             "weights": base64.b64encode((WEB / "page/weights.bin").read_bytes()).decode(),
             "wasm": engine_of(folder),
             "worker": bundled(WEB / "page/worker.mjs"),
             "page": bundled(WEB / "page/page.mjs")}
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], (WEB / "page/page.html").read_text())


def main(folder, out):
    made = page(Path(folder))
    if len(made.encode()) > MOST:
        stop(f"the page would have {len(made.encode())} bytes, more than {MOST}; make the engine or snapshots smaller")
    out = Path(out)
    partial = out.with_name(out.name + ".partial")
    partial.write_text(made)
    os.replace(partial, out)
    print(f"{out}: {len(made.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
