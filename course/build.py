"""Builds a student's folder and runs the tests of a step: their output, as data."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import marks


class DoesNotCompile(Exception):
    """The compiler's first messages."""


def compiled(folder, step):
    """Brings the sources that are compiled up to date: the folder's own, but with the project's bodies in the holes of
    steps after `step`, so that a step that has just begun breaks none before it. Returns their folder."""
    project, copies, texts = marks.of_folder(marks.root), folder / "build/sources", {}
    for top in sorted({path.split("/")[0] for path in marks.files()}):
        for at in (folder / top).rglob("[!.]*"):
            if at.is_file():
                texts[at.relative_to(folder)] = at.read_bytes()

    def body_of(region):
        if region.step <= step or not region.is_hole or region.key not in project:
            return None
        return project[region.key].body + [f"#line {region.first + len(region.lines)}"]  # as in the folder's file

    for path in filter(texts.__contains__, map(pathlib.Path, marks.marked())):
        texts[path] = marks.with_bodies(path, marks.text_of(folder, path), body_of).encode()
    for path, text in texts.items():
        at = copies / path
        if not at.exists() or at.read_bytes() != text:
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(text)
    for at in copies.rglob("*"):
        if at.is_file() and at.relative_to(copies) not in texts:
            at.unlink()
    return copies


def is_configured(build, sources):
    """Whether CMake's cache, which has absolute paths, belongs to this folder: not after a copy or a renaming."""
    cache = build / "CMakeCache.txt"
    known = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), re.M)) if cache.exists() else {}
    return (build / "build.ninja").exists() and all(
        known.get(name) == str(path) for name, path in [("CMAKE_HOME_DIRECTORY", marks.root / "course"),
                                                        ("CMAKE_CACHEFILE_DIR", build), ("POSLAB_COURSE", sources)])


def built(folder, target, step=marks.steps):
    """The path of a program of course/CMakeLists.txt, made from the sources of the folder; holes of steps after `step`
    have the project's bodies."""
    build = folder / "build"
    if not is_configured(build, build / "sources"):
        shutil.rmtree(build, ignore_errors=True)
    sources = compiled(folder, step)
    if not build.joinpath("CMakeCache.txt").exists():
        said = subprocess.run(["cmake", "-S", marks.root / "course", "-B", build, "-G", "Ninja",
                               f"-DPOSLAB_COURSE={sources}"], capture_output=True, text=True)
        if said.returncode:
            raise marks.Broken(f"cmake could not start in {build}:\n{said.stdout}{said.stderr}")
    said = subprocess.run(["cmake", "--build", build, "--target", target], capture_output=True, text=True)
    if said.returncode:
        lines = said.stdout.splitlines()
        told = [n for n, line in enumerate(lines) if re.search(r": (fatal )?error|undefined reference", line)]
        shown = [line for n in told[:3] for line in lines[n:n + 3]]
        text = "\n".join(shown or lines[-20:]).replace(f"{sources}/", "").replace(f"{folder}/", "")
        raise DoesNotCompile(re.sub(r"(?<![\w/])sources/", "", text))   # ninja's lines from build/
    return build / target


# A line of a test (course/check.cpp) among whatever the student's code prints.
said_by_tests = re.compile(r"\ncourse\t(.*)\n")


def read(output, cases):
    """Adds the cases of a test's output to `cases`; True if it came to its end."""
    for line in said_by_tests.findall(output):
        what, *words = line.split("\t")
        if what == "case":
            cases.append({"title": words[1], "result": "died", "got": "and said nothing"})
        elif what == "at its end":
            cases[-1]["hint"] = words[0]
        elif what == "passed":
            cases[-1].update(result="passed")
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
    """The cases of a step, and the lines that the student's code printed: a case that dies, or that does not end, is
    reported, and the next one begins."""
    cases, printed = [], []
    while True:
        before = len(cases)
        try:
            process = subprocess.run([program, str(before)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     timeout=seconds, env={**os.environ, "POSLAB_PRODUCTS": "own"})
            raw, how = process.stdout, ended_by(process)
        except subprocess.TimeoutExpired as late:
            raw, how = late.stdout or b"", f"it did not end in {seconds} seconds: is a loop endless?"
        output = raw.decode(errors="replace")
        printed += [line[:200] for line in said_by_tests.sub("\n", output).splitlines() if line.strip()]
        if read(output, cases):
            return cases, printed
        if len(cases) == before:
            raise marks.Broken(f"{program} printed no result ({how})")
        cases[-1].update(result="died", got=how)


def check(folder, step):
    """The cases of the step, built from this folder, and the lines that its code printed."""
    return run(built(folder, f"step{step:02}", step))


def state(folder):
    """The folder's step, from course.json."""
    at = folder / "course.json"
    if not at.exists():
        raise marks.Broken(f"{folder} is no course folder: it has no course.json; tools/course 1 {folder} "
                           "makes one")
    try:
        said = json.loads(at.read_text())
        if said["step"] in range(1, marks.steps + 1):
            return said
    except (ValueError, KeyError, TypeError):
        pass
    raise marks.Broken(f'{at} does not name the step; write {{"step": 1}} there, or a step up to {marks.steps}')
