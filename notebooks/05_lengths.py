# %% [markdown]
# # 05 Why length generalization fails: positions, distances and gaps never seen
#
# A model is trained on strings of up to 10 symbols, and gets most of their answers right. On longer strings it fails,
# at once or little by little, and at 30 symbols it is worse than someone who has not read the string.
# After this notebook you know
#
# - three things in a longer string that training has never seen: positions, distances, gaps between neighbours;
# - how to measure, without training, which share of a test was seen in training;
# - what this share predicts, and what it does not.
#
# You need notebook 04. The models here are tiny and train for seconds, so look at shapes and not at single points.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check

plt.style.use("course.mplstyle")

# %% [markdown]
# ## The task
#
# Bucket Sort: the answer is the input, sorted. An input of $n$ symbols is followed by $n$ empty slots, in which the
# model gives the answer. A string of length 10 takes 20 slots.

# %%
task = pl.tasks.bucket_sort
batch = task.batch(1, length=6)
print("4120 ->", task.answer("4120"))
print("tokens", batch["tokens"][0], "  targets", batch["targets"][0])
for length in (10, 30):
    print(f"length {length}:", {name: f"{100 * value:.0f} %" for name, value in task.baselines(length).items()})

# %% [markdown]
# Token 5 is the empty slot. With five symbols, guessing scores 20 % (*chance*). *Majority* does not read the string,
# and answers with the most frequent symbol of each output slot: the first is usually 0, the last 4. The longer the
# string, the better its score. What matters is whether a model is above *majority*. *Content only* knows how often each
# symbol is in the string but not where: it answers with the same symbol in all slots. We need it in notebook 06.
#
# ## First reason: positions never seen
#
# A learned table has a row for each position. **Predict.** Training strings have up to 20 slots. The test has up to 60.
# Where does the curve break: at length 10, at 20 or at 30? And is the break sudden or smooth? (In these pictures the
# dashed line is the longest trained string, and the dotted curve is majority.)

# %%
folder = Path(tempfile.mkdtemp())


def train(name, encoding, **more):
    options = dict(preset="tiny", task="bucket_sort", encoding=encoding, steps=300, lr=0.001, layers=2,
                   train_length=10, eval_lengths="1:30", eval_samples=64, max_position=128, progress=False)
    return pl.train(**{**options, **more}, out=folder / name)


learned = train("learned", "learned")
pl.plot_lengths({"learned": learned});

# %% [markdown]
# <details><summary>What came out</summary>
#
# It breaks at once, with the first untrained slot: at length 11, which takes 22 slots. It falls far below majority, to
# chance or less. The rows of new positions are random numbers, and the model reads them as if they meant something.
#
# </details>
#
# The table itself shows why. **Predict.** How far has training moved each row? (We compare with a run of one step.)

# %%
table = "encoding.table"
moved = pl.load(learned).parameters[table] - pl.load(train("one step", "learned", steps=1)).parameters[table]
figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
ax.bar(range(60), np.linalg.norm(moved, axis=1)[:60])
ax.set(xlabel="row of the table: position", ylabel="|change| in training", title="What training did to each position");

# %% [markdown]
# <details><summary>What came out</summary>
#
# Rows from 20 on have never been read, so they never had a gradient. They are still their initial random numbers.
#
# </details>
#
# ## Second reason: distances never seen
#
# Relative encodings read $p_j - p_i$ and have no table of positions. **Predict.** Does that help beyond length 10? The
# largest distance in training is 19.

# %%
relative = train("relative", "relative", steps=500)
pl.plot_lengths({"learned": learned, "relative": relative});

# %% [markdown]
# <details><summary>What came out</summary>
#
# It falls more slowly, because most pairs of a slightly longer string are still at known distances. But it falls. We
# can count the pairs at known distances without any model: in a string of $T$ slots there are $2(T - d)$ pairs at
# distance $d$.
#
# </details>

# %%
slots = np.arange(2, 61, 2)
known = [sum(2 * (t - d) for d in range(1, min(t, 20))) / (t * (t - 1)) for t in slots]
figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
ax.plot(slots, 100 * np.array(known))
ax.axvline(20, linestyle="--", color="#888")
ax.set(xlabel="slots at test (input and output)", ylabel="pairs, %", ylim=(0, 103),
       title="Pairs of slots at a distance below 20");

# %% [markdown]
# At 60 slots (length 30) nearly half of all pairs are at distances that were never seen. And the pairs that matter are
# among them: an output slot is about as many slots away from its inputs as the string is long. Exercise 1 counts these.
#
# ## Seen in training, for any sampler
#
# `coverage` draws positions as training does and as a test does. For each test length it says which share of positions,
# of distances and of *gaps* between neighbours has occurred in training.
#
# **Predict.** Randomized positions (Ruoss et al. 2023) draw the slots' positions from a pool of 128 and sort them.
# Which of the three will be at 100 % for them?

