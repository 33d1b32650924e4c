# %% [markdown]
# # 09 Write your own encoding, with checks that say what is wrong
#
# After this notebook you know
#
# - how to write a positional encoding in ten lines of Python, from formula to training;
# - which laws an encoding should obey, and what a violation looks like;
# - how to compare yours with others, and what such a comparison can tell you.
#
# You need notebook 04. Everything here runs in the engine like a built-in scheme; only `scores` below is Python.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check

plt.style.use("course.mplstyle")

# %% [markdown]
# ## The formula
#
# ALiBi subtracts the same number from a logit for every step of distance. Far away, one more step should matter less.
# So we try the logarithm:
#
# $$s_{ij} = \frac{q_i \cdot k_j}{\sqrt D} - m \,\ln(1 + |p_j - p_i|)$$
#
# $e^{-m \ln(1 + d)} = (1 + d)^{-m}$: the weights fall as a power of the distance and not exponentially.
#
# A class derived from `pl.Encoding` is an encoding. Its `scores` gets queries and keys, tensors (B, T, H, D), and the
# positions of the slots, an array (1, T) or (B, T). It returns what the logits consist of: `Piece(q, k)` is the product
# of queries and keys, then come a scale and a `bias`. The bias is a table with a row for each distance and a column for
# each head; `pairs`, an array (1 or B, T, T), says which row each pair of a query and a key reads.
#
# ## A first try
#
# **Predict.** This class has a mistake. Can you see it before the checks find it?

# %%
class FirstTry(pl.Encoding):
    """A penalty by the logarithm."""

    def scores(self, q, k, positions):
        rows = np.broadcast_to(positions[:, None, :], (len(positions), q.shape[1], k.shape[1])).astype(int)
        bias = np.repeat(-np.log1p(np.arange(rows.max() + 1))[:, None], self.heads, axis=1)
        return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=bias, pairs=rows)

# %% [markdown]
# `pl.check` tests an encoding against all laws, on small random models, with several samplers. It takes a moment.

# %%
def report(encoding):
    for law in pl.check(encoding):
        print("passed" if law["passed"] else "FAILED", f"{law['check']:12}", law["law"])
        for failure in (law["failures"] + law["unseen"])[:1]:          # unseen: declared broken, but holds
            print("       ", failure)


report(FirstTry)

# %% [markdown]
# Two laws fail. *shift*: if all tokens move by 100 positions, no logit may change, because no distance does.
# *Toeplitz*: with the same content everywhere, logits may depend on $j - i$ only. Below each law is the first case that
# violates it: the encoding, the sampler (`per_forward`: one draw for all strings of a batch), the error and its bound.
# The laws that passed need not concern you; [docs/encodings.md](../docs/encodings.md#a7-invariants-and-golden-values)
# explains them.
#
# The picture shows why.

# %%
alibi = pl.encodings.alibi(symmetric=True)
pl.plot_matrices({"first try": pl.encodings.firsttry.matrix(12)[0], "alibi, head 1": alibi.matrix(12)[0]},
                 one_scale=False);

# %% [markdown]
# All rows are the same: the rows of the table were chosen by the *position of the key*, not by its distance from the
# query.
#
# ## A second try
#
# **Predict.** Now rows are distances. The checks still complain. About what? A hint: the checks also let the model
# write text, one token after the other.

# %%
class SecondTry(pl.Encoding):
    """A penalty by the logarithm of the distance."""

    def scores(self, q, k, positions):
        rows = np.abs(positions[:, None, :] - positions[:, :, None]).astype(int)
        bias = np.repeat(-np.log1p(np.arange(rows.max() + 1))[:, None], self.heads, axis=1)
        return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=bias, pairs=rows)


try:
    report(SecondTry)
except ValueError as error:
    print(error)

# %% [markdown]
# <details><summary>What came out</summary>
#
# A model that writes text keeps the keys of all slots, and computes the queries of the last slot only. Then `q` has
# fewer rows than there are positions, and the table of pairs must have as many rows as `q`. The queries are the *last*
# of the slots, so their positions are `positions[:, -Tq:]`.
#
# </details>
#
# The next class declares two more things. `options` gives the slope a range; values outside it are refused. And `laws`
# declares that this encoding treats both sides alike, which the check of *reversal* then tests. A scheme that breaks a
# law on purpose declares that, too (`help(pl.Encoding)`).

# %%
class LogPenalty(pl.Encoding):
    """A penalty by the logarithm of the distance, with a slope."""

    options = {"slope": (1.0, 0.0, 10.0)}           # the default, the least and the most
    laws = {"two_sided": True}

    def scores(self, q, k, positions):
        queries = positions[:, -q.shape[1]:]
        rows = np.abs(positions[:, None, :] - queries[:, :, None]).astype(int)
        bias = np.repeat(-self.slope * np.log1p(np.arange(rows.max() + 1))[:, None], self.heads, axis=1)
        return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=bias, pairs=rows)


report(LogPenalty)

# %% [markdown]
# It passes. It is now in the list of all encodings, with its option.

# %%
mine = pl.encodings.logpenalty
pl.plot_matrices({"alibi, head 1": alibi.matrix(24)[0], "logpenalty": mine.matrix(24)[0],
                  "slope=3": mine(slope=3).matrix(24)[0]});

# %% [markdown]
# ## Does it help?
#
# In Bucket Sort the answer is the input, sorted. The model reads the input and as many empty slots, and has to give one
# symbol in each empty slot. We train a small model for 300 steps on strings of up to 10 symbols and test to length 30.
#
# **Predict.** Without positions all empty slots are alike, so the model must give the same answer in each of them. Will
# the penalty be enough to distinguish them? Will it be better or worse than ALiBi, with another slope in each head?

