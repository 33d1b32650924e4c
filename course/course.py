#!/usr/bin/env python3
"""The spine as a course: makes a student's folder with holes, checks what was written there, and grades a class.

usage: tools/course N DIR [--solved] [--again]
       tools/course check DIR [--step N] [--json FILE]
       tools/course curve DIR [--step N] [--encoding E] [--positions P] [--at-test E]
       tools/course grade [--json FILE] DIR...

docs/course/README.md says what each step asks.
"""

import argparse
import json
import os
import pathlib
import shlex
import sys

import build
import curve
import marks


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    beside.write_text(text)
    os.replace(beside, path)


def refuse(text):
    print(f"course: {text}", file=sys.stderr)
    sys.exit(2)


def ours():
    return marks.of_folder(marks.root)


def begin(folder, step, solved, again):
    """Steps before `step` stay as the student wrote them; the bodies of `step` become holes."""
    project, there = ours(), marks.of_folder(folder) if (folder / "course.json").exists() else {}
    if not there and folder.exists() and any(folder.iterdir()):
        refuse(f"{folder} is not empty and has no course.json; give a new folder")
    if not there and step > 1 and not solved:
        refuse(f"{folder} is new, but step {step} needs the steps before it; begin with tools/course 1 {folder}, or "
               "take the project's bodies with --solved")
    open_ones = [r for r in there.values() if r.step < step and r.is_hole]
    if open_ones and not solved:
        refuse(f"'{open_ones[0].key}' in {folder / open_ones[0].path} is still a hole; write it, or take the project's "
               "with --solved")
    lost = [key for key, r in project.items() if there and key not in there]
    if lost:
        refuse(f"the marks of '{lost[0]}' are gone from {folder / project[lost[0]].path}; put '// course "
               f"{lost[0].replace(' ', ': ', 1)}' and '// course end' around the body again")
    at_step = build.state(folder)["step"] if there else 0
    kept = []

    def body_of(region):
        own = project[region.key].body
        if region.step < step and region.is_hole:
            return own
        if region.step != step or region.is_hole:
            return None
        if (step <= at_step or region.body != own) and not again:
            kept.append(region.key)
            return None
        return project[region.key].cut()

    for path in marks.files():
        at = folder / path
        text = marks.text_of(folder if at.exists() else marks.root, path)
        write(at, marks.with_bodies(path, text, body_of))
    write(folder / "course.json", json.dumps({"step": max(step, at_step)}) + "\n")
    print(f"Step {marks.title_of(step)}\n\n  read   {marks.root / marks.page_of(step)}")
    for region in marks.of_folder(folder, step).values():
        print(f"  {'write' if region.is_hole else 'stays'}  {folder / region.path}:{region.first + 2}   {region.name}")
    print(f"  then   tools/course check {shlex.quote(str(folder))}" + (f" --step {step}" if step < at_step else ""))
    if kept:
        print(f"\nThe code in {', '.join(kept)} stays; --again cuts holes anew.")


def told(case, number):
    """A case that is not passed, in the words of its step."""
    if case["result"] == "died":
        lines = [f"  {number}. {case['title']}: the program died here, {case['got']}"]
    else:
        lines = [f"  {number}. {case['title']}", f"     {case['formula']}"]
        if case["expected"] or case["got"]:
            at = f"at {case['at']}: " if case["at"] else ""
            lines.append(f"     {at}expected {case['expected'] or 'none'}, got {case['got']}")
    if case.get("hint"):
        lines.append(f"     usual reason: {case['hint']}")
    return "\n".join(lines)


def looked_at(folder, step):
    """The result of a step as data: holes, cases, or the compiler's messages."""
    project, bodies = ours(), marks.of_folder(folder, step)
    holes = {r.key: f"{r.path}:{r.first + 2}" for r in bodies.values() if r.is_hole}
    try:
        (cases, printed), compiler = build.check(folder, step), ""
    except build.DoesNotCompile as error:
        cases, printed, compiler = [], [], str(error)
    return {"step": step, "holes": holes, "cases": cases, "compiler": compiler, "printed": printed[:20],
            "passed": sum(c["result"] == "passed" for c in cases), "of": len(cases),
            "the_projects_bodies": all(key in project and r.body == project[key].body for key, r in bodies.items())}


def passes(result):
    return result["of"] > 0 and result["passed"] == result["of"] and not result["holes"]


def check(folder, step, out):
    at_step = build.state(folder)["step"]
    step = step or at_step
    result = looked_at(folder, step)
    print(f"Step {marks.title_of(step)}")
    if result["compiler"]:
        print("It does not compile:\n\n" + result["compiler"])
    for key, at in result["holes"].items():
        print(f"  {at}: '{key}' is still a hole")
    for number, case in enumerate(result["cases"], 1):
        if case["result"] in ("wrong", "died"):
            print(told(case, number))
        elif case["result"] == "hole" and case["hole"] not in result["holes"]:
            print(f"  {number}. {case['title']}: '{case['hole']}', of another step, is still a hole")
    if result["printed"]:
        print("\n    ".join(["  your code printed:", *result["printed"]]))
    good = passes(result)
    go_on = good and step == at_step and step < marks.steps
    print(f"{result['passed']} of {result['of']} cases pass" +
          (f"; go on with tools/course {step + 1} {shlex.quote(str(folder))}" if go_on else ""))
    if good and curve.first <= step <= curve.last:
        print(f"see what it does with longer strings: tools/course curve {shlex.quote(str(folder))}" +
              (f" --step {step}" if step != at_step else ""))
    if out:
        write(out, json.dumps(result, indent=1) + "\n")
    return 0 if good else 1


