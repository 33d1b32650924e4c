# %% [markdown]
# # 04 The four doors: every family of encodings in pictures
#
# Attention without positions sees a bag of words: shuffle the tokens, and the outputs are shuffled in the same way.
# After this notebook you know
#
# - the four places where positions can enter a transformer;
# - how to read the picture of an encoding, and which family a picture comes from;
# - the difference between a *scheme* (where positions enter) and a *sampler* (which positions there are).
#
# Nothing is trained here. You need notebook 03, or to know what a logit of attention is.

# %%
import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check

plt.style.use("course.mplstyle")

# %% [markdown]
# ## Where positions can enter
#
# Query $i$ and key $j$ are at the positions $p_i$ and $p_j$. Positions can enter in four places, the *doors*.
# $\text{PE}(p)$ is a vector for position $p$, $R(p)$ rotates a vector by angles that grow with $p$, $b$ is a number for
# each distance, and $a_{ij}$ are the weights:
#
# | door | formula | used by |
# |---|---|---|
# | 1 the embedding | $x_i = \text{embed}_i + \text{PE}(p_i)$ | sines and cosines, a learned table |
# | 2 queries and keys | $s_{ij} = R(p_i)q_i \cdot R(p_j)k_j\, /\sqrt D$ | RoPE and its relatives |
# | 3 a term of the logit | $s_{ij} = q_i \cdot k_j/\sqrt D + b(p_j - p_i)$ | ALiBi, T5, KERPLE |
# | 4 the weights | $a_{ij}$ not by softmax of single logits | geometric attention, stick-breaking |
#
# In all pictures a row is a query and a column a key, both counted in *slots* from 0.
#
# ## Door 1: added to the embedding
#
# Sines and cosines (Vaswani et al. 2017, section 3.5) give each position a vector, $\sin(p f_m)$ and $\cos(p f_m)$ with
# $f_m = 10000^{-2m/C}$ for $m = 0, \dots, C/2 - 1$, where $C$ is the number of channels. A learned table has one random
# vector for each position, which training may change.
#
# Here are the vectors themselves: `embed` adds them to an embedding of zeros. **Predict.** Which channels change
# fastest from slot to slot, those at the beginning of each half or those at its end?

# %%
layer = pl.encodings.sincos.build(d_model=32)
vectors = layer.embed(np.zeros((1, 40, 32))).numpy()[0]
pl.plot_matrices({"sincos: sines left, cosines right": vectors}, row="slot", column="channel");

# %% [markdown]
# <details><summary>What came out</summary>
#
# The first channel of each half turns by 1 radian a slot, the last one by 0.0002. Fast channels distinguish neighbours,
# and slow ones give the rough position, like the hands of a clock.
#
# </details>
#
# Attention sees such vectors through dot products. **Predict.** The next picture has the cosine between the vectors of
# any two slots. In which of the two schemes does it depend on the distance $j - i$ only? Such a matrix is constant
# along its diagonals (*Toeplitz*).

# %%
pl.plot_matrices({n: pl.encodings[n].matrix(32)[0] for n in ("sincos", "learned")});

# %% [markdown]
# <details><summary>What came out</summary>
#
# $\sin a \sin b + \cos a \cos b = \cos(a - b)$, so sines and cosines carry the distance without being told. The learned
# table begins with no idea that slot 4 is next to slot 5: it must learn each slot by itself, and it never learns those
# that no training string has.
#
# </details>
#
# ## Door 2: queries and keys are rotated
#
# RoPE (Su et al. 2021, section 3.2) turns each pair of channels of a query and a key by an angle that grows with the
# position. What is left in the dot product is the difference of the angles: the distance. Its relatives for longer
# texts change *which* distance a pair of slots gets.
#
# **Predict.** A model was trained on 8 slots, so it knows the distances 0 to 7. All four schemes below get 32 slots.
# Which of them stay within 0 to 7? `pi` divides positions by 4. `rerope` caps distances at a window of 7, and
# `self_extend` counts in groups of 4 beyond a window of 4.

# %%
schemes = ["rope", "pi:factor=4", "rerope:window=7", "self_extend:window=4,group=4"]
back = {n: -pl.encodings[n].positions(32, causal=True)[0] for n in schemes}   # they are key minus query
pl.plot_matrices({f"{n}\nup to {np.nanmax(b):g}": b for n, b in back.items()});

# %% [markdown]
# <details><summary>What came out</summary>
#
# The colour shows how far back the scheme puts a key. Empty pairs are masked: a *causal* query does not
# see later keys. RoPE's distances reach 31, which never occurred in training. Only ReRoPE stays within 7, and
# no longer distinguishes far keys. PI ends just beyond, at 7.75, and has quarters of a slot, which were never seen
# either. SelfExtend distinguishes far keys by groups, and would need larger groups to stay within 7.
#
# </details>
#
# A rotation adds no number to a logit. Its picture is the mean cosine of its angles: how similar query and key look
# because of their positions, if their contents are equal. **Predict.** Does the cosine fall steadily with distance?

