#!/usr/bin/env python3
"""The page in unusual situations: with runs in it, with a user's bias in the race, without relaxed SIMD, without
memory. Ends with a line that ./dev test counts.     usage: others.py PAGE.html POSLAB
"""

import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import checks
from page import SMALL
from visitor import Page, put

TINY = ("--task even_pairs --layers 1 --heads 2 --d-model 16 --batch 8 --train-length 8 --eval-lengths 1:40"
        " --eval-samples 16 --max-position 200").split()
STRIPS = "document.querySelectorAll('.strip-row.reads .share').length === 2"
DONE = "[...document.querySelectorAll('.status')].every(s => s.textContent.startsWith('trained 30 steps'))"


def see_view(page, view):
    page.run(f"document.querySelector('nav a[data-view={view}]').click()")


def train_all(page):
    page.click("Train all")
    page.until(DONE, 90)


def train_second(page, width, batch):
    """Sets the width and the batch."""
    for at, value in ((4, width), (5, batch)):
        put(page, ".race .settings.row input[type=number]", value, at=at, event="change")
    page.click("Train", "document.querySelectorAll('.lane')[1]")


# Lets the engine grow by only `more` pages of 64 KiB: sets a maximum in the memory section.
LITTLE_MEMORY = """{ const compile = WebAssembly.compile, more = 500;
    WebAssembly.compile = given => {
      const b = new Uint8Array(given);
      let at = 8;
      const number = () => { let x = 0, bits = 0; do x |= (b[at] & 127) << bits, bits += 7; while (b[at++] & 128);
                             return x; };
      const written = x => x < 128 ? [x] : [x & 127 | 128, ...written(x >> 7)];
      for (;;) {
        const from = at, id = b[at++], size = number();
        if (id !== 5) { at += size; continue; }
        const to = at + size;
        at += 2;
        const least = number(), body = [1, 1, ...written(least), ...written(least + more)];
        return compile.call(WebAssembly, Uint8Array.from([...b.slice(0, from), 5, body.length, ...body,
                                                          ...b.slice(to)]));
      }
    }; }"""
# Pretends that the browser has no relaxed SIMD, and notes the size of the compiled engine.
NO_RELAXED = """WebAssembly.validate = () => false;
    { const compile = WebAssembly.compile;
      WebAssembly.compile = b => (window.compiled = b.byteLength, compile.call(WebAssembly, b)); }"""


def with_runs(file, poslab):
    """`poslab web` puts runs into the page: curves at once, models that answer and train further, links that work."""
    with tempfile.TemporaryDirectory() as folder:
        def run(*words, status=0):
            made = subprocess.run([poslab, *words], cwd=folder, capture_output=True, text=True)
            assert made.returncode == status, made.stderr
            return made.stderr
        for name, more in {"plain": [], "random": ["--positions", "randomized", "--seed", "2"]}.items():
            run("train", *TINY, "--encoding", "rope", *more, "--steps", "40", "--out", name)
        run("web", "plain", "random", "-o", "page.html")
        run("web", "-o", "empty.html")
        assert Path(folder, "empty.html").read_bytes() == Path(file).read_bytes()
        with Page(str(Path(folder, "page.html"))) as page:
            two_runs(page, Path(folder, "plain/eval.csv").read_text().splitlines())
            assert not page.messages, page.messages
        run("train", *TINY[2:], "--task", "parity_check", "--encoding", "rope", "--steps", "2", "--out", "parity")
        assert "a page has one task" in run("web", "plain", "parity", status=2)
        assert "has 4 lanes, but 5 runs" in run("web", *["plain"] * 5, status=2)
        assert not Path(folder, "past-the-edge.html").exists()


def two_runs(page, tested):
    """tested: the lines of the first run's eval.csv."""
    page.show()
    page.until(STRIPS)
    status = page.run("[...document.querySelectorAll('.status')].map(s => s.textContent)")
    assert status == [f"run {name}, trained before you came: 40 steps" for name in ("plain", "random")], status
    assert page.run("document.querySelectorAll('.lane')[1].querySelector('h3').textContent") == "rope, randomized"
    native = dict(zip(tested[0].split(","), tested[8].split(","), strict=True))
    assert native["length"] == "8", native
    put(page, ".drag-line input[type=range]", 8)
    page.until("document.querySelector('.asked').textContent.includes('length 8')")
    shown = page.run("parseFloat(document.querySelector('.score').textContent)")
    assert abs(shown - 100 * float(native["accuracy"])) < .06, (shown, native)
    page.until("location.hash.includes('length=8') && !location.hash.includes('lane=')")
    page.show(page.run("location.hash"))
    page.until(STRIPS, 60)
    page.click("Step", "document.querySelectorAll('.lane')[1]")
    page.until("document.querySelectorAll('.status')[1].textContent.startsWith('paused after 41 steps')")
    see_view(page, "inside")
    page.until("document.querySelector('.inside .verdict')?.textContent.includes('right')", 30)
    assert "rope, even pairs, 40 steps" in page.text(".inside select"), page.text(".inside select")