def draw_curve(a):
    """The student's length curve next to the project's, as a page."""
    folder = a.folder.resolve()
    step = a.step or build.state(folder)["step"]
    if step not in curve.plans:
        refuse(f"steps {curve.first} to {curve.last} have length curves, and {folder} is at step {step}; choose one by "
               "--step")
    holes = [r for r in marks.of_folder(folder).values() if r.is_hole and r.step <= step]
    if holes:
        refuse(f"'{holes[0].key}' in {folder / holes[0].path} is still a hole; write it first")
    print("training your engine and the project's; the first time, both are built")
    own = [curve.plan_of(a.encoding, a.positions, a.at_test)] if a.encoding else []
    try:
        results = curve.results_of(folder, step, [*curve.plans[step], *own], a.training)
    except build.DoesNotCompile as error:
        print("It does not compile:\n\n" + str(error))
        return 1
    for title, mine, theirs in results:
        print(f"  {title}: {mine[curve.trained]:.0f} % at length {curve.trained}, {mine[curve.longest]:.0f} % at "
              f"{curve.longest}; {curve.compared(mine, theirs)}")
    at = folder / f"curve_{step:02}.html"
    write(at, curve.page(step, results, a.training))
    print(f"the page is {at}")
    return 0


def changed_outside(folder):
    """Files that differ from the project's in more than the bodies of the course."""
    def bare(path, text):
        return marks.with_bodies(path, text, lambda region: [])
    return [path for path in marks.files() if not (folder / path).exists() or
            bare(path, marks.text_of(folder, path)) != bare(path, marks.text_of(marks.root, path))]


def row_of(folder):
    """The line of `grade` about a folder, or the reason why it cannot be graded."""
    row = {"folder": str(folder), "at_step": 0, "steps": [], "changed_outside_the_marks": [], "broken": ""}
    try:
        last = build.state(folder)["step"]
        steps = [looked_at(folder, step) for step in range(1, last + 1)]
        row.update(at_step=last, steps=steps, changed_outside_the_marks=changed_outside(folder))
    except (marks.Broken, OSError) as error:
        row["broken"] = str(error)
    return row


def cell(result):
    text = f"{result['passed']}/{result['of']}" if result["of"] else "-"
    return f"({text})" if result["the_projects_bodies"] else text


def grade(folders, out):
    rows = [row_of(folder) for folder in folders]
    last = max(row["at_step"] for row in rows)
    width = max(len(row["folder"]) for row in rows)
    print(" " * width + "".join(f"{step:>8}" for step in range(1, last + 1)) + "   all")
    for row in rows:
        if row["broken"]:
            print(f"{row['folder']:{width}}   not graded: {row['broken']}")
            continue
        cells = [cell(s) for s in row["steps"]] + [""] * (last - len(row["steps"]))
        done = sum(passes(s) and not s["the_projects_bodies"] for s in row["steps"])
        print(f"{row['folder']:{width}}" + "".join(f"{c:>8}" for c in cells) + f"{done:>6}")
        for path in row["changed_outside_the_marks"]:
            print(f"{'':{width}}   changed outside the marks: {path}")
    if any(s["the_projects_bodies"] for row in rows for s in row["steps"]):
        print("(in parentheses: steps whose bodies are all the project's own; \"all\" does not count them)")
    if out:
        write(out, json.dumps(rows, indent=1) + "\n")
    return 1 if any(row["broken"] for row in rows) else 0


def arguments():
    p = argparse.ArgumentParser(prog="tools/course", description=__doc__.split("\n\n")[0],
                                epilog="docs/course/README.md says what each step asks.")
    which = p.add_subparsers(dest="what", metavar="N | check | curve | grade", required=True)
    for step in range(1, marks.steps + 1):
        one = which.add_parser(str(step), help=argparse.SUPPRESS)
        one.add_argument("folder", metavar="DIR", type=pathlib.Path)
        one.add_argument("--solved", action="store_true", help="fill the holes of earlier steps from the project")
        one.add_argument("--again", action="store_true", help="cut its holes again, whatever was written there")
    one = which.add_parser("check", help="run the tests of the step that the folder is at")
    one.add_argument("folder", metavar="DIR", type=pathlib.Path)
    one.add_argument("--step", type=int, choices=range(1, marks.steps + 1), help="test another step")
    one.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the result there, too")
    one = which.add_parser("curve", help="a page with your length curve next to the project's, for steps 9 to 13")
    one.add_argument("folder", metavar="DIR", type=pathlib.Path)
    one.add_argument("--step", type=int, choices=list(curve.plans), help="use another step")
    one.add_argument("--encoding", metavar="E", help="one more curve: rope:base=100, window:window=4")
    one.add_argument("--positions", metavar="P", default=curve.counted, help="its sampler: randomized:max_position=50")
    one.add_argument("--at-test", metavar="E", help="another encoding when it is tested: rerope:window=8")
    one.add_argument("--training", metavar="STEPS", type=int, default=curve.training, help="%(default)s")
    one = which.add_parser("grade", help="a table of all steps of each folder")
    one.add_argument("folders", metavar="DIR", nargs="+", type=pathlib.Path)
    one.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write all results there, too")
    return p.parse_args()


def main():
    a = arguments()
    try:
        if a.what.isdigit():
            begin(a.folder.resolve(), int(a.what), a.solved, a.again)
            return 0
        if a.what == "check":
            return check(a.folder.resolve(), a.step, a.json)
        if a.what == "curve":
            return draw_curve(a)
        return grade([folder.resolve() for folder in a.folders], a.json)
    except marks.Broken as error:
        refuse(error)


if __name__ == "__main__":
    sys.exit(main())
