"""poslab's causal decoder in PyTorch, written for speed: a peer of bench/compare.py --decoder, eager or compiled.

One product makes q, k and v, and one makes both halves of the gated network; attention is scaled_dot_product_attention.
ReRoPE has logits for near and for far pairs. Both are computed in full; with --form flex, two FlexAttentions are
combined by the logarithms of their sums instead.
"""

import decoder
import numpy as np
import peer
import torch
import torch_base
from decoder import EPSILON, HEAD, HEADS, LAYERS, TOKENS, WIDE, WIDTH
from torch import nn
from torch.nn import functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


class Written:
    """ReRoPE that computes the near and the far logits of every pair."""

    def __init__(self, window, slots, device):
        away = torch.arange(slots, device=device)[:, None] - torch.arange(slots, device=device)
        self.far, self.ahead = away >= window, away < 0

    def __call__(self, near, far, v):
        s = torch.where(self.far, far[0] @ far[1].mT, near[0] @ near[1].mT) * HEAD**-0.5
        return s.masked_fill(self.ahead, -torch.inf).softmax(-1) @ v


class Flex:
    """ReRoPE as two FlexAttentions, each of which leaves out tiles without a visible pair."""

    def __init__(self, window, slots, device):
        attend = torch.compile(flex_attention) if device == "cuda" else flex_attention
        mask = lambda seen: create_block_mask(lambda b, h, i, j: seen(i - j), None, None, slots, slots, device=device)
        masks = mask(lambda away: (away >= 0) & (away < window)), mask(lambda away: away >= window)
        part = lambda pair, v, of: attend(*pair, v, block_mask=masks[of], return_lse=True)
        self.parts = lambda near, far, v: (part(near, v, 0), part(far, v, 1))

    def __call__(self, near, far, v):
        (o, sum), (o_far, sum_far) = self.parts(near, far, v)
        share = torch.sigmoid(sum_far - sum)[..., None].to(o.dtype)  # share of the far pairs, 0 where there are none
        return o + (o_far - o) * share


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH, EPSILON), nn.RMSNorm(WIDTH, EPSILON)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.w13 = nn.Linear(WIDTH, 2 * WIDE, bias=False)
        self.w2 = nn.Linear(WIDE, WIDTH, bias=False)

    def forward(self, x, cos, sin, far=None, rerope=None):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, HEADS, HEAD)).transpose(1, 3).unbind(2)
        near = rotate(q, cos, sin).to(v.dtype), rotate(k, cos, sin).to(v.dtype)
        if rerope:
            o = rerope(near, (rotate(q, *far).to(v.dtype), k), v)
        else:
            o = F.scaled_dot_product_attention(*near, v, is_causal=True)
        x = x + self.output(o.transpose(1, 2).flatten(-2))
        gate, value = self.w13(self.norm2(x)).chunk(2, -1)
        return x + self.w2(F.silu(gate) * value)


def rotate(x, cos, sin):
    """Interleaved pairs.                                                      x: (B, H, T, D), cos, sin: (T, D/2)"""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH, EPSILON)
        self.head = nn.Linear(WIDTH, TOKENS, bias=False)

    def forward(self, tokens, *rotations):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, *rotations)
        return self.head(self.norm(x))

    def named(self):
        whole = lambda w: lambda of: of(w)
        part = lambda w, n, size: lambda of: of(w)[n * size : (n + 1) * size].T
        yield "embedding", whole(self.embedding.weight)
        for n, b in enumerate(self.blocks):
            yield f"block{n}.norm1.gain", whole(b.norm1.weight)
            for i, name in enumerate(("query", "key", "value")):
                yield f"block{n}.attention.{name}", part(b.qkv.weight, i, WIDTH)
            yield f"block{n}.attention.output", part(b.output.weight, 0, WIDTH)
            yield f"block{n}.norm2.gain", whole(b.norm2.weight)
            yield f"block{n}.ffn.w1", part(b.w13.weight, 0, WIDE)
            yield f"block{n}.ffn.w3", part(b.w13.weight, 1, WIDE)
            yield f"block{n}.ffn.w2", part(b.w2.weight, 0, WIDTH)
        yield "norm.gain", whole(self.norm.weight)
        yield "head.w", part(self.head.weight, 0, TOKENS)


class Peer(torch_base.Peer):
    def __init__(self, options):
        self.ready = {}  # {slots: cos, sin; for ReRoPE also the far pairs' and its Flex or Written}
        super().__init__(options, Decoder().to(options.device))

    def rotations(self, slots):
        def turned(positions):
            angle = torch.from_numpy(decoder.angles(positions)).float().to(self.options.device)
            return angle.cos(), angle.sin()

        found, window = turned(np.arange(slots, dtype=np.float32)), self.options.window
        if window is None:
            return found
        form = Flex if self.options.form == "flex" else Written
        return [*found, turned(np.float32([window])), form(window, slots, self.options.device)]

    def logits(self, batch):
        slots = batch.tokens.shape[1]
        if slots not in self.ready:
            self.ready[slots] = self.rotations(slots)
        return self.model(self.there(batch.tokens), *self.ready[slots])


def main(peer_of, about):
    options = decoder.parse(about)
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    peer.serve(peer_of(options), decoder.Data(options))


if __name__ == "__main__":
    main(Peer, __doc__)
