"""x-transformers, rotary-embedding-torch and PoPE-pytorch: https://github.com/lucidrains"""

import torch
from cases import FLOAT32, case, products, uniform
from PoPE_pytorch import PoPE, apply_pope_to_qk
from rotary_embedding_torch import RotaryEmbedding
from x_transformers import x_transformers as xt

ROTARY = {"tolerance": 2e-6, "why": FLOAT32, "head_dim": 8, "heads": 2}
X = "x-transformers"


def load(module, **tensors):
    """Sets parameters, and checks that there are no other parameters."""
    assert set(tensors) == {name for name, _ in module.named_parameters()}, [n for n, _ in module.named_parameters()]
    for name, p in module.named_parameters():
        assert tensors[name].numel() == p.numel(), name
        p.data = tensors[name].reshape(p.shape)
    return module


def rotated(d, rotary):
    return products(rotary.rotate_queries_or_keys(d.qh), rotary.rotate_queries_or_keys(d.kh))


@case("rotary_torch", "rope", "rotary-embedding-torch", "RotaryEmbedding", **ROTARY)
def _(d):
    return rotated(d, RotaryEmbedding(d.D))


@case("rotary_torch_interpolated", "pi:factor=4", "rotary-embedding-torch", "RotaryEmbedding, interpolate_factor",
      **ROTARY)  # fmt: skip
def _(d):
    return rotated(d, RotaryEmbedding(d.D, interpolate_factor=4.0))


@case("rotary_torch_ntk", "ntk:form=bloc97,factor=4", "rotary-embedding-torch", "RotaryEmbedding, theta_rescale_factor",
      **ROTARY)  # fmt: skip
def _(d):
    return rotated(d, RotaryEmbedding(d.D, theta_rescale_factor=4.0))


@case("rotary_torch_partial", "partial_rope:fraction=0.5", "rotary-embedding-torch", "RotaryEmbedding, narrow",
      **ROTARY)  # fmt: skip
