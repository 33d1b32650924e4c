# %% [markdown]
# # 02 Backward: the tape, drawn
#
# After this notebook you know
#
# - what is recorded while you compute, and how gradients come out of it;
# - how to read the picture of a tape, before and after `backward()`;
# - how to check a gradient, and why the check has a best step size.
#
# You need notebook 01, and the chain rule.

# %%
import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check

plt.style.use("course.mplstyle")
rng = np.random.default_rng(0)

# %% [markdown]
# ## What is recorded
#
# A classifier in two lines: two inputs with three features, a matrix of weights, a softmax that makes the probabilities
# $p_{n,c}$ of class $c$ for input $n$, and the loss $L = -\sum_n \ln p_{n,\,\text{right class}}$. `right` has a 1 where
# the right class is. We ask for the gradient of `w` only.
#
# When an op has computed its result, it adds a line to the *tape*: what it read, what it made, and how gradients go
# back through it. `pl.Tape` keeps these lines for us to see.
#
# **Predict.** How many ops will there be? Is `right * ...` recorded, although `right` wants no gradient?

# %%
x = pl.Tensor([[1.0, 2.0, -1.0], [0.5, -1.0, 1.0]])
w = pl.Tensor(rng.normal(size=(3, 2)), requires_grad=True)
right = pl.Tensor([[1, 0], [0, 1]])

with pl.Tape() as tape:
    p = pl.softmax(x @ w)
    loss = -pl.sum_all(right * pl.log(p))
tape

# %% [markdown]
# <details><summary>What came out</summary>
#
# An op is recorded if *any* of its inputs wants a gradient; then its result wants one, too. (`sum` reads 4 numbers in a
# row: `sum_all` first gives its input the shape (4,), which moves nothing. The last op, the minus, multiplies by -1.)
#
# </details>
#
# Here is the tape as a picture; data flow from top to bottom. A blue box is an op, with the shape of its result. Round
# boxes are tensors from before: `w`, in yellow, wants a gradient, and the grey ones want none.

# %%
tape.plot(x=x, w=w, right=right, loss=loss);

# %% [markdown]
# ## Walking back
#
# `backward()` gives the loss the gradient 1, because $dL/dL = 1$. Then it takes the lines from the end to the
# start. Each op reads the gradient of its result and *adds* to the gradients of its inputs. No search in a graph is
# needed: when a line's turn comes, everything that read its result has had its turn already, because it was recorded
# later.
#
# **Predict.** Which boxes will have a gradient after `backward()`? Does `x` have one?

# %%
loss.backward()
tape.plot(x=x, w=w, right=right, loss=loss);

# %% [markdown]
# <details><summary>What came out</summary>
#
# All boxes on the way from `w` to the loss have one, and `x` has none. `|grad|` is its norm, the root of the sum of its
# squares.
#
# </details>
#
# Each op knows only its own formula. For the softmax $y = \text{softmax}(x)$ the formula is, with $dy$ for
# $\partial L/\partial y$:
#
# $$dx_i = y_i \Big(dy_i - \sum_k dy_k\, y_k\Big)$$
#
# Softmax does not change if the same number is added to all logits of a row. **Predict.** What does that say about the
# sum of $dx$ over a row?

# %%
_, (logits,), _ = tape.steps[1]                      # of op 2, softmax: its name, its inputs and its results
print("gradient of the logits\n", logits.grad.numpy())
print("sum of each row", logits.grad.numpy().sum(axis=1))
print("p - right\n", p.numpy() - right.numpy())

# %% [markdown]
# <details><summary>What came out</summary>
#
# Each row sums to 0 up to rounding: a shift of all logits does not change the loss. And the gradient of softmax with
# this loss is simply $p - \text{right}$. That is why engines have one fused op for both, `pl.cross_entropy`, which does
# not need the logarithm of a number that may be 0.
#
# </details>
#
# ## Gradients add up
#
# **Predict.** `x` is used twice in $x \cdot x$. What is the gradient at $x = 3$? What is it after the same two lines
# once more?

# %%
x = pl.Tensor([3.0], requires_grad=True)
for _ in range(2):
    (x * x).backward()
    print(x.grad.item())

# %% [markdown]
# <details><summary>What came out</summary>
#
# Both arrows of $x \cdot x$ bring 3, and they are added: 6. A second `backward()` adds another 6, because a tensor that
# is used in several places (or in several batches) needs the sum. Before a new step, call `x.clear_grad()`.
#
# </details>
#
# ## Is a gradient right?
#
# The definition is a check: move one number by $\pm\varepsilon$ and see how the loss changes.
#
# $$\frac{\partial L}{\partial w} \approx \frac{L(w + \varepsilon) - L(w - \varepsilon)}{2 \varepsilon}$$
#
# **Predict.** With float32, which $\varepsilon$ gives the smallest error: $1$, $10^{-2}$ or $10^{-5}$?

# %%
def loss_of(w):
    return -pl.sum_all(right * pl.log(pl.softmax([[1.0, 2.0, -1.0], [0.5, -1.0, 1.0]] @ w)))


def difference(w, eps):
    w = w.numpy().copy()
    values = []
    for sign in (1, -1):
        moved = w.copy()
        moved[0, 0] += sign * eps
        values.append(loss_of(pl.Tensor(moved)).item())
    return (values[0] - values[1]) / (2 * eps)


steps = 10.0 ** np.arange(-7, 0.5, 0.25)
errors = [abs(difference(w, eps) - w.grad[0, 0].item()) for eps in steps]
figure, ax = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
ax.loglog(steps, errors, "o-", markersize=3)
ax.set(xlabel="step ε", ylabel="|difference - gradient|", title="A gradient beside differences, in float32");

