#!/usr/bin/env python3
"""The course: the project's bodies pass, its holes fail with a line each, and typical wrong answers are caught by name.

usage: tests/course/course.py [--all | STEP...]   All wrong answers, and each step's holes alone, for all steps or
                                                  for these; else a sample, and all holes at once, for CI.
       tests/course/course.py --times             Measures how long checks take, and writes the times into a page.
Ends with a line in doctest's form, which ./dev test adds up.
"""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from unittest.mock import patch

root = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(root / "course"), str(root / "tests/course")]
import build                                                                                        # noqa: E402
import course                                                                                       # noqa: E402
import curve                                                                                        # noqa: E402
import marks                                                                                        # noqa: E402
import wrong                                                                                        # noqa: E402

folder = root / "build/course"
counted = {True: 0, False: 0}
slowest = []                           # seconds of a check after an edit


def check(what, good, told=""):
    counted[bool(good)] += 1
    print(f"{'passed' if good else 'FAILED'}  {what}" + (f"\n{told}" if not good else ""), flush=True)


def restore(path):
    """Copies the project's file with its modification time, so that only files that differ are compiled."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    if not (folder / path).exists() or (folder / path).read_text() != marks.text_of(root, path):
        (folder / path).write_text(marks.text_of(root, path))


class Changed:
    """While it lives, files have other bodies; afterwards files and objects are restored with their modification times,
    so that nothing is compiled a second time."""

    def __init__(self, body_of):
        self.texts = {path: marks.with_bodies(path, marks.text_of(root, path), body_of) for path in marks.marked()}
        self.texts = {path: text for path, text in self.texts.items() if text != marks.text_of(root, path)}
        self.before = {at: (at.read_bytes(), at.stat()) for at in
                       [*(folder / path for path in self.texts), *(folder / "build").rglob("*.o"),
                        *(at for at in (folder / "build/sources").rglob("*") if at.is_file())]}

    def __enter__(self):
        for path, text in self.texts.items():
            (folder / path).write_text(text)

    def __exit__(self, *_):
        for at, (content, status) in self.before.items():
            if not at.exists() or at.stat().st_mtime_ns != status.st_mtime_ns:         # clang deletes it on an error
                at.write_bytes(content)
                os.utime(at, ns=(status.st_atime_ns, status.st_mtime_ns))


def results(step):
    (folder / f"build/step{step:02}").unlink(missing_ok=True)          # it may contain an object that was restored
    return course.looked_at(folder, step)


def said(result):
    return "\n".join([result["compiler"]] + [course.told(c, n) if c["result"] in ("wrong", "died") else
                                             f"  {n}. {c['title']}: {c['result']}"
                                             for n, c in enumerate(result["cases"], 1)])


def command(*words):
    return subprocess.run([sys.executable, root / "course/course.py", *map(str, words)], capture_output=True, text=True)


def as_a_student_begins():
    """The command itself: from step 1 on in one folder, and each later step in a folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        mine = pathlib.Path(scratch) / "my course"
        of_first = sorted(key for key, r in ours.items() if r.step == 1)

        def holes():
            return sorted(key for key, r in marks.of_folder(mine).items() if r.is_hole)

        done = command(1, mine)
        check("step 1 begins with its holes and no others", done.returncode == 0 and holes() == of_first, done.stderr)
        check("the next command to type is printed", f"tools/course check '{mine}'\n" in done.stdout, done.stdout)
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
        check("or it takes the project's body, and keeps what was written",
              done.returncode == 0 and "  // mine\n" in at.read_text() and
              holes() == sorted(key for key, r in ours.items() if r.step == 2), done.stderr)
        copy = [line for line in ours["2 mul"].body if line.strip()]
        whole = at.read_bytes()
        at.write_bytes(whole + "// gr\u00fc\u00dfe\n".encode("latin-1"))
        done = command("check", mine)
        check("a file that is not UTF-8 is named", done.returncode == 2 and
              f"course: {first.path}: its byte {len(whole) + 5} is no UTF-8" in done.stderr, done.stderr)
        at.write_bytes(whole)
        rewrite(mine, lambda r: copy if r.step == 2 else None)
        done = command(2, mine)
        check("a body equal to the project's stays once its step has begun",
              done.returncode == 0 and not holes() and "--again" in done.stdout, done.stdout + done.stderr)
        command(3, mine)
        done = command(1, mine)
        check("an earlier step does not set the folder back",
              done.returncode == 0 and build.state(mine)["step"] == 3 and "' --step 1\n" in done.stdout, done.stdout)
        done = command(1, mine, "--again")
        check("--again cuts its holes", done.returncode == 0 and set(of_first) < set(holes()), done.stdout)
        for step in range(2, marks.steps + 1, 1 if everything else 6):
            done = command(step, pathlib.Path(scratch) / str(step), "--solved")
            check(f"step {step} begins in a new folder", done.returncode == 0, done.stderr)


