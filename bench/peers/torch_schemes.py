"""The schemes of torch_encoder.py, each written for speed in PyTorch. A Scheme is the part outside the blocks: it adds
to the embedding, and makes a signal that all layers of a pass share. Its Layer is the part in each block. Functions of
positions alone are computed once a pass, and a bias by distance is one (H, T, T) tensor. Constants and formulas without
gradients come from python/poslab/formulas."""

import math

import torch
from torch import nn
from torch.nn import functional as F

import model as reference
from formulas import rotary, t5, yarn

LAYERS, HEADS, WIDTH = reference.LAYERS, reference.HEADS, reference.WIDTH
HEAD = WIDTH // HEADS


def parameter(*shape):
    return nn.Parameter(torch.empty(shape))


def of_pairs(positions):
    """p_j - p_i: (T, T)"""
    return positions[None, :] - positions[:, None]


def hidden(positions):
    """The causal mask, added to logits: (T, T)"""
    time = len(positions)
    return torch.full((time, time), -math.inf).triu(1)


class Layer(nn.Module):
    """Queries and keys after the scheme has changed them, and the signal as a bias on the logits, if there is one."""

    causal = False

    def forward(self, q, k, signal):  # (B, T, H, D)
        return q, k, signal

    def logits(self, q, k, bias, signal):  # (B, H, T, D)
        s = (q / math.sqrt(HEAD)) @ k.transpose(-1, -2)
        return s if bias is None else s + bias

    def mix(self, weights, v, signal):
        return weights @ v


class Scheme(nn.Module):
    """No positions at all."""

    layer = Layer
    forms = ("sdpa", "plain")  # forms of attention; sdpa (scaled_dot_product_attention) can only add a bias

    def __init__(self, options):
        super().__init__()
        self.options = options

    def embed(self, x, positions):
        return x

    def prepare(self, positions):
        return None


class Sincos(Scheme):
    def embed(self, x, positions):
        return F.dropout(x + reference.sinusoid(positions, WIDTH), self.options.dropout, self.training)


class Learned(Scheme):
    def __init__(self, options):
        super().__init__(options)
        self.table = parameter(options.max_position, WIDTH)

    def embed(self, x, positions):
        return F.dropout(x + F.embedding(positions.long(), self.table), self.options.dropout, self.training)


class RelativeLayer(Layer):
    def __init__(self):
        super().__init__()
        self.w, self.u, self.v = parameter(WIDTH, WIDTH), parameter(HEADS, HEAD), parameter(HEADS, HEAD)

    def forward(self, q, k, signal):
        return q + self.u, k, self.relative(q, signal) / math.sqrt(HEAD)

    def relative(self, q, signal):
        """(q_i + v) . W PE, one logit for each pair.                q: (B, T, H, D) -> (B, H, T, T)"""
        time = q.shape[1]
        r = (signal @ self.w).unflatten(-1, (HEADS, HEAD))
        if signal.dim() == 3:  # true differences: r is (T, T, H, D)
            return torch.einsum("bihd,ijhd->bhij", q + self.v, r)
        s = (q + self.v).transpose(1, 2) @ r.permute(1, 2, 0)  # (B, H, T, 2T-1): row i, column j - i + T - 1
        s = s.flatten(-2)[..., time - 1 : time - 1 + time * (2 * time - 2)]  # Transformer-XL's shift: a new view
        return s.unflatten(-1, (time, 2 * time - 2))[..., :time]


class Relative(Scheme):
    layer = RelativeLayer

    def prepare(self, positions):
        return reference.sinusoid(of_pairs(positions) if self.options.differences else positions, WIDTH)


