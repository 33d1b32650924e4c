"""What compare.py, generate.py and t5.py share: options, the names of processor and commit, results, and their end."""

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
    """Ends where a peer has no such name, or a program does not run; `remedy` makes the Python of the peers."""
    if unknown := set(options.peers) - set(peers):
        parser.error(f"no peer {', '.join(unknown)}; there are {', '.join(peers)}")
    for what, way in (("program", "build the target poslab_bench"), ("python", remedy)):
        found = shutil.which(str(getattr(options, what)))  # a path, or a name that PATH has
        if not found:
            parser.error(f"--{what} {getattr(options, what)} is no program that runs here; {way}")
        setattr(options, what, os.path.abspath(found))  # sides start in the root of the tree


def processor():
    """Virtual machines may call generations of processors by one name; AMD's family is 25 for Zen 3 and 4, 26 for 5."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
        facts = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return f"{facts['model name']} (family {facts['cpu family']}, model {facts['model']})"
    except (OSError, KeyError):
        return platform.processor() or platform.machine()


def short_name():
    """Of the processor, for a file's name: amd-26-2 is of family 26, model 2."""
    words = re.sub(r"\([A-Z]+\)|[^\w ]", "", processor()).lower().split()
    return "-".join([words[0], *(word for word in words if word.isdigit())])


def commit(program=""):
    """Of the working tree, with -dirty where it differs from that in more than kept results, or of the bundle that the
    program is in; absent outside git and bundles."""
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
    """Of a table with commits, in which a new row replaces the one of the same first column. Nothing is kept of a tree
    that differs from its commit, as commit() said before the first row was written."""
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
    """A JSON file. {processor} in its name becomes the processor's."""
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
    """main(), whose sides are closed too where it is stopped: as they stand still, they do not end by themselves."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        main()
    except (Disagree, Ended) as e:
        sys.exit(f"bench: {e}")
