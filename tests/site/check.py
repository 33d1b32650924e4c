#!/usr/bin/env python3
"""Checks the built site: every link to one of its files or anchors resolves, and no page loads anything from a network.

usage: tests/site/check.py FOLDER
"""

import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

# On these pages, quotes that do not belong to an attribute are written &quot;.
ANCHOR = re.compile(r'<[a-z][^>]*? (?:id|name)="([^"]+)"')
LINK = re.compile(r'<(a|img|script|link|source|iframe)\b[^>]*? (?:href|src)="([^"]*)"')


class Page:
    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.anchors = {"", *ANCHOR.findall(text)}
        self.links = LINK.findall(text)            # (tag, target)


def lost(folder):
    """One line for each link that does not resolve."""
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))
             if ("lab" not in path.relative_to(folder).parts or path.name != "index.html")   # copied reports have
             and path.name != "past-the-edge.html"}    # no links to pages, nor has the page that trains
    if not pages:
        yield f"there is no page in {folder}"
    for path, page in pages.items():
        where = path.relative_to(folder)
        for tag, link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if tag != "a" and parts.scheme != "data":
                    yield f"{where} fetches {link}; the site must work without a network"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{where}: there is no {link}"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where}: {target.relative_to(folder)} has no anchor #{parts.fragment}"


def main():
    folder = Path(sys.argv[1]).resolve()
    found = list(lost(folder))
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
