"""The two builds of tools/mutate, and how they tell which test fails with a changed source.

A fault costs one compilation and one link: the changed source lies in a folder of its own, which is searched first; its
object comes before the archives that have the old one; and -O1 is enough. So two faults can be tried at once. Tests
that do not reach the function are not run. To find those that do, each test runs alone once; with
-finstrument-functions each function calls reach.cpp.
"""
import array
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import time
import xml.etree.ElementTree as xml

from processes import home, run, tree

here = pathlib.Path(__file__).resolve().parent
at_once = min(2, os.cpu_count())       # faults tried at the same time; each test has its own threads
no_output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


# The folders, from which faults are drawn in turn: their sources, and the tests that are most likely to notice a fault.
# These run first, together with all tests that have noticed a fault in the folder before.
folders = {
    "core": (["core/*.cpp", "core/platform/*.cpp"], "core/* autograd/tape.cpp experiment/footprint.cpp"),
    "core/cpu": (["core/cpu/**/*.cpp", "core/cpu/**/*.h"], "core/* autograd/ops.cpp"),
    "autograd": (["autograd/*.cpp"], "autograd/*"),
    "encodings": (["encodings/*.cpp"], "encodings/* nn/reference.cpp"),
    "tasks": (["tasks/**/*.cpp"], "tasks/*"),
    "nn": (["nn/*.cpp"], "nn/* experiment/language.cpp"),
    "experiment": (["experiment/**/*.cpp"], "experiment/* lab/runs/*"),
    "lab": (["lab/files/statistics.cpp", "lab/runs/*.cpp", "lab/runs/sweep/*.cpp", "lab/runs/t5/*.cpp"],
            "lab/runs/* lab/files/statistics.cpp"),
}
# Files that only run on a GPU, emulated or not, or in WebAssembly; neither build has them.
absent = {"autograd/encoder_block.cpp", "autograd/encoder_tail.cpp", "core/platform/exceptions_wasm.cpp",
          "core/platform/own_queue.cpp", "core/cpu/bf16/table.cpp"}


def folder_of(file):
    """The folder of the table to which a file belongs; if there are several, the one with the longest name."""
    return max((name for name in folders if file.startswith(name + "/")), key=len)


def kernel_of(file):
    """The beginning of the names of the kernels whose cases are most likely to notice a change of a file."""
    return "attention" if "/attention/" in file or file.endswith("/rows.h") else pathlib.Path(file).stem


def only(names):
    """doctest's option that selects just these tests; a comma would end a name."""
    return "-tc=" + ",".join(re.sub(r'[,"\\]', "?", name) for name in names)


def in_tree(path, folder):
    """A path that the compiler printed, made relative to the top of the sources."""
    return os.path.relpath(os.path.normpath(os.path.join(folder, path)), tree)


def failing(names, seconds, out, env=None):
    """The first of these tests that fails, or the reason why they did not end; None if all pass."""
    try:
        done = run([out / "poslab_tests", "--abort-after=1", "--no-colors", only(names)], cwd=out, env=env,
                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60 + 10 * seconds,
                   cpu=int(20 + 5 * seconds))
    except subprocess.TimeoutExpired:
        return "the time limit"
    if not done.returncode:
        return ""
    # A case that only prints a message also has a heading of its own.
    cases = re.findall(r"^TEST CASE:\s+(.*)$(?:\n(?!={10}).*)*?ERROR", done.stdout.decode(errors="replace"), re.M)
    return cases[-1] if cases else f"exit status {done.returncode}"


def alone(name, out):
    """Runs one test alone. Returns whether it passes, its seconds, and the addresses that it reaches."""
    number = hashlib.sha256(name.encode()).hexdigest()[:16]
    began = time.monotonic()
    good = not failing([name], 60, out, {"POSLAB_MUTATE_REACH": str(out / number)})
    seconds, addresses = round(time.monotonic() - began, 3), {}
    for path in out.glob(number + ".*"):
        numbers = array.array("Q", path.read_bytes())
        addresses.setdefault("poslab_tests" if path.suffix == ".poslab_tests" else "poslab", []).extend(numbers)
        path.unlink()
    return {"good": good, "seconds": seconds, "addresses": addresses}


