#!/usr/bin/env python3
"""The course: its bodies pass, its holes fail in a line each, and typical wrong answers are caught by name.

usage: tests/course/course.py [--all | STEP...]   All wrong answers, and each step's holes alone, of all steps or of
                                                  these; else a sample and all holes at once, for CI.
Ends with a line in doctest's form, which ./dev test adds up.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(root / "course"), str(root / "tests/course")]
import build                                                                                        # noqa: E402
import course                                                                                       # noqa: E402
import marks                                                                                        # noqa: E402
import wrong                                                                                        # noqa: E402

folder = root / "build/course"
counted = {True: 0, False: 0}


def check(what, good, told=""):
    counted[bool(good)] += 1
    print(f"{'passed' if good else 'FAILED'}  {what}" + (f"\n{told}" if not good else ""), flush=True)


def restore(path):
    """The project's file, as old as it was, so that only what differs is compiled."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    if not (folder / path).exists() or (folder / path).read_bytes() != (root / path).read_bytes():
        shutil.copyfile(root / path, folder / path)


class Changed:
    """While it lives files have other bodies; then they and all objects are again what they were, with their times, so
    that nothing is compiled a second time."""

    def __init__(self, body_of):
        self.texts = {path: marks.with_bodies(path, (root / path).read_text(), body_of) for path in marked}
        self.texts = {path: text for path, text in self.texts.items() if text != (root / path).read_text()}
        self.before = {at: (at.read_bytes(), at.stat()) for at in
                       [*(folder / path for path in self.texts), *(folder / "build").rglob("*.o")]}

    def __enter__(self):
        for path, text in self.texts.items():
            (folder / path).write_text(text)

    def __exit__(self, *_):
        for at, (content, status) in self.before.items():
            if at.stat().st_mtime_ns != status.st_mtime_ns:
                at.write_bytes(content)
                os.utime(at, ns=(status.st_atime_ns, status.st_mtime_ns))


def results(step):
    (folder / f"build/step{step:02}").unlink(missing_ok=True)          # it may hold an object that was restored
    return course.looked_at(folder, step)


def said(result):
    return "\n".join([result["compiler"]] + [course.told(c, n) if c["result"] in ("wrong", "died") else
                                             f"  {n}. {c['title']}: {c['result']}"
                                             for n, c in enumerate(result["cases"], 1)])


def command(*words):
    return subprocess.run([sys.executable, root / "course/course.py", *map(str, words)], capture_output=True, text=True)


def as_a_student_begins():
    """The command itself, from step 1 on, and each later step in a folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        mine = pathlib.Path(scratch) / "mine"
        of_first = sorted(key for key, r in ours.items() if r.step == 1)

        def holes():
            return sorted(key for key, r in marks.of_folder(mine).items() if r.is_hole)

        done = command(1, mine)
        check("step 1 begins with its holes and no others", done.returncode == 0 and holes() == of_first, done.stderr)
        first = ours[of_first[0]]
        at = mine / first.path
        at.write_text(marks.with_bodies(first.path, at.read_text(),
                                        lambda r: r.body and ["  // mine"] if r.key == first.key else None))
        done = command(1, mine)
        check("what was written stays", done.returncode == 0 and "  // mine\n" in at.read_text() and
              "stays" in done.stdout, done.stdout + done.stderr)
        done = command(2, mine)
        check("step 2 is refused while a body of step 1 is missing",
              done.returncode == 2 and any(f"'{key}'" in done.stderr for key in of_first[1:]), done.stderr)
        done = command(2, mine, "--solved")
        check("or takes the project's, and leaves what was written",
              done.returncode == 0 and "  // mine\n" in at.read_text() and
              holes() == sorted(key for key, r in ours.items() if r.step == 2), done.stderr)
        for step in range(2, marks.steps + 1):
            done = command(step, pathlib.Path(scratch) / str(step), "--solved")
            check(f"step {step} begins in a new folder", done.returncode == 0, done.stderr)


def solved(step):
    result = results(step)
    check(f"step {step}: the project's bodies pass", result["of"] and result["passed"] == result["of"], said(result))


def with_holes(steps):
    """Steps whose bodies are all cut out at once."""
    with Changed(lambda r: r.cut() if r.step in steps else None):
        for step in steps:
            result = results(step)
            bodies = [key for key, r in ours.items() if r.step == step]
            holes = [c for c in result["cases"] if c["result"] == "hole"]
            check(f"step {step}: {len(bodies)} holes are named, and its tests fail by them",
                  sorted(result["holes"]) == sorted(bodies) and bodies and holes and
                  all(c["result"] in ("hole", "passed") for c in result["cases"]), said(result))


def named(key, what, change, hint):
    region = ours[key]
    with Changed(lambda r: change(r.body) if r.key == key else None):
        result = results(region.step)
    bad = [c for c in result["cases"] if c["result"] in ("wrong", "died")]
    found = hint and any(hint in c.get("hint", "") for c in bad)
    check(f"{key}: {what}", bad and (found or not hint), f"  the hint has to say '{hint}'\n{said(result)}")
    return bool(bad and found)


def one_of_each(answers):
    """The first wrong answer of each step."""
    seen = set()
    return [a for a in answers if not (step := a[0].split()[0]) in seen and not seen.add(step)]


ours = course.ours()
marked = sorted({r.path for r in ours.values()})
everything = len(sys.argv) > 1
chosen = [int(word) for word in sys.argv[1:] if word != "--all"]
for path in marks.files():
    restore(path)
if not sys.argv[1:]:                                                # CI begins anew
    shutil.rmtree(folder / "build", ignore_errors=True)
there = sorted({r.step for r in ours.values()})
check(f"there are steps 1 to {marks.steps}", there == list(range(1, marks.steps + 1)), f"there are {there}")
there = chosen or there
as_a_student_begins()
for step in there:
    solved(step)
for steps in [[step] for step in there] if everything else [there]:
    with_holes(steps)
tried = [a for a in wrong.answers if int(a[0].split()[0]) in there]
hints = sum(named(*answer) for answer in (tried if everything else one_of_each(tried)))
each = {step: sum(a[0].startswith(f"{step} ") for a in wrong.answers) for step in there}
check("each step has four wrong answers at least, and each body one", min(each.values()) >= 4 and
      {a[0] for a in wrong.answers} == set(ours), f"{each}, none of {set(ours) - {a[0] for a in wrong.answers}}")
with_hint = sum(a[3] is not None for a in wrong.answers)
check("of six wrong answers five are named, and of 60 or more 50", 6 * with_hint >= 5 * len(wrong.answers),
      f"{with_hint} of {len(wrong.answers)}")
print(f"{hints} of the wrong answers tried got their hint; the table has {len(wrong.answers)}, {with_hint} with one")
print(f"test cases: {sum(counted.values())} | {counted[True]} passed | {counted[False]} failed")
sys.exit(counted[False] > 0)
