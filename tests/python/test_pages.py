"""Pages in a browser: no name or text is read as markup, and nothing is written to the console."""

import html.parser
import json
import math
import re
import subprocess

import browser
import pytest
from built import PROGRAM

EVIL = "<x-evil>\"'&\x1b[31m"   # the name of a run
TEXT = "</script><x-evil a='b'>&amp; "


def poslab(at, *words):
    return subprocess.run([PROGRAM, *words], cwd=at, check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Pages and pictures: of runs in a folder with a hostile name, of a hostile text, and of schemes."""
    at = tmp_path_factory.mktemp("pages")
    model = "--layers 1 --heads 2 --d-model 16 --batch 4 --steps 4 --train-length 9".split()
    for run, encoding in ((EVIL, "rope"), (EVIL + "2", "alibi")):
        poslab(at, "train", "--task", "reverse_string", "--encoding", encoding, *model, "--eval-lengths", "1:12",
               "--eval-samples", "4", "--out", run)
    (at / "texts").mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (at / "texts" / name).write_text(TEXT * 400)
    poslab(at, "lm", "train", "--text", "texts", "--layers", "3", *model[2:], "--key-heads", "2", "--d-ff", "16",
           "--eval-times", "1/2", "--eval-samples", "2", "--out", EVIL + "lm")
    poslab(at, "report", EVIL, EVIL + "2", "-o", "report.html")
    poslab(at, "report", EVIL + "lm", "-o", "lm.html")
    poslab(at, "inspect", EVIL, EVIL + "2", "--lengths", "9", "--samples", "2", "-o", "inspect")
    poslab(at, "ask", EVIL, "0110", "-o", "ask.html")
    poslab(at, "view", EVIL, EVIL + "2", "-o", "view")
    poslab(at, "view", EVIL + "lm", "--text", TEXT, "-o", "view-lm")
    poslab(at, "show", "rope", "alibi", "--positions", "randomized", "-o", "show.html")
    poslab(at, "graph", EVIL, "-o", "graph.html")
    return at


def pages(at):
    return sorted(at.rglob("*.html"))


class Read(html.parser.HTMLParser):
    """The names of a page's elements, and its document."""

    def __init__(self, text):
        super().__init__()
        self.names, self.data, self._in_data = set(), "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self._in_data = ("id", "data") in attrs

    def handle_data(self, data):
        self.data += data if self._in_data else ""

    def handle_endtag(self, tag):
        self._in_data = False


def test_no_name_or_text_is_markup(drawn):
    assert len(pages(drawn)) == 8
    for page in pages(drawn):
        text = page.read_text()
        read = Read(text)
        assert "x-evil" not in read.names, page
        assert json.loads(read.data), page
        assert page.name == "show.html" or "x-evil" in text, page
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", text), page


def test_the_hands_of_pairs_turn_with_the_distance_and_stop_where_the_scheme_does(tmp_path):
    poslab(tmp_path, "show", "rope", "rerope:window=3", "window:window=4", "--causal", "-o", "show.html")
    with browser.Page() as page:
        page.open(tmp_path / "show.html")
        page.until('document.querySelector(".player input")')
        for distance in (0, 2, 9):
            page.run(f'(at => {{ at.value = {distance}; at.dispatchEvent(new Event("input")); }})'
                     '(document.querySelector(".player input"))')
            drawn = page.run('[...document.querySelectorAll(".clock .key")].map(hand => hand.getAttribute("d"))')
            assert len(drawn) == 12
            for n, path in enumerate(drawn):
                relative = -[distance, min(distance, 3), distance][n // 4]  # key minus query
                if n >= 8 and distance == 9:  # outside the window
                    assert path == ""
                    continue
                x, y = map(float, path.removeprefix("M0 0L").split())
                angle = relative * 10000 ** (-2 * (n % 4) / 8)
                assert abs(x - 34 * math.sin(angle)) < 1e-3 and abs(y + 34 * math.cos(angle)) < 1e-3, (distance, n)
        said = page.run('[...document.querySelectorAll(".hands .said")].map(p => p.textContent)')
        assert said[1].startswith("Turned by -3 positions.") and said[2].startswith("Masked")
        assert page.messages == []


def test_slides_show_each_piece_of_a_report_once_and_keys_turn_them(drawn):
    poslab(drawn, "report", EVIL, EVIL + "2", "--slides", "-o", "slides.html")
    seen = "[...document.querySelectorAll({})].filter(part => part.getClientRects().length).length"
    with browser.Page(1280, 720) as page:
        page.open(drawn / "slides.html")
        page.until('document.querySelector(".turn output")?.textContent')
        slides = int(page.run('document.querySelector(".turn output").textContent').split("/")[1])
        pieces = "document.querySelectorAll('main figure, main table').length"
        headings, found, charts = [], 0, 0
        for number in range(1, slides + 1):
            assert page.run("location.hash") == f"#{number}"
            assert page.run(seen.format("'h1, h2'")) == 1
            headings.append(page.run("[...document.querySelectorAll('h1, h2')]"
                                     ".find(heading => heading.getClientRects().length).id"))
            charts += page.run(seen.format("'figure'"))
            found += page.run(seen.format("'main figure, main table'"))
            page.press("ArrowRight")
        assert page.run("location.hash") == f"#{slides}"  # there is no next slide
        assert charts >= 2 and found == page.run(pieces)
        assert [h for n, h in enumerate(headings) if h not in headings[:n]] == [
            "", *page.run("[...document.querySelectorAll('h2')].map(h => h.id)")]
        page.press("ArrowLeft")
        page.run("document.querySelector('.turn button').click()")
        assert page.run("location.hash") == f"#{slides - 2}" and page.messages == []
    (drawn / "slides.html").unlink()


@pytest.mark.skipif(not browser.program, reason="there is no chromium")
def test_long_names_are_broken_on_a_telephone_and_numbers_are_not(drawn):
    long = "yarn:factor=4,length=9,beta_fast=16,beta_slow=2,base=20000"
    poslab(drawn, "lm", "eval", EVIL + "lm", "--encoding", f"rope,{long},rope:base=20000|rerope:window=4|{long}",
           "--samples", "2", "--times", "1", "-o", "long.html")
    with browser.Page() as page:
        page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=False)
        page.open(drawn / "long.html")
        page.until('document.readyState === "complete"')
        edge = page.run("document.documentElement.clientWidth")
        assert page.run("document.documentElement.scrollWidth") == edge <= 390
        beyond = page.run("[...document.querySelectorAll('.runs th, .runs td, .runs td *')]"
                          f".filter(e => e.getBoundingClientRect().right > {edge}).map(e => e.textContent)")
        lines = page.run("[...document.querySelectorAll('.runs td small')].map(small => { "
                         "const text = document.createRange(); text.selectNodeContents(small); "
                         "return text.getClientRects().length; })")
    assert beyond == [] and len(lines) >= 6 and set(lines) == {1}
    (drawn / "long.html").unlink()


def test_a_terminal_gets_no_command_from_a_name(drawn):
    done = subprocess.run([PROGRAM, "report", EVIL + "none", "-o", "x.html"], cwd=drawn, capture_output=True, text=True)
    assert done.returncode == 2 and "\x1b" not in done.stderr and r"\x1b[31m" in done.stderr


def test_a_tape_has_a_row_for_each_node_with_its_words_and_numbers(drawn):
    data = json.loads(Read((drawn / "graph.html").read_text()).data)
    nodes = data["sections"][0]["parts"][0]["nodes"]
    with browser.Page(390, 844) as page:
        page.open(drawn / "graph.html")
        page.until('document.querySelector(".tape")')
        assert page.run("document.title") == data["title"].replace("\x1b", " ")
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        assert page.run('document.querySelectorAll(".tape > circle").length') == len(nodes)
        assert page.run('document.querySelectorAll(".tape .joins path").length') == sum(len(n["from"]) for n in nodes)
        rows = page.run('[...document.querySelectorAll(".tape > g > title")].map(row => row.parentElement.textContent)')
        for node, row in zip(nodes, rows, strict=True):
            assert row.startswith(f"{node['module']}: {node['name']}")
            assert node["shape"] + f"{node['forward']:.0f}" in row
        assert page.messages == []


@pytest.mark.skipif(not browser.program, reason="there is no chromium")
@pytest.mark.parametrize("dark", [False, True])
def test_pages_say_nothing_on_the_console(drawn, dark):
    with browser.Page(dark=dark) as page:
        for path in pages(drawn):
            page.open(path)
            page.until('document.readyState === "complete"')
            assert page.run('document.querySelector("x-evil")') is None
        assert page.messages == []