# %%
folder = Path(tempfile.mkdtemp())


def train(name, encoding, **more):
    options = dict(preset="tiny", task="bucket_sort", encoding=encoding, steps=300, lr=0.001, layers=2,
                   train_length=10, eval_lengths="1:30", eval_samples=64, progress=False)
    return pl.train(**{**options, **more}, out=folder / name)


runs = {"none": train("none", "none"), "alibi": train("alibi", "alibi:symmetric"),
        "logpenalty": train("logpenalty", LogPenalty)}
pl.plot_lengths(runs);

# %% [markdown]
# <details><summary>What came out</summary>
#
# The dashed line is the longest trained length. The dotted curve is what one gets without reading the string, by the
# most frequent symbol of each slot. Our penalty is better than nothing, and at the trained lengths ALiBi is better
# still. Our eight heads all fade in the same way, while ALiBi has heads that look near and heads that look far.
#
# </details>
#
# ## A learned slope
#
# So each head should have its own slope. Which one? Let the heads learn them. `learn` makes the parameter, here the
# logarithm of each slope, which begins at 0; in `scores` it is a tensor with a gradient, and because ops compose,
# nothing has to be derived by hand. **Predict.** Will its curve be between those of `logpenalty` and `alibi`?

# %%
class LearnedPenalty(pl.Encoding):
    """A penalty by the logarithm of the distance, with a slope that each head learns."""

    laws = {"two_sided": True}

    def learn(self, parameters):
        self.log_slope = parameters.full("log_slope", [self.heads], 0)

    def scores(self, q, k, positions):
        queries = positions[:, -q.shape[1]:]
        rows = np.abs(positions[:, None, :] - queries[:, :, None]).astype(int)
        bias = pl.exp(self.log_slope) * -np.log1p(np.arange(rows.max() + 1))[:, None]
        return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5, bias=bias, pairs=rows)


assert all(law["passed"] for law in pl.check(LearnedPenalty))
runs["learned"] = train("learned", LearnedPenalty)
pl.plot_lengths(runs).legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5));

# %% [markdown]
# <details><summary>What came out</summary>
#
# Between lengths 6 and 20 it is. On shorter strings it is worse than the fixed slope. Why? **Be careful with such
# curves.** This was one seed, one task and a short run. Two of these lines may well change places with
# another seed. A claim needs several seeds and an interval for the difference; `poslab sweep` and `poslab compare` make
# them.
#
# </details>
#
# ## Exercise: two sides, two slopes
#
# In a text that is read from left to right, a key ahead is not the same as a key behind. Write the class of the
# encoding with
#
# $$s_{ij} = \frac{q_i \cdot k_j}{\sqrt D} - m \cdot \begin{cases} p_i - p_j & \text{if } p_j \le p_i
# \quad\text{(behind)} \\ 2\,(p_j - p_i) & \text{if } p_j > p_i \quad\text{(ahead)} \end{cases}$$
#
# with the option `slope` $m = 0.5$. Give it the name `TwoSlopes`. Think of two things: `pairs` takes whole numbers
# from 0 on, so distances that may be negative have to be shifted; and which `laws` does this scheme declare?

# %%
TwoSlopes = ...

# %%
@check(TwoSlopes)
def _(TwoSlopes):
    assert isinstance(TwoSlopes, type) and issubclass(TwoSlopes, pl.Encoding), "it must be derived from pl.Encoding"
    assert set(TwoSlopes.options) == {"slope"}, f"the options are {list(TwoSlopes.options)}, not slope alone"
    ahead = np.arange(12)[None, :] - np.arange(12)[:, None]
    right = -0.5 * np.where(ahead > 0, 2 * ahead, -ahead)
    try:
        found = pl.encodings[TwoSlopes.name].matrix(12)[0]
        for i, j in np.argwhere(~np.isclose(found, right))[:1]:
            raise AssertionError(f"the bias of query {i} and key {j} is {found[i, j]:g} and should be {right[i, j]:g}")
        for law in pl.check(TwoSlopes):
            assert law["passed"], f"{law['check']}: {law['law']}; {(law['failures'] + law['unseen'])[0]}"
    except ValueError as error:                     # such as pairs of a wrong shape, or rows that the table lacks
        raise AssertionError(error) from error

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# class TwoSlopes(pl.Encoding):
#     """A penalty by the distance, twice as high ahead."""
#
#     options = {"slope": 0.5}                        # laws: the usual ones, because the sides differ
#
#     def scores(self, q, k, positions):
#         queries = positions[:, -q.shape[1]:]
#         ahead = (positions[:, None, :] - queries[:, :, None]).astype(int)
#         most = abs(ahead).max()
#         each = np.arange(-most, most + 1.0)         # row `most` is the distance 0
#         bias = -self.slope * np.where(each > 0, 2 * each, -each)
#         return pl.Scores([pl.Piece(q, k)], self.head_size**-0.5,
#                          bias=np.repeat(bias[:, None], self.heads, axis=1), pairs=ahead + most)
# ```
# </details>

# %% [markdown]
# ## Where to read on
#
# - [docs/own_scheme.md](../docs/own_scheme.md): the same formula in C++, faster, and as a part of the program.
# - [docs/encodings.md](../docs/encodings.md#a7-invariants-and-golden-values): the laws, and why.
# - Chi et al., *KERPLE*, 2022: the logarithmic penalty, with slopes and scales that are learned.
# - The same in C++, from tables to kernels: [step 11 of the course](../docs/course/11_relative.md).
# - Next: [10 from kernel to GPU](10_kernel.ipynb).
