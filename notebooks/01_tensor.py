# %% [markdown]
# # 01 A tensor and its memory
#
# After this notebook you know
#
# - what a tensor is: a shape, and one row of numbers in memory;
# - which operations copy these numbers, and which only read the same numbers in another way;
# - how two shapes are broadcast to one, and what float32 cannot hold.
#
# All later notebooks build on this one. You need Python and a little NumPy. Each question asks you for a
# **prediction**. Write it down before you run the cell below it: being wrong is how this notebook teaches.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check

plt.style.use("course.mplstyle")

# %% [markdown]
# ## A shape and a row of numbers
#
# Memory has no rows and columns. It has addresses, one after the other. A tensor of shape (3, 4) is twelve float32
# numbers of 4 bytes side by side, and the rule that turns an index into a place. In poslab the last index always runs
# fastest (*row-major*):
#
# $$\text{place}(i, j) = i \cdot 4 + j$$
#
# **Predict.** In `x` below, which number comes right after the 4 in memory? The 5 is below the 1: how many bytes after
# the 1 does it begin?

# %%
x = pl.Tensor([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
x.shape, x.numpy().ravel().tolist(), x.numpy().strides

# %% [markdown]
# <details><summary>What came out</summary>
#
# The 5 comes after the 4. NumPy's *strides* say how many bytes a step along each axis takes: 16 to the next row, 4 to
# the next column. So 1 and 5 are 16 bytes apart. Below, the left picture has the places of `x`, and the right one the
# places that the transposed matrix would have if the numbers stayed where they are.
#
# </details>

# %%
places = np.arange(12).reshape(3, 4)
pl.plot_matrices({"place of x[i, j]": places, "place of x.T[i, j], without a copy": places.T},
                 row="row i", column="column j");

# %% [markdown]
# On the right, the numbers of a row are no longer side by side. NumPy and PyTorch allow this, and every function must
# then cope with any strides. poslab does not: **its tensors are always dense and row-major**, so a kernel is a simple
# loop over a row of numbers. The price is that a transposition copies.
#
# ## Who shares memory with whom?
#
# `address` returns the address of a tensor's first number in memory. Two tensors with the same address are two views of
# the same numbers.
#
# **Predict.** Which of these five have the address of `x`?
# `x.numpy()`, `x.reshape(4, 3)`, `x.T`, `x.detach()`, `pl.Tensor(x)`
# (`detach()` gives the same numbers without their part in gradients, which are the subject of notebook 02.)

# %%
def address(t):
    return np.asarray(t).__array_interface__["data"][0]


for name, t in {"x.numpy()": x.numpy(), "x.reshape(4, 3)": x.reshape(4, 3), "x.T": x.T, "x.detach()": x.detach(),
                "pl.Tensor(x)": pl.Tensor(x)}.items():
    print(f"{name:16}", "the same memory" if address(t) == address(x) else "a copy")

# %% [markdown]
# <details><summary>What came out</summary>
#
# A new shape for the same row of numbers costs nothing. A new *order* of the numbers needs a copy. `pl.Tensor` always
# copies, so that what you do to your own data later does not change a tensor.
#
# </details>
#
# Sometimes a tensor should follow your data. `pl.from_numpy` puts a tensor around an existing array, without a copy.
#
# **Predict.** What is `shared[0, 1]` at the end, and what is `copied[0, 1]`?

# %%
a = np.zeros((2, 3), "float32")
shared, copied = pl.from_numpy(a), pl.Tensor(a)
a[0, 1] = 5
shared[0, 1].item(), copied[0, 1].item()

# %% [markdown]
# Not every array can be shared. The errors say why, and what to do.

# %%
for wrong in (np.zeros(3), np.zeros((2, 3), "float32").T):
    try:
        pl.from_numpy(wrong)
    except ValueError as error:
        print(error)

# %% [markdown]
# ## What a copy costs
#
# **Predict.** `big` has 16 million numbers, 64 MB. How much longer does `big.T` take than `big.reshape(...)`: about
# twice as long, a hundred times, or more than a thousand times?

# %%
def seconds(work, times=5):
    def once():
        began = time.perf_counter()
        work()
        return time.perf_counter() - began
    return min(once() for _ in range(times))


big = pl.full([4000, 4000], 1)
print(f"reshape {seconds(lambda: big.reshape(2000, 8000)) * 1e6:12.1f} microseconds")
print(f"T       {seconds(lambda: big.T) * 1e6:12.1f} microseconds")

# %% [markdown]
# <details><summary>What came out</summary>
#
# A hundred thousand times or more. Your numbers will differ, but reshape never moves anything. Another way to save
# time is never to write intermediate results to memory. That is what *fused* kernels do, in notebook 03.
#
# </details>
#
# ## Broadcasting
#
# Shapes are lined up from the right. Where one of them is 1, that tensor is repeated; otherwise the sizes must agree.
#
# **Predict.** What is the shape of the sum of a (3, 1) and a (1, 4)? Which number is in its lower right corner?

# %%
column, row = pl.Tensor([[0], [10], [20]]), pl.Tensor([[0, 1, 2, 3]])
total = column + row
pl.plot_matrices({"(3, 1)": column, "(1, 4)": row, f"sum {total.shape}": total}, row="row", column="column");

# %% [markdown]
# One subtraction of this kind makes the central matrix of this course. The tokens of a text stand in *slots*, counted
# from 0. In attention (notebook 03) each token looks at all tokens: the token that looks is the *query*, a token that
# it looks at is a *key*. How far is each key from each query?
#
# ## Exercise 1: all distances at once
#
# Write a function that returns a (T, T) tensor whose element (i, j) is $j - i$. Use broadcasting, no loop. Row i is the
# query's slot, and column j the key's.

# %%
def distances(length):
    slots = pl.Tensor(np.arange(length))
    return ...

# %%
@check(distances)
def _(distances):
    d = distances(5)
    assert d.shape == (5, 5), f"the shape is {d.shape} and should be (5, 5); reshape slots to (T, 1) and to (1, T)"
    assert d[1, 3].item() == 2, f"element (1, 3) is {d[1, 3].item():g} and should be 3 - 1 = 2: key minus query"
    assert d[4, 0].item() == -4, f"element (4, 0) is {d[4, 0].item():g} and should be -4"
    assert distances(8).shape == (8, 8), f"distances(8) has the shape {distances(8).shape} and should have (8, 8)"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def distances(length):
#     slots = pl.Tensor(np.arange(length))
#     return slots.reshape(1, length) - slots.reshape(length, 1)
# ```
# </details>

# %% [markdown]
# ## What float32 cannot hold
#
# A float32 has a sign, 24 binary digits (the first is always 1 and is not stored) and 8 bits that say where the point
# is. That is about seven decimal digits, wherever the point is.
#
# **Predict.** Which number does the first line give? Is the second one 0.3?

# %%
print((pl.Tensor([2.0**24]) + 1 - 2.0**24).item())
print((pl.Tensor([0.1]) + 0.2).item())

# %% [markdown]
# <details><summary>What came out</summary>
#
# $2^{24} + 1$ has no float32, so the 1 is lost, and the nearest float32 to 0.3 is a little above it. Positions are
# numbers as well: RoPE (notebook 07) turns vectors by angles that grow with the position, and an angle of a million
# radians is known only to a sixteenth of a radian. Sums of many numbers suffer in the same way, which is why tests of
# gradients use double precision.
#
# </details>
#
# ## Exercise 2: places in memory
#
# Attention works on tensors of shape (B, T, H, D): batch, time, heads, channels of a head. (Notebook 03 says what heads
# are; here they are an axis like the others.) Write the place of element (b, t, h, d) in the row of numbers, counted
# from 0.

# %%
def place(b, t, h, d, shape):
    B, T, H, D = shape
    return ...

# %%
@check(place)
def _(place):
    shape = (2, 5, 3, 4)
    numbered = np.arange(2 * 5 * 3 * 4).reshape(shape)
    assert place(0, 0, 0, 3, shape) == 3, "one step along the last axis is one place"
    assert place(0, 0, 1, 0, shape) == 4, "one step along h passes over D places"
    for index in [(0, 1, 0, 0), (1, 0, 0, 0), (1, 4, 2, 3)]:
        assert place(*index, shape) == numbered[index], \
            f"(b, t, h, d) = {index} is at place {numbered[index]}, not {place(*index, shape)}"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def place(b, t, h, d, shape):
#     B, T, H, D = shape
#     return ((b * T + t) * H + h) * D + d
# ```
#
# The channels of one head at one time are side by side. The same head one step later is H D places further on. That is
# why the fast attention kernels first copy the keys of a head one after another.
# </details>

# %% [markdown]
# ## Where to read on
#
# - [`core/tensor.h`](../core/tensor.h): the tensor itself, and [docs/python.md](../docs/python.md), what Python sees.
# - C. R. Harris et al., *Array programming with NumPy*, Nature 585 (2020): strides, views and broadcasting in general.
# - Write it yourself, in C++: [step 1 of the course](../docs/course/01_shapes.md), shapes and broadcasting.
# - Next: [02 backward](02_backward.ipynb), the tape.