def as_the_sources_change():
    """course/holes.toml names words that occur once in a file; after a change a refusal names file, body and words."""
    check("files with holes are those of the student, and have no marks themselves",
          set(marks.holes()) == set(marks.marked()) and
          not any("// course " in (root / path).read_text() for path in marks.files()))
    path = "core/cpu/softmax.cpp"
    for was, is_, told in [("void softmax(", "void renamed(", "'3 softmax' of .* which is there 0 times"),
                           ("constexpr", "// void softmax(\nconstexpr", "which is there 2 times"),
                           ("{", ";", "'3 softmax' of .* no line that ends with {")]:
        try:
            marks.with_marks(path, (root / path).read_text().replace(was, is_))
            refusal = "none"
        except marks.Broken as error:
            refusal = str(error)
        check(f"holes.toml and a source with '{is_.splitlines()[0]}'",
              path in refusal and re.search(told, refusal), refusal)


def rewrite(at, body_of):
    for path in marks.marked():
        text = (at / path).read_text()
        if (other := marks.with_bodies(path, text, body_of)) != text:
            (at / path).write_text(other)


def as_a_class_is_graded():
    """The table for a class: steps before one with holes, a folder that is no course folder, and the project's own
    bodies. A student's prints, with and without a newline, are shown, and do not count as lines of the test."""
    (folder / "course.json").write_text('{"step": 2}')
    with tempfile.TemporaryDirectory() as scratch:
        no_folder, broken, out = (pathlib.Path(scratch) / name for name in ("none", "broken", "grades.json"))
        shutil.copytree(folder, broken, ignore=shutil.ignore_patterns("build"))
        path = ours["1 dim"].path
        (broken / path).write_text((broken / path).read_text().replace("// course end\n", "", 1))
        prints = ["std::printf(\"steps\");", "std::puts(\"case\\t1\");"]
        with Changed(lambda r: r.cut() if r.step == 2 else prints + r.body if r.key == "1 dim" else None):
            alone = command("check", folder, "--step", 1)
            done = command("grade", "--json", out, no_folder, folder, broken)       # its step 1 is compiled then
            rows = json.loads(out.read_text())
        first, second = rows[1]["steps"]
        check("holes of a step that has just begun change no earlier step",
              first["passed"] == first["of"] > 0 and len(second["holes"]) > 1 and second["passed"] < second["of"] and
              re.search(rf"{first['of']}/{first['of']}  .*\b1\n", done.stdout), done.stdout)
        check("code that prints passes as before, and its prints are shown", "stepscase\t1" in first["printed"], first)
        check("an earlier step that is right does not ask to go on from there",
              alone.returncode == 0 and "go on" not in alone.stdout, alone.stdout)
        check("folders that cannot be graded say why, and the others have their rows",
              done.returncode == 1 and not done.stderr and rows[2]["broken"] and
              re.search(rf"^{no_folder.resolve()} +not graded: ", done.stdout, re.M) and
              re.search(rf"^{broken.resolve()} +not graded: {path}:\d+: ", done.stdout, re.M), done.stdout)
    for step in (1, 2):
        (folder / f"build/step{step:02}").unlink(missing_ok=True)       # they contain objects that were restored
    done = command("grade", folder)
    check("steps with the project's bodies are in parentheses, and do not count",
          done.returncode == 0 and re.search(r"\((\d+)/\1\) +\((\d+)/\2\) +0\n", done.stdout), done.stdout)


def copied_and_renamed():
    """build/ has absolute paths, so it is made again for a folder that was copied or renamed."""
    with tempfile.TemporaryDirectory() as scratch:
        copied, moved = pathlib.Path(scratch).resolve() / "copied", pathlib.Path(scratch).resolve() / "moved"
        shutil.copytree(folder, copied, ignore=shutil.ignore_patterns("*.o", "project"))
        rewrite(copied, lambda r: r.cut() if r.step == 14 else None)
        result = course.looked_at(copied, 14)
        check("a copy is checked, not the folder that it was copied from", result["of"] and not result["passed"] and
              len(result["holes"]) > 1, said(result))
        holes_named(14, result)
        before = build.is_configured(copied / "build", copied / "build/sources")
        copied.rename(moved)
        check("a folder that was renamed is configured anew",
              before and not build.is_configured(moved / "build", moved / "build/sources"))


