# %% [markdown]
# # 03 From softmax to attention: four tokens with a pocket calculator
#
# After this notebook you know
#
# - every number in the attention of four tokens, because you have computed it;
# - why logits are divided by $\sqrt D$, and what a causal mask does;
# - that *fused* attention gives the same result with less memory, and the trick behind it.
#
# You need notebook 01. A pocket calculator with $e^x$ is welcome.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check

plt.style.use("course.mplstyle")
rng = np.random.default_rng(0)
pl.set_threads(1)                                    # below we take the processor time of one thread

# %% [markdown]
# ## Softmax
#
# $$\text{softmax}(s)_j = \frac{e^{s_j}}{\sum_k e^{s_k}}$$
#
# turns numbers into shares: positive numbers whose sum is 1. Only *differences* count, because $e^{s+c} = e^s e^c$.
#
# **Predict.** $\ln 2 = 0.69$. Which shares do the logits $(0, 0.69, 1.39)$ get? And $(100, 100.69, 101.39)$? And
# $(0, 2.08, 4.16)$, the first row times three?

# %%
for logits in ([0, 0.69, 1.39], [100, 100.69, 101.39], [0, 2.08, 4.16]):
    print(logits, "->", pl.softmax([logits]).numpy()[0].round(3))

# %% [markdown]
# <details><summary>What came out</summary>
#
# $1 : 2 : 4$, so $1/7, 2/7, 4/7$. A shift changes nothing. Larger logits make the softmax sharper: $1 : 8 : 64$.
#
# </details>
#
# ## Four tokens
#
# Each token asks with a query $q_i$ and offers a key $k_j$ and a value $v_j$, vectors of $D$ channels. One such
# attention is a *head*; a layer has several heads side by side, each with its own queries, keys and values. Here is a
# head with $D = 2$:
#
# | token | q | k | v |
# |---|---|---|---|
# | 0 "the" | (1, 0) | (0, 0) | (0, 0) |
# | 1 "cat" | (0, 2) | (1, 0) | (1, 0) |
# | 2 "is" | (2, 0) | (0, 1) | (0, 1) |
# | 3 "black" | (2, 2) | (1, 1) | (1, 1) |
#
# Step 1: all products $q_i \cdot k_j$, divided by $\sqrt D = 1.41$.
#
# **Compute** the row of token 2, before you run the cell.

# %%
q = pl.Tensor([[1, 0], [0, 2], [2, 0], [2, 2]])
k = pl.Tensor([[0, 0], [1, 0], [0, 1], [1, 1]])
v = k                                                # in this example, values equal keys
logits = q @ k.T / 2**0.5
weights = pl.softmax(logits)
pl.plot_matrices({"logits q·k / √2": logits, "weights: softmax of each row": weights}, row="query token",
                 column="key token", one_scale=False);

# %% [markdown]
# Token 2: $(0, 2, 0, 2)/1.41 = (0, 1.41, 0, 1.41)$. With $e^{1.41} = 4.11$ the sum is $1 + 4.11 + 1 + 4.11 = 10.23$,
# and the weights are $0.098, 0.402, 0.098, 0.402$.
#
# Step 2: each token takes the mean of all values by these weights, $o_i = \sum_j a_{ij} v_j$.
#
# **Compute** $o_2$: the first channel is $0.402 + 0.402$, and the second?

# %%
(weights @ v).numpy().round(3)

# %% [markdown]
# $o_2 = (0.804, 0.5)$. That is all of attention. Everything else in a transformer makes queries, keys and values, or
# uses these outputs.
#
# **Predict.** We swap tokens 1 and 2, with their queries, keys and values. What happens to the outputs?

# %%
order = [0, 2, 1, 3]
swapped = pl.softmax(q[order] @ k[order].T / 2**0.5) @ v[order]
swapped.numpy().round(3)

# %% [markdown]
# <details><summary>What came out</summary>
#
# The same rows in the other order. Attention does not know where a token stands. Notebook 04 is about how to tell it.
#
# </details>
#
# ## Why divide by the root of D?
#
# If channels are independent with variance 1, a dot product of D of them has variance D. **Predict.** With $D = 256$
# and no division, how large is the largest of 16 weights typically: near 1/16, or near 1?

