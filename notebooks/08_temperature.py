# %% [markdown]
# # 08 Dispersed attention, and temperature
#
# Suppose that every distance of a long text is known. Something still changes: more keys share one unit of attention.
# After this notebook you know
#
# - how fast the weight of the right key falls with the number of keys, and why $\ln n$ is the measure;
# - what a temperature policy does, and how to find a temperature by measuring (*alignment*);
# - on a language model, when sharper attention helps and when it does harm.
#
# You need notebook 07.

# %%
import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check
from language import TRAINED, Model

plt.style.use("course.mplstyle")

# %% [markdown]
# ## One needle
#
# One key is the right one. Its logit is larger by $g$ than those of the $n - 1$ others. Its weight is
#
# $$a = \frac{e^g}{e^g + (n - 1)} = \frac{1}{1 + (n - 1)\,e^{-g}}$$
#
# **Predict.** With $g = 5$ the weight among 32 keys is 0.83. What is it among 256, and among 4096? How large would $g$
# have to be for 0.83 among 4096?

# %%
n = 2 ** np.arange(1, 15)
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for g in (3, 5, 8):
    ax.plot(n, 1 / (1 + (n - 1) * np.exp(-g)), label=f"g = {g}")
ax.plot(n, 1 / (1 + (n - 1) * np.exp(-5 * np.log(n) / np.log(32))), "k-", linewidth=2.5, label="g = 5 ln n / ln 32")
ax.set(xscale="log", xlabel="keys n", ylabel="weight of the right key", ylim=(0, 1.02), title="A needle among n keys")
ax.axvline(32, linestyle=":", color="#888")
ax.legend(fontsize="small");

# %% [markdown]
# <details><summary>What came out</summary>
#
# 0.37 among 256 keys and 0.035 among 4096, where $g = 9.9$ would be needed. The weight is one half if $g = \ln(n - 1)$,
# so a logit that stays the same loses as soon as there are enough keys: attention is *dispersed*.
#
# </details>
#
# If all logits are multiplied by
#
# $$\lambda_n = \frac{\ln n}{\ln n_0}$$
#
# the needle is still found (thick curve). $n_0$, here 32, is the number of keys in training (Su 2021; Chiang and Cholak
# 2022, section 5.3). A factor on the logits is one over a *temperature*.
#
# ## Random logits
#
# Without a needle, logits are rather like random numbers. `pl.attention_statistics` returns, for each row of weights,
# the largest weight and the *entropy* $-\sum_j a_j \ln a_j$ in nats. $e^{\text{entropy}}$ is the number of keys that
# share the attention.
#
# **Predict.** Queries and keys of 16 normal channels. Is the number of keys that share the attention constant, or does
# it grow like $\ln n$, or like $n$?

# %%
def statistics(keys, factor=1.0, heads=4, queries=64):
    """Mean over random queries: the largest weight, and the entropy in nats."""
    rng = np.random.default_rng(1)
    q, k = (rng.normal(size=(1, length, heads, 16)) for length in (queries, keys))
    found = pl.attention_statistics(pl.Scores([pl.Piece(q, k)], factor / 4)).numpy()
    return found[..., 0].mean(), found[..., 1].mean()


keys = [64, 128, 256, 512, 1024, 2048]
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.2), layout="constrained")
for name, factor in {"as it is": lambda n: 1, "times ln n / ln 64": lambda n: np.log(n) / np.log(64)}.items():
    largest, entropy = zip(*(statistics(n, factor(n)) for n in keys))
    axes[0].loglog(keys, largest, marker="o", label=name)
    axes[1].loglog(keys, np.exp(entropy), marker="o", label=name)
axes[0].set(ylabel="largest weight, mean", title="Attention to the most liked key", yticks=[0.01, 0.03, 0.1],
            yticklabels=[0.01, 0.03, 0.1])
axes[1].set(ylabel="exp(entropy)", title="Keys that share the attention", yticks=keys, yticklabels=keys)
for ax in axes:
    ax.set(xlabel="keys n", xticks=keys, xticklabels=keys)
    ax.minorticks_off()
axes[1].legend(fontsize="small");

# %% [markdown]
# <details><summary>What came out</summary>
#
# It grows like $n$: with twice the keys, twice as many share. For normal logits with variance 1 the entropy comes to
# $\ln n - 1/2$: $e^{-1/2}$ or 61 % of all keys take part, however many there are. $\ln n$ slows that down, but does not
# stop it here. It is a rule for one needle, not for every distribution of logits.
#
# </details>
#
# ## Policies
#
# poslab has several rules for the factor. `log_n` is $\ln n / \ln 32$ for a query that sees $n$ keys. With
# `only_longer` this is at least 1. `llama4` takes a step up at every 32nd key. `yarn` is one number for all queries,
# chosen for texts of 8 times the trained length. **Predict.** A text of the trained length has queries that see 1 to 32
# keys. Which of the four rules change none of these queries?

# %%
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name in ("log_n:length=32", "log_n:length=32,only_longer", "llama4:length=32", "yarn:scale=8"):
    ax.plot(np.arange(1, 257), pl.temperatures[name].factor(256).numpy().ravel(), label=name)
ax.axvline(32, linestyle=":", color="#888")
ax.set(xlabel="keys that a query sees", ylabel="factor on its logits", title="Temperature policies", ylim=0)
ax.legend(fontsize="small");