def _(d):
    return rotated(d, RotaryEmbedding(d.D // 2))


# Learned frequencies a_m f_m. The library rotates channels 2m and 2m + 1 together, poslab m and m + D/2.
@case("rotary_torch_learned", "lerope", "rotary-embedding-torch", "RotaryEmbedding, learned_freq", **ROTARY)
def _(d):
    rotary = RotaryEmbedding(d.D, learned_freq=True)
    rotary.freqs.data = rotary.freqs.data * d.param("layer0.a", d.D // 2, centre=1.0)
    pairs = torch.arange(d.D).reshape(2, -1).T.flatten()  # 0, D/2, 1, D/2 + 1, ...
    return products(*(rotary.rotate_queries_or_keys(t[..., pairs]) for t in (d.qh, d.kh)))


@case("rotary_torch_xpos", "xpos", "rotary-embedding-torch", "RotaryEmbedding, use_xpos", causal=True, **ROTARY)
def _(d):
    return products(*RotaryEmbedding(d.D, use_xpos=True).rotate_queries_and_keys(d.qh, d.kh))


def xt_rotated(d, rotary):
    freqs, scale = rotary(d.p)
    q = xt.apply_rotary_pos_emb(d.qh, freqs, scale)
    return products(q, xt.apply_rotary_pos_emb(d.kh, freqs, scale**-1))


@case("x_transformers_ntk", "ntk:form=bloc97,factor=8", X, "RotaryEmbedding, base_rescale_factor", **ROTARY)
def _(d):
    return xt_rotated(d, xt.RotaryEmbedding(d.D, base_rescale_factor=8.0))


@case("x_transformers_xpos", "xpos:scale=64", X, "RotaryEmbedding, use_xpos", causal=True, **ROTARY)
def _(d):
    return xt_rotated(d, xt.RotaryEmbedding(d.D, use_xpos=True, scale_base=64))


@case("pope_pytorch", "pope", "pope-pytorch", "PoPE", **ROTARY)
def _(d):
    pope = load(PoPE(d.D, heads=d.H), bias=d.param("layer0.delta", d.H, d.D, centre=-2.0, width=2.0))
    return products_of_two(d, *apply_pope_to_qk(pope(d.p), d.qh, d.kh))


@case("x_transformers_pope", "pope", X, "PolarEmbedding", **ROTARY)
def _(d):
    pope = load(xt.PolarEmbedding(d.D, d.H), learned_bias=d.param("layer0.delta", d.H, d.D, centre=-2.0, width=2.0))
    freqs, bias = pope(d.p)
    return products_of_two(d, xt.apply_polar_pos_emb(d.qh, freqs), xt.apply_polar_pos_emb(d.kh, freqs + bias))


def products_of_two(d, q, k):
    """PoPE doubles the channels; both divide by the square root of the number before doubling."""
    return q @ k.transpose(-1, -2) / d.D**0.5


@case("x_transformers_t5", "t5:sqrt_d", X, "RelativePositionBias", positions=[0, 1, 2, 5, 9, 17, 33, 70, 100, 150])
def _(d):
    bias = xt.RelativePositionBias(scale=d.D**0.5, heads=d.H)
    load(bias, **{"relative_attention_bias.weight": d.param("table", 32, d.H)})
    at, slots = d.p.long(), int(d.p[-1]) + 1
    return products(d.qh, d.kh) + bias(slots, slots)[:, at][..., at]


@case("x_transformers_alibi", "alibi:symmetric", X, "AlibiPositionalBias", heads=6, tolerance=1e-6,
      why="the library computes its slopes in float32")  # fmt: skip
def _(d):
    return products(d.qh, d.kh) + xt.AlibiPositionalBias(d.H)(d.T, d.T)


# Learned ALiBi: exp(log_slope) times the library's distances; the library itself has no parameters here
@case("x_transformers_alibi_slopes", "alibi:learned,symmetric", X, "AlibiPositionalBias, slopes of one's own",
      tolerance=1e-6, why="the library keeps its slopes in float32")  # fmt: skip
def _(d):
    slopes = d.param("layer0.log_slope", d.H, centre=-1.0, width=0.5).exp().tolist()
    return products(d.qh, d.kh) + xt.AlibiPositionalBias(d.H, slopes=slopes)(d.T, d.T)


def dynamic_bias(d, **options):
    width = d.C // 4
    mlp = xt.DynamicPositionBias(width, heads=d.H, depth=2, **options)
    more = {}
    if options.get("norm"):  # its first norm has no bias
        d.param("bias0", width, width=0.0)
        more = {
            "mlp.0.1.gamma": d.param("gain0", width, centre=1.0),
            "mlp.1.1.weight": d.param("gain1", width, centre=1.0),
            "mlp.1.1.bias": d.param("bias1", width),
        }
    load(mlp, **{
        "mlp.0.0.weight": d.param("w0", 1, width),
        "mlp.0.0.bias": d.param("b0", width),
        "mlp.1.0.weight": d.param("w1", width, width).T,
        "mlp.1.0.bias": d.param("b1", width),
        "mlp.2.weight": d.param("w", width, d.H).T,
        "mlp.2.bias": uniform("b", (d.H,), 0.0, 0.5),  # softmax cancels it, and poslab leaves it out
    }, **more)  # fmt: skip
    return products(d.qh, d.kh) + mlp.float()(d.T, d.T)


FLOAT = {"tolerance": 1e-6, "why": "the library computes in float32", "expects": "logits but for a row's"}


@case("x_transformers_dynamic_bias", "dynamic_bias:log=off", X, "DynamicPositionBias", **FLOAT)
def _(d):
    return dynamic_bias(d)


@case("x_transformers_dynamic_bias_log", "dynamic_bias:log", X, "DynamicPositionBias, log_distance", **FLOAT)
def _(d):
    return dynamic_bias(d, log_distance=True)


@case("x_transformers_dynamic_bias_norm", "dynamic_bias:log=off,norm", X, "DynamicPositionBias, norm", **FLOAT)
def _(d):
    return dynamic_bias(d, norm=True)


def forgetting(d, causal):
    gates = xt.DataDependentAlibi(d.C, d.H, causal=causal)
    sides = 1 if causal else 2
    load(gates, **{
        "to_forget_gates.0.weight": d.param("layer0.w", d.C, sides * d.H).T,
        "to_forget_gates.0.bias": d.param("layer0.b", sides * d.H),
    })  # fmt: skip
    return products(d.qh, d.kh) + gates(d.x)


@case("x_transformers_forgetting", "forgetting", X, "DataDependentAlibi", causal=True)
def _(d):
    return forgetting(d, True)


@case("x_transformers_forgetting_both", "forgetting", X, "DataDependentAlibi, causal = False")
def _(d):
    return forgetting(d, False)


@case("x_transformers_cope", "cope:npos=6", X, "CoPE", causal=True)
def _(d):
    cope = load(xt.CoPE(d.D, d.H, max_pos=6), pos_emb=d.param("layer0.rows", 6, d.D))
    logits = products(d.qh, d.kh)
    masked = logits.masked_fill(torch.ones(d.T, d.T).triu(1).bool(), -torch.finfo(logits.dtype).max)
    return logits + cope(d.qh, masked)


@case("x_transformers_projection_bank", "projection_bank:curves=3,reach=7", X, "RelativeProjPositionalBias",
      causal=True)  # fmt: skip
def _(d):
    bank = xt.RelativeProjPositionalBias(d.C, d.H, num_distance_basis=3, max_dist=7)
    load(bank, **{
        "distance_bank": d.param("layer0.curves", 7, 3).T,
        "to_distance_weights.0.weight": d.param("layer0.w", d.C, 3 * d.H).T,
        "to_distance_weights.0.bias": d.param("layer0.b", 3 * d.H),
    })  # fmt: skip
    return products(d.qh, d.kh) + bank(d.x)


# Half of the heads have ALiBi, with the slopes of a model with two heads
@case("x_transformers_alibi_heads", "alibi*2+none*2", X, "AlibiPositionalBias, of some of the heads", causal=True)
def _(d):
    return products(d.qh, d.kh) + xt.AlibiPositionalBias(2, total_heads=4)(d.T, d.T)


@case("x_transformers_nape", "nape", X, "AlibiPositionalBias, with NAPE's slopes for half of the heads", causal=True)
def _(d):
    return products(d.qh, d.kh) + xt.AlibiPositionalBias(2, total_heads=4, slopes=[1.0, 0.5])(d.T, d.T)


@case("x_transformers_scaled_sincos", "scaled_sincos", X, "ScaledSinusoidalEmbedding", expects="embedding",
      tolerance=1e-6, why=FLOAT32)  # fmt: skip
def _(d):
    added = load(xt.ScaledSinusoidalEmbedding(d.C), scale=d.param("scale", 1, centre=0.5, width=0.25))
    return d.x + added(d.x, pos=d.p)


@case("x_transformers_learned", "learned", X, "AbsolutePositionalEmbedding", expects="embedding", max_position=12)
def _(d):
    added = load(xt.AbsolutePositionalEmbedding(d.C, 12), **{"emb.weight": d.param("table", 12, d.C) * d.C**0.5})
    return d.x + added(d.x)  # the library divides a row by sqrt(C) when it reads it
