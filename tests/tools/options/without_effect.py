#!/usr/bin/env python3
"""Sets each option of `poslab train`, `lm train`, `t5 train` and `decoder train`, and of each encoding, sampler and
temperature, to another value, one at a time, in a run of a few steps. If metrics.jsonl, eval.csv and all numbers
of the checkpoint are unchanged to the byte, the program must say so: on stderr, or by a condition in the option's help.
Prints the settings that silently change nothing, and exits with 1 if there are any.

    tests/tools/options/without_effect.py PROGRAM [--seed N] [--jobs N] [--only WORD] [--all]
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

KINDS = {
    "train": "--preset tiny --task bucket_sort --encoding rope --steps 3 --batch 2 --layers 4 --heads 4 --d-model 64 "
             "--train-length 12 --eval-lengths 24:26 --eval-samples 2 --dropout 0.1",
    "lm train": "--preset tiny --text copy_grammar --steps 4 --batch 2 --layers 4 --heads 4 --key-heads 2 --d-model 32 "
                "--d-ff 16 --train-length 16 --eval-times 1/2 --eval-samples 2 --warmup 2",
    "t5 train": "--preset tiny --steps 4 --tokens 64 --layers 2 --decoder-layers 2 --heads 4 --d-model 32 --d-ff 16 "
                "--train-length 32 --shortest 16 --eval-lengths 32/64 --eval-samples 2 --warmup 2",
    "decoder train": "--preset tiny --task reverse_string --steps 4 --batch 4 --layers 2 --heads 4 --d-model 32 "
                     "--d-ff 16 --train-length 6 --eval-lengths 1:12 --eval-samples 4 --warmup 2",
}  # fmt: skip
# Values for options that have neither a range nor a list of words.
SPELLED = {"task": ["even_pairs"], "tasks": ["line"], "encoding": ["alibi", "sincos"], "positions": ["randomized"],
           "temperature": ["log_n"], "test-positions": ["randomized"], "test-temperature": ["log_n"],
           "eval-times": ["1/3"]}  # fmt: skip
LEFT_OUT = {"preset", "from", "text"}  # they read other files, or set many options at once
# Words by which a help text says when an option matters; it may also name another option or that option's value.
CONDITION = re.compile(r"\b(if|where|unless|without|version|needs|in place of)\b|0:")
EXCEPTIONS = {  # {"thing option" or "thing option value": the reason}
    "train test-every": "it writes tests.jsonl alone",
    "train warmup 1": "the first step has lr then too",
}


def numbers_of(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    return json.dumps(header, sort_keys=True), data[8 + size :]


def steps_of(path):
    """The lines, without times."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{k: v for k, v in line.items() if "second" not in k} for line in lines]


class Bench:
    def __init__(self, program, seed):
        self.program, self.seed, self.bases = program, seed, {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="without_effect"))
        self.count = 0

    def say(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True).stdout

    def train(self, kind, words):
        """(results, stderr, folder), or (None, the refusal, None)."""
        self.count += 1
        out = self.folder / f"r{self.count}"
        done = subprocess.run([self.program, *kind.split(), *words, "--seed", str(self.seed), "--threads", "1",
                               "--log-every", "1", "--out", str(out)], capture_output=True, text=True)  # fmt: skip
        if done.returncode:
            return None, done.stderr, None
        results = steps_of(out / "metrics.jsonl"), (out / "eval.csv").read_bytes(), numbers_of(
            out / "checkpoint.safetensors")  # fmt: skip
        config = dict(re.findall(r'^(\w+) = "?([^"#]*?)"?\s+#', (out / "config.toml").read_text(), re.M))
        subprocess.run(["rm", "-r", str(out)], check=True)
        return results, done.stderr, config


def other_values(takes, now):
    """One or two other values of an option that `takes` a range or words."""
    if takes.startswith("on | off"):
        return ["off" if now in ("on", "true") else "on"]
    words = [w.strip() for w in takes.split("|")]
    if len(words) > 1:
        return [w for w in words if w != now][:2]
    if "FROM:TO" in takes:
        return ["1:9"]
    found = re.match(r"(\S+) \.\. (\S+?)(,|$)", takes)
    if not found:
        return []
    low, high = float(found[1]), float(found[2])
    if "one or more" in takes:
        return [found[1]]
    if "half of the" in takes:  # a length that strings reach, and one that none reaches
        return ["4", "100000"]
    try:
        here = float(now)
    except ValueError:
        return []
    whole = "." not in now and "e" not in now and low == int(low) and high > 1
    if found[1] == "0" and found[2] == "1" and here == 0:  # either a share or a whole number
        return ["1", "0.5"]
    near = [here * 2 if here else min(1, high) if whole or high > 1 else high / 2, here / 2 if here else None]
    all = [int(x) if whole else x for x in near if x is not None and low <= x <= high]
    all += [here + 1] if whole and not all and here + 1 <= high else []
    return [f"{int(x) if whole else x:.10g}" for x in all if x != here][:2]


def columns(lines):
    """The rows of a table with three columns; the last two columns may continue in the next lines."""
    third = next((m.start(1) for m in (re.search(r"\)  +(\S)", line) for line in lines) if m), None)
    second = min((re.match(r"  \S+ +", line).end() for line in lines if re.match(r"  \S+ +", line)), default=0)
    rows = []
    for line in lines:
        name, takes, help = line[:second].strip(), line[second:third].strip(), line[third:].strip() if third else ""
        if name:
            rows.append([name, takes, help])
        elif rows:
            rows[-1][1] += " " + takes
            rows[-1][2] += " " + help
    for name, takes, help in rows:
        default = re.search(r"\(([^()]*)\)$", takes.strip())
        yield name, takes[: default.start()].strip() if default else takes, default[1] if default else "", help