# %% [markdown]
# <details><summary>What came out</summary>
#
# To the right of the valley the curve of the loss is not straight enough, and the error grows with $\varepsilon^2$. To
# the left the two losses are nearly equal, and their difference keeps few of their seven digits: the error grows with
# $1/\varepsilon$. The best step in float32 is near $10^{-2}$, and even there only some five decimal digits agree.
# poslab's own tests compile everything once more with double precision, and there every gradient agrees to one part in
# a million.
#
# </details>
#
# ## What gradients are for
#
# Gradients say in which direction the loss grows. Steps in the opposite direction make a model learn. Here is a model
# with a hidden layer of 8. It learns *exclusive or*: 1 if exactly one of two inputs is 1. We derive no formula by hand.

# %%
inputs, targets = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
weights = [pl.Tensor(rng.normal(size=shape), requires_grad=True) for shape in ((2, 8), (8,), (8, 2))]
losses = []
for step in range(200):
    a, b, c = weights
    loss = pl.cross_entropy(pl.tanh(inputs @ a + b) @ c, targets)
    loss.backward()
    losses.append(loss.item())
    for t in weights:
        t.numpy()[...] -= 0.5 * t.grad.numpy()      # the tensor's own memory
        t.clear_grad()

with pl.no_grad():                                   # nothing is recorded here
    answers = pl.softmax(pl.tanh(inputs @ weights[0] + weights[1]) @ weights[2]).numpy()[:, 1]
print("probability of a 1:", answers.round(2), "   ops on the tape:", pl.tape_length())
figure, ax = plt.subplots(figsize=(5.6, 2.8), layout="constrained")
ax.plot(losses)
ax.set(xlabel="step", ylabel="loss, nats", title="Exclusive or", ylim=0);

# %% [markdown]
# ## Exercise 1: the backward of a sigmoid
#
# $y = 1/(1 + e^{-x})$. Given `y` and `dy`, both arrays, write `dx`. A backward formula that needs only the result, and
# not the input, is worth having: the input can be forgotten.

# %%
def sigmoid_backward(y, dy):
    return ...

# %%
@check(sigmoid_backward)
def _(sigmoid_backward):
    x = pl.Tensor([-2.0, 0.0, 1.5], requires_grad=True)
    y, dy = pl.sigmoid(x), np.array([1.0, 2.0, -3.0])
    pl.sum_all(y * dy).backward()
    dx = np.asarray(sigmoid_backward(y.numpy(), dy), dtype=float)
    assert dx.shape == (3,), f"dx has shape {dx.shape}; it should be that of y, (3,)"
    assert not np.allclose(dx, x.grad.numpy() / dy), "this is dy/dx alone; by the chain rule, multiply it by dy"
    assert np.allclose(dx, x.grad.numpy(), atol=1e-5), f"at x = -2, 0, 1.5 it is {dx}, and should be {x.grad.numpy()}"

# %% [markdown]
# <details><summary>Solution</summary>
#
# $dy/dx = e^{-x}/(1 + e^{-x})^2 = y (1 - y)$, so
#
# ```python
# def sigmoid_backward(y, dy):
#     return dy * y * (1 - y)
# ```
# </details>

# %% [markdown]
# ## Exercise 2: a function of your own
#
# Compose ops, and the gradient comes for free. Write $\text{lse}(x) = \ln \sum_i e^{x_i}$ over a row of shape (1, n).
# The check also compares its gradient, the softmax. It tries $x = (1000, 1001)$: $e^{1000}$ is infinite in float32, so
# subtract the largest number first: $\text{lse}(x) = m + \ln \sum_i e^{x_i - m}$. You can use `pl.exp`, `pl.log`,
# `pl.max(x)` and `pl.sum(x, 1)`; the last two make one number of each row: (1, 1).

# %%
def lse(x):
    return ...

# %%
@check(lse)
def _(lse):
    for row in ([0.5, -1.0, 2.0], [1000.0, 1001.0]):
        x = pl.Tensor([row], requires_grad=True)
        y = lse(x)
        expected = np.logaddexp.reduce(row)
        assert np.isfinite(y.item()), f"lse of {row} is {y.item()}; subtract the largest number before exp"
        assert np.isclose(y.item(), expected), f"lse of {row} is {y.item():.4f} and should be {expected:.4f}"
        assert isinstance(y, pl.Tensor) and y.requires_grad, "no gradient gets through; compose ops of pl, not of NumPy"
        pl.sum_all(y).backward()
        softmax = pl.softmax(x).numpy()
        assert np.allclose(x.grad.numpy(), softmax, atol=1e-5), \
            f"the gradient is {x.grad.numpy()} and not the softmax {softmax}"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def lse(x):
#     m = pl.max(x)
#     return m + pl.log(pl.sum(pl.exp(x - m), 1))
# ```
#
# The gradients through the two `m` cancel: one could also `detach()` `m`.
# </details>

# %% [markdown]
# ## Where to read on
#
# - [`autograd/tape.cpp`](../autograd/tape.cpp): the whole tape, in sixty lines.
# - [`autograd/softmax.cpp`](../autograd/softmax.cpp): an op, with its formula forward and backward.
# - A. Griewank, A. Walther, *Evaluating Derivatives*, SIAM 2008, chapter 3: the reverse mode.
# - Write it yourself, in C++: [step 2 of the course](../docs/course/02_tape.md), the tape.
# - Next: [03 from softmax to attention](03_attention.ipynb).