# %%
ax = pl.encodings.rope.plot("similarity", 64, beside=["pi:factor=4", "rerope:window=7"])
ax.set(title="How alike positions make query and key", ylabel="mean cosine of the angles", ylim=(-0.25, 1.05),
       yticks=np.linspace(0, 1, 6))
ax.legend(fontsize="small", ncols=3, loc="lower center");

# %% [markdown]
# <details><summary>What came out</summary>
#
# It swings: each pair of channels is a cosine with its own wavelength, and a head of 8 channels has only four pairs. PI
# stretches the curve, and ReRoPE follows RoPE up to its window and is flat beyond. Notebook 07 has more.
#
# </details>
#
# ## Door 3: a term of the logit
#
# ALiBi (Press et al. 2022, section 3) adds $-m\,|j - i|$, where each head has its own slope $m$. That is
# `symmetric=True`. (Without it, keys on the left get half a slope more, as in the code of Ruoss et al. 2023, so that a
# model that sees both sides can distinguish them.)
#
# **Predict.** With 8 heads the slopes are 1/2, 1/4, ..., 1/256. Which head looks furthest, and what does ALiBi add in
# head 1 at distance 10?

# %%
alibi = pl.encodings.alibi(symmetric=True).matrix(16)
pl.plot_matrices({f"alibi, head {h}": alibi[h - 1] for h in (1, 3, 8)});

# %% [markdown]
# <details><summary>What came out</summary>
#
# In head 1 it is -5, a factor of $e^{-5} = 0.007$ on the weight. Head 8 adds hardly anything and sees everything.
#
# </details>
#
# Other terms bend the line. KERPLE (Chi et al. 2022) takes a logarithm, Sandwich (Chi et al. 2023) a sum of cosines,
# and T5 (Raffel et al. 2020) learns a number for each *bucket* of distances: near distances have a bucket each, far
# ones share. Before training these are small random numbers. **Predict.** Where will the stripes of T5 be widest?

# %%
names = ["alibi:symmetric", "kerple", "sandwich", "t5"]
pl.plot_matrices({n: pl.encodings[n].matrix(32)[2] for n in names}, one_scale=False);

# %% [markdown]
# <details><summary>What came out</summary>
#
# The widest stripes of T5 are far from the diagonal, where a bucket holds many distances.
#
# </details>
#
# ## Door 4: weights of their own
#
# The last family does not use a softmax of logits. Stick-breaking (Tan et al. 2025) and geometric attention (Csordás et
# al. 2022, section 3) walk away from the query, and each key takes a share of what the nearer keys left. If $z$ is its
# logit, the share is $1/(1 + e^{-z})$. Neither looks at the query's own slot. Geometric attention looks at both sides,
# in turn to the right and to the left.
#
# There is no logit to draw, so we look at the weights. The values are one-hot: value $j$ is 1 in channel $j$ only. Then
# output $i$ *is* the row of weights $a_{i\cdot}$. All queries and keys are 0, so that the share of every key is 1/2.
#
# **Predict.** How much of the attention does the nearest key get, and the next one?

# %%
def weights(name, causal):
    layer = pl.encodings[name].build(heads=1, d_model=8, causal=causal)
    same, one_hot = np.zeros((1, 5, 1, 8)), np.eye(5, 8).reshape(1, 5, 1, 8)      # 5 slots, 8 channels
    return layer.attend(same, same, one_hot).numpy()[0, :, 0, :5]


pl.plot_matrices({"none: softmax": weights("none", False), "stick_breaking, causal": weights("stick_breaking", True),
                  "geometric": weights("geometric", False)});

# %% [markdown]
# <details><summary>What came out</summary>
#
# One half, one quarter, one eighth: near keys win although no position was read at all. Only the *order* counts. In
# stick-breaking the rest that no key takes is lost; geometric attention divides by the sum of the shares, so one half
# becomes 0.53.
#
# </details>
#
# ## All families at a glance
#
# Three schemes of each family, as they are before training (head 3, 24 slots). Colours differ from picture to picture:
# look at shapes. Most are stripes along the diagonal. **Predict** before you look closely: which of the schemes that
# you know by now will have no such stripes? (`poslab list encodings` has the other schemes.)

# %%
families = {
    "nothing or\nembedding": ["none", "sincos", "learned"],
    "content meets\ndistance": ["relative", "shaw", "deberta"],
    "bias by\ndistance": ["alibi", "t5", "fire"],
    "rotations": ["rope", "yarn:factor=8", "xpos"],
    "windows\nand pieces": ["rerope:window=6", "window:window=6", "sinks:window=6"],
    "phases": ["pope", "path", "hope_hyp"],
    "changed logits\nand weights": ["cope", "forgetting", "stick_breaking"],
}
causal_only = {"xpos", "sinks", "path", "cope", "stick_breaking"}
figure, axes = plt.subplots(len(families), 3, figsize=(6.2, 13.5), layout="constrained")
for row, (family, names) in zip(axes, families.items()):
    row[0].set_ylabel(family)
    for ax, name in zip(row, names):
        matrix = pl.encodings[name].matrix(24, causal=name.split(":")[0] in causal_only)
        ax.imshow(matrix[min(2, len(matrix) - 1)])
        ax.set(title=name, xticks=[], yticks=[])
