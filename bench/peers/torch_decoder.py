"""poslab's causal decoder in PyTorch, written for speed: a peer of bench/compare.py --decoder, eager or compiled.

One product for q, k and v, one for both halves of the gated network; attention by scaled_dot_product_attention.
"""

import decoder
import peer
import torch
import torch_base
from decoder import EPSILON, HEAD, HEADS, LAYERS, TOKENS, WIDE, WIDTH
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH, EPSILON), nn.RMSNorm(WIDTH, EPSILON)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.w13 = nn.Linear(WIDTH, 2 * WIDE, bias=False)
        self.w2 = nn.Linear(WIDE, WIDTH, bias=False)

    def forward(self, x, cos, sin):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, HEADS, HEAD)).transpose(1, 3).unbind(2)
        o = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True)
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

    def forward(self, tokens, cos, sin):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, cos, sin)
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
    def logits(self, batch):
        angle = torch.from_numpy(decoder.angles(batch.positions)).float()
        return self.model(self.there(batch.tokens), angle.cos(), angle.sin())


if __name__ == "__main__":
    options = peer.parse(__doc__, ["rope"])
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    peer.serve(Peer(options, Decoder()), decoder.Data(options))