class Build:
    """A build of the copy: the command that compiles each source, and the time and reach of each test."""

    def __init__(self, preset):
        self.preset, self.folder, self.made = preset, home / preset, home / f"{preset}.json"
        self.programs = ["poslab_tests"] + ["poslab"] * (preset == "release")
        self.tests = {}

    def ready(self, files=None):
        """Builds the copy, and measures the tests that have changed since last time: all, or those of `files`."""
        # Kernels are not instrumented: their functions are called billions of times.
        flags = "-O1 -DNDEBUG -g1 -finstrument-functions " \
                "-finstrument-functions-exclude-file-list=/usr/,core/cpu/,tests/,bench/,cuda/"
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] * bool(shutil.which("ld.lld"))
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] * bool(shutil.which("ccache"))
        run(["cmake", "--preset", self.preset, "-B", self.folder, "-DPOSLAB_KERNELS=here", "-DPOSLAB_EMULATION=OFF",
             "-DPOSLAB_ALONE=ON", f"-DCMAKE_CXX_FLAGS_RELEASE={flags}", *linker, *launcher], cwd=tree, check=True,
            stdout=subprocess.DEVNULL)
        print(f"mutate: building {self.folder}", flush=True)
        targets = [name.replace("poslab", "poslab_program") if name == "poslab" else name for name in self.programs]
        run(["ninja", "-C", self.folder, "-j", str(os.cpu_count()), *targets], check=True, stdout=subprocess.DEVNULL)
        self.read_commands()
        self.measure(files)

    def read_commands(self):
        """Reads how each object is compiled, what it includes, and how the programs are linked."""
        said = {"cwd": self.folder, "stdout": subprocess.PIPE, "text": True, "check": True}
        self.compilers = {}
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            words = words[words[0].endswith("ccache"):]
            self.compilers[words[words.index("-o") + 1]] = words
        self.made_from, made = {}, ""
        for line in run(["ninja", "-t", "deps"], **said).stdout.splitlines():
            if not line.startswith(" "):
                made = line.split(":")[0]
            elif made in self.compilers and not in_tree(line.strip(), self.folder).startswith(".."):
                self.made_from.setdefault(in_tree(line.strip(), self.folder), set()).add(made)
        self.links = {}
        for name in self.programs:
            last = run(["ninja", "-t", "commands", name], **said).stdout.splitlines()[-1]
            words = shlex.split(last)
            self.links[name] = words[words.index("&&") + 1:len(words) - words[::-1].index("&&") - 1]

    def compiled(self, made, out, *options, source=None, program=None):
        """Compiles one object again, to another place and perhaps from another file. Returns whether that worked."""
        words = list(self.compilers[made])
        words[words.index("-o") + 1] = str(out)
        if source:
            words[words.index("-c") + 1] = str(source)
        if program:
            define = "-DPOSLAB_PROGRAM="
            words = [f'{define}"{program}"' if word.startswith(define) else word for word in words]
        return not run([words[0], *options, *words[1:]], cwd=self.folder, timeout=900, **no_output).returncode

    def linked(self, out, objects, *options):
        """Links the programs into a folder, with these objects in front of those of the build. The tests expect the
        program in their own folder."""
        places = "CMakeFiles/test_main.dir/tests/support/places.cpp.o"
        if not (out / "places.o").exists():
            self.compiled(places, out / "places.o", program=out / "poslab")
        for name, words in self.links.items():
            words = [str(out / "places.o") if word == places else word for word in words]
            words[words.index("-o") + 1] = str(out / name)
            if run([words[0], *options, *map(str, objects), *words[1:]], cwd=self.folder, **no_output).returncode:
                return False
        return True

    def measure(self, files):
        """Runs each test alone, unless neither it nor the sources have changed since the last time. If files are given,
        only their tests are run."""
        out = home / f"reach-{self.preset}"
        old = json.loads(self.made.read_text()) if self.made.exists() else {}
        digest = hashlib.sha256()
        for path in sorted(tree.rglob("*.cpp")) + sorted(tree.rglob("*.h")):
            if not path.is_relative_to(tree / "tests") or path.suffix == ".h":
                digest.update(path.read_bytes())
        known = old.get("tests", {}) if old.get("sources") == digest.hexdigest() else {}
        listed = run([self.folder / "poslab_tests", "-ltc", "-r=xml"], stdout=subprocess.PIPE, check=True).stdout
        tests = {}
        for case in xml.fromstring(listed).iter("TestCase"):
            file = in_tree(case.get("filename"), self.folder)
            code = hashlib.sha256((tree / file).read_bytes()).hexdigest()
            if case.get("skipped") != "true" and (files is None or file in files):
                tests[case.get("name")] = {"file": file.removeprefix("tests/"), "code": code}
        new = [name for name, test in tests.items() if known.get(name, {}).get("code") != test["code"]]
        if new:
            print(f"mutate: {self.preset}: running {len(new)} tests, each alone", flush=True)
            out.mkdir(exist_ok=True)
            places = "CMakeFiles/test_main.dir/tests/support/places.cpp.o"
            self.compiled(places, out / "reach.o", source=here / "reach.cpp")
            if not self.linked(out, [out / "reach.o"]):
                raise SystemExit(f"mutate: reach.cpp cannot be linked into {out}")
            with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
                for name, seen in zip(new, pool.map(alone, new, [out] * len(new))):
                    tests[name] |= seen
            self.symbolize(out, [tests[name] for name in new])
        tests = {name: test | known.get(name, {}) if name not in new else test for name, test in tests.items()}
        self.made.write_text(json.dumps({"sources": digest.hexdigest(), "tests": known | tests}))
        self.tests = {name: test for name, test in tests.items() if test["good"]}
        self.reached = {}                      # {file: {line: tests}}
        for name, test in self.tests.items():
            for place in test["reaches"]:
                file, line = place.rsplit(":", 1)
                self.reached.setdefault(file, {}).setdefault(int(line), set()).add(name)
        left_out = sorted(set(tests) - set(self.tests))
        print(f"mutate: {self.preset}: {len(self.tests)} tests, {sum(t['seconds'] for t in self.tests.values()):.0f} s",
              *(f"; left out, as they fail without a fault: {left_out}" if left_out else ""), sep="", flush=True)

    def symbolize(self, out, tests):
        """Turns addresses into FILE:LINE, the beginning of a function."""
        for program in self.programs:
            addresses = sorted({at for test in tests for at in test["addresses"].get(program, [])})
            said = subprocess.run(["addr2line", "-e", out / program], input="".join(f"{at:x}\n" for at in addresses),
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            named = {at: in_tree(line.split(" ")[0], self.folder) for at, line in zip(addresses, said.splitlines())}
            for test in tests:
                test.setdefault("reaches", set()).update(named[at] for at in test["addresses"].get(program, []))
        for test in tests:
            del test["addresses"]
            test["reaches"] = sorted(place for place in test["reaches"] if re.fullmatch(r"[^.].*:\d+", place))

    def reaching(self, file, lines):
        """The tests that reach a function in these lines; all tests if none is known to reach it."""
        begins = self.reached.get(file, {}) if lines else {}
        found = set().union(*(tests for line, tests in begins.items() if lines[0] <= line <= lines[1]))
        return {name: test for name, test in self.tests.items() if not found or name in found}

    def stages(self, file, lines, hits):
        """The tests' names, in an order that finds a fault soon: first the tests that found one there before, then the
        folder's own, then quick ones, then the others."""
        patterns = folders[folder_of(file)][1].split() + [file]
        left = self.reaching(file, lines)

        def near(test):
            return any(fnmatch.fnmatch(test["file"], pattern) for pattern in patterns)
        for choose in (lambda name, test: name in hits and test["seconds"] < 2,
                       lambda name, test: near(test) and test["seconds"] < 1,
                       lambda name, test: test["seconds"] < 0.2, lambda name, test: name in hits,
                       lambda name, test: test["seconds"] < 2, lambda name, test: near(test),
                       lambda name, test: True):
            chosen = [name for name, test in left.items() if choose(name, test)]
            if chosen:
                yield chosen, sum(left.pop(name)["seconds"] for name in chosen)

    def verdict(self, file, changed, lines, hits, slot):
        """(verdict, the test that gave it) with this source in place of the copy's."""
        out = home / f"{self.preset}-{slot}"
        overlay = out / "changed"
        shutil.rmtree(overlay, ignore_errors=True)
        (overlay / file).parent.mkdir(parents=True)
        (overlay / file).write_bytes(changed)
        objects = []
        for number, made in enumerate(sorted(self.made_from[file])):
            object = out / f"{number}.o"
            if not self.compiled(made, object, "-iquote", str(overlay), f"-ffile-prefix-map={overlay}={tree}",
                                 source=overlay / file if file.endswith(".cpp") else None):
                return "does not compile", ""
            if self.code(object) != self.code(self.folder / made):
                objects.append(object)
        if not objects:
            return "same code", ""
        if not self.linked(out, objects, "-Wl,-s"):
            return "does not compile", "it does not link"
        ops = {"POSLAB_OPS_FIRST": kernel_of(file)}
        for names, seconds in self.stages(file, lines, hits):
            while by := failing(names, seconds, out, ops):
                # A test may depend on another test's remains, or on a clean state: then its failure proves nothing.
                if by not in names or by == names[0] or failing([by], self.tests[by]["seconds"], out, ops):
                    return "caught", by
                names.remove(by)
        return "survived", ""

    def code(self, object):
        """The parts of an object that the linker uses, without line numbers."""
        bare = home / f"bare-{os.getpid()}.o"
        run(["strip", "-g", "-o", bare, object], check=True)
        return bare.read_bytes()
