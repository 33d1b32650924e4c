"""Writes tests/data/decoder/CASE.json: logits, loss and digests of all gradients of small decoders of LLaMA's shape,
with NumPy alone.

    tools/reference decoder

Written from the formulas, not from the C++: attention pair by pair, each key rotated by its distance from the query.
Derivatives come from complex steps, as in own.py. tests/nn/decoder.cpp compares the files with the engine.
"""

import json
import math
import pathlib

import numpy as np

import formula
from golden import PROJECTIONS, SAMPLES, short
from own import STEP, cross_entropy

BATCH, TIME = 2, 9
PLAIN = {"vocabulary": 11, "layers": 2, "heads": 4, "key_heads": 2, "d_model": 32, "d_ff": 24, "biases": False,
         "tied": False, "epsilon": 1e-5, "temperature": "none", "pairing": "half", "gau": 0, "query_key_norm": "none",
         "norms": "before", "gate": "silu", "embedding_scale": 1, "logit_cap": 0}  # fmt: skip
CASES = {
    "llama": PLAIN | {"encoding": "rope:pairing=half"},
    "qwen": PLAIN | {"encoding": "rope:pairing=half", "biases": True, "tied": True, "epsilon": 1e-6},
    "rerope": PLAIN | {"encoding": "rerope:window=3", "window": 3, "pairing": "interleaved",
                       "temperature": "log_n:length=5"},
    "one_key_head": PLAIN | {"encoding": "none", "key_heads": 1},
    "gau": PLAIN | {"encoding": "rope:pairing=half", "heads": 1, "key_heads": 1, "gau": 16, "d_ff": 48},
    "olmo": PLAIN | {"encoding": "rope:pairing=half", "query_key_norm": "all_heads", "norms": "after"},
    "gemma": PLAIN | {"encoding": "rope:pairing=half", "query_key_norm": "each_head", "norms": "around",
                      "gate": "gelu_tanh", "embedding_scale": 32**0.5, "logit_cap": 0.5, "tied": True},
}


def shapes(case):
    width, size = case["d_model"], case["d_model"] // case["heads"]
    keys, hidden = case["key_heads"] * size, case["d_ff"]
    all_of = {"embedding": (case["vocabulary"], width)}
    for n in range(case["layers"]):
        a, f, unit = f"block{n}.attention.", f"block{n}.ffn.", case["gau"]
        if unit:
            all_of |= {a + "gate": (width, hidden), a + "value": (width, hidden), a + "shared": (width, unit)}
            all_of |= {f"{a}{one}.{part}": (unit,) for one in ("query", "key") for part in ("gain", "bias")}
            all_of |= {a + "output": (hidden, width), f"block{n}.norm.gain": (width,)}
            continue
        before, after = case["norms"] != "after", case["norms"] != "before"
        if before:
            all_of |= {f"block{n}.norm1.gain": (width,), f"block{n}.norm2.gain": (width,)}
        if after:
            all_of |= {a + "norm.gain": (width,), f + "norm.gain": (width,)}
        if case["query_key_norm"] != "none":
            q, k = (size, size) if case["query_key_norm"] == "each_head" else (width, keys)
            all_of |= {a + "query_norm.gain": (q,), a + "key_norm.gain": (k,)}
        all_of |= {a + "query": (width, width), a + "key": (width, keys), a + "value": (width, keys)}
        if case["biases"]:
            all_of |= {a + "query_bias": (width,), a + "key_bias": (keys,), a + "value_bias": (keys,)}
        all_of |= {a + "output": (width, width)}
        all_of |= {f + "w1": (width, hidden), f + "w3": (width, hidden), f + "w2": (hidden, width)}
    if not case["gau"]:
        all_of["norm.gain"] = (width,)
    return all_of if case["tied"] else all_of | {"head.w": (width, case["vocabulary"])}