# %%
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
for ax, positions in zip(axes, ("sequential", "randomized:max_position=128")):
    pl.encodings.rope.plot("coverage", positions=positions, train_length=20, axes=ax)
    ax.set(title=positions, xlim=(0, 120));

# %% [markdown]
# <details><summary>What came out</summary>
#
# All three: their curves coincide at the top of the right picture. In time, training strings of up to 20 slots with
# random positions show every position, every distance and every gap that a longer string will have. With positions 0,
# 1, 2, ... (left) only the gaps, all 1, are known. So let us train with random positions.
#
# </details>

# %%
randomized = train("randomized", "relative", steps=500, positions="randomized")
ax = pl.plot_lengths({"learned": learned, "relative": relative, "randomized relative": randomized})
ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5));         # next to the curves

# %% [markdown]
# The same model as *relative*, with as many steps, but other positions. This is the finding of Ruoss et al. (table 1).
#
# ## Third reason: gaps
#
# In `coverage`, right, *gaps, as often* is below 100 %: training has seen all gaps, but not as often as they occur
# in a test of that length. Twenty slots in a pool of 128 are 6 apart on average, and sixty are 2 apart.
#
# **Predict.** We test the randomized model at its *trained* lengths, but with the positions 0, 1, 2, ...: gaps of 1
# only. Is a string of 8 symbols still easy for it?

# %%
dense = pl.evaluate(randomized, positions="sequential", progress=False)
ax = pl.plot_lengths({"randomized": randomized, "tested with positions 0, 1, 2, ...": dense})
ax.set_title("bucket_sort: the same model, two ways to count at test");

# %% [markdown]
# <details><summary>What came out</summary>
#
# On short strings it is clearly worse: every single position and distance was seen, but hardly ever so many neighbours
# at distance 1 together. At length 30, where random gaps are small as well, both scores agree. Randomized positions
# trade unseen distances for rare gaps. Whether length or gap costs more can be measured, and depends on the task:
# [results/gap_shift-tiny](../results/gap_shift-tiny/README.md#which-comes-first-the-gap-or-the-length).
#
# </details>
#
# ## Exercise 1: the pairs that matter
#
# To sort, the output slots $n, \dots, 2n - 1$ have to look at the input slots $0, \dots, n - 1$. Write a function for
# the share of these $n \cdot n$ pairs whose distance occurs in training with up to `trained` slots.

# %%
def known_pairs(n, trained):
    return ...

# %%
@check(known_pairs)
def _(known_pairs):
    assert np.isclose(known_pairs(10, 20), 1), \
        f"a string no longer than in training has known distances only: it is 1, and not {known_pairs(10, 20):.3f}"
    assert np.isclose(known_pairs(2, 2), 1 / 4), "slots 2 and 3 look at 0 and 1; two trained slots know only the " \
                                                 f"distance 1, from 2 to 1: so 1/4, not {known_pairs(2, 2):.3f}"
    assert np.isclose(known_pairs(5, 8), 22 / 25), \
        f"n = 5: 8 slots have distances up to 7, and 3 of the 25 pairs are further apart; not {known_pairs(5, 8):.3f}"
    assert np.isclose(known_pairs(30, 20), 19 / 90), f"n = 30, 20 slots trained: it is not {known_pairs(30, 20):.4f}"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def known_pairs(n, trained):
#     distance = np.arange(n, 2 * n)[:, None] - np.arange(n)
#     return (distance < trained).mean()
# ```
#
# At length 30 this is 21 %, while 54 % of all pairs are at known distances: the pairs that sorting needs are lost
# first.
# </details>

# %% [markdown]
# ## Exercise 2: a pool that is large enough
#
# Which is the smallest pool in which random positions of 100 slots have an average gap of at least 4 between
# neighbours? The average of the smallest of $n$ positions from 1 to $N$ is $(N + 1)/(n + 1)$, and all gaps have that
# average as well.

# %%
pool = ...

# %%
@check(pool)
def _(pool):
    gap = np.diff(pl.samplers.randomized(max_position=int(pool)).draw(100, sequences=400), axis=1).mean()
    assert (pool + 1) / 101 >= 4, f"with a pool of {pool} the average gap of 400 draws is {gap:.2f}, a little too small"
    assert pool / 101 < 4, f"with a pool of {pool} the average gap of 400 draws is {gap:.2f}; a smaller pool will do"

# %% [markdown]
# <details><summary>Solution</summary>
#
# $(N + 1)/101 \ge 4$, so $N \ge 403$.
#
# ```python
# pool = 403
# ```
# </details>

# %% [markdown]
# ## Where to read on
#
# - A. Ruoss et al., *Randomized Positional Encodings Boost Length Generalization of Transformers*, ACL 2023.
# - [docs/pictures.md](../docs/pictures.md): `poslab show --view coverage`, for any encoding and sampler.
# - Draw the curve of an encoding that you wrote: [step 9 of the course](../docs/course/09_absolute.md).
# - Next: [06 randomized positions](06_randomized.ipynb): is it the randomness, or the order?
