"""A page for every source file, its comments as prose beside its code, and one for every folder.

These pages are beside those of Sphinx and use their colours. A file that docs/formulas.md or docs/formulas-encodings.md
names shows its formulas above its code. """

import html
import posixpath
import re
import shutil
from multiprocessing import Pool
from pathlib import PurePath
from string import Template

import tree
from formulas import formulas_of, mathml
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound
from split import CPP, mark_of, paragraphs, sections

PAGE = Template((tree.ROOT / "docs/site/source.html").read_text())


def lexer_of(name):
    options = {"stripnl": False, "ensurenl": False}
    if PurePath(name).suffix in CPP - {".mjs", ".js"}:
        return get_lexer_by_name("cpp", **options)
    if name in ("dev", ".ci/run") or PurePath(name).parts[0] == "tools" and not PurePath(name).suffix:
        return get_lexer_by_name("bash", **options)
    try:
        return get_lexer_for_filename(name, **options)
    except ClassNotFound:
        return TextLexer(**options)


def inline(text):
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def prose_html(prose):
    return "".join(
        f"<pre>{html.escape(chr(10).join(lines))}</pre>" if formula else f"<p>{inline(' '.join(lines))}</p>"
        for formula, lines in paragraphs(prose))


def code_html(section, lines):
    """Lines highlighted as part of the whole file, each with its number as an anchor."""
    if not section.code:
        return ""
    shown = "".join(f'<span id="L{n}">{lines[n - 1]}\n</span>' for n in section.code)
    return f'<div class="highlight"><pre style="counter-reset: line {section.code[0] - 1}">{shown}</pre></div>'


def body_of(name, text):
    lines = highlight(text, lexer_of(name), HtmlFormatter(nowrap=True)).split("\n")
    parts = sections(text, mark_of(name))
    # the formulas of each part; those without a comment belong to the file
    beside = [[] for _ in parts]
    for f in formulas_of(name):
        where = next((n for n, part in enumerate(parts) if f.is_said_in("\n".join(part.prose))), 0)
        beside[where].append(mathml(f.tex))
    body = ""
    for n, part in enumerate(parts):
        above = " above" if n == 0 and len(part.code) < 15 else ""    # longer than the code beside it
        body += (f'<section><div class="prose{above}"><div>{prose_html(part.prose)}</div>'
                 f'<div>{"".join(beside[n])}</div></div>{code_html(part, lines)}</section>')
    return body


def write(out, name, body):
    """Writes one page below `out`, with a way back to the top."""
    target = tree.place_of(name)
    here = posixpath.dirname(target)
    up = posixpath.relpath(".", here) + "/"
    parents = [str(p) for p in reversed(PurePath(name).parents)][1:] if name != "." else []
    trail = "".join(f'<a href="{posixpath.relpath(tree.place_of(p), here)}">{html.escape(PurePath(p).name)}</a> / '
                    for p in parents)
    title = "all files" if name == "." else PurePath(name).name
    page = PAGE.substitute(title=html.escape(title), up=up, trail=trail, body=body)
    path = out / target
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page)


def write_listing(job):
    out, name = job
    write(out, name, body_of(name, (tree.ROOT / name).read_text(errors="replace")))


def about(name):
    """The first sentence of a file's comment, for the list of its folder."""
    if not tree.is_listed(name):
        return ""
    text = (tree.ROOT / name).read_text(errors="replace")
    first = sections(text, mark_of(name))[0]
    words = " ".join(next((lines for formula, lines in paragraphs(first.prose) if not formula), []))
    return inline(re.split(r"(?<!al)[.:](?=\s|$)", words, maxsplit=1)[0])


def write_folder(out, folder):
    here = posixpath.dirname(tree.place_of(folder))
    inside = [n for n in tree.files() if (posixpath.dirname(n) or ".") == folder]
    deeper = sorted(f for f in tree.folders() if f != "." and (posixpath.dirname(f) or ".") == folder)
    rows = [f'<tr><td><a href="{posixpath.relpath(tree.place_of(n), here)}">{html.escape(PurePath(n).name)}'
            f'{"/" if n in deeper else ""}</a></td><td>{"" if n in deeper else about(n)}</td></tr>'
            for n in deeper + inside]
    write(out, folder, f'<table>{"".join(rows)}</table>')


def write_all(out, jobs):
    """Writes all listings and folders, and copies every file that is neither page nor listing."""
    with Pool(jobs) as pool:
        pool.map(write_listing, [(out, n) for n in tree.files() if tree.is_listed(n)], chunksize=32)
    for folder in tree.folders():
        write_folder(out, folder)
    for name in tree.files():
        if tree.place_of(name) == name:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree.ROOT / name, out / name)