# %%
figure, ax = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
widths = [4, 16, 64, 256]
for scaled in (False, True):
    largest = []
    for width in widths:
        a, b = rng.normal(size=(1, 400, width)), rng.normal(size=(1, width, 16))
        products = pl.matmul(a, b) / (width**0.5 if scaled else 1)
        largest.append(pl.softmax(products).numpy().max(axis=2).mean())
    ax.plot(widths, largest, marker="o", label="divided by √D" if scaled else "as it is")
ax.axhline(1 / 16, linestyle=":", color="#888", label="all keys alike")
ax.set(xscale="log", xticks=widths, xticklabels=widths, xlabel="channels D", ylabel="largest of 16 weights, mean",
       ylim=(0, 1), title="Attention of random queries and keys")
ax.legend();

# %% [markdown]
# <details><summary>What came out</summary>
#
# Without the division nearly all weight falls on one key, where the softmax is flat and hardly has a gradient (Vaswani
# et al. 2017, section 3.2.1). How sharp attention should be, and how that depends on the number of keys, comes back in
# notebook 08.
#
# </details>
#
# ## A causal mask
#
# A model that writes text may not look ahead: key $j > i$ gets the logit $-\infty$ and so the weight 0.
#
# **Predict.** What is the output of token 0 then? And what are the weights of token 1? Its logits for tokens 0 and 1
# are $(0, 0)$.

# %%
ahead = np.triu(np.ones((4, 4)), 1)
causal = pl.softmax(logits + np.where(ahead, -np.inf, 0))
pl.plot_matrices({"causal weights": causal}, row="query token", column="key token");

# %% [markdown]
# <details><summary>What came out</summary>
#
# Token 0 sees only itself, so its output is its own value, (0, 0). Token 1 gives one half to token 0 and one half to
# itself.
#
# </details>
#
# ## Exercise 1: attention by hand
#
# Write causal attention for one head, with q, k and v of shape (T, D), for any D.

# %%
def attend(q, k, v):
    return ...

# %%
@check(attend)
def _(attend):
    q, k, v = (pl.Tensor(rng.normal(size=(5, 9))) for _ in range(3))
    found = attend(q, k, v)
    right = pl.attention(pl.Scores([pl.Piece(*(t.reshape(1, 5, 1, 9) for t in (q, k)))], 1 / 3),
                         v.reshape(1, 5, 1, 9), pl.Span(causal=True)).reshape(5, 9).numpy()
    assert found.shape == (5, 9), f"the shape is {found.shape} and should be (5, 9)"
    found = np.asarray(found)
    assert np.isfinite(found).all(), "the result is not finite; mask with np.where, as 0 * infinity is NaN"
    assert np.allclose(found[0], np.asarray(v)[0], atol=1e-5), "query 0 sees key 0 only, so its output is v[0]"
    assert np.allclose(found, right, atol=1e-5), f"row 1 is {found[1].round(2)} and should be {right[1].round(2)}; " \
                                                 "is it divided by the root of 9?"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def attend(q, k, v):
#     length, width = q.shape
#     ahead = np.triu(np.ones((length, length)), 1)
#     return pl.softmax(q @ k.T / width**0.5 + np.where(ahead, -np.inf, 0)) @ v
# ```
# </details>

# %% [markdown]
# ## Composed and fused
#
# What you wrote is the *composed* form: a product, a softmax, a product. It stores all $T^2$ logits and weights, and
# the tape keeps them for the backward pass. The *fused* op `pl.attention` gives the same numbers. `pl.Scores` tells it
# what the logits are: here one product of queries and keys, and a scale.
#
# **Predict.** How much memory do the weights of 8 heads take at 4096 tokens, in float32?

# %%
print(f"{8 * 4096**2 * 4 / 2**20:.0f} MiB, for one layer and one sequence")


def composed(q, k, v):                               # (B, T, H, D)
    q, k, v = (pl.permute(t, [0, 2, 1, 3]) for t in (q, k, v))
    return pl.permute(pl.softmax(q @ pl.transpose(k) / q.shape[3]**0.5) @ v, [0, 2, 1, 3])


def fused(q, k, v):
    return pl.attention(pl.Scores([pl.Piece(q, k)], q.shape[3]**-0.5), v)


