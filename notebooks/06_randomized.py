# %% [markdown]
# # 06 Randomized positions, and the sorting ablation
#
# Notebook 05 ended with a model that was trained with random positions and reads strings of three times its trained
# length. Why can it do that? After this notebook you know
#
# - the distribution of sorted random positions, and how to check a sampler against it;
# - the *ablation*, an experiment that takes away one ingredient to see whether the effect disappears;
# - that the order of the positions does the work, and what is left without it.
#
# You need notebook 05.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check

plt.style.use("course.mplstyle")

# %% [markdown]
# ## What is drawn
#
# The recipe of Ruoss et al. (2023, section 3): take a pool of $N$ positions, more than any string needs. For a string
# of $n$ slots draw $n$ different positions, where every subset is equally likely. Sort them, and give slot $j$ the
# $j$-th. Draw again at every step.
#
# **Predict.** Below are 200 draws for 5 slots and for 30 slots from a pool of 128. Where do the first and the last
# slot lie on average, with 5 slots? And with 30?

# %%
sampler = pl.samplers.randomized(max_position=128)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.2), layout="constrained", sharey=True)
for ax, n in zip(axes, (5, 30)):
    drawn = sampler.draw(n, sequences=200)
    ax.plot(drawn.T, ".", color="#1f77b4", alpha=0.08)
    ax.plot(drawn.mean(axis=0), color="#d62728", label="mean of the draws")
    ax.plot(np.arange(1, n + 1) * 129 / (n + 1) - 1, "k--", linewidth=1, label="i (N + 1) / (n + 1) - 1")
    ax.set(title=f"{n} slots", xlabel="slot", ylabel="position")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(fontsize="small")

# %% [markdown]
# <details><summary>What came out</summary>
#
# The $i$-th of $n$ sorted positions out of $1, \dots, N$ has the mean $i\,(N + 1)/(n + 1)$: they cut the pool into
# $n + 1$ gaps that are equal on average. With 5 slots the first is at 20.5 on average and the last at 106.5, with 30
# slots at 3.2 and 123.8. (Here positions begin at 0, hence the -1; slot 0 is $i = 1$.)
#
# </details>
#
# Every string is spread over the whole pool, whether short or long, so a long string has no position that short strings
# have never had. But a slot no longer has a fixed position: what can a model still learn from positions? **Predict**,
# before you read on.
#
# It can learn what holds in all draws: that slot 4 comes after slot 3 and before slot 5. The *order*.
#
# ## The ablation
#
# If the order does the work, then the same random positions in random order should be useless. `unsorted=True` gives
# just that: the same subset, shuffled. We train three models that differ in nothing else.
#
# **Predict.** Which accuracies do you expect at the trained lengths (up to 10) and at length 30, for positions that are
# sequential, sorted random, and unsorted random?

# %%
folder = Path(tempfile.mkdtemp())


def train(name, **more):
    options = dict(preset="tiny", task="bucket_sort", encoding="relative", steps=500, lr=0.001, layers=2,
                   train_length=10, eval_lengths="1:30", eval_samples=64, progress=False)
    return pl.train(**{**options, **more}, out=folder / name)


runs = {
    "sequential": train("sequential", positions="sequential"),
    "sorted": train("sorted", positions=sampler),
    "unsorted": train("unsorted", positions=sampler(max_position=128, unsorted=True)),
}
pl.plot_lengths(runs);

# %% [markdown]
# <details><summary>What came out</summary>
#
# Unsorted positions are useless even at the trained lengths. The model can only do what one without positions can:
# count the symbols, and give the same answer in every slot. That is *content only* of notebook 05: it scores 37 % at
# length 10 and 30 % at length 30, about as much as the unsorted model. In the paper the same happens (table 3): the
# scheme falls back to the accuracy of the model without positions.
#
# </details>
#
# So the point is not *random* but *sorted*. Randomness is only there so that training sees the distances that longer
# strings will have.
#
# **Predict.** Did the unsorted model learn more slowly, or nothing at all? Look at the loss: a guess among five symbols
# has a loss of $\ln 5 = 1.61$ nats.

# %%
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, run in runs.items():
    loss = run.metrics["loss"].rolling(8).mean()
    ax.plot(run.metrics["step"], loss, label=name)
