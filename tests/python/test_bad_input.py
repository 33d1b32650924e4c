"""Wrong arguments are refused with an exception that names them, and never end the process."""

import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from built import HANGS

import poslab as pl
from poslab import _poslab, formulas

X = pl.Tensor(np.arange(6.0).reshape(2, 3))
Q = pl.Tensor(np.ones((1, 4, 2, 8)))


def read_only():
    a = np.zeros(3, "float32")
    a.flags.writeable = False
    return a


def unaligned():
    return np.zeros(13, "uint8")[1:].view("float32")


def throws(rows):
    yield X
    raise KeyError("of the caller")


class Plain(pl.Encoding):
    """Without positions."""

    name = "plainly"


class OneLine(str):
    """The words of a TypeError whose message must be one line."""


class Hostile:
    """Raises a KeyError, whatever method is called."""

    def __array__(self, *how, **more):
        raise KeyError("of the caller")

    def __dlpack__(self, **how):
        raise KeyError("of the caller")

    def __dlpack_device__(self):
        return 1, 0

    def __len__(self):
        return 2

    def __getitem__(self, n):
        raise KeyError("of the caller")

    __index__ = __float__ = __len__


def grow_shared():
    a = np.zeros(10, "float32")
    x = pl.from_numpy(a)
    a.resize(10**6)
    return x


def itself():
    a = []
    a.append(a)
    return a


