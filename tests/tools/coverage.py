#!/usr/bin/env python3
"""Reports the lines and branches that the unit tests reach; tools/coverage runs the tests first.

usage: tests/tools/coverage.py BUILD

BUILD is the preset coverage, compiled by clang with counters, after its tests have run. Writes build/coverage.md: every
line that no test reached, and every condition that was always true or always false, with the reasons from this file.
Each folder gets a row in bench/results/coverage.csv, from which results/readme.py makes a table in docs/testing.md.
"""
import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "bench"))
from command import commit, keep_row, processor  # noqa: E402

page = root / "build/coverage.md"
folders = ["core", "autograd", "encodings", "nn", "tasks", "experiment"]
llvm = "-19"

# The reasons why this build's unit tests do not reach a line; the first one that matches its file counts.
gpu, isas, python = ("a GPU's: `./dev test release` has the emulated one",
                     "of instruction sets that this build or machine lacks",
                     "for Python and the shell, whose tests are not counted")
own = "own schemes and tasks: tests/tools/own_scheme.sh, tests/python"
for_compiler = "after a switch over all values, for the compiler"
reasons = [
    (r"core/(backend|platform/own_queue|async_read|fields|kernels\.h)|autograd/(encoder_(block|tail)|rotate)|"
     r"encodings/(sinusoid|explicit_weights)|nn/(block|transformer)", gpu),
    (r"core/platform/openblas", "of an OpenBLAS that lacks what every build of it has"),
    (r"core/cpu/attention/narrow_pairs", isas),
    (r"encodings/checks/checks", "of a scheme that declares false laws"),
    (r"encodings/picture|nn/feed_forward", for_compiler),
    (r"core/(platform/runs_here|kernels\.cpp)", isas),
    (r"core/add_own|encodings/own|tasks/all", own),
    (r"core/tensor|autograd/tape|experiment/(.*learner|strings|language/)", python),
    (r"core/profile", "of benches and `POSLAB_DEBUG=2` in programs that run on: tests/tools/smoke.sh"),
]
# The reasons why a condition was always true or always false; the first one that matches "FILE: CONDITION" counts.
reasons_of_conditions = [
    (r".*: .*(sizeof\(real\)|\bexact$)", "of the double build: `./dev test double`"),
    (r".*: .*(__builtin_cpu_supports|runs_here\(|registers ==|lanes [<>]|\bisa\b|compiler\(\))|"
     r"core/kernels\.cpp",
     isas),
    (r".*: .*(Device::|device|cuda|may_be_one|\.encoder_block|backend_|absent\(\)|_bias(_at)?$)|"
     r"core/(backend|platform/own_queue|async_read)|autograd/encoder_(block|tail)|"
     r"nn/(block\.cpp: (terms|y)$|transformer\.cpp: !pass)|"
     r"autograd/attention\.cpp: (biased|one_query|q_rel(\.data\(\) ==.*)?)$|"
     r"encodings/explicit_weights\.cpp: recording\(\)$|"
     r"encodings/sinusoid\.cpp: (!table \|\| table\.dim.*|!table|table\.dim.*|p <= rows|!std::all_of.*)$|"
     r"core/tensor\.cpp: (!?at_?|!\*elsewhere_|!?.*storage_.*)$|core/memory.cpp: tell", gpu),
    (r"core/cpu/(activations\.h|attention/(backward|statistics)\.cpp|(elementwise|geometric|interpolate|max)\.cpp|"
     r"functions\.h|attention/(logits|(narrow|wide)_(heads|pairs))\.h|rows\.h|simd\.h): "
     r"(x [<>=]+ (0|infinity|top)|u > 0|u < 1e-8f|(s|both|share|e|sum) == 0|tiny|near|masked|hidden|size < 0\.625f|"
     r"v > 0|larger|p ([<>]|!=) (least|most|p)|at\.slopes|top == (neg_infinity|max_lanes.*)|"
     r"\(quarter & \d\) != 0|\(\(column.*|(lane_numbers|first_lanes)\(.*\).*)$",
     "of vectors: each lane chooses, and there is no branch"),
    (r"core/platform/parallel\.cpp: !cursor_\.compare", "only if two threads meet by chance"),
    (r".*: !?(dx|dy|y|dtable|d\.q\[0\])$", "kernels may be called without a gradient, but ops never do that"),
    (r".*: (case .*|kind|q|gate|activation|products)$", for_compiler),
    (r".*: ([NS] == \d|reals_per_pair == \d|reverse|i >= by|kind\(\).*|max_rows.*)$",
     "known when it is compiled, in each form of a template"),
    (r".*: .*cancelled\(\)$", "only if Ctrl-C comes by chance at that moment"),
    (r"tasks/language/copy_grammar\.cpp: i < vocabulary\(\)$", "only if rounding by chance leaves a remainder"),
    (r"core/platform/openblas", "of an OpenBLAS that lacks what every build of it has"),
    (r"encodings/checks/checks", "of a scheme that breaks the laws, or declares false ones"),
    (r"core/add_own|encodings/own|tasks/all", own),
    (r"autograd/tape\.cpp|experiment/(strings|language/language|language/inside|.*learner)\.cpp", python),
    (r"core/(profile|platform/parallel|debug)", "of programs with variables in the environment: tests/tools/smoke.sh"),
    (r"core/params\.cpp: :|.*: (:|n <= g\.count|sweep < 50|found == table)", "the loop always ends elsewhere"),
]
missing = "a test is missing"


