"""entmax (https://github.com/deep-spin/entmax), and schemes of NVIDIA's NeMo and Microsoft's torchscale."""

import importlib
import pathlib
import sys
import types
from importlib import metadata

import entmax
import torch
from cases import FLOAT32, case, products
from torchscale.component.xpos_relative_position import XPOS
from x_transformers.x_transformers import AlibiPositionalBias


def masked(logits):
    return logits.masked_fill(torch.ones(logits.shape[-2:]).triu(1).bool(), -torch.inf)


@case("entmax15", "entmax", "entmax", "entmax15", expects="weights")
def _(d):
    return entmax.entmax15(products(d.qh, d.kh), dim=-1)


@case("entmax15_causal", "entmax", "entmax", "entmax15", causal=True, expects="weights")
def _(d):
    return entmax.entmax15(masked(products(d.qh, d.kh)), dim=-1)


@case("sparsemax", "entmax:alpha=2", "entmax", "sparsemax", expects="weights")
def _(d):
    return entmax.sparsemax(products(d.qh, d.kh), dim=-1)


@case("entmax15_alibi", "entmax:base=alibi", "entmax", "entmax15, over x-transformers' AlibiPositionalBias",
      causal=True, expects="weights")  # fmt: skip
def _(d):
    return entmax.entmax15(masked(products(d.qh, d.kh) + AlibiPositionalBias(d.H)(d.T, d.T)), dim=-1)


@case("torchscale_xpos", "xpos", "torchscale", "XPOS, of its authors", causal=True, heads=2, head_dim=8, tolerance=2e-6,
      why=FLOAT32)  # fmt: skip
def _(d):
    xpos = XPOS(d.D)
    q = xpos(d.qh.reshape(d.H, d.T, d.D)).reshape(d.qh.shape)
    return products(q, xpos(d.kh.reshape(d.H, d.T, d.D), downscale=True).reshape(d.kh.shape))


def nemo(file):
    """A file of NeMo, without the gigabytes that importing NeMo needs."""
    package = "nemo.collections.nlp.modules.common.megatron.position_embedding"
    folder = pathlib.Path(metadata.distribution("nemo-toolkit").locate_file(package.replace(".", "/")))
    if package not in sys.modules:
        for name in ("nemo.utils", "nemo.utils.decorators", package):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["nemo.utils.decorators"].experimental = lambda what: what
        sys.modules[package].__path__ = [str(folder)]
    return importlib.import_module(f"{package}.{file}")


def kerple(d, both):
    layer = nemo("kerple_relative_position_embedding").KERPLERelativePositionEmbedding(both, d.H, None, max_seq_len=d.T)
    layer.kerple_b.data = d.param("power", d.H, centre=1.0).reshape(d.H, 1, 1)
    layer.kerple_a.data = d.param("slope", d.H, centre=0.75).reshape(d.H, 1, 1)
    return products(d.qh, d.kh) + layer(d.T, d.T)


@case("nemo_kerple", "kerple", "nemo-toolkit", "KERPLERelativePositionEmbedding")
def _(d):
    return kerple(d, True)


@case("nemo_kerple_causal", "kerple", "nemo-toolkit", "KERPLERelativePositionEmbedding", causal=True)
def _(d):
    return kerple(d, False)


@case("nemo_sandwich", "sandwich", "nemo-toolkit", "SandwichRelativePositionEmbedding", tolerance=2e-6, why=FLOAT32)
def _(d):
    layer = nemo("sandwich_relative_position_embedding").SandwichRelativePositionEmbedding(True, d.H, None, 128, d.T)
    return products(d.qh, d.kh) + layer(d.T, d.T)