# Calls, and for each the words of the ValueError that it must raise, or the type of another exception.
BAD = {
    "complex numbers": (lambda: pl.Tensor([1j]), "dtype complex128"),
    "text": (lambda: pl.Tensor("abc"), "cannot read a str"),
    "nothing": (lambda: pl.Tensor(None), TypeError),
    "objects": (lambda: X + object(), "cannot read a object"),
    "dates": (lambda: pl.Tensor(np.array(["2020-01-01"], "datetime64[D]")), "datetime64"),
    "ragged lists": (lambda: pl.Tensor([[1, 2], [3]]), "inhomogeneous"),
    "no numbers": (lambda: pl.Tensor([]), "every size must be positive"),
    "an empty axis": (lambda: pl.Tensor(np.zeros((2, 0, 3))), "every size must be positive"),
    "shared float64": (lambda: pl.from_numpy(np.zeros(3)), "dtype float64 and not float32"),
    "shared other byte order": (lambda: pl.from_numpy(np.zeros(3, ">f4")), "not float32"),
    "shared columns": (lambda: pl.from_numpy(np.zeros((3, 4), "float32").T), "not contiguous"),
    "shared steps": (lambda: pl.from_numpy(np.zeros(8, "float32")[::2]), "not contiguous"),
    "shared broadcast": (lambda: pl.from_numpy(np.broadcast_to(np.float32(1), (4,))), "not contiguous|read-only"),
    "shared read-only": (lambda: pl.from_numpy(read_only()), "read-only"),
    "shared unaligned": (lambda: pl.from_numpy(unaligned()), "not aligned"),
    "shared empty": (lambda: pl.from_numpy(np.zeros((0,), "float32")), "every size must be positive"),
    "shared list": (lambda: pl.from_numpy([1.0]), "no memory to share"),
    "as float64 without a copy": (lambda: X.__array__(np.float64, copy=False), "without a copy"),
    "shapes that do not broadcast": (lambda: X + np.zeros(4), "do not broadcast"),
    "inner sizes": (lambda: X @ X, "did you mean transpose"),
    "product of vectors": (lambda: pl.matmul([1.0], [1.0]), "needs matrices"),
    "reshape to another size": (lambda: X.reshape(4), "has 6 values"),
    "reshape to negative sizes": (lambda: X.reshape(-2, -3), "every size must be positive"),
    "reshape of two unknowns": (lambda: X.reshape(-1, -1), "has 6 values"),
    "full of a negative size": (lambda: pl.full([-1], 0), "every size must be positive"),
    "full of no size": (lambda: pl.full([], 0), "every size must be positive"),
    "axis": (lambda: pl.sum(X, 2), "has no axis 2"),
    "axis far below": (lambda: pl.concat([X, X], -3), "has no axis -3"),
    "slice": (lambda: pl.slice(X, 0, 1, 5), "not a range"),
    "order": (lambda: pl.permute(X, [0, 0]), "does not name each"),
    "no tensors to join": (lambda: pl.concat([], 0), "no tensors to join"),
    "an index past the end": (lambda: X[2], IndexError),
    "too many indices": (lambda: X[0, 0, 0], "3 indices for the 2 dimensions"),
    "an empty slice": (lambda: X[1:1], "an empty slice"),
    "an index of floats": (lambda: X[[0.5]], "give whole numbers"),
    "an index of rows beside others": (lambda: X[[0, 1], 0], "give it alone"),
    "two ellipses": (lambda: X[..., ...], "two ellipses"),
    "an assignment": (lambda: X.__setitem__(0, 1), AttributeError),
    "a row past the table": (lambda: pl.gather(X, [7]), "row 7 of a table of 2 rows"),
    "a negative row": (lambda: pl.gather(X, [-1]), "row -1"),
    "a huge row": (lambda: pl.gather(X, [1 << 40]), "does not fit into 32 bits"),
    "a huger row": (lambda: pl.gather(X, np.array([1 << 63], "uint64")), "does not fit into 32 bits"),
    "no rows": (lambda: pl.gather(X, np.zeros(0, int)), "there are no ids"),
    "a target that is no class": (lambda: pl.cross_entropy(X, [0, 3]), "target 3 of 3 classes; classes are 0 .. 2"),
    "k": (lambda: pl.top_k(X, 4), "k must be from 1 to 3"),
    "rate above 1": (lambda: pl.dropout(X, 1.5), "dropout: rate 1.5"),
    "rate NaN": (lambda: pl.residual_norm(X, X, [1, 1, 1], [0, 0, 0], float("nan")), "dropout: rate nan"),
    "epsilon": (lambda: pl.rms_norm(X, [1, 1, 1], -1), "epsilon is -1"),
    "gain": (lambda: pl.norm(X, [1, 1], [0, 0]), r"gain and bias must be \(3\)"),
    "pairing": (lambda: pl.rotate(Q, np.zeros((1, 4, 4)), "halves"), 'did you mean "half"'),
    "gate": (lambda: pl.gated_feed_forward(X, X, X, X, gate="step"), "unknown gate"),
    "a range upside down": (lambda: pl.clamp(X, 1, 0), "above high"),
    "many dimensions": (lambda: pl.permute(np.zeros((2,) * 12), list(range(12))[::-1]), "dimensions"),
    "more memory than there is": (lambda: pl.full([1 << 20, 1 << 20, 1 << 8], 0), RuntimeError),
    "numbers that no memory could hold": (lambda: pl.full([1 << 30] * 4, 0), r"more than 2\^48 values"),
    "a broadcast that nothing holds": (lambda: pl.full([1 << 21, 1], 0) + pl.full([1, 1 << 21], 0), RuntimeError),
    "backward of many": (lambda: X.backward(), "reduce it to one number"),
    "backward of nothing": (lambda: pl.Tensor([1.0]).backward(), "depends on nothing"),
    "item of many": (lambda: X.item(), "holds 6 values"),
    "truth of many": (lambda: bool(X), "holds 6 values"),
    "a gradient taken back": (lambda: setattr(pl.Tensor([1.0], True), "requires_grad", False), "use detach"),
    "no pieces": (lambda: pl.attention(pl.Scores([], 1), Q), "0 pieces"),
    "pieces that overlap": (lambda: pl.attention_weights(pl.Scores([pl.Piece(Q, Q)] * 2, 1)), "overlap"),
    "rows of bias": (lambda: pl.attention_weights(pl.Scores([pl.Piece(Q, Q)], 1, bias=np.ones((3, 2)))), "3 rows"),
    "key lengths": (lambda: pl.attention_weights(pl.Scores([pl.Piece(Q, Q)], 1), pl.Span(key_lengths=[9])), "is 9; "),
    "values of other heads": (lambda: pl.attention(pl.Scores([pl.Piece(Q, Q)], 1), np.ones((1, 4, 3, 8))), "v is"),
    "a negative window": (lambda: pl.Span(window=-1), "window is -1"),
    "a negative slot": (lambda: pl.attention_weights(pl.Scores([pl.Piece(Q, Q)], 1), pl.Span(offset=-5)), "slot of"),
    "match logits": (lambda: pl.geometric([1.0], [1.0]), "match logits are"),
    "too few arguments": (lambda: pl.add(X), TypeError),
    "a caller that throws": (lambda: pl.concat(list(throws(2)), 0), KeyError),
    "an iterator": (lambda: pl.concat(throws(2), 0), TypeError),
    "an array that throws": (lambda: pl.Tensor(Hostile()), KeyError),
    "an array that throws, added": (lambda: X + Hostile(), KeyError),
    "memory that throws": (lambda: pl.from_dlpack(Hostile()), KeyError),
    "a sequence that throws": (lambda: pl.concat(Hostile(), 0), KeyError),
    "a list in itself": (lambda: pl.Tensor(itself()), "sequence"),
    "a tensor that was never made": (lambda: pl.Tensor.__new__(pl.Tensor).shape, TypeError),
    "an array that grows while it is shared": (grow_shared, ValueError),
    "a size beyond 64 bits": (lambda: pl.full([1 << 70], 0), TypeError),
    "a gradient that is set": (lambda: setattr(X, "grad", X), AttributeError),
    "half a piece": (lambda: pl.Piece(Q, None), TypeError),
    "pieces that are none": (lambda: pl.Scores([Q], 1), TypeError),
    "half a row": (lambda: pl.gather(X, [0.5]), "dtype float64"),
    "rows by truth": (lambda: X[np.array([True, False])], "dtype bool"),
    "rows by text": (lambda: pl.gather(X, "0"), "cannot read a str"),
    "a row beyond 64 bits": (lambda: pl.gather(X, [1 << 70]), "dtype object"),
    "a target beyond 32 bits": (lambda: pl.cross_entropy(X, [1 << 40, 0]), "does not fit into 32 bits"),
    "half a target": (lambda: pl.cross_entropy(X, [1.5, 0]), "dtype float64"),
    "a negative target": (lambda: pl.cross_entropy(X, [-1, 0]), "target -1"),
    "targets of another shape": (lambda: pl.cross_entropy(X, [[0, 0]]), "must have the shape"),
    "a pair beyond 32 bits": (lambda: pl.Scores([pl.Piece(Q, Q)], 1, pairs=np.full((1, 4, 4), 1 << 40)), "32 bits"),
    "half a pair": (lambda: pl.Scores([pl.Piece(Q, Q)], 1, pairs=np.full((1, 4, 4), 0.5)), "dtype float64"),
    "half a key": (lambda: pl.Span(key_lengths=[1.5]), "dtype float64"),
    "a negative key length": (lambda: pl.attention_weights(pl.Scores([pl.Piece(Q, Q)], 1), pl.Span(key_lengths=[-1])),
                              "is -1; give"),
    "an index beyond 32 bits": (lambda: X[1 << 40], IndexError),
    "an index beyond 64 bits": (lambda: X[1 << 70], IndexError),
    "a size beyond 32 bits": (lambda: X.reshape(1 << 40), "is not a shape"),
    "half a size": (lambda: X.reshape(1.5), "1.5 is not a shape"),
    "sizes of nothing": (lambda: X.reshape(None), "None is not a shape"),
    "a number beyond float32": (lambda: X * 1e39, "1e.39 does not fit into float32"),
    "an array beyond float32": (lambda: pl.Tensor(np.array([[0, -1e39]])), "-1e.39 does not fit into float32"),
    "full beyond float32": (lambda: pl.full([2], 1e39), "full: 1e.39 does not fit into float32"),
    "a power of NaN": (lambda: pl.pow(X, float("nan")), "exponent is nan"),
    "a power beyond float32": (lambda: X**1e39, "exponent is 1e.39"),
    "a limit of NaN": (lambda: pl.clamp(X, float("nan"), 1), "low = nan"),
    "epsilon NaN": (lambda: pl.rms_norm(X, [1, 1, 1], float("nan")), "epsilon is nan"),
    "epsilon infinite": (lambda: pl.rms_norm(X, [1, 1, 1], float("inf")), "epsilon is inf"),
    "a scale of NaN": (lambda: pl.attention(pl.Scores([pl.Piece(Q, Q)], float("nan")), Q), "scale is nan"),
    "an infinite scale": (lambda: pl.attention_weights(pl.Scores([pl.Piece(Q, Q)], 1e39)), "scale is inf"),
    "an option of NaN": (lambda: pl.encodings.rope(base=float("nan")), "base = nan is out of range"),
    "classes that are not read": (lambda: pl.samplers.randomized.draw(5, classes=np.zeros((1, 5), int)),
                                  "randomized reads no classes of tokens"),
    "a token of no class": (lambda: pl.samplers.abacus.draw(5, classes=np.full((1, 5), 9)), "class 9 of a token"),
    "half an axis": (lambda: pl.slice(X, 0.5, 1, 2), OneLine(r"slice: \(Tensor, 0.5, 1, 2\) does not fit; give "
                                                            r"slice\(x, axis: int, start: int, stop: int\)")),
    "no angles": (lambda: pl.rotate(Q), OneLine("or rotate.x, cosine, sine, pairing: str = 'interleaved'.")),
    "a keyword of none": (lambda: pl.softmax(y=3), OneLine(r"softmax: \(y=3\) does not fit; give softmax\(x\)")),
    "an axis beyond 32 bits": (lambda: pl.sum(X, 2**31), OneLine("2147483648.*an int of 32 bits")),
    "an offset beyond 32 bits": (lambda: pl.Span(offset=-2**31 - 1), OneLine(r"Span: \(offset=-2147483649\)")),
    "a mask that is 1": (lambda: pl.Span(causal=1), OneLine(r"Span: \(causal=1\).*causal: bool = False")),
    "no data": (lambda: pl.Tensor(), OneLine(r"Tensor: \(\) does not fit; give Tensor\(data, requires_grad: bool")),
    "a piece of none": (lambda: pl.Piece(None, Q), OneLine(r"Piece: \(None, Tensor\) does not fit")),
    "a method with too many": (lambda: X.item(3), OneLine(r"item: \(3\) does not fit; give item\(\)")),
    "an attribute of 3": (lambda: setattr(X, "requires_grad", 3), OneLine(r"\(3\) does not fit.*bool")),
    "a product with None": (lambda: X @ None, OneLine(r"__matmul__: \(None\)")),
    "a layer in quotes": (lambda: pl.encodings.rope.build(heads=2, d_model=16).logits(Q, Q, layer="0"),
                          OneLine("logits: .*layer='0'")),
    "a step of an embedding": (lambda: pl.encodings.sincos.build(heads=2, d_model=16).embed(Q, 2**31),
                               OneLine("embed: .Tensor, 2147483648. .*32 bits")),
    "a trained view in quotes": (lambda: pl.encodings.rope.view(5), OneLine("view: .*views?: str")),
    "positions beyond 2^32": (lambda: pl.encodings.rope.build(heads=2, d_model=16).logits(
        Q, Q, positions=np.arange(4) + 2**33), "number 0 of sequence 0 is 8589934592; give numbers from -2.32 to 2.32"),
    "positions beyond 2^63": (lambda: pl.encodings.rope.build(heads=2, d_model=16).logits(
        Q, Q, positions=np.arange(4, dtype="uint64") + 2**63), "sequence 0 is 9.22.*e.18; give numbers from"),
    "positions that are a mask": (lambda: pl.encodings.rope.build(heads=2, d_model=16).logits(
        Q, Q, positions=[True] * 4), "positions: cannot read a list of dtype bool"),
    "true slots": (lambda: pl.encodings.rope.matrix(True), "length is True; give a whole number"),
    "slots beyond 64 bits": (lambda: pl.samplers.randomized.draw(2**64),
                             "length is 18446744073709551616; give a whole"),
    "sequences of truth": (lambda: pl.tasks.reverse_string.batch(np.bool_(1), 5), "give a whole number"),
    "angles of another shape": (lambda: pl.rotate(Q, np.zeros((1, 4, 3)), "half"), "cosines are"),
    "a mask that does not broadcast": (lambda: pl.where([1, 0], X, X), "where: .* do not broadcast"),
    "an empty operand": (lambda: X + np.zeros((0, 3)), "every size must be positive"),
    "rows that are NaN": (lambda: pl.gather(X, [float("nan")]), "dtype float64"),
    "half a letter": (lambda: pl.encodings["\ud800"], TypeError),
    "a zero in a name": (lambda: pl.encodings["ro\0pe"], "unknown encoding"),
    "an encoding": (lambda: pl.encodings.ropo, AttributeError),
    "a spelling": (lambda: pl.encodings["ropo:window=8"], 'did you mean "rope"'),
    "a name of another list": (lambda: pl.encodings["randomized"], "this is a sampler of positions"),
    "an option": (lambda: pl.encodings.rerope(windw=8), 'did you mean "window"'),
    "a value": (lambda: pl.encodings.rerope(window="wide"), "window"),
    "a value that is none": (lambda: pl.encodings.rerope(window=None), "window"),
    "a view": (lambda: pl.encodings.rope.view("biass"), 'did you mean "bias"'),
    "a view that it lacks": (lambda: pl.encodings.alibi.view("frequencies"), "no fixed frequencies"),
    "no slots": (lambda: pl.encodings.rope.matrix(0), "length is 0"),
    "too many slots": (lambda: pl.encodings.rope.matrix(10**6), "length is 1000000"),
    "heads that do not divide": (lambda: pl.encodings.rope.matrix(4, heads=7, d_model=65), "no multiple of 7 heads"),
    "no heads": (lambda: pl.encodings.rope.build(heads=0), "heads is 0"),
    "an odd head for RoPE": (lambda: pl.encodings.rope.build(heads=1, d_model=3), "rope"),
    "a width that no memory holds": (lambda: pl.encodings.rope.build(d_model=10**9), "d_model is 1000000000"),
    "layers without end": (lambda: pl.encodings.t5.build(layers=10**9), "layers is 1000000000"),
    "a pool below 1": (lambda: pl.encodings.rope.build("randomized", pool=-1), "pool is -1"),
    "keys of another shape": (lambda: pl.encodings.rope.logits(Q, np.ones((1, 3, 2, 8))), "both must be"),
    "queries of two dimensions": (lambda: pl.encodings.rope.logits(X, X), "q is"),
    "a layer that is not there": (lambda: pl.encodings.rope.build(heads=2, d_model=16).logits(Q, Q, layer=1),
                                  "layer 1"),
    "more slots than positions": (lambda: pl.samplers.randomized(max_position=4).draw(8), "raise max_position"),
    "a sampler of no slots": (lambda: pl.samplers.sequential.draw(0), "0 slots"),
    "sequences without end": (lambda: pl.samplers.randomized.draw(10, 10**9), "at most 2"),
    "a negative seed": (lambda: pl.samplers.randomized.draw(10, seed=-1), "seed is -1; give a whole number from 0"),
    "half a slot": (lambda: pl.samplers.randomized.draw(10.0), "length is 10.0; give a whole number"),
    "slots in quotes": (lambda: pl.samplers.randomized.draw("5"), "length is '5'; give a whole number"),
    "a mask of 1": (lambda: pl.encodings.alibi.matrix(4, causal=1), "causal is 1; give True or False"),
    "half a head": (lambda: pl.encodings.alibi.build(heads=2.5), "heads is 2.5; give a whole number"),
    "a law of 1": (lambda: type("Typo", (pl.Encoding,), {"laws": {"two_sided": 1}}), "laws has 'two_sided': 1; write"),
    "an option without a name": (lambda: type("Typo", (pl.Encoding,), {"options": {1: 0.5}}), "options has 1; write"),
    "an option called self": (lambda: type("Typo", (pl.Task,), {"options": {"self": 0.5}}), "options has 'self'"),
    "a class that the list hides": (lambda: type("Kind", (pl.Encoding,), {}), 'encodings.kind .* name = "my_kind"'),
    "a class that is hidden": (lambda: type("_x", (pl.Sampler,), {}), 'samplers._x .* name = "my_x"'),
    "a trace as a list": (lambda: pl.train(task="even_pairs", encoding="rope", out="never", trace=["embedding"]),
                          "trace is .'embedding'.; give a dict"),
    "a trace without a name": (lambda: pl.resume("never", trace={1: None}), "trace has 1: None; give a pattern"),
    "a trace that calls nothing": (lambda: pl.resume("never", trace={"embedding": 3}), "trace has 'embedding': 3"),
    "positions with a gradient": (lambda: pl.encodings.rope.build(heads=2, d_model=16).logits(
        Q, Q, positions=pl.Tensor(np.arange(4), True)), r"these require one; give x.detach\(\)"),
    "positions as text": (lambda: pl.encodings.rope.build(heads=2, d_model=16).logits(Q, Q, positions="abcd"),
                          "positions: cannot read a str"),
    "an order of text": (lambda: X > "a", TypeError),
    "classes of floats": (lambda: pl.samplers.abacus.draw(5, classes=np.ones((1, 5))), "dtype float64"),
    "a task": (lambda: pl.tasks.revers_string, AttributeError),
    "no strings": (lambda: pl.tasks.reverse_string.batch(0, length=5), "give at least one"),
    "a negative length": (lambda: pl.tasks.bucket_sort.batch(1, length=-5), "give at least one"),
    "a question": (lambda: pl.tasks.reverse_string.answer("012"), "0 1"),
    "a temperature of no keys": (lambda: pl.temperatures.log_n.factor(0), "length is 0"),
    "a temperature without end": (lambda: pl.temperatures.log_n.factor(10**9), "length is 1000000000"),
    "baselines without end": (lambda: pl.tasks.reverse_string.baselines(10**6, 10**6), "at most 2"),
    "a check of nothing": (lambda: pl.check("ropo"), 'did you mean "rope"'),
    "training of nothing": (lambda: pl.train(), "which task"),
    "an option of training": (lambda: pl.train(stepps=3), 'did you mean "steps"'),
    "steps below 0": (lambda: pl.train(task="even_pairs", encoding="rope", steps=-1, out="x"), "steps"),
    "no folder": (lambda: pl.train(task="even_pairs", encoding="rope"), "which folder"),
    "a folder that is none": (lambda: pl.evaluate("no such run", progress=False), "no such run"),
    "an option of a test": (lambda: pl.evaluate("x", steps=3), "unknown option"),
    "a folder below a file": (lambda: pl.train(task="even_pairs", encoding="rope", out="/dev/null/x"), "is a file"),
    "no path": (lambda: pl.resume(3), TypeError),
    "a run that is none": (lambda: pl.Run("/"), "not a run folder"),
    "a sweep that is none": (lambda: pl.Sweep("/"), "no plan.jsonl"),
    "a sweep of nothing": (lambda: pl.sweep(out="never", progress=False), "which task"),
    "a sweep into nowhere": (lambda: pl.sweep(task="even_pairs", encoding="rope"), TypeError),
    "a kind of sweep": (lambda: pl.sweep(task="even_pairs", encoding="rope", command="trian", out="never"), "lm train"),
    "a report of no runs": (lambda: pl.report([]), "run"),
    "a report of nowhere": (lambda: pl.report("nowhere"), "nowhere"),
    "a report of a number": (lambda: pl.report(3), TypeError),
    "a zoom": (lambda: pl.graph("nowhere", zoom="modul"), 'did you mean "module"'),
    "the tape of nowhere": (lambda: pl.graph("nowhere"), "nowhere"),
    "samples to look inside": (lambda: pl.inspect("nowhere", samples=0), "samples is 0"),
    "a look inside nowhere": (lambda: pl.inspect("nowhere"), "nowhere"),
    "no threads": (lambda: pl.set_threads(0), "threads is 0"),
    "a window without its name": (lambda: pl.encodings.rerope(8), r"8 has no name.*rerope\(window=8\)"),
    "a number for a scheme without options": (lambda: pl.encodings.none(8), "none has no options, but was given 8"),
    "a length in quotes": (lambda: pl.encodings.rope.matrix("6"), "length is '6'; give a whole number"),
    "a factor of half a key": (lambda: pl.temperatures.log_n.factor(2.5), "length is 2.5; give a whole number"),
    "strings in quotes": (lambda: pl.tasks.reverse_string.batch("8", 20), "sequences is '8'; give a whole number"),
    "a number for an input": (lambda: pl.tasks.reverse_string.answer(1), r"the input is 1.*answer\(\"001\"\)"),
    "an option in two spellings": (lambda: pl.train(task="even_pairs", encoding="rope", out="never", max_position=160,
                                                    positions=pl.samplers.randomized(max_position=150)),
                                   "max_position = 160 and positions = randomized:max_position=150 contradict"),
    "the same, the other way round": (lambda: pl.train(task="even_pairs", encoding="rope", out="never",
                                                       positions="randomized:max_position=150", max_position=160),
                                      "contradict each other; give max_position one value"),
    "two spellings in a sweep": (lambda: pl.sweep(task="even_pairs", encoding="rope", out="never", progress=False,
                                                  positions="randomized:max_position=150", max_position=[150, 160]),
                                 "sweep: positions = randomized:max_position=150 and max_position = 160 contradict"),
    "training by place": (lambda: pl.train("tiny", "even_pairs"), r"train: 'tiny' has no name.*task="),
    "a test of length": (lambda: pl.evaluate("nowhere", length="1:9"),
                         'unknown option "length"; did you mean "lengths"'),
    "two runs of nowhere": (lambda: pl.report("nowhere", "neither"), "nowhere"),
    "no run for a picture": (lambda: pl.plot_lengths("runs/plain"), r"'runs/plain' is no run; write .*pl.Run"),
    "a picture of no runs": (lambda: pl.plot_lengths({}), r"no runs; write plot_lengths"),
    "the laws of offsets": (lambda: pl.check(pl.samplers.randomized_offsets),
                            "randomized_offsets draws offsets.*check another"),
    "a name for a matrix": (lambda: pl.plot_matrices({"rope": "rope"}), r"'rope' is not a matrix; write pl.encodings"),
    "a page as a picture": (lambda: pl.Page("<!doctype html>").save("x.pdf"), "x.pdf: .* HTML; name it .html"),
    "a formula with options": (lambda: formulas.load("rope:base=100"), r"only the options of its CASE; copy"),
    "a formula of no heads": (lambda: formulas.logits("rope", X.numpy(), X.numpy()), r"q is \(2, 3\).*heads"),
    "several encodings for one": (lambda: pl.train(task="even_pairs", encoding=["rope", "t5"], out="never"),
                                  "and train makes one run; pl.sweep takes lists"),
    "two lengths for a range": (lambda: pl.train(task="even_pairs", encoding="rope", eval_lengths=(1, 3), out="never"),
                                r'eval_lengths is \(1, 3\), .*a range of lengths is text, as "1:100"'),
    "steps as a switch": (lambda: pl.train(task="even_pairs", encoding="rope", steps=True, out="never"),
                          "steps = True is not a whole number"),
    "training without a task": (lambda: pl.train(task=None, encoding="rope", out="never"), "task is None; leave it"),
    "None for a sampler": (lambda: pl.encodings.rope.view("bias", positions=None),
                           "positions is None; name one of pl.samplers, or leave it out"),
    "None for a temperature": (lambda: pl.encodings.rope.build(temperature=None), "one of pl.temperatures, or leave"),
    "the laws of a dict": (lambda: pl.check(dict), "is not derived from pl.Encoding"),
    "scores by another name": (lambda: type("Typo", (pl.Encoding,), {"score": lambda *_: None}),
                               "Typo has a method score, but no scores"),
    "draw by another name": (lambda: type("Typo", (pl.Sampler,), {"sample": lambda *_: None}), "sample, but no draw"),
    "laws as a set": (lambda: type("Typo", (pl.Encoding,), {"laws": {"two_sided"}}), "laws is a set; write a dict"),
    "options as a list": (lambda: type("Typo", (pl.Task,), {"options": ["slope"]}), "options is a list; write a dict"),
    "a default beyond its most": (lambda: type("Typo", (pl.Encoding,), {"options": {"slope": (20, 0, 10)}}),
                                  "its default 20 is not from 0 to 10"),
    "an encoding's object": (lambda: Plain(), r"give the class itself, or pl.encodings.plainly\(...\)"),
    "the law of no encoding": (lambda: pl.check(pl.Encoding), "a class that derives from it"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    do, expected = BAD[name]
    if isinstance(expected, OneLine):
        with pytest.raises(TypeError, match=expected) as error:
            do()
        assert "\n" not in str(error.value)
    elif isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            do()
    else:
        with pytest.raises(expected):
            do()
    np.testing.assert_array_equal((X + X).numpy(), 2 * np.arange(6.0).reshape(2, 3))   # and the module still works
    pl.clear_tape()


def functions_of(scope):
    for name, value in vars(scope).items():
        if type(value).__name__ in ("nb_func", "nb_method"):
            yield f"{scope.__name__}.{name}", value
        elif name == "_inside" or isinstance(value, type) and value.__module__.startswith("poslab"):
            yield from functions_of(value)


def test_a_call_that_fits_no_function_is_one_line():
    all_of = dict(functions_of(_poslab))
    assert len(all_of) >= 150
    for name, function in all_of.items():
        try:
            function(no_such_name=1)
        except TypeError as error:
            assert "\n" not in str(error) and "does not fit; give " in str(error), name
        except ValueError:
            assert "kwargs" in function.__nb_signature__[0][0], name


def test_rotate_pairs_channels_as_rope_does():
    angles = np.random.default_rng(0).normal(size=(1, 4, 4))
    interleaved = pl.rotate(Q, angles, "interleaved").numpy()
    assert np.array_equal(pl.rotate(Q, angles).numpy(), interleaved)
    assert np.allclose(pl.rotate(Q, np.cos(angles), np.sin(angles)).numpy(), interleaved, atol=1e-6)
    assert pl.encodings.rope(pairing="interleaved") == pl.encodings.rope


def test_there_are_enough():
    assert len(BAD) >= 150


def test_arrays_of_any_layout_and_dtype_are_read():
    a = np.arange(24.0).reshape(2, 3, 4)
    for x in (a.T, a[:, ::-1], a[:, :, ::2], np.asfortranarray(a), a.astype(">f8"), a.astype("float16"),
              a.astype("longdouble"), a.astype("int8"), np.broadcast_to(a[0], (5, 3, 4))):
        np.testing.assert_array_equal(pl.Tensor(x).numpy(), x.astype("float32"))
    assert pl.Tensor(np.array([np.inf, -np.inf])).tolist() == [np.inf, -np.inf]
    assert np.isnan(pl.Tensor(np.array([np.nan])).item())


@pytest.mark.parametrize("op", ["softmax", "exp", "relu", "max", "sum_all", "silu", "gelu"])
def test_nan_stays_nan(op):
    assert np.isnan(getattr(pl, op)([[1, float("nan"), 2]]).numpy()).any()


def test_two_threads_have_tapes_of_their_own():
    right = []
    def work(seed):
        a = np.random.default_rng(seed).normal(size=(40, 40)).astype("float32")
        for _ in range(50):
            x = pl.Tensor(a, requires_grad=True)
            pl.sum_all(pl.softmax(x @ x.T) * a).backward()
            right.append((seed, x.grad.numpy().tobytes()))
    threads = [threading.Thread(target=work, args=(n % 2,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(right) == 200 and len(set(right)) == 2


def test_a_loss_of_another_thread_is_refused():
    x = pl.Tensor([2.0], requires_grad=True)
    losses = []
    thread = threading.Thread(target=lambda: losses.append(x * x))
    thread.start()
    thread.join()
    with pytest.raises(ValueError, match="the loss is a result of an earlier pass or of another thread"):
        losses[0].backward()


def in_child(queue, a):
    queue.put(float(pl.sum_all(pl.Tensor(a) @ pl.Tensor(a)).item()))


def test_a_fork_computes_the_same():
    a = np.random.default_rng(0).normal(size=(300, 300)).astype("float32")
    before = pl.sum_all(pl.Tensor(a) @ pl.Tensor(a)).item()       # now the parent has worker threads
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    child = fork.Process(target=in_child, args=(queue, a))
    child.start()
    assert queue.get(timeout=HANGS) == before
    child.join(HANGS)
    assert child.exitcode == 0 and pl.sum_all(pl.Tensor(a) @ pl.Tensor(a)).item() == before


def test_python_may_end_with_a_graph_that_holds_arrays():
    code = ("import numpy as np, poslab as pl, threading\n"
            "def work():\n"
            "    x = pl.from_numpy(np.ones(1000, 'float32')).require_grad()\n"
            "    global y; y = pl.exp(x) * x\n"
            "t = threading.Thread(target=work); t.start(); t.join(); work()\n")
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ}, timeout=HANGS).returncode == 0
