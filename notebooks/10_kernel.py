# %% [markdown]
# # 10 From kernel to GPU: the same softmax three times
#
# After this notebook you know
#
# - why the same formula can be computed several hundred times faster;
# - how to draw a *roofline*, and read from it what a kernel waits for;
# - what is the same on a GPU, and what a kernel would gain there.
#
# You need notebook 01, and for the second exercise notebook 03. All times are those of the machine that runs this, on
# one thread. They are CPU times: waiting for other programs does not count.

# %%
import math
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poslab as pl
from exercise import check

plt.style.use("course.mplstyle")
pl.set_threads(1)
print(pl.about()["isa"])

# %% [markdown]
# ## Three times the same
#
# $$y_{ij} = \frac{e^{x_{ij} - m_i}}{\sum_k e^{x_{ik} - m_i}}, \qquad m_i = \max_k x_{ik}$$
#
# First as loops of Python, then as operations on whole arrays with NumPy, then as one kernel of the engine
# ([`core/cpu/softmax.cpp`](../core/cpu/softmax.cpp)).

# %%
def loops(x):
    y = []
    for row in x:
        largest = max(row)
        e = [math.exp(v - largest) for v in row]
        total = sum(e)
        y.append([v / total for v in e])
    return y


def arrays(x):
    moved = x - x.max(axis=1, keepdims=True)
    e = np.exp(moved)
    return e / e.sum(axis=1, keepdims=True)


def kernel(x):
    return pl.softmax(x)


x = np.random.default_rng(0).normal(size=(16, 32)).astype("float32")
print("largest difference", abs(np.array(loops(x)) - arrays(x)).max(), abs(arrays(x) - kernel(x).numpy()).max())

# %% [markdown]
# **Predict.** We take a matrix of 32,768 rows and 1024 columns, 128 MB. (The loops get 8 rows of it.) How many
# nanoseconds does each take for one number? A cycle of the processor is about 0.3 ns.

# %%
def best(work, times=9):
    def once():
        began = time.process_time()
        work()
        return time.process_time() - began
    return min(once() for _ in range(times))


large = np.random.default_rng(0).normal(size=(32768, 1024)).astype("float32")
tensor, few = pl.from_numpy(large), large[:8].tolist()
nanoseconds = {"loops": best(lambda: loops(few)) * 1e9 / 8192, "arrays": best(lambda: arrays(large)) * 1e9 / large.size,
               "kernel": best(lambda: kernel(tensor)) * 1e9 / large.size}
figure, ax = plt.subplots(figsize=(5.6, 2.2), layout="constrained")
bars = ax.barh(list(nanoseconds), list(nanoseconds.values()))
ax.bar_label(bars, fmt="%.2f ns", padding=3)
ax.set(xscale="log", xlabel="nanoseconds for one number", title="Softmax of 32,768 rows of 1024", xlim=(0.1, 3000))
ax.invert_yaxis();

# %% [markdown]
# <details><summary>What came out</summary>
#
# The loops lose time to Python's work for every number: boxes, types, calls. NumPy does none of that within an
# operation. Why is the kernel still faster than NumPy, although both are compiled code?
#
# </details>
#
# ## What must be moved
#
# Count how often each number goes between processor and memory, 4 bytes each time. With arrays that do not fit into the
# cache, every operation reads its input from memory and writes its result back:
#
# | operation | reads | writes |
# |---|---|---|
# | `x.max` | 1 | |
# | `x - max` | 1 | 1 |
# | `np.exp` | 1 | 1 |
# | `e.sum` | 1 | |
# | `e / sum` | 1 | 1 |
#
# That is 8 times 4 = 32 bytes for each number. The kernel does all of it for one row, which stays in the cache, and
# then goes on to the next: one read and one write, 8 bytes. The arithmetic is the same, about 15 operations a number,
# most of them for the exponential.
#
# **Predict.** If memory is what both wait for, how many times as fast is the kernel?
#
# ## The roof
#
# Two limits of the machine: how many operations it does in a second, the *peak*, and how many bytes it moves, the
# *bandwidth*. A kernel that does $I$ operations for each byte (its *arithmetic intensity*) cannot do more than
#
# $$\min(\text{peak}, \; I \cdot \text{bandwidth})$$
#
# operations a second (Williams, Waterman, Patterson 2009). We measure both limits: the peak by a product of two
# matrices, which reads every number hundreds of times, and the bandwidth by copying a large array.

