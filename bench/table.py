"""Analyses compare.py's times: medians, ratios, shares of the ceiling, and the printed lines."""

import statistics

LAYERS, WIDTH, WIDENING = 5, 64, 4
NAMES = {"poslab": "poslab", "torch": "torch", "torch compiled": "compiled", "torch graph": "graph", "jax": "jax"}


def encoder_flop(what, batch, inputs, outputs, encoding, hello):
    """The number of additions and multiplications in the model's formulas: all slots in all layers, without savings.

    A layer: q, k, v and output (4 C C) and feed-forward (2 C 4C) for each of the B T tokens. Then C for each of the B T
    T pairs, in q k and in weights v; for `relative` and `shaw` also in q r; for `shaw` also in weights c. W PE once for
    each of 2T - 1 distances. Head: C V for each output slot. An addition and a multiplication are 2. Backward is twice
    forward. Norms, softmax, dropout, Adam, CoPE's table and FIRE's network count as 0.
    """
    slots = inputs + outputs
    products = {"relative": 3, "shaw": 4}.get(encoding, 2)
    layer = batch * slots * (4 + 2 * WIDENING) * WIDTH**2 + products * batch * slots**2 * WIDTH
    if encoding == "relative":
        layer += (2 * slots - 1) * WIDTH**2
    forward = 2 * (LAYERS * layer + batch * outputs * WIDTH * hello["symbols_out"])
    return forward * (3 if what == "train" else 1)


def decoder_flop(what, batch, inputs, outputs, encoding, hello):
    """The same for the causal decoder, whose sizes are in `hello`.

    For each layer and token: q, k, v and output (4 C C), the gated network (3 C F), and q k and weights v (C each for a
    pair) for the half of the pairs that the mask leaves. Head: C V.
    """
    slots, width = inputs + outputs, hello["d_model"]
    layer = 4 * width**2 + 3 * width * hello["d_ff"] + (slots + 1) * width
    forward = 2 * batch * slots * (hello["layers"] * layer + width * hello["symbols_out"])
    return forward * (3 if what == "train" else 1)


def summary(side):
    """The results of a side after its turns."""
    quarters = statistics.quantiles(side.ms, n=4) if len(side.ms) > 1 else side.ms * 3
    return {
        **side.hello,
        "median_ms": statistics.median(side.ms),
        "quartiles_ms": [quarters[0], quarters[2]],
        "cores_used": side.cpu_ms / side.asked_ms,
        "idle_mb": side.idle_mb,
        "peak_mb": side.peak_mb(),
        "ms": [round(x, 3) for x in side.ms],
    }


def times(theirs, ours):
    """The ratio of a peer's time to ours: the median over steps of the same turn."""
    return statistics.median(a / b for a, b in zip(theirs, ours, strict=True))


def compare(sides, without=()):
    """The ratios of a configuration: above 1, poslab is better. sides: {name: summary(side)}, poslab's first. No ratio
    includes the peers in `without`."""
    ours = sides["poslab"]
    peers = {name: side for name, side in sides.items() if name != "poslab" and name not in without}
    if not peers:
        return {}
    fastest = min(peers, key=lambda name: peers[name]["median_ms"])
    growth = lambda side: side["peak_mb"] - side["idle_mb"]
    return {
        "fastest_peer": fastest,
        "ratio": times(peers[fastest]["ms"], ours["ms"]),
        "peak_memory_ratio": {name: side["peak_mb"] / ours["peak_mb"] for name, side in peers.items()},
        "growth_ratio": {name: growth(side) / max(growth(ours), 0.1) for name, side in peers.items()},
    }


def heading(peers):
    times = "".join(f"{NAMES[name] + ' ms':>13}" for name in ["poslab", *peers])
    return (
        f"{'':5} {'slots':>7} {'thr':>3} {'encoding':12} {'positions':10}{times}{'ratio':>7}{'':10}{'ceiling':>8} "
        f"{'peak MB (growth): poslab, peers':31}"
    )


def row(r, peers):
    times = "".join(
        f"{r['sides'][name]['median_ms']:13.2f}" if name in r["sides"] else f"{'failed':>13}"
        for name in ["poslab", *peers]
    )
    memory = ", ".join(f"{s['peak_mb']:.0f} ({s['peak_mb'] - s['idle_mb']:.0f})" for s in r["sides"].values())
    share = f"{100 * r['share_of_ceiling']:7.0f}%" if r["share_of_ceiling"] else f"{'-':>8}"
    ratio = f"{r['ratio']:6.2f}x {NAMES[r['fastest_peer']]:9}" if "ratio" in r else " " * 17
    none = f"   {r['sides']['poslab']['median_ms'] / r['none_ms']:.2f} times none" if "none_ms" in r else ""
    none += f"   {r['times_fp32']:.2f} times as fast as fp32" if "times_fp32" in r else ""
    return (
        f"{r['what']:5} {r['size']:>7} {r['threads']:3} {r['encoding']:12} {r['positions']:10}{times}{ratio}"
        f"{share} {memory}{none}"
    )


def scaling(results):
    """Lines on the speedup by threads, for each configuration that ran with both numbers."""
    lines, found = [], {}
    for r in results:
        key = (r["what"], r["size"], r["encoding"], r["positions"])
        found.setdefault(key, {})[r["threads"]] = r["sides"]["poslab"]["median_ms"]
    for (what, size, encoding, positions), ms in found.items():
        if 1 in ms and len(ms) > 1:
            more = ", ".join(f"{n}: {ms[1] / ms[n]:.2f}x" for n in sorted(ms) if n > 1)
            lines.append(f"{what:5} {size:>7} {encoding:12} {positions:10} poslab, threads {more}")
    return lines
