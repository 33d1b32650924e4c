"""The page of `poslab view` in a browser: weights under the cursor, keys, the link, checkpoints, two runs."""

import subprocess
import time

import browser
import numpy as np
import pytest
from built import PROGRAM

pytestmark = pytest.mark.skipif(not browser.program, reason="there is no chromium")
CHOSEN = '[...document.querySelectorAll("[aria-checked=true]")].map(head => head.getAttribute("aria-label"))'
SLOTS = 300  # 150 input symbols and their answer


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Two runs with one head, their maps in `view`, and their weights as `poslab inspect` computes them."""
    at = tmp_path_factory.mktemp("view")
    model = "--task reverse_string --layers 2 --heads 1 --d-model 16 --batch 8 --train-length 9 --steps 40 --lr 0.01"
    kept = "--checkpoint-every 20 --keep-checkpoints --eval-lengths 1:2 --eval-samples 4"
    for words in (f"train {model} {kept} --encoding rope --out one", f"train {model} {kept} --encoding alibi --out two",
                  "view one two --length 150 -o viewed", "inspect one two --lengths 150 --samples 2 -o inspected"):
        subprocess.run([PROGRAM, *words.split()], cwd=at, check=True, capture_output=True)
    return at


def opened(page, seen, link=""):
    page.open(seen / "viewed/index.html", link)
    page.until('performance.getEntriesByName("maps drawn").length')


def said(page):
    page.until('![...document.querySelectorAll(".said")].some(p => p.textContent.includes("…"))')  # tiles are there
    return page.run('[...document.querySelectorAll(".said")].map(p => p.textContent)')


@pytest.mark.parametrize("dark", [False, True])
def test_the_weights_under_the_cursor_are_those_of_the_engine(seen, dark):
    weights = np.load(seen / "inspected/attention.npz")
    rng = np.random.default_rng(0)
    with browser.Page(dark=dark) as page:
        for layer in (1, 2):
            opened(page, seen, f"#layer={layer}&span=20")
            for query, key in rng.integers(0, SLOTS, (8, 2)):
                page.run(f'location.hash = "layer={layer}&span=20&query={query}&key={key}&x={key}&y={query}"')
                page.until(f'document.querySelectorAll(".said").length === 2 && [...document.querySelectorAll(".said")]'
                           f'.every(p => p.textContent.startsWith("From query slot {query + 1} (") &&'
                           f' p.textContent.includes("key slot {key + 1} ("))')
                for run, text in zip(("one", "two"), said(page)):
                    weight = weights[f"{run}/layer{layer}/length150"][query, key]
                    shown = text.rsplit(": ", 1)[1].rstrip(".")
                    if shown == "below 0.000018":
                        assert weight < 0.000018
                    else:  # coded to 2.2 %, then shown with two digits
                        assert abs(float(shown) - weight) <= 0.022 * weight + 0.05 * float(shown), (text, weight)
        assert page.messages == []


def test_it_opens_on_the_head_that_is_furthest_from_even_attention(seen):
    entropy = {}
    for layer in (1, 2):
        weights = np.load(seen / "inspected/attention.npz")[f"one/layer{layer}/length150"]
        entropy[layer] = -(weights * np.log(np.maximum(weights, 1e-30))).sum(1).mean()
    least = min(entropy, key=entropy.get)
    with browser.Page() as page:
        opened(page, seen)
        assert page.run(CHOSEN)[0].startswith(f"layer {least}, head 1,")
        assert f"It opens on layer {least}, head 1:" in page.run('document.body.textContent')
        assert page.messages == []


def test_keys_move_zoom_and_scroll_and_the_link_restores_it(seen):
    with browser.Page() as page:
        opened(page, seen, "#layer=1&query=10&key=20&right=2")
        page.run('document.querySelector(".map-canvas").focus()')
        for key in ["ArrowRight", "ArrowDown", "ArrowDown", "+", "+", "+"]:
            page.press(key)
        page.until('location.hash.includes("span=37.5")')
        text, link = said(page), page.run("location.hash")
        assert text[0].startswith("From query slot 13 (") and "key slot 22 (" in text[0], text
        for held, taken in (("ctrlKey", False), ("metaKey", False), ("altKey", False), ("shiftKey", True)):
            event = f'new KeyboardEvent("keydown", {{key: "+", {held}: true, cancelable: true}})'
            assert page.run(f'document.querySelector(".map-canvas").dispatchEvent({event})') != taken, held
        page.press("-")
        page.press("ArrowRight", shift=True)
        page.until(f'location.hash !== "{link}"')
        assert said(page) == text
        assert page.run('getComputedStyle(document.querySelector(".map-canvas")).outlineStyle') == "solid"
        page.run('document.querySelector(".heads button").focus()')
        page.press("ArrowDown")
        page.until(f'{CHOSEN}[0].startsWith("layer 2")')
        time.sleep(0.5)  # the link changes once nothing moves
        link, text = page.run("location.hash"), said(page)
        assert page.run(CHOSEN)[0].startswith("layer 2, head 1, largest weight ")
        assert page.run('document.getElementById("link").hash') == link
        assert page.messages == []
    with browser.Page() as page:
        opened(page, seen, link)
        page.until(f'location.hash === "{link}"')
        assert said(page) == text
        page.run('document.querySelector("details").open = true')
        page.until('document.querySelectorAll("details li").length === 10')
        top = float(page.run('document.querySelector("details li").textContent').rsplit(": ", 1)[1])
        most = np.load(seen / "inspected/attention.npz")["one/layer2/length150"][12].max()
        assert abs(top - most) <= 0.022 * most + 0.05 * top
        assert page.messages == []


def test_the_slider_goes_through_checkpoints_and_everything_can_be_reached_with_tab(seen):
    with browser.Page() as page:
        opened(page, seen, "#layer=1&query=5&key=5&span=10")
        titles = '[...document.querySelectorAll(".pane h3")].map(h => h.textContent)'
        assert page.run(titles) == ["one, step 40", "two, step 40"]
        trained = said(page)
        page.run('document.querySelector(".player input").focus()')
        for _ in range(2):
            page.press("ArrowLeft")
        page.until(f'{titles}.every(title => title.endsWith("step 0")) && location.hash.includes("step=0")')
        assert said(page) != trained
        chosen, reached = page.run(CHOSEN), []
        for _ in range(9):
            page.press("Tab")
            reached.append(page.run('(at => at.getAttribute("aria-label") ?? at.value ?? at.textContent)'
                                    '(document.activeElement)'))
        assert reached == ["0", "zoom out", "zoom in", "show the whole map", "link to this view",
                           chosen[0], "Attention of one at step 0, layer 1, head 1",
                           "Largest weights of query slot 6", chosen[1]]
        assert page.messages == []


def test_a_training_is_played_from_its_first_checkpoint_to_its_last(seen):
    with browser.Page() as page:
        opened(page, seen, "#layer=1&query=5&key=5&span=10")
        button, at = 'document.querySelector(".player button")', 'document.querySelector(".player output").textContent'
        page.run(f'window.seen = []; new MutationObserver(() => seen.push({at}))'
                 '.observe(document.querySelector(".player output"), {childList: true})')
        page.run(f"{button}.click()")
        page.until(f'{button}.getAttribute("aria-label") === "stop"')
        page.until(f'{button}.getAttribute("aria-label") === "play"')
        assert page.run("seen") == ["0", "20", "40"]
        assert "step 40" in page.run('document.querySelector(".pane h3").textContent')
        page.run(f"{button}.click(), {button}.click()")  # started and stopped at once
        time.sleep(1)
        assert page.run(at) == "0" and page.messages == []


def test_a_tile_that_is_missing_is_named(seen, tmp_path):
    subprocess.run(["cp", "-r", seen / "viewed", tmp_path / "viewed"], check=True)
    (tmp_path / "viewed/maps/0/40/1-1/0-0-0.js").unlink()
    with browser.Page() as page:
        page.open(tmp_path / "viewed/index.html", "#layer=1&span=20&right=2")
        missing = "maps/0/40/1-1/0-0-0.js is missing next to this page."
        page.until(f'document.querySelector(".said")?.textContent === "{missing}"')
        page.run('document.querySelector("details").open = true')
        page.until(f'document.querySelector("details li")?.textContent === "{missing}"')


def test_a_checkpoint_that_is_missing_is_named_and_not_taken_for_another(seen, tmp_path):
    subprocess.run(["cp", "-r", seen / "viewed", tmp_path / "viewed"], check=True)
    (tmp_path / "viewed/maps/1/20/overview.js").unlink()
    with browser.Page() as page:
        page.open(tmp_path / "viewed/index.html")
        page.until('performance.getEntriesByName("maps drawn").length')
        before = said(page)
        page.run('document.querySelector(".player input").focus()')
        page.press("ArrowLeft")
        page.until('location.hash.includes("step=20")')  # 300 ms after the last frame
        assert page.run('document.querySelector(".pane h3").textContent') == "one, step 20"
        assert said(page)[1] == "maps/1/20/overview.js is missing next to this page."
        assert page.run('document.querySelectorAll(".map-canvas")[1].width') == 0
        page.press("ArrowRight")
        page.until('!location.hash.includes("step")')
        assert said(page) == before