ax.axhline(np.log(5), linestyle=":", color="#888", label="chance")
ax.set(xlabel="step", ylabel="loss, nats a symbol", title="Training, mean of the last 80 steps", ylim=(0, 2.1))
ax.legend(fontsize="small", ncols=4, loc="upper center");

# %% [markdown]
# <details><summary>What came out</summary>
#
# It learned what can be learned without order, within the first steps, and then nothing more. (The curves go up and
# down together because each step draws one length for all its strings, and short strings are easier.) The sorted model
# is slower than the sequential one at the beginning: its problem is harder, because two slots are at a different
# distance in every draw.
#
# </details>
#
# ## How large a pool?
#
# **Predict.** The test has up to 60 slots, so a pool of 32 is too small for it. Of the pools 64, 128 and 2048, which
# will be best after this short run, and why might a huge pool be bad?

# %%
pools = {f"pool of {n}": train(f"pool {n}", positions=sampler(max_position=n), steps=300) for n in (64, 128, 2048)}
pl.plot_lengths(pools);

# %% [markdown]
# <details><summary>What came out</summary>
#
# Read this with care: one seed, 300 steps. The smallest pool is learned fastest, because its draws vary little and
# every distance is frequent. But it cannot hold longer strings than these. Whether 128 or 2048 is better, these runs do
# not say. The paper takes 2048 for strings of up to 500 symbols, and trains 2 million steps.
#
# </details>
#
# One seed is no experiment. The program's sweeps train many and give an interval
# ([README](../README.md#an-ablation-from-a-file-to-a-figure)). On average over all 15 tasks, with three seeds each,
# sorted positions were ahead of unsorted ones ([results](../docs/results.md#2-random-positions-must-stay-in-order)).
#
# ## Exercise 1: draw them yourself
#
# Write the sampler with NumPy: `n` sorted, different positions from 0 to `pool - 1`.

# %%
def draw(n, pool, rng):
    return ...

# %%
@check(draw)
def _(draw):
    rng = np.random.default_rng(0)
    many = np.array([draw(3, 5, rng) for _ in range(4000)])
    assert many.shape == (4000, 3), f"a draw of 3 has shape {many.shape[1:]}"
    assert (np.diff(many, axis=1) > 0).all(), f"positions must be different and sorted, not {many[0]}"
    assert many.min() == 0 and many.max() == 4, f"positions are from {many.min()} to {many.max()}, not from 0 to 4"
    subsets, counts = np.unique(many, axis=0, return_counts=True)
    assert len(subsets) == 10 and counts.min() > 300, \
        f"the 10 subsets should come 400 times each, and come {counts} times: all must be equally likely"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def draw(n, pool, rng):
#     return np.sort(rng.choice(pool, size=n, replace=False))
# ```
# </details>

# %% [markdown]
# ## Exercise 2: a gap of one
#
# How likely is it that two neighbouring slots get neighbouring positions? With $n$ slots and a pool of $N$, the chance
# is $n / N$ for each pair of neighbours. A test with sequential positions has nothing but gaps of 1. What is the chance
# that *all* $n - 1$ gaps of a training string of $n = 10$ slots from a pool of $N = 128$ are 1? Count the subsets:
# there are $\binom{128}{10}$ of them, and how many are a run without holes?

# %%
chance = ...

# %%
@check(chance)
def _(chance):
    from math import comb
    assert chance != 1 / comb(128, 10), "there is more than one run of 10 neighbours in a pool of 128"
    assert np.isclose(chance, 119 / comb(128, 10), rtol=1e-6, atol=0), \
        f"{chance:.3g} is not it; of the positions 0 to 127, at how many can a run of 10 begin?"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# from math import comb
# chance = 119 / comb(128, 10)
# ```
#
# $5 \cdot 10^{-13}$: training never sees a string as dense as that. This is the third reason of notebook 05.
# </details>

# %% [markdown]
# ## Where to read on
#
# - A. Ruoss et al., ACL 2023, section 3 and table 3.
# - [docs/encodings.md](../docs/encodings.md#a2-randomized-positions): the samplers, and what each scheme makes of them.
# - Write it yourself, in C++: [step 12 of the course](../docs/course/12_randomized.md), and see the curve rise.
# - Next: [07 RoPE and longer texts](07_rope.ipynb).