# %%
a = pl.full([1024, 1024], 0.5)
peak = 2 * 1024**3 / best(lambda: a @ a) / 1e9
target = large.copy()
bandwidth = 2 * large.nbytes / best(lambda: np.copyto(target, large), 40) / 1e9
print(f"peak {peak:.0f} operations a nanosecond, bandwidth {bandwidth:.1f} bytes a nanosecond")

OPERATIONS, BYTES = 15, {"loops": 32, "arrays": 32, "kernel": 8}
intensity = np.logspace(-1.5, 3, 100)
figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.loglog(intensity, np.minimum(peak, intensity * bandwidth), "k", label="roof")
for (name, moved), marker in zip(BYTES.items(), "ov^"):
    reached = OPERATIONS / nanoseconds[name]
    roof = min(peak, OPERATIONS / moved * bandwidth)
    label = f"{name}: {100 * reached / roof:.3g} % of its roof"
    ax.plot(OPERATIONS / moved, reached, marker, markersize=9, label=label)
ax.plot(2 * 1024 / 12, peak, "s", markersize=8, label="product of matrices")
ax.set(xlabel="operations for each byte moved", ylabel="operations a nanosecond", title="Roofline, one thread")
ax.legend(fontsize="small");

# %% [markdown]
# <details><summary>What came out</summary>
#
# By the bytes moved, the kernel should be $32 / 8 = 4$ times as fast as arrays. It is faster than that, because arrays
# do not even reach the slope of the roof; we come back to that. Arrays wait for memory, not for arithmetic. *Fusing*
# the five operations moves the point to the right, where the roof is higher, and there the kernel is close to it. The
# product of matrices lies at the far right: it uses every number that it reads many times, so arithmetic is its limit.
# (It lies on the roof because we took the peak from it.) The loops are far below any roof; they wait for neither memory
# nor arithmetic.
#
# </details>
#
# Do not read too much into the last tens of percent; a kernel may even exceed 100. Our 15 operations are a rough count,
# some of the matrix may still be in the cache, and another program may have used the memory while we measured the copy.
#
# ## In the cache
#
# **Predict.** What happens to both forms when the matrix gets so small that it fits into the cache, below 1 MB?

# %%
rows = 2 ** np.arange(3, 16)
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, work in {"arrays": arrays, "kernel": kernel}.items():
    times = []
    for count in rows:
        part = large[:count] if name == "arrays" else pl.from_numpy(large[:count])
        times.append(best(lambda: work(part)) * 1e9 / part.size)
    ax.loglog(rows * 4096 / 2**20, times, marker="o", label=name)
ax.set(xlabel="size of the matrix, MB", ylabel="nanoseconds for one number", title="Small and large matrices",
       xticks=[0.1, 1, 10, 100], xticklabels=[0.1, 1, 10, 100], yticks=[0.3, 1, 3, 10], yticklabels=[0.3, 1, 3, 10])
ax.minorticks_off()
ax.legend();

# %% [markdown]
# <details><summary>What came out</summary>
#
# Arrays have a step where the data no longer fit, because five operations pass over them. Part of the step is the
# system, which allocates new memory for every large intermediate result; that is also most of the reason why arrays
# stay below the roof. The kernel hardly has a step. Near the bend of the roof, memory and arithmetic take about as
# long, and the processor fetches the next row while it computes this one.
#
# </details>
#
# ## On a GPU
#
# A GPU has the same two limits, only higher: an NVIDIA H100 (SXM) moves 3350 bytes and does 67,000 operations in a
# nanosecond, in float32 without tensor cores (NVIDIA's data sheet, 2023). So the same reasoning holds: softmax waits
# for memory there, too, and fusing is what helps.
#
# The kernel looks similar. It is written in CUDA, which is C++ that every thread of the GPU runs at the same time. The
# formula stands at the top. A *team* of threads shares a row: each thread reads `per_thread` of its numbers into `v`,
# and maximum and sum go through the team. Find the three loops: maximum, exponentials and their sum, division. (A row
# that is longer than its team can hold is read `again` in each.)