def own_bias(page):
    """A user's bias races as the scheme `calibrated`, and a user's positions race too; a link has the formula."""
    named = "document.querySelectorAll('.lane h3')[1]?.textContent === 'your own bias'"
    page.show("#view=own&layers=1&heads=2&d_model=16&batch=8&train_length=8&steps=30&task=even_pairs")
    put(page, "textarea", "-abs(i - j) * (h + 1) / 4")
    page.click("Race it")
    page.until(named)
    train_all(page)
    page.until("location.hash.includes('lane=own(')")
    page.show(page.run("location.hash"))
    page.until(named, 60)
    see_view(page, "own")
    page.run("document.querySelectorAll('.own .choice input')[1].click()")
    put(page, "textarea", "2 * i")
    page.click("Race it")
    page.until("document.querySelectorAll('.lane h3')[1]?.textContent.startsWith('rope, given:at=0/2/4/')")
    train_all(page)
    see_view(page, "own")
    page.run("document.querySelectorAll('.own .choice input')[0].click()")
    put(page, "textarea", "-i")
    page.click("Race it")
    page.said("depends on more than j - i")


DROP = """{ const all = new DataTransfer();
    all.items.add(new File([made], 'own.safetensors'));
    document.getElementById('said').textContent = '';
    dispatchEvent(new DragEvent('drop', {dataTransfer: all})); }"""


def taken_back(page):
    """A checkpoint of a user's bias has a short name and a readable link; the first screen keeps its lanes."""
    page.show("#view=own&layers=1&heads=2&d_model=16&batch=8&train_length=8&steps=30&task=even_pairs")
    page.run("URL.createObjectURL = (make => blob => (window.made = blob, make(blob)))(URL.createObjectURL.bind(URL)),"
             " HTMLAnchorElement.prototype.click = (real => function () { if (!this.download) real.call(this); })("
             "HTMLAnchorElement.prototype.click)")
    put(page, "textarea", "-abs(i - j) * (h + 1) / 7")
    page.click("Race it"), page.click("Train", "document.querySelectorAll('.lane')[1]")
    page.until("document.querySelectorAll('.status')[1].textContent.startsWith('trained 30 steps')", 90)
    page.click("Save a checkpoint"), page.said("the model of lane 2, your own bias")
    put(page, ".race .settings.row input[type=number]", 3, at=2, event="change")
    page.run(DROP), page.said("is in the first lane: even_pairs, calibrated:of=")
    assert len(page.text("#said")) < 200 and len(page.text(".lane h3")) < 80, page.text("#said")
    assert page.run("document.querySelectorAll('.race .settings.row input[type=number]')[2].value") == "1"  # layers
    page.until("location.hash.length < 8000")
    page.run("navigator.clipboard.writeText = async text => { window.copied = text; }")
    page.click("Copy a link"), page.said("without 1 of the lanes")
    page.run("location.hash = copied.split('#')[1] + '&scene=2', document.getElementById('said').textContent = ''")
    page.until("document.querySelectorAll('.lane').length === 1")
    assert page.text("#said") == "" and page.text(".lane h3") == "your own bias", page.text("#said")
    see_view(page, "start"), page.run(DROP), page.said("can be looked into")
    page.until("document.querySelector('.lane h3').textContent === 'learned'")
    assert page.run("document.querySelectorAll('.lane').length") == 4
    see_view(page, "inside")
    page.until("document.querySelector('.inside select')?.textContent.startsWith('calibrated:of=')")


def with_few_positions(_, poslab):
    """Dispersion measures lengths for which a model has positions; a string is doubled only if its task allows it."""
    with tempfile.TemporaryDirectory() as folder:
        for words in (["train", *TINY[2:], "--task", "modular_arithmetic", "--encoding", "learned", "--causal",
                       "--set", "train_length=20", "--set", "max_position=50", "--set", "eval_lengths=1:20",
                       "--steps", "2", "--out", "few"],
                      ["web", "few", "-o", "page.html"]):
            subprocess.run([poslab, *words], cwd=folder, capture_output=True, check=True)
        with Page(str(Path(folder, "page.html"))) as page:
            few_positions(page)
            assert not page.messages, page.messages