# %% [markdown]
# <details><summary>What came out</summary>
#
# `only_longer` changes none, and `llama4` only one: its first step is at the 32nd key. So a model that was trained
# without a temperature then reads its trained length as before. `log_n` alone is 1 at 32 keys but flattens the
# attention of earlier queries. It suits models that were trained with it. YaRN's factor (Peng et al. 2024, equation 22)
# changes all queries.
#
# </details>
#
# ## On the language model
#
# The model of notebook 07: trained with RoPE on 32 tokens, tested with up to 256. ReRoPE knows all distances, and fell
# at 256 tokens. Was that dispersion? If so, `log_n` should help.
#
# **Predict.** Four curves: RoPE and ReRoPE, each with and without `log_n:length=32,only_longer`. Which one is helped,
# and which one is not?

# %%
model = Model()
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
for encoding, colour, marker in (("rope", "#0072B2", "o"), ("rerope:window=16", "#D55E00", "s")):
    for temperature, style in (("none", "-"), ("log_n:length=32,only_longer", "--")):
        rows = model.test(encoding, temperature)
        lengths = [int(row["length"]) for row in rows]
        label = encoding + (", log n" if temperature != "none" else "")
        line = dict(linestyle=style, marker=marker, color=colour, label=label)
        axes[0].plot(lengths, [100 * row["accuracy"] for row in rows], **line)
        axes[1].plot(lengths, [row["loss"] for row in rows], **line)
axes[0].set(ylabel="next tokens right, %", title="Accuracy")
axes[1].set(ylabel="loss, nats a token", title="Loss")
for ax in axes:
    ax.set(xscale="log", xticks=lengths, xticklabels=lengths, xlabel="tokens of the text")
    ax.axvline(TRAINED, linestyle=":", color="#888")
    ax.minorticks_off()
axes[0].legend(fontsize="small");

# %% [markdown]
# <details><summary>What came out</summary>
#
# It helps ReRoPE a little, and *harms* RoPE. Sharper attention means more trust in the logits. With ReRoPE they deserve
# it. With RoPE, whose angles are unknown beyond 32 tokens, mistakes are trusted more, too. So temperature comes second:
# first make distances known, then take care of the number of keys. And it is only a part of the answer: ReRoPE with
# $\ln n$ still falls at 256 tokens.
#
# </details>
#
# ## Exercise 1: how large a factor?
#
# The needle's logit is $g$ above the others. By which factor $\lambda$ must logits be multiplied so that its weight
# among $n$ keys is exactly `wanted`?

# %%
def factor_for(g, n, wanted):
    return ...

# %%
@check(factor_for)
def _(factor_for):
    for g, n, wanted in ((5, 32, 0.5), (3, 4096, 0.9), (8, 100, 0.2)):
        factor = factor_for(g, n, wanted)
        weight = 1 / (1 + (n - 1) * np.exp(-factor * g))
        assert np.isclose(weight, wanted), f"g = {g}, n = {n}: with the factor {factor:.3f} the weight is " \
                                           f"{weight:.3f}, not {wanted}"

# %% [markdown]
# <details><summary>Solution</summary>
#
# $1/w - 1 = (n - 1)\,e^{-\lambda g}$.
#
# ```python
# def factor_for(g, n, wanted):
#     return np.log((n - 1) / (1 / wanted - 1)) / g
# ```
#
# For $w = 1/2$ it is $\ln(n - 1)/g$: the logarithm again.
# </details>

# %% [markdown]
# ## Exercise 2: alignment
#
# Instead of a rule one can measure (Chi, Fan, Rudnicky 2023, algorithm 1): take the largest weight at the trained
# number of keys, and look for the temperature $\tau$ at which it is the same with more keys. They try 1, 0.95, ...,
# 0.5.
#
# Write the function. It gets the number of keys in training and at test, and returns the $\tau$ of this list (`taus`)
# whose largest weight is closest. `statistics(keys, factor)[0]` measures it, with the factor $1/\tau$.

# %%
taus = np.arange(1, 0.49, -0.05)


def aligned(trained, tested):
    return ...

# %%
@check(aligned)
def _(aligned):
    assert np.isclose(aligned(64, 64), 1), f"at the trained number of keys it is 1, not {aligned(64, 64)}"
    found = [round(float(aligned(64, tested)), 2) for tested in (128, 256, 512)]
    assert all(np.isclose(taus, tau).any() for tau in found), f"{found} are not in the list taus"
    assert found[0] > found[1] > found[2], f"temperatures should fall with the length and are {found}; the factor is " \
                                           "one over the temperature"
    goal = statistics(64)[0]
    off = [abs(statistics(256, 1 / tau)[0] - goal) for tau in taus]
    best = taus[np.argmin(off)]
    assert np.isclose(found[1], best), f"for 256 keys it is {best:.2f}, not {found[1]:.2f}"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def aligned(trained, tested):
#     goal = statistics(trained)[0]
#     return min(taus, key=lambda tau: abs(statistics(tested, 1 / tau)[0] - goal))
# ```
#
# `poslab align` does this for the attention of a trained model, layer by layer if asked.
# </details>

# %% [markdown]
# ## Where to read on
#
# - [docs/align.md](../docs/align.md): alignment of trained models, and `poslab inspect`, which shows their dispersion.
# - D. Chiang, P. Cholak, *Overcoming a Theoretical Limitation of Self-Attention*, 2022; T.-C. Chi, T.-H. Fan,
#   A. Rudnicky, *Attention Alignment and Flexible Positional Embeddings*, 2023.
# - Where the temperature enters: [step 5 of the course](../docs/course/05_attention.md) writes the weights in C++.
# - Next: [09 write your own encoding](09_own_encoding.ipynb).
