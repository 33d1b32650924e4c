# %% [markdown]
# # 07 RoPE's frequencies, and four ways to longer texts
#
# Most language models use RoPE and are trained on texts of one length. After this notebook you know
#
# - what the frequencies of RoPE are, and which of them make a full turn in training;
# - what position interpolation (PI), NTK-aware scaling and ReRoPE change, in one picture each;
# - how well a small language model, trained with RoPE, reads 8 times its trained length with each of them.
#
# You need notebooks 04 and 05. The program `poslab` trains and tests the model; `./dev build` makes the program.

# %%
import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check
from language import HEADS, TRAINED, WIDTH, Model   # 4 heads, 32 tokens, width 64: 16 channels a head, 8 pairs

plt.style.use("course.mplstyle")

# %% [markdown]
# ## Eight clock hands
#
# RoPE (Su et al. 2021, section 3.2.2) takes the $D$ channels of a head in pairs. Pair $m$ is turned by the angle
# $p \cdot f_m$, with the *frequency* $f_m = 10000^{-2m/D}$ in radians a position. A full turn takes
# $\lambda_m = 2\pi / f_m$ positions, the *wavelength*. The product of a query and a key is then
#
# $$\sum_m |q_m|\,|k_m| \cos\big(\phi_m + (p_j - p_i) f_m\big)$$
#
# where $\phi_m$ comes from the contents. So every pair is a hand of a clock, which shows the distance.
#
# **Predict.** With $D = 16$ there are 8 hands. The first takes $2\pi = 6.3$ positions for a turn. How many of the eight
# make a full turn within 32 positions?

# %%
f = 10000.0 ** (-np.arange(0, 16, 2) / 16)
distance = np.arange(0, 257)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.2), layout="constrained")
for m in (0, 1, 2, 3):
    axes[0].plot(distance[:129], np.cos(distance[:129] * f[m]), label=f"m = {m}: λ = {2 * np.pi / f[m]:.0f}")
axes[0].axvspan(0, TRAINED, color="#ddd", label="seen in training")
axes[0].set(xlabel="distance", ylabel="cos(distance · f)", title="Four of the eight hands", ylim=(-2.1, 1.1),
            yticks=[-1, 0, 1])
axes[0].legend(fontsize="small", ncols=2, loc="lower center")
pl.encodings.rope.plot("frequencies", heads=HEADS, d_model=WIDTH, train_length=TRAINED, axes=axes[1])
axes[1].set(title="Positions for a full turn", xlabel="pair m", xticks=range(1, 9), xticklabels=range(8));

# %% [markdown]
# <details><summary>What came out</summary>
#
# Two: in the right picture only $m = 0$ and $m = 1$ are below the trained length. In training the other six cover only
# a part of their circle, the slowest a six-hundredth of it. A text of 256 tokens turns them to angles that training has
# not seen. That is what "RoPE does not extrapolate" means.
#
# </details>
#
# ## Three repairs
#
# A trained model has to read texts $s$ times as long, without further training.
#
# - **PI** (Chen et al. 2023): all positions are divided by $s$. All angles are then known, but neighbours are only
#   $1/s$ apart, which training has not seen either.
# - **NTK-aware** (bloc97 2023): a larger base than 10000, such that the slowest pair is slowed by $s$. The fastest
#   is not slowed at all. Exercise 1 asks for the base.
# - **ReRoPE** (Su 2023): frequencies stay, and distances are capped at a window: $\min(d, w)$.
#
# **Predict.** In the picture of the wavelengths, PI moves the whole line up. What does NTK-aware do to it? And ReRoPE?

# %%
stretched = ["pi:factor=8", "ntk:factor=8", "ntk_by_parts:factor=8,length=32"]
ax = pl.encodings.rope.plot("frequencies", beside=stretched, heads=HEADS, d_model=WIDTH, train_length=TRAINED)
ax.set(title="Positions for a full turn, factor 8", xlabel="pair m", xticks=range(1, 9), xticklabels=range(8));

# %% [markdown]
# <details><summary>What came out</summary>
#
# NTK-aware turns the line around its left end. *By parts*, as released before YaRN, has NTK-aware's frequencies for the
# two pairs that make a full turn in training, and slows the others down as PI does. (YaRN itself, Peng et al. 2024,
# section 3.2, keeps only pairs that make 32 turns.) ReRoPE has RoPE's line: it changes distances and not frequencies.
#
# </details>
#
# The logits tell the same story. With equal contents, the logit of a query and a key that are $d$ apart is the mean of
# all cosines. **Predict.** Which of the curves have the same shape as RoPE's for the first few distances, where a
# language model looks most?

# %%
names = ["pi:factor=8", "ntk:factor=8", "rerope:window=16"]
ax = pl.encodings.rope.plot("similarity", 65, beside=names, heads=HEADS, d_model=WIDTH, causal=True)
ax.axvline(-TRAINED, linestyle=":", color="#888", label="trained length")
ax.set(title="How alike positions make query and key", ylabel="mean cosine", ylim=(0.1, 1.4),
       yticks=[0.2, 0.4, 0.6, 0.8, 1])
ax.legend(fontsize="small", ncols=2, loc="upper center");

# %% [markdown]
# <details><summary>What came out</summary>
#
# PI flattens everything: a neighbour looks like the token itself. NTK-aware nearly keeps the first dip. ReRoPE has the
# same curve as RoPE within its window of 16, and is flat beyond.
#
# </details>
#
# ## On a language model
#
# The text is `copy_grammar`, a made-up language of `poslab lm` in which clauses are repeated, so that it pays to look
# far back. A decoder of two layers trains on windows of 32 tokens for 600 steps. Then the same weights read up to 256
# tokens with other encodings in RoPE's place.
#
# **Predict.** Order these by their accuracy at 256 tokens, 8 times the trained length: RoPE as it is, no positions at
# all, PI, NTK-aware, ReRoPE with a window of 16.