# %%
print(Path("../cuda/softmax.cuh").read_text())

# %%
least = 8 * large.size / 3350                        # ns: each number is read once and written once
print(f"this machine, measured {nanoseconds['kernel'] * large.size / 1e6:8.3f} ms")
print(f"this machine, roof     {8 * large.size / bandwidth / 1e6:8.3f} ms")
print(f"H100, roof             {least / 1e6:8.3f} ms      (computed, not measured)")

# %% [markdown]
# **Predict.** A kernel's start costs some 5 microseconds on a GPU. How many rows of 1024 must a softmax have so that
# the start is less than half of the time?

# %%
print(f"{5000 * 3350 / 8 / 1024:.0f} rows")           # 5000 ns at 3350 bytes a ns; 8 bytes a number

# %% [markdown]
# <details><summary>What came out</summary>
#
# That is two million numbers, more than the tensors of small models have. So on a GPU fewer kernels matter even more
# than fewer bytes, which is one more reason to fuse.
#
# </details>
#
# ## Exercise 1: a roof
#
# Write a function for the least time, in nanoseconds, of a kernel that does `operations` and moves `moved` bytes on a
# machine of given peak and bandwidth (each per nanosecond). Arithmetic and memory work at the same time.

# %%
def least_time(operations, moved, peak, bandwidth):
    return ...

# %%
@check(least_time)
def _(least_time):
    assert least_time(100, 8, 10, 1) == 10, "100 operations at 10 a ns take 10 ns, and memory is done after 8"
    assert least_time(10, 80, 10, 1) == 80, "80 bytes at 1 a ns take 80 ns, which arithmetic does not lengthen"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def least_time(operations, moved, peak, bandwidth):
#     return max(operations / peak, moved / bandwidth)
# ```
# </details>

# %% [markdown]
# ## Exercise 2: is attention bound by memory?
#
# One head, $T$ tokens, $D$ channels. The two products take $4 T^2 D$ operations and softmax about $15 T^2$. The fused
# kernel reads q, k, v and writes o: $4 T D$ numbers. The composed form also writes and reads logits and weights, about
# $8 T^2$ more numbers. Write both intensities (operations for each byte of float32).

# %%
def intensities(T, D):
    return ...                       # fused, composed

# %%
@check(intensities)
def _(intensities):
    for T, D in ((1024, 64), (4096, 32)):
        fused, composed = intensities(T, D)
        operations, moved = (4 * D + 15) * T**2, 16 * T * D
        assert not np.isclose(fused, operations / (4 * T * D)), "this is for each number; a float32 has 4 bytes"
        for name, found, right in (("fused", fused, operations / moved),
                                   ("composed", composed, operations / (moved + 32 * T**2))):
            assert np.isclose(found, right), f"T = {T}, D = {D}, {name}: it is {right:.2f}, and not {found:.2f}"

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def intensities(T, D):
#     operations, small = (4 * D + 15) * T**2, 4 * T * D
#     return operations / (4 * small), operations / (4 * (small + 8 * T**2))
# ```
#
# With 1024 tokens and 64 channels it is 271 against 8: fusing takes attention from under the slope to under the flat
# roof. That is what FlashAttention does (Dao et al. 2022).
# </details>

# %% [markdown]
# ## Where to read on
#
# - [docs/attention.md](../docs/attention.md) and [docs/speed.md](../docs/speed.md): how the CPU's kernels become fast.
#   [docs/gpu.md](../docs/gpu.md): the CUDA kernels, and which of them have run on a GPU.
# - S. Williams, A. Waterman, D. Patterson, *Roofline*, Communications of the ACM 52 (2009).
# - Write it yourself, in C++: [products in blocks](../docs/course/04_products.md), then
#   [a CUDA kernel, and vectors](../docs/course/14_vectors.md).
# - This was the last notebook. [CONTRIBUTING.md](../CONTRIBUTING.md) says what a change must include.