class Alibi(Scheme):
    def __init__(self, options):
        super().__init__(options)
        self.slopes = torch.tensor(reference.alibi_slopes(HEADS))[:, None, None]

    def prepare(self, positions):
        slot = torch.arange((len(positions) + 1) // 2)
        distance = positions[of_pairs(slot) + len(slot) - 1]
        return self.slopes * (0.5 * (distance < 0) - distance.abs())


class T5(Scheme):
    def __init__(self, options):
        super().__init__(options)
        self.table, self.first = parameter(32, HEADS), torch.tensor(t5.FIRST, dtype=torch.float32)

    def prepare(self, positions):
        d = of_pairs(positions)
        bucket = torch.bucketize(d.abs(), self.first, right=True) + 16 * (d > 0)
        return F.embedding(bucket, self.table).permute(2, 0, 1)


class Kerple(Scheme):
    def __init__(self, options):
        super().__init__(options)
        self.power, self.slope = parameter(HEADS), parameter(HEADS)

    def prepare(self, positions):
        power, slope = (x.clamp(min=0.01)[:, None, None] for x in (self.power, self.slope))
        return -power * torch.log1p(slope * of_pairs(positions).abs())


class FireLayer(Layer):
    def __init__(self):
        super().__init__()
        self.c, self.m = parameter(1), parameter(1)
        self.w1, self.b1, self.w2 = parameter(1, 32), parameter(32), parameter(32, HEADS)

    def forward(self, q, k, signal):
        positions, distance, side = signal
        c, threshold = self.c.abs(), self.m.abs() * 512
        furthest = torch.log1p(c * torch.maximum(positions, threshold)) + 1e-6
        x = side * torch.log1p(c * distance) / furthest[:, None]
        return q, k, (F.relu(x[..., None] * self.w1 + self.b1) @ self.w2).permute(2, 0, 1)


class Fire(Scheme):
    layer = FireLayer

    def prepare(self, positions):
        d = of_pairs(positions)
        return positions, d.abs(), torch.where(d > 0, -1.0, 1.0)


class ShawLayer(Layer):
    def __init__(self):
        super().__init__()
        self.keys, self.values = parameter(33, 1, HEAD), parameter(33, 1, HEAD)

    def forward(self, q, k, signal):
        return q, k, None

    def logits(self, q, k, bias, signal):
        q = q / math.sqrt(HEAD)
        a = F.embedding(signal, self.keys[:, 0])  # (T, T, D): shared by all sequences and heads
        return q @ k.transpose(-1, -2) + torch.einsum("bhid,ijd->bhij", q, a)

    def mix(self, weights, v, signal):
        return weights @ v + torch.einsum("bhij,ijd->bhid", weights, F.embedding(signal, self.values[:, 0]))


class Shaw(Scheme):
    layer = ShawLayer
    forms = ("plain",)

    def prepare(self, positions):
        return of_pairs(positions).clamp(-16, 16).long() + 16


class CopeLayer(Layer):
    causal = True

    def __init__(self):
        super().__init__()
        self.rows = parameter(16, HEAD)

    def forward(self, q, k, signal):
        return q, k, None

    def logits(self, q, k, bias, signal):
        """As in the paper's code, which applies the mask before the gates."""
        z = (q / math.sqrt(HEAD)) @ k.transpose(-1, -2) + signal
        at = torch.sigmoid(z).flip(-1).cumsum(-1).flip(-1).clamp(max=15)
        below = at.floor()
        rows = q @ self.rows.T  # (B, H, T, 16)
        low, high = rows.gather(-1, below.long()), rows.gather(-1, at.ceil().long())
        return z + torch.lerp(low, high, at - below)


class Cope(Scheme):
    layer = CopeLayer
    forms = ("plain",)

    def prepare(self, positions):
        return hidden(positions)


def turned(x, cos, sin):
    """Interleaved pairs; channels beyond those of cos and sin stay.                x: (B, T, H, D)"""
    turns = cos.shape[-1]
    own = x[..., :turns]
    own = own * cos + torch.stack((-own[..., 1::2], own[..., 0::2]), -1).flatten(-2) * sin
    return own if turns == HEAD else torch.cat((own, x[..., turns:]), -1)


class RotaryLayer(Layer):
    def forward(self, q, k, signal):
        cos, sin = signal
        return turned(q, cos, sin), turned(k, cos, sin), None


class Rotary(Scheme):
    """RoPE, and schemes with other frequencies for the pairs, some with a factor on the logits."""

    layer = RotaryLayer
    factor = 1.0

    def __init__(self, options):
        super().__init__(options)
        # made here, because a captured step may not copy
        self.speeds = torch.tensor(self.frequencies(), dtype=torch.float32)

    def frequencies(self):
        return rotary.rope(HEAD)

    def prepare(self, positions):  # cos and sin of each pair twice: (T, 1, D)
        angle = positions[:, None] * self.speeds
        angle = angle.repeat_interleave(2, -1)[:, None]
        return math.sqrt(self.factor) * angle.cos(), math.sqrt(self.factor) * angle.sin()


class PartialRope(Rotary):
    def frequencies(self):
        return rotary.rope(2)  # a quarter of 8 channels


class Yarn(Rotary):
    factor = yarn.steepness(8)

    def frequencies(self):
        return yarn.frequencies(HEAD, factor=8, length=40)


class XPosLayer(Layer):
    causal = True

    def forward(self, q, k, signal):
        cos, sin, z, _ = signal
        return turned(q, cos * z, sin * z), turned(k, cos / z, sin / z), None

    def logits(self, q, k, bias, signal):
        return super().logits(q, k, signal[-1], signal)


class XPos(Rotary):
    layer = XPosLayer

    def prepare(self, positions):
        pair = torch.arange(HEAD // 2)
        z = ((2 * pair + 0.4 * HEAD) / (1.4 * HEAD)).repeat_interleave(2)
        middle = (positions.min() + positions.max()) / 2
        decay = z ** ((positions - middle)[:, None] / 512)
        return *super().prepare(positions), decay[:, None], hidden(positions)


SCHEMES = {
    "none": Scheme, "sincos": Sincos, "learned": Learned, "relative": Relative, "alibi": Alibi, "rope": Rotary,
    "t5": T5, "shaw": Shaw, "kerple": Kerple, "fire": Fire, "cope": Cope, "xpos": XPos, "yarn": Yarn,
    "partial_rope": PartialRope,
}  # fmt: skip