def run(*words, **more):
    return subprocess.run(words, check=True, **more)


def counts(build):
    """{file: (lines {number: times}, outcomes {place in the source: times in each instance of a template})}, summed
    over all tests and the programs that they start. A condition has two outcomes."""
    run("llvm-profdata" + llvm, "merge", "-sparse", *map(str, (build / "profile").glob("*.profraw")), "-o",
        build / "all.profdata")

    def export(form):
        return run("llvm-cov" + llvm, "export", build / "poslab_tests", "-object", build / "poslab", "-instr-profile",
                   build / "all.profdata", f"--format={form}", "--skip-functions", *(root / f for f in folders),
                   stdout=subprocess.PIPE, text=True).stdout

    files = {}
    for line in export("lcov").splitlines():
        kind, _, rest = line.partition(":")
        if kind == "SF":
            lines, _ = files.setdefault(str(pathlib.Path(rest).relative_to(root)), ({}, {}))
        elif kind == "DA":
            lines[int(rest.split(",")[0])] = int(rest.split(",")[1])
    for file in json.loads(export("text"))["data"][0]["files"]:
        _, outcomes = files.setdefault(str(pathlib.Path(file["filename"]).relative_to(root)), ({}, {}))
        for *place, true, false, _, _, _ in file["branches"]:
            outcomes.setdefault((*place, "true"), []).append(true)
            outcomes.setdefault((*place, "false"), []).append(false)
    return files


def ranges(numbers):
    """[3, 4, 5, 9] -> "3-5, 9" """
    parts = []
    for n in numbers:
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def why(some, text):
    return next((why for pattern, why in some if re.match(pattern, text)), missing)


def rows(by_reason):
    """{(file, reason): what} -> the rows of a table; entries without a reason come last."""
    ordered = sorted(by_reason.items(), key=lambda row: (row[0][1] == missing, row[0]))
    return "".join(f"| `{file}` | {what} | {reason} |\n" for (file, reason), what in ordered)


def keep_folders(files):
    tree = commit()
    for folder in folders:
        of = [counted for file, counted in files.items() if file.startswith(folder + "/")]
        lines = [times > 0 for some, _ in of for times in some.values()]
        once = [any(times) for _, some in of for times in some.values()]
        each = [time > 0 for _, some in of for times in some.values() for time in times]
        row = {"folder": folder}
        for name, some in {"lines": lines, "branches": once, "forms": each}.items():
            row |= {name: len(some), f"{name}_percent": 1000 * sum(some) // len(some) / 10}  # 100.0: all
        keep_row(root / "bench/results/coverage.csv", row, tree)


def tables(files):
    text = f"# Coverage of the unit tests\n\nCounted at commit {commit()} on {processor()}.\n"
    text += "\nWhere the forms of core/ that no test took are:\n\n"
    text += "| file | branches | in all forms | of them not reached |\n|---|---|---|---|\n"
    forms = {file: [time > 0 for times in some.values() for time in times] for file, (_, some) in files.items()}
    for file in sorted((f for f in forms if f.startswith("core/")), key=lambda f: forms[f].count(False))[:-6:-1]:
        text += f"| `{file}` | {len(files[file][1])} | {len(forms[file]):,} | {forms[file].count(False):,} |\n"

    missed_lines, missed = {}, {}
    for file, (lines, outcomes) in sorted(files.items()):
        source = (root / file).read_text().split("\n")
        for n in sorted(n for n, times in lines.items() if times == 0):
            missed_lines.setdefault((file, why(reasons, file)), []).append(n)
        for (line, start, last, end, outcome), times in sorted(outcomes.items()):
            if not any(times):
                condition = source[line - 1][start - 1:end - 1 if line == last else None]
                reason = why(reasons_of_conditions, f"{file}: {condition}")
                missed.setdefault((file, reason), {}).setdefault(outcome, set()).add(line)
    text += "\n## Lines that no unit test reached\n\n| file | lines | why |\n|---|---|---|\n"
    text += rows({key: ranges(numbers) for key, numbers in missed_lines.items()})
    text += "\n## Conditions that were never true, or never false\n\n| file | lines | why |\n|---|---|---|\n"
    text += rows({key: "; ".join(f"never {outcome}: {ranges(sorted(of[outcome]))}" for outcome in sorted(of))
                  for key, of in missed.items()})
    return text


def main(build):
    files = counts(pathlib.Path(build).resolve())
    keep_folders(files)
    beside = page.with_suffix(".partial")
    beside.write_text(tables(files))
    beside.rename(page)
    print(f"wrote {page.relative_to(root)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