def few_positions(page):
    page.show()
    page.until(STRIPS.replace("2", "1"))
    assert "; with causal on, as its checkpoint" in page.text(".about-lane"), page.text(".about-lane")
    see_view(page, "dispersion")
    said = "document.querySelector('.dispersion .verdict')?.textContent"
    page.until(f"{said}.startsWith('as trained')", 30)
    assert "has no positions for length 60" in page.run(said), page.run(said)
    see_view(page, "inside")
    page.until("document.querySelector('.inside .verdict')?.textContent.includes('right')", 30)
    longer = "[...document.querySelectorAll('.inside button')].find(b => b.textContent === 'Longer').hidden"
    put(page, ".inside select", "1", event="change")
    page.until(f"!{longer}")
    put(page, ".inside select", "0", event="change")
    page.until(f"{longer} && document.querySelector('.inside .note').textContent.includes('digits 0 to 4')")
    page.run("new Promise(done => setTimeout(done, 500))")
    assert page.run(longer)


def another_model(page):
    """A model that is chosen while another is being aligned shows none of the other's numbers."""
    page.show("#view=dispersion")
    said = "document.querySelector('.dispersion .verdict')?.textContent"
    page.until(f"{said}.startsWith('as trained')", 60)
    page.click("Align"), put(page, ".dispersion select", "1", event="change")
    page.until(f"{said}.startsWith('as trained')", 60)
    page.run(f"new Promise((done, late) => {{ setTimeout(done, 6000); setInterval(() => {said}.includes('brings') &&"
             " late(new Error('numbers of the other model')), 20); })")


def small_and_printed(page):
    """On a phone the texts in pictures are readable; on paper there are no buttons."""
    page.size(360, 740)
    for link in ("#view=positions&matrix=rope&time=16", "#view=own&own=frequencies", "#view=own&own=positions"):
        page.follow(link)
        page.until("document.querySelector('figure .picture text, .own .picture text')", 30)
        least = page.run("Math.min(...[...document.querySelectorAll('.picture text')].filter(t =>"
                         " t.getClientRects().length).map(t => parseFloat(getComputedStyle(t).fontSize)"
                         " * t.getScreenCTM().a))")
        assert least >= 10, f"{link}: {least:.1f} pixels"
        wide = page.run(checks.OVERFLOW)
        assert not wide, f"{link}: {wide}"
    page.size(1280, 900)
    page.follow("#view=race")
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.run("getComputedStyle(document.querySelector('.lane .controls')).display") == "none"
    page.call("Emulation.setEmulatedMedia", media="")


def without_relaxed(page):
    """A browser without relaxed SIMD uses the plain engine, and trains."""
    page.show(f"{SMALL}&lane=rope~randomized~none~1")
    train_all(page)
    plain = Path(page.file).with_name("lab.wasm").stat().st_size
    assert page.run("compiled") == plain, (page.run("compiled"), plain)


def memory_ends(page):
    """If memory runs out, one sentence says so; other lanes and their curves stay, and a smaller model trains."""
    page.show(f"{SMALL}&lane=rope~sequential~none~1&lane=rope~randomized~none~1")
    train_all(page)
    train_second(page, 256, 256)
    second = "document.querySelectorAll('.status')[1].textContent"
    page.until(f"{second}.startsWith('Memory')", 90)
    said = page.run(second)
    print(f"        {said}")
    assert "left; use a smaller batch or a shorter length." in said and len(said) < 300, said
    assert page.text(".status").startswith("trained 30 steps") and page.text(".score") != "–"
    assert page.run("document.querySelectorAll('.lane')[1].querySelectorAll('svg path').length") > 4
    train_second(page, 16, 8)
    page.until(DONE, 90)


def in_a_page(test, script=""):
    """Runs `test` in a page of its own, in which `script` runs first; the console must stay empty."""
    def run(file, _):
        with Page(file, script=script) as page:
            test(page)
            assert not page.messages, page.messages
    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def main(file, poslab):
    good = failed = 0
    tests = [with_runs, in_a_page(own_bias), in_a_page(taken_back), with_few_positions,
             in_a_page(another_model), in_a_page(small_and_printed), in_a_page(without_relaxed, NO_RELAXED),
             in_a_page(memory_ends, LITTLE_MEMORY)]
    for test in tests:
        try:
            test(file, str(Path(poslab).resolve()))
            good += 1
            print(f"ok      {test.__name__}: {test.__doc__}", flush=True)
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"FAILED  {test.__name__}: {test.__doc__}\n{traceback.format_exc()}", flush=True)
    print(f"[others] test cases: {good + failed} | {good} passed | {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