def compiler():
    """The compiler's errors name the student's file and line, even after a hole that was filled for this step."""
    wrong = {"6 weights_backward": ["  no_such_name();"]}
    with Changed(lambda r: r.cut() if r.step == 11 else wrong.get(r.key)):
        result, body = results(6), marks.of_folder(folder)["6 weights_backward"]
        check("the compiler's messages are about the student's file",
              result["compiler"].startswith(f"{body.path}:{body.first + 2}:"), said(result))


def seconds():
    """The processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def solved(step):
    result = results(step)
    check(f"step {step}: the project's bodies pass", result["of"] and result["passed"] == result["of"], said(result))


def times():
    """Writes the table of docs/course/teachers.md: the processor seconds of a step's first check, which builds what the
    step needs, and of a check after an edit in the step's costliest file."""
    shutil.rmtree(folder / "build", ignore_errors=True)
    parts = {}
    for part in ["check", "engine", "kernels", "model"]:
        began = seconds()
        build.built(folder, part)
        parts[part] = seconds() - began
    rows = []
    for step in range(1, marks.steps + 1):
        began = seconds()
        solved(step)
        first, edited = seconds() - began, []
        first += 0 if step == 14 else sum(parts.values()) - (parts["model"] if step < 7 else 0)
        for path in sorted({r.path for r in ours.values() if r.step == step}):
            (folder / "build/sources" / path).touch()                   # the copy that is compiled
            began = seconds()
            course.looked_at(folder, step)
            edited.append(seconds() - began)
        check(f"step {step}: its first check takes a minute at most, others 20 s", first < 60 and max(edited) < 20,
              f"{first:.0f} s, {max(edited):.0f} s")
        rows.append(f"| {step} | {first:.0f} | {max(edited):.1f} |")
    page = root / "docs/course/teachers.md"
    begin, end = "| step | the first check | after an edit |\n|---|---|---|\n", "\n\n"
    before, after = page.read_text().split(begin)
    page.write_text(before + begin + "\n".join(rows) + end + after.split(end, 1)[1])


def holes_named(step, result):
    bodies, ends = sorted(key for key, r in ours.items() if r.step == step), {c["result"] for c in result["cases"]}
    check(f"step {step}: {len(bodies)} holes are named, and its tests fail by them",
          sorted(result["holes"]) == bodies != [] and {"hole"} <= ends <= {"hole", "passed"}, said(result))


def with_holes(steps):
    """Tests steps with all their bodies cut out at once, so that each file is compiled once for several steps."""
    with (Changed(lambda r: r.cut() if r.step in steps else None),
          patch.object(build, "check", lambda at, step: build.run(build.built(at, f"step{step:02}")))):
        for step in steps:
            holes_named(step, results(step))


def named(key, what, change, hint):
    region = ours[key]
    began = seconds()
    with Changed(lambda r: change(r.body) if r.key == key else None):
        result = results(region.step)
    slowest.append(seconds() - began)
    bad = [c for c in result["cases"] if c["result"] in ("wrong", "died")]
    found = hint and any(hint in c.get("hint", "") for c in bad)
    check(f"{key}: {what}", bad and (found or not hint), f"  the hint has to say '{hint}'\n{said(result)}")
    return bool(bad and found)


def one_of_each(answers):
    """Chooses a wrong answer for each step, if possible one in a file that no other file includes."""
    steps = {}
    for answer in sorted(answers, key=lambda a: (a[3] is None, not ours[a[0]].path.endswith(".cpp"))):
        steps.setdefault(answer[0].split()[0], answer)
    return steps.values()


def links():
    """A step's page links to its files; notebooks, pages and the lecture link to the steps. tests/tools/docs.sh and
    notebooks/run.py check that these links resolve, but not the lecture's, which are words."""
    for step in range(1, marks.steps + 1):
        text = (root / marks.page_of(step)).read_text()
        missing = {r.path for r in ours.values() if r.step == step and f"](../../{r.path})" not in text}
        check(f"step {step}: its page has a link to each of its files", not missing, f"none to {missing}")
    others = [*(root / "docs").glob("*.md"), *(root / "notebooks").glob("*.py")]
    text = "".join(p.read_text() for p in others)
    missing = [marks.page_of(step) for step in range(1, marks.steps + 1)
               if f"course/{pathlib.Path(marks.page_of(step)).name})" not in text]
    check("a notebook or a page links to each step", not missing, f"nothing links to {missing}")
    without = [p.name for p in others if re.match(r"\d+_.*py", p.name) and "docs/course/" not in p.read_text()]
    check("each notebook links to a step", not without, f"{without} do not")
    scenes = re.findall(r"step: '(\w+)'", (root / "web/page/lecture.mjs").read_text())
    check("each scene of the lecture names a step", len(scenes) == 6 and
          all((root / f"docs/course/{name}.md").exists() for name in scenes), f"{scenes}")


