"""Builds a student's folder and runs the tests of a step: what they say, as data."""

import json
import os
import re
import subprocess

import marks


class DoesNotCompile(Exception):
    """The compiler's first messages."""


def built(folder, target):
    """The path of a program of course/CMakeLists.txt, made from the sources of the folder."""
    build = folder / "build"
    if not (build / "CMakeCache.txt").exists():
        said = subprocess.run(["cmake", "-S", marks.root / "course", "-B", build, "-G", "Ninja",
                               f"-DPOSLAB_COURSE={folder}"], capture_output=True, text=True)
        if said.returncode:
            raise marks.Broken(f"cmake could not begin in {build}:\n{said.stdout}{said.stderr}")
    said = subprocess.run(["cmake", "--build", build, "--target", target], capture_output=True, text=True)
    if said.returncode:
        lines = said.stdout.splitlines()
        told = [n for n, line in enumerate(lines) if re.search(r": (fatal )?error|undefined reference", line)]
        shown = [line for n in told[:3] for line in lines[n:n + 3]]
        raise DoesNotCompile("\n".join(shown or lines[-20:]).replace(f"{folder}/", ""))
    return build / target


def read(output, cases):
    """Adds the cases of a test's output to `cases`; True if it came to its end."""
    for line in output.splitlines():
        what, *words = line.split("\t")
        if what == "case":
            cases.append({"title": words[1], "result": "died"})
        elif what == "passed":
            cases[-1]["result"] = "passed"
        elif what == "hole":
            cases[-1].update(result="hole", hole=words[0])
        elif what == "wrong" and len(words) == 5:
            cases[-1].update(result="wrong", **dict(zip(("formula", "at", "expected", "got", "hint"), words)))
        elif what == "end":
            return True
    return False


def ended_by(process):
    return f"signal {-process.returncode}" if process.returncode < 0 else f"exit status {process.returncode}"


def run(program, seconds=20):
    """The cases of a step: one that dies, or that does not end, is said so, and the next one begins."""
    cases = []
    while True:
        before = len(cases)
        try:
            process = subprocess.run([program, str(before)], capture_output=True, text=True, timeout=seconds,
                                     env={**os.environ, "POSLAB_PRODUCTS": "own"})
            output, how = process.stdout, ended_by(process)
        except subprocess.TimeoutExpired as late:
            output, how = (late.stdout or b"").decode(), f"it did not end in {seconds} seconds: does a loop go on?"
        if read(output, cases):
            return cases
        if len(cases) == before:
            raise marks.Broken(f"{program} said nothing ({how})")
        cases[-1].update(result="died", got=how)


def check(folder, step):
    """The cases of the step, built from this folder."""
    return run(built(folder, f"step{step:02}"))


def state(folder):
    """What course.json says: the step that the folder is at."""
    at = folder / "course.json"
    if not at.exists():
        raise marks.Broken(f"{folder} is no folder of the course: there is no course.json; ./dev course 1 {folder} "
                           "makes one")
    return json.loads(at.read_text())