# %%
model = Model()
encodings = ["rope", "none", "pi:factor=8", "ntk:factor=8", "ntk_by_parts:factor=8,length=32", "rerope:window=16"]
results = {name: model.test(name) for name in encodings}
lengths = [int(row["length"]) for row in results["rope"]]
figure, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained", sharey=True)
for name, rows in results.items():
    axes[0].plot(lengths, [100 * row["accuracy"] for row in rows], marker="o", label=name)
    axes[1].plot(np.arange(16, 256, 32), [100 * rows[-1][f"accuracy_{n}"] for n in range(1, 9)], marker="o")
axes[0].set(xscale="log", xticks=lengths, xticklabels=lengths, xlabel="tokens of the text",
            ylabel="next tokens right, %", title="One model, six encodings at test")
axes[0].minorticks_off()
axes[1].set(xlabel="place in a text of 256 tokens", title="The same by place, 8 times the trained length")
for ax in axes:
    ax.axvline(TRAINED, linestyle=":", color="#888")
figure.legend(fontsize="small", loc="outside right center");

# %% [markdown]
# <details><summary>What came out</summary>
#
# - RoPE is good where it was trained and falls with every doubling of the length.
# - PI and NTK-aware lose already at 32 tokens, because neighbours no longer look as before. With further training they
#   recover. Without it, PI is here no better than no positions at all.
# - ReRoPE is RoPE at 32 tokens, and *gains* at 64 and 128: it makes use of the longer text.
# - At 256 tokens the model without positions, which is the second worst at 32, is best. The right picture shows where
#   the others lose: beyond a hundred tokens they fall, even ReRoPE, whose distances are all known. Something else
#   changes with the length. That is the subject of the next notebook.
#
# </details>
#
# This is one small model and one seed. [docs/results.md](../docs/results.md) has three seeds of a larger one, and says
# which of Su's claims hold there.
#
# ## Exercise 1: the base of NTK-aware RoPE
#
# Choose the new base $b'$ such that the slowest pair, $m = D/2 - 1$, turns exactly $s$ (`factor`) times as slowly as
# with the base $b$. Its frequency is $b^{-(D-2)/D}$.

# %%
def ntk_base(base, factor, D):
    return ...

# %%
@check(ntk_base)
def _(ntk_base):
    for D, factor in ((16, 8), (64, 4)):
        new = ntk_base(10000.0, factor, D)
        slower = 10000.0 ** (-(D - 2) / D) / new ** (-(D - 2) / D)
        assert np.isclose(slower, factor), f"D = {D}: the slowest pair is {slower:.3f} times slower, not {factor} times"
    view = pl.encodings["ntk:factor=8"].view("frequencies", heads=4, d_model=64)["charts"][0]["curves"][0][1]
    assert np.allclose(2 * np.pi * ntk_base(10000.0, 8, 16) ** (np.arange(8) / 8), view[:, 1], rtol=1e-3), \
        "the other pairs do not turn as those of poslab's ntk do"

# %% [markdown]
# <details><summary>Solution</summary>
#
# $b'^{-(D-2)/D} = b^{-(D-2)/D} / s$, so $b' = b \cdot s^{D/(D-2)}$.
#
# ```python
# def ntk_base(base, factor, D):
#     return base * factor ** (D / (D - 2))
# ```
# </details>

# %% [markdown]
# ## Exercise 2: RoPE by complex numbers
#
# A pair of channels (0 and 1, 2 and 3, ...) is a complex number, and turning it means multiplying it by $e^{i p f_m}$.
# Write the rotation of one vector `x` of `D` numbers at the position `p`. `x[0::2]` are the real parts and `x[1::2]`
# the imaginary ones. The check compares products of turned queries and keys with poslab's logits.

# %%
def turned(x, p):
    return ...                       # D numbers again

# %%
@check(turned)
def _(turned):
    q, k = np.random.default_rng(0).normal(size=(2, 12, 16))
    right = pl.encodings.rope.logits(q[None, :, None, :], k[None, :, None, :]).numpy()[0, 0] * 16**0.5
    assert np.shape(turned(q[0], 0)) == (16,), f"the shape is {np.shape(turned(q[0], 0))}, not (16,)"
    assert np.allclose(turned(q[0], 0), q[0]), "at position 0 nothing turns"
    for i, j in ((3, 3), (5, 2), (11, 0)):
        found = turned(q[i], i) @ turned(k[j], j)
        assert np.isclose(found, right[i, j], atol=1e-4), f"query {i}, key {j}: {found:.3f} and not {right[i, j]:.3f}"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def turned(x, p):
#     f = 10000.0 ** (-np.arange(0, len(x), 2) / len(x))
#     z = (x[0::2] + 1j * x[1::2]) * np.exp(1j * p * f)
#     return np.stack([z.real, z.imag], axis=1).ravel()
# ```
# </details>

# %% [markdown]
# ## Where to read on
#
# - J. Su et al., *RoFormer*, 2021; S. Chen et al., *Position Interpolation*, 2023; B. Peng et al., *YaRN*, 2024; J. Su,
#   *ReRoPE*, 2023.
# - [docs/language.md](../docs/language.md): language models, and LLaMA checkpoints with ReRoPE.
# - Write them yourself, in C++: [RoPE](../docs/course/10_rope.md) and [ReRoPE](../docs/course/13_windows.md).
# - Next: [08 dispersed attention](08_temperature.ipynb).