def curves():
    """The length curve of step 12, with randomized positions: after a few training steps, with the project's bodies and
    with a wrong one; with --all also the student's command, with all training steps."""
    plan = curve.plans[12][1]

    def drawn():
        (folder / "build/curve").unlink(missing_ok=True)
        return curve.curves_of([build.built(folder, "curve")], 30, plan)[0]

    own = drawn()
    check("a curve has all lengths", len(own) == 25 and max(own) == curve.longest, f"{own}")
    with Changed(lambda r: ['std::puts("20 no line of a curve");',
                            *(line.replace("low + p", "low + p % 2") for line in r.body)] if r.step == 12 else None):
        other = drawn()
    page = curve.page(12, [("rope", other, own)], 30)
    check("another engine has another curve, and the page shows both",
          page.count("<polyline") == 2 and "differ at" in page and
          f"<td>{other[20]:.1f}</td><td>{own[20]:.1f}</td>" in page, page)
    if everything:
        (folder / "build/curve").unlink()                               # it contains the wrong body
        (folder / "course.json").write_text('{"step": 12}')
        done = command("curve", folder)
        at = [[int(n) for n in re.findall(r"(\d+) % at", line)] for line in done.stdout.splitlines() if "% at" in line]
        check("randomized positions lift the curve at length 100 from guessing to more than half",
              done.returncode == 0 and len(at) == 2 and at[0][1] < 40 and at[1][1] > 50 and
              done.stdout.count("number for number") == 2, done.stdout + done.stderr)


ours = course.ours()
everything = len(sys.argv) > 1
chosen = [int(word) for word in sys.argv[1:] if word not in ("--all", "--times")]
for path in marks.files():
    restore(path)
if not sys.argv[1:]:                                                # CI begins without a build
    shutil.rmtree(folder / "build", ignore_errors=True)
there = sorted({r.step for r in ours.values()})
check(f"there are steps 1 to {marks.steps}", there == list(range(1, marks.steps + 1)), f"there are {there}")
there = chosen or there
if sys.argv[1:] == ["--times"]:
    times()
    print(f"test cases: {sum(counted.values())} | {counted[True]} passed | {counted[False]} failed")
    sys.exit(counted[False] > 0)
as_the_sources_change()
as_a_student_begins()
links()
began = seconds()
for step in there:
    solved(step)
check("two cores can build all of it in a minute", seconds() - began < 120, f"{seconds() - began:.0f} s of one core")
if {1, 2} <= set(there):
    as_a_class_is_graded()
if 6 in there:
    compiler()
if 14 in there:
    copied_and_renamed()
for steps in [[step] for step in there] if everything else [there[:-1]]:        # step 14: see copied_and_renamed
    with_holes(steps)
if 12 in there:
    curves()
tried = [a for a in wrong.answers if int(a[0].split()[0]) in there]
hints = sum(named(*answer) for answer in (tried if everything else one_of_each(tried)))
each = {step: sum(a[0].startswith(f"{step} ") for a in wrong.answers) for step in there}
check("after an edit a check takes 20 s at most", max(slowest) < 20, f"{max(slowest):.1f} s of one core")
check("each step has four wrong answers at least, and each body one", min(each.values()) >= 4 and
      {a[0] for a in wrong.answers} == set(ours), f"{each}, none of {set(ours) - {a[0] for a in wrong.answers}}")
with_hint = sum(a[3] is not None for a in wrong.answers)
check("of six wrong answers five are named, and of 60 or more 50", 6 * with_hint >= 5 * len(wrong.answers),
      f"{with_hint} of {len(wrong.answers)}")
check("the page for teachers says how many there are", f"some {round(len(wrong.answers), -1)} wrong answers" in
      (root / "docs/course/teachers.md").read_text(), f"there are {len(wrong.answers)}")
print(f"{hints} of the wrong answers tried got their hint; the table has {len(wrong.answers)}, {with_hint} with one")
print(f"test cases: {sum(counted.values())} | {counted[True]} passed | {counted[False]} failed")
sys.exit(counted[False] > 0)
