"""Propositions 1 and 2 on rows of logits from N(0, variance) and one largest logit: predicted and actual values of that
logit's weight, of entropy, and of the temperatures that keep either in a longer row. Nothing is trained."""

import json

import numpy as np

SHORT, ROWS, WITHIN = 512, 100, 0.5


def philox(index, seed, step, site):
    """Blocks of Philox4x32-10 (core/random.h); each row has one of the four 32-bit numbers."""
    low = np.uint64(0xFFFFFFFF)
    index = np.asarray(index, np.uint64)
    c = [index, np.zeros_like(index), np.full_like(index, step), np.full_like(index, site)]
    k = [np.uint64(seed), np.uint64(0)]
    for _ in range(10):
        p, q = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [q >> np.uint64(32) ^ c[1] ^ k[0], q & low, p >> np.uint64(32) ^ c[3] ^ k[1], p & low]
        k = [k[0] + np.uint64(0x9E3779B9) & low, k[1] + np.uint64(0xBB67AE85) & low]
    return c


def logits(keys, variance, largest):
    """(ROWS, keys) logits, the largest first, by Box and Muller (1958)."""
    rows = []
    for row in range(ROWS):
        c = philox(np.arange(keys - 1), 2023, row, (5 << 24) + keys)
        u, v = (((c[i] << np.uint64(32) | c[i - 1]) >> np.uint64(11)) * 2.0**-53 for i in (3, 1))
        rows.append(np.append(largest, np.sqrt(-2 * variance * np.log(1 - u)) * np.cos(2 * np.pi * v)))
    return np.array(rows)


def means(rows, tau):
    """The mean weight of the largest logit, and the mean entropy."""
    top = rows.max(axis=1)
    e = np.exp((rows - top[:, None]) / tau)
    z, mean = e.sum(axis=1), (e * rows).sum(axis=1)
    return (1 / z).mean(), (np.log(z) + (top - mean / z) / tau).mean()


def temperature(rows, target, of, rises):
    """The temperature from 0.02 to 1 at which rows have this mean weight (of = 0) or entropy (of = 1), by bisection."""
    low, high = 0.02, 1.0

    def above(tau):
        return (means(rows, tau)[of] > target) == rises

    if above(low) or not above(high):
        return None
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return (low + high) / 2


def proposition1(weight, long, variance):
    """The larger root of tau^2 ln(P L) - tau b + variance / 2, and whether there is one (experiment/align.h)."""
    b, a = np.log(weight * SHORT) + variance / 2, np.log(weight * long)
    under_root = b * b - 2 * variance * a
    return (variance / b, False) if under_root < 0 else ((b + np.sqrt(under_root)) / (2 * a), True)


def compared(long, variance, largest):
    """A row of the table. A proposition's assumption holds if the sum of the normal logits' exponentials is near its
    mean: its relative standard deviation is below L^-1/4 if deviation / tau is below half of sqrt(2 ln L), the size of
    the largest of these logits."""
    many = logits(long, variance, largest)
    weight, entropy = means(logits(SHORT, variance, largest), 1)
    predicted = np.exp(largest - variance / 2) / SHORT
    tau1, reachable = proposition1(predicted, long, variance)
    tau2 = np.sqrt(variance / (variance + 2 * np.log(long / SHORT)))
    deviation, tail = np.sqrt(variance), np.sqrt(2 * np.log(long))
    at_two = np.exp(largest / tau2 - variance / (2 * tau2 * tau2)) / long
    row = {"keys": long, "variance": variance, "largest_logit": largest, "weight_predicted": predicted,
           "weight": weight, "entropy_predicted": np.log(SHORT) - variance / 2, "entropy": entropy,
           "tau1_predicted": tau1, "reachable": reachable,
           "assumed1": bool(reachable and largest > deviation * tail and deviation / tau1 < WITHIN * tail),
           "tau1": temperature(many, weight, 0, False), "tau2_predicted": tau2,
           "assumed2": bool(at_two < 0.1 and deviation / tau2 < WITHIN * tail),
           "tau2": temperature(many, entropy, 1, True), "log_rule": np.log(SHORT) / np.log(long)}  # fmt: skip
    return {name: float(x) if isinstance(x, np.floating) else x for name, x in row.items()}


def simulated(folder):
    """The rows, which are kept in propositions.json; long contexts have 15,000 tokens, as in the source."""
    path = folder / "propositions.json"
    if not path.exists():
        rows = [compared(keys, variance, largest) for keys in (2048, 15000)
                for variance in (0.25, 0.5, 1.0, 2.0, 4.0) for largest in (2, 4, 6, 8)]  # fmt: skip
        path.write_text(json.dumps({"keys_short": SHORT, "samples": ROWS, "within": WITHIN, "rows": rows}) + "\n")
    return json.loads(path.read_text())
