"""Plans of sweeps, and trials with made-up results, in a file as `poslab sweep collect --kept` writes it."""

import json

BASELINES = {"chance": 0.5, "majority": 0.55, "content_only": 0.7}


def plan(folder):
    return [json.loads(line) for line in (folder / "plan.jsonl").read_text().splitlines()]


def trial(id, accuracy, loss=0.25, baselines=BASELINES, **result):
    """The result of a trial with these accuracies for lengths 1, 2, ..."""
    columns = {"length": range(1, len(accuracy) + 1), "accuracy": accuracy, "unmasked_accuracy": accuracy}
    columns |= {name: [x] * len(accuracy) for name, x in ({"loss": loss, "samples": 32} | baselines).items()}
    tested = {name: " ".join(map(str, column)) for name, column in columns.items()}
    return {"id": id, "result": {"baselines": baselines} | result, "tested": tested}


def keep(path, trials):
    path.write_text("".join(json.dumps(one) + "\n" for one in trials))
    return path
