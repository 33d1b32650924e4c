"""The plain implementations that flash-linear-attention compares its kernels with: https://github.com/fla-org
They return outputs. If the values are a unit matrix, (T, T), the outputs are the weights."""

import torch
import torch.nn.functional as F
from cases import case
from fla.ops.forgetting_attn.naive import naive_forgetting_attn
from fla.ops.path_attn.naive import naive_path_attn
from fla.ops.stickbreaking_attn.naive import naive_stickbreaking_attn

FLOAT = {"causal": True, "expects": "weights", "tolerance": 2e-6, "why": "the library computes in float32"}


def units(d):
    return torch.eye(d.T)[None, :, None].expand(1, d.T, d.H, d.T)


def weights(output):
    return output.transpose(1, 2).double()


@case("fla_forgetting", "forgetting", "fla-core", "naive_forgetting_attn", **FLOAT)
def _(d):
    gates = F.logsigmoid(d.x @ d.param("layer0.w", d.C, d.H) + d.param("layer0.b", d.H))
    return weights(naive_forgetting_attn(d.q, d.k, units(d), gates))


@case("fla_stick_breaking", "stick_breaking", "fla-core", "naive_stickbreaking_attn", causal=True, expects="weights")
def _(d):
    return weights(naive_stickbreaking_attn(d.q, d.k, units(d))[0])


def path(d, gates):
    rank = 3
    w = d.x @ d.param("layer0.down", d.C, rank) @ d.param("layer0.up", rank, d.C)
    filters = d.param("layer0.conv", 3, d.C).flip(0).T[:, None]  # y_t = sum_n conv_n x_{t - n}
    w = F.silu(F.conv1d(F.pad(w.transpose(1, 2), (2, 0)), filters, groups=d.C)).transpose(1, 2)
    w = w.reshape(1, d.T, d.H, d.D)
    w = w / (w.square().sum(-1, keepdim=True) + 1e-6).sqrt()
    beta = 2 * torch.sigmoid(d.x @ d.param("layer0.v", d.C, d.H) + d.param("layer0.b", d.H))
    g = torch.zeros(1, d.T, d.H)
    if gates:
        g = F.logsigmoid(d.x @ d.param("layer0.u", d.C, d.H) + d.param("layer0.c", d.H))
    torch.set_default_dtype(torch.float32)  # the dtype of the mask that it makes
    try:
        return weights(naive_path_attn(d.q, d.k, units(d), w, beta, g, d.D**-0.5, chunk_size=4))
    finally:
        torch.set_default_dtype(torch.float64)


@case("fla_path", "path:rank=3", "fla-core", "naive_path_attn", **FLOAT)
def _(d):
    return path(d, gates=False)


@case("fla_path_gates", "path:rank=3,gate=released", "fla-core", "naive_path_attn, with gates", **FLOAT)
def _(d):
    return path(d, gates=True)