def rms_norm(x, gain, epsilon):
    return gain * x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def turned(x, distance, pairing):
    """x (B, D) rotated by this number of positions: RoPE with base 10000."""
    size = x.shape[-1]
    angle = distance * 10000.0 ** (-np.arange(0, size, 2) / size)
    first = np.arange(size // 2) if pairing == "half" else np.arange(0, size, 2)
    second = first + (size // 2 if pairing == "half" else 1)
    y = np.zeros_like(x)
    y[:, first] = x[:, first] * np.cos(angle) - x[:, second] * np.sin(angle)
    y[:, second] = x[:, first] * np.sin(angle) + x[:, second] * np.cos(angle)
    return y


def attend(case, q, k, v):
    """q (B, T, H, D), k (B, T, G, D), v (B, T, G, Dv) -> (B, T, H Dv)"""
    heads, size = case["heads"], q.shape[-1]
    scheme, policy = case["encoding"].split(":")[0], case["temperature"]
    o = np.zeros(q.shape[:3] + v.shape[3:], np.result_type(q, k, v))
    for h in range(heads):
        g = h // (heads // case["key_heads"])
        for i in range(TIME):
            s = []
            for j in range(i + 1):
                back = {"none": 0, "rope": i - j, "rerope": min(i - j, case.get("window", 0))}[scheme]
                s.append((q[:, i, h] * turned(k[:, j, g], -back, case["pairing"])).sum(-1) / math.sqrt(size))
            s = np.stack(s, -1)  # (B, i + 1)
            if policy.startswith("log_n"):
                s = s * math.log(i + 1) / math.log(int(policy.split("=")[1]))
            e = np.exp(s - s.real.max(-1, keepdims=True))
            o[:, i, h] = np.einsum("bj,bjd->bd", e / e.sum(-1, keepdims=True), v[:, : i + 1, g])
    return o.reshape(q.shape[0], TIME, -1)


def forward(case, w, tokens):
    if case["gau"]:
        return forward_of_units(case, w, tokens)
    size = case["d_model"] // case["heads"]
    act = {"silu": silu, "gelu_tanh": gelu_tanh}[case["gate"]]

    def norm(x, name):  # only if the model has it
        return rms_norm(x, w[name + ".gain"], case["epsilon"]) if name + ".gain" in w else x

    x = w["embedding"][tokens] * case["embedding_scale"]
    for n in range(case["layers"]):
        a, f = f"block{n}.attention.", f"block{n}.ffn."
        y = norm(x, f"block{n}.norm1")
        q, k, v = (y @ w[a + part] + w.get(f"{a}{part}_bias", 0) for part in ("query", "key", "value"))
        if case["query_key_norm"] == "all_heads":
            q, k = norm(q, a + "query_norm"), norm(k, a + "key_norm")
        q, k, v = (t.reshape(BATCH, TIME, -1, size) for t in (q, k, v))
        if case["query_key_norm"] == "each_head":
            q, k = norm(q, a + "query_norm"), norm(k, a + "key_norm")
        x = x + norm(attend(case, q, k, v) @ w[a + "output"], a + "norm")
        y = norm(x, f"block{n}.norm2")
        x = x + norm((act(y @ w[f + "w1"]) * (y @ w[f + "w3"])) @ w[f + "w2"], f + "norm")
    z = norm(x, "norm") @ (w["embedding"].T if case["tied"] else w["head.w"])
    return case["logit_cap"] * np.tanh(z / case["logit_cap"]) if case["logit_cap"] else z


def forward_of_units(case, w, tokens):
    """Gated attention units; alpha as in nn/gau.h."""
    x = w["embedding"][tokens]
    for n in range(case["layers"]):
        a = f"block{n}.attention."
        z = silu(x @ w[a + "shared"])
        q, k = (z * w[f"{a}{one}.gain"] + w[f"{a}{one}.bias"] for one in ("query", "key"))
        v = silu(x @ w[a + "value"])
        mixed = attend(case, q[:, :, None], k[:, :, None], v[:, :, None])
        o = (silu(x @ w[a + "gate"]) * mixed) @ w[a + "output"]
        x = rms_norm(case["layers"] ** 0.25 * x + o, w[f"block{n}.norm.gain"], case["epsilon"])
    return x @ w["head.w"]


def digest(name, size, slope):
    unit = np.eye(1, size)[0]
    at = formula.integers(name + "#samples", SAMPLES, size)
    signs = [formula.signs(f"{name}#signs{i}", size) for i in range(PROJECTIONS)]
    return {
        "size": size,
        "sum": short(slope(np.ones(size))),
        "samples": [short(slope(np.roll(unit, i))) for i in at],
        "projections": [short(slope(s)) for s in signs],
    }


def main():
    folder = pathlib.Path(__file__).parents[1] / "data/decoder"
    folder.mkdir(exist_ok=True)
    for name, case in CASES.items():
        draw = [formula.integers(f"decoder.{what}", BATCH * TIME, case["vocabulary"]) for what in ("tokens", "targets")]
        tokens, targets = (x.reshape(BATCH, TIME) for x in draw)
        w = {n: formula.weight(n, int(np.prod(s))).reshape(s) for n, s in shapes(case).items()}

        def slope_of(parameter):
            def slope(direction):
                moved = w | {parameter: w[parameter] + 1j * STEP * direction.reshape(w[parameter].shape)}
                return cross_entropy(forward(case, moved, tokens), targets).imag / STEP

            return slope

        logits = forward(case, w, tokens)
        golden = case | {
            "tokens": tokens.tolist(),
            "targets": targets.tolist(),
            "logits": [short(x) for x in logits.ravel()],
            "loss": short(cross_entropy(logits, targets)),
        }
        gradients = [f"{json.dumps(n)}: {json.dumps(digest(n, w[n].size, slope_of(n)))}" for n in w]
        text = "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items())
        part = folder / (name + ".json.partial")
        part.write_text(text + ',\n"gradients": {\n' + ",\n".join(gradients) + "}\n}\n")
        part.replace(folder / (name + ".json"))
        print(f"decoder {name}: loss {golden['loss']:.6f}; decoder/{name}.json")


if __name__ == "__main__":
    main()
