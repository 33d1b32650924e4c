"""The common part of compare.py, generate.py and t5.py: options, the names of the processor and the commit, results,
and exits."""

import argparse
import csv
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import time

from sides import ROOT, Disagree, Ended


def numbers(text):
    return [int(word) for word in text.split(",")]


def names(text):
    return text.split(",")


def parser(about):
    return argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)


def check(parser, options, peers, remedy):
    """Exits if a peer's name is unknown, or a program does not run. remedy: how to install the peers' Python."""
    if unknown := set(options.peers) - set(peers):
        parser.error(f"--peers {', '.join(unknown)}: there is no such peer; known are {', '.join(peers)}")
    for what, way in (("program", "build the target poslab_bench"), ("python", remedy)):
        found = shutil.which(str(getattr(options, what)))  # a path, or a name on PATH
        if not found:
            parser.error(f"--{what} {getattr(options, what)} does not run here; {way}")
        setattr(options, what, os.path.abspath(found))  # sides start in the root of the tree


def processor():
    """The processor's name with its family, as generations may share a name; AMD: 25 is Zen 3 and 4, 26 is Zen 5."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
        facts = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return f"{facts['model name']} (family {facts['cpu family']}, model {facts['model']})"
    except (OSError, KeyError):
        return platform.processor() or platform.machine()


def short_name():
    """The processor in the name of a file: amd-26-2 for family 26, model 2."""
    words = re.sub(r"\([A-Z]+\)|[^\w ]", "", processor()).lower().split()
    return "-".join([words[0], *(word for word in words if word.isdigit())])


def commit(program=""):
    """The commit of the program's bundle, or of the working tree, with -dirty if anything but kept results has changed.
    None outside git and bundles."""
    bundled = ROOT / ".bundle/commit"
    if bundled.exists() and (".bundle" in pathlib.Path(program).parts or not (ROOT / ".git").exists()):
        return bundled.read_text().strip()
    if not (ROOT / ".git").exists():
        return None
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "describe", "--always", "--exclude=*"], capture_output=True, text=True).stdout.strip()
    same = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ".", ":!bench/results"]).returncode == 0
    return name + ("" if same else "-dirty") if name else None


def keep_row(path, row, tree):
    """Writes rows into a table, with their commit; a new row replaces the row with the same first cell. Writes nothing
    if the tree had changes before the first row was measured."""
    if not tree or tree.endswith("-dirty"):
        return
    row = {**row, "commit": tree, "day": time.strftime("%Y-%m-%d"), "processor": processor()}
    first = next(iter(row))
    rows = {old[first]: old for old in csv.DictReader(path.read_text().splitlines())} if path.exists() else {}
    rows[row[first]] = row
    part = path.with_suffix(".partial")
    with open(part, "w", newline="") as file:
        table = csv.DictWriter(file, row, lineterminator="\n")
        table.writeheader()
        table.writerows(rows[name] for name in sorted(rows))
    part.replace(path)


def save(path, task, results, program="", **more):
    """Writes a JSON file. {processor} in its name becomes the short name of the processor."""
    path = path.replace("{processor}", short_name())
    whole = {
        "cpu": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "device": results[0].get("sides", {}).get("poslab", {}).get("device", "cpu"),
        **more,
        "commit": commit(program),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "task": task,
        "results": results,
    }
    part = pathlib.Path(path + ".partial")
    part.write_text(json.dumps(whole, indent=None, separators=(",", ":")).replace('{"what"', '\n{"what"') + "\n")
    part.replace(path)


def run(main):
    """Runs main(), and closes its sides even after an interrupt: paused sides would not end by themselves."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        main()
    except (Disagree, Ended) as e:
        sys.exit(f"bench: {e}")