def options_of(bench, kind, name):
    text = bench.say("explain", kind, name)
    at = text.find("options, with their defaults")
    lines = text[at:].split("\n\n")[0].splitlines()[1:] if at >= 0 else []
    return list(columns(lines))


def options_of_command(bench, kind):
    group, rows = "", []
    for line in bench.say(*kind.split(), "--help").splitlines():
        if re.match(r"[A-Z].*:$", line):
            group = line
        elif found := re.match(r"  --([\w-]+) (.*)", line):
            parts = re.split(r" {2,}", found[2], maxsplit=1)
            default = re.match(r"\(([^)]*)\) *(.*)", parts[1]) if len(parts) > 1 else None
            help = default[2] if default else parts[1] if len(parts) > 1 else ""
            rows.append([group, found[1], parts[0], default[1] if default else "", help])
        elif rows and line.startswith(" " * 20):
            rows[-1][4] += " " + line.strip()
    return [row[1:] for row in rows if row[0] not in ("Options:", "Running:", "") and row[1] not in LEFT_OUT | {"seed"}]


def names(bench, kind):
    return [line.split()[0] for line in bench.say("list", kind).splitlines() if line and not line.startswith(" ")]


def cases(bench, pool, only):
    """(kind of run, words of its base, the varied thing, option, value, words of the variant, help, the other options
    and their words)."""
    for kind, base in KINDS.items():
        if only not in f"{kind} ":
            continue
        base = base.split()
        config = bench.train(kind, base)[2]
        table = options_of_command(bench, kind)
        for option, takes, standard, help in table:
            now = config.get(option.replace("-", "_"), standard)
            for value in SPELLED.get(option) or other_values(takes, now):
                if value != now:
                    yield kind, base, kind, option, value, [*replaced(base, option), f"--{option}", value], help, set()
    plain = KINDS["train"].split()
    for kind, option, beside in (("encoding", "encoding", []), ("sampler", "positions", ["--encoding", "sincos"]),
                                 ("temperature", "temperature", ["--encoding", "alibi"])):  # fmt: skip
        all = [name for name in names(bench, kind + "s") if only in f"{kind} {name} "]
        tables = pool.map(lambda name: options_of(bench, kind, name), all)
        for name, table in zip(all, list(tables)):
            base = replaced(plain, option)
            if beside:
                base = [*replaced(base, "encoding"), *beside]
            words = [w for row in table for w in [row[0], *(w.strip() for w in row[1].split("|"))]]
            others = {w for w in words if w and " " not in w}
            for part, takes, now, help in table:
                for value in other_values(takes, now):
                    yield ("train", [*base, f"--{option}", name], f"{kind} {name}", part, value,
                           [*base, f"--{option}", f"{name}:{part}={value}"], help, others - {part})  # fmt: skip


def replaced(words, option):
    """The words without this option and its value."""
    at = words.index(f"--{option}") if f"--{option}" in words else None
    return words if at is None else words[:at] + words[at + 2 :]


# Variants of the model, for settings that the usual model refuses: with a mask, with a table of offsets.
VARIANTS = ([], ["--causal", "on"], ["--encoding", "relative"])


def judged(bench, case):
    kind, base, thing, option, value, words, help, others = case
    for more in VARIANTS:
        def with_more(all):
            return [*replaced(all, more[0][2:]), *more] if more else all

        key = kind, tuple(with_more(base))
        if key not in bench.bases:
            bench.bases[key] = bench.train(kind, list(key[1]))
        before = bench.bases[key]
        if before[0] is not None or kind != "train":
            break
    told = f"{thing} {option} {value}"
    if before[0] is None:
        return "no base", told, before[1]
    results, said, _ = bench.train(kind, with_more(words))
    if results is None:
        return "refused", told, said
    if results != before[0]:
        return "another", told, ""
    news = [line for line in said.splitlines() if line not in before[1].splitlines()]
    if any(re.search(r"chang\w+ nothing|not reach|equals|is less than|keeps lr", line) for line in news):
        return "told", told, ""
    if any(option.replace("-", "_") in line and "nothing" in line for line in said.splitlines()):
        return "told", told, ""
    for known in (told, f"{thing} {option}"):
        if known in EXCEPTIONS:
            return "exception", told, EXCEPTIONS[known]
    conditional = CONDITION.search(help) or any(re.search(rf"\b(of|with) (form |the )?{re.escape(word)}\b", help)
                                                for word in others)
    return ("documented" if conditional else "silent"), told, help


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("program")
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--jobs", type=int, default=2)
    parse.add_argument("--only", default="", help="only settings with this in their name")
    parse.add_argument("--all", action="store_true", help="print the documented and the refused ones too")
    words = parse.parse_args()
    bench = Bench(words.program, words.seed)
    counts = {}
    with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        chosen = [case for case in cases(bench, pool, words.only) if words.only in f"{case[2]} "]
        for outcome, told, why in pool.map(lambda case: judged(bench, case), chosen):
            counts[outcome] = counts.get(outcome, 0) + 1
            if outcome == "silent" or (words.all and outcome != "another"):
                print(f"{outcome}: {told}: {' '.join(why.split())}", flush=True)
    print(f"{sum(counts.values())} tried: " + ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
    return counts.get("silent", 0) > 0


if __name__ == "__main__":
    sys.exit(main())
