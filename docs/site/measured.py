"""The page of the site with every figure of `./dev bench`, from bench/results/."""

import sys

import tree

sys.path.insert(0, str(tree.ROOT / "results"))
import gpu
import products
import speed
from matmul import matmul_lines


def page():
    parts = {
        "Beside PyTorch and JAX": speed.speed(),
        "Engines of products": products.engine(),
        "Products in bf16": products.bf16(),
        "What rounded products cost in accuracy": matmul_lines(),
        "How far each kernel is off": speed.ulps(),
        "NVIDIA H200: tests": gpu.tested(),
        "NVIDIA H200: steps a second": gpu.rates(),
        "NVIDIA H200: a population of eight": gpu.population(),
        "NVIDIA H200: every scheme": gpu.schemes(),
        "NVIDIA H200: positions drawn for each sequence": gpu.resample(),
        "NVIDIA H200: beside PyTorch and JAX": gpu.peers(),
        "NVIDIA H200: kernels of a step, relative": gpu.profile("kernels"),
        "NVIDIA H200: kernels of a step, relative, randomized": gpu.profile("kernels-randomized"),
        "NVIDIA H200: kernels of a step, shaw": gpu.profile("kernels-shaw"),
        "NVIDIA H200: stalls of a block's kernels": gpu.samples(),
        "NVIDIA H200: forms of kernels": [
            line for name in ("variants", "randomized", "pairs") for line in [*gpu.variants(name), ""]],
        "NVIDIA H200: naive and fast kernels": gpu.naive(),
        "What CUDA kernels take": speed.resources(),
    }
    lines = ["# All measurements", "", "The tables behind [Speed](speed.md) and [Training on a GPU](gpu.md), from",
             "[bench/results](../bench/results).", ""]
    for title, part in parts.items():
        lines += [f"## {title}", "", *part, ""]
    return "\n".join(lines)