figure.supxlabel("key slot"), figure.supylabel("query slot");

# %% [markdown]
# <details><summary>What came out</summary>
#
# Stripes along the diagonal are distances, and nearly every family has them. The exceptions: `learned` knows slots one
# by one, `sinks` sees the first keys from everywhere, and in `path` the first keys differ, because the tokens between
# key and query act on the logit. `none` is flat. So is `cope`, which counts by what the tokens *say*, and has learned
# nothing yet. `poslab` has many more schemes, and each knows its formula and its source:
#
# </details>

# %%
print(len(pl.encodings), "encodings\n")
print(pl.encodings.kerple.__doc__)

# %% [markdown]
# ## Exercise 1: a window that fits
#
# A model was trained on 10 slots and has to read 32. Leaky ReRoPE (Su 2023) also counts beyond its window, but more
# slowly: a key $d > w$ slots back is at the distance $w + (d - w)/k$. Choose whole numbers `window` $w$ and `leaky` $k$
# such that no distance is above 9, and the distances of keys up to 6 slots back do not change.

# %%
def my_window():
    return ...                       # pl.encodings.rerope(window=..., leaky=...)

# %%
@check(my_window)
def _(my_window):
    mine = my_window()
    back = -mine.positions(32, causal=True)[0]
    assert np.nanmax(back) <= 9, f"{mine} goes up to {np.nanmax(back):.1f}; take a smaller window, or a larger leaky"
    near = back[6:, :][range(26), range(26)]
    assert np.allclose(near, 6), f"{mine} turns distance 6 into {near[0]:.2f}; the window must reach that far"
    far = back[31, :3]
    assert far[0] > far[2], f"{mine} does not tell far keys apart: leaky must be a number above 0"

# %% [markdown]
# <details><summary>Solution</summary>
#
# The largest distance is 31: $w + (31 - w)/k \le 9$. With $w = 6$ that requires $k \ge 25/3$.
#
# ```python
# def my_window():
#     return pl.encodings.rerope(window=6, leaky=9)
# ```
# </details>

# %% [markdown]
# ## Which positions: samplers
#
# So far slot $j$ was at position $j$. A **sampler** may choose others, and any scheme can read them. Ruoss et al.
# (2023) draw them at random from a pool that is much larger than any string, and sort them (section 3).
#
# **Predict.** ALiBi's matrix was Toeplitz with positions 0, 1, 2, .... Is it still, with random positions?

# %%
print("randomized draws", pl.samplers.randomized(max_position=64).draw(8)[0].astype(int))
alibi = pl.encodings.alibi(symmetric=True, mode="differences")           # reads positions, not slots
pl.plot_matrices({s: alibi.matrix(6, positions=s)[0]
                  for s in ("sequential", "evenly_spread:max_position=64", "randomized:max_position=64")});

# %% [markdown]
# <details><summary>What came out</summary>
#
# The gap between neighbours differs from place to place, so equal distances of slots are no longer equal distances of
# positions. Why one would want that is the subject of notebooks 05 and 06.
#
# </details>
#
# ## Exercise 2: is it Toeplitz?
#
# Write a function that says whether a matrix is constant along its diagonals, up to 1e-4. The check also tries it on
# three encodings.

# %%
def is_toeplitz(matrix):
    return ...

# %%
@check(is_toeplitz)
def _(is_toeplitz):
    distance = np.arange(6)[None, :] - np.arange(6)[:, None]
    assert is_toeplitz(distance), "j - i depends on j - i only; compare matrix[1:, 1:] with matrix[:-1, :-1]"
    assert not is_toeplitz(np.add.outer(np.arange(6), np.arange(6))), "i + j is not constant along its diagonals"
    changed = distance.copy()
    changed[5, 1] = 0
    assert not is_toeplitz(changed), "a single number may differ; look along all diagonals"
    assert is_toeplitz(pl.encodings.rope.matrix(16)[0]), "RoPE with sequential positions is Toeplitz, up to rounding"
    assert not is_toeplitz(pl.encodings.learned.matrix(16)[0]), "a learned table is not"
    assert not is_toeplitz(pl.encodings.rope.matrix(16, positions="randomized")[0]), "nor is RoPE at random positions"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def is_toeplitz(matrix):
#     return bool(np.allclose(matrix[1:, 1:], matrix[:-1, :-1], atol=1e-4))
# ```
#
# `pl.check` tests this law, and eleven others, for any encoding: notebook 09.
# </details>

# %% [markdown]
# ## Where to read on
#
# - `poslab explain NAME`: formula and source of any scheme; the site (`./dev docs`) has all, with pictures.
# - [docs/pictures.md](../docs/pictures.md): the same pictures on the terminal, with `poslab show`.
# - Write them yourself, in C++: [sine and cosine, and learned positions](../docs/course/09_absolute.md),
#   [RoPE](../docs/course/10_rope.md), [ALiBi and relative keys](../docs/course/11_relative.md).
# - Next: [05 why length generalization fails](05_lengths.ipynb).