q, k, v = (pl.Tensor(rng.normal(size=(1, 64, 8, 16)), requires_grad=True) for _ in range(3))
gradients = []
for form in (composed, fused):
    y = form(q, k, v)
    pl.sum_all(y * y).backward()
    gradients.append(q.grad.numpy())
    for t in (q, k, v):
        t.clear_grad()
print("largest difference of the results  ", abs(composed(q, k, v) - fused(q, k, v)).numpy().max())
print("largest difference of the gradients", abs(gradients[0] - gradients[1]).max())
pl.clear_tape()                                      # drops ops recorded after the last backward()

# %% [markdown]
# The same up to rounding. **Predict.** Which is faster, and does the difference grow with the length?

# %%
def milliseconds(work, times=3):
    def once():
        began = time.process_time()
        work()
        return 1e3 * (time.process_time() - began)
    return min(once() for _ in range(times))


lengths = [128, 256, 512, 1024, 2048]
taken = {composed: [], fused: []}
for length in lengths:
    q, k, v = (pl.Tensor(rng.normal(size=(1, length, 8, 16))) for _ in range(3))
    for form in taken:
        taken[form].append(milliseconds(lambda: form(q, k, v)))
figure, ax = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
for form, times in taken.items():
    ax.loglog(lengths, times, marker="o", label=form.__name__)
ax.set(xticks=lengths, xticklabels=lengths, xlabel="tokens", ylabel="processor time, milliseconds",
       title="Attention forward, 8 heads of 16 channels, one thread")
ax.minorticks_off()
ax.legend();

# %% [markdown]
# <details><summary>What came out</summary>
#
# The fused form is faster at all lengths. Both grow with $T^2$, since the arithmetic is the same. But the composed form
# sends every logit to memory and back, several times, and the fused one keeps a block of them in the cache. Memory is
# slower than arithmetic: notebook 10.
#
# </details>
#
# ## The trick: a softmax in steps
#
# How can one compute a softmax over a row that is never in memory as a whole? Keep three things: the largest logit so
# far $m$, the sum $z = \sum e^{s_j - m}$, and the output so far $o = \sum e^{s_j - m} v_j$. When a larger logit comes,
# scale down what was there (Milakov and Gimelshein 2018; Rabe and Staats 2021; Dao et al. 2022, FlashAttention):
#
# $$m' = \max(m, s) \qquad z' = e^{m - m'} z + e^{s - m'} \qquad o' = e^{m - m'} o + e^{s - m'} v$$
#
# At the end the output is $o / z$.
#
# ## Exercise 2: one step of this softmax
#
# Write the update for one more key with the logit s and the value v. The check gives your function keys one by one,
# with logits up to 1000.

# %%
def one_more(m, z, o, s, v):
    return ...                       # m, z, o after this key

# %%
@check(one_more)
def _(one_more):
    for largest in (3, 1000):
        s, v = rng.uniform(-largest, largest, 20), rng.normal(size=20)
        s[7] = largest
        m, z, o = -np.inf, 0.0, 0.0
        for one in zip(s, v):
            m, z, o = one_more(m, z, o, *one)
        weights = np.exp(s - s.max()) / np.exp(s - s.max()).sum()
        assert m == s.max(), f"m is {m:.3g} after all keys, and the largest logit is {s.max():.3g}"
        assert np.isfinite(o / z), f"the result is {o / z} with logits up to {largest}; no exponent may be above 0"
        assert np.isclose(o / z, weights @ v), f"o / z is {o / z:.4f} and should be {weights @ v:.4f}; are the old z " \
                                               "and o scaled by exp(m - m')?"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def one_more(m, z, o, s, v):
#     most = max(m, s)
#     old, new = np.exp(m - most), np.exp(s - most)
#     return most, old * z + new, old * o + new * v
# ```
# </details>

# %% [markdown]
# ## Where to read on
#
# - [docs/attention.md](../docs/attention.md): how the kernel becomes fast, one idea at a time.
# - [`core/cpu/attention/naive.h`](../core/cpu/attention/naive.h): the fused form as plain loops.
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.
# - Write it yourself, in C++: [softmax](../docs/course/03_softmax.md), [attention](../docs/course/05_attention.md) and
#   [its gradient](../docs/course/06_attention_backward.md).
# - Next: [04 the four doors](04_four_doors.ipynb), where positions come in.
