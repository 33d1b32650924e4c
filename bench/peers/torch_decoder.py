"""poslab's causal decoder in PyTorch, written for speed: a peer of bench/compare.py --decoder, eager or compiled.

One step = forward, mean cross-entropy, backward, clip to norm 1, Adam. One product for q, k and v, one for both halves
of the gated network; attention by scaled_dot_product_attention; fused Adam; foreach clipping.
"""

import time

import decoder
import peer
import torch
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
        """{name in poslab: the piece of a parameter that holds it, as poslab stores it}"""
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

    @torch.no_grad()
    def fill(self):
        shapes = dict(decoder.shapes())
        for name, piece in self.named():
            piece(lambda w: w.data).copy_(torch.from_numpy(decoder.weight(name, shapes[name])))


class Peer:
    def __init__(self, options):
        self.options, self.model = options, Decoder()
        self.model.fill()
        if options.compile:
            for block in self.model.blocks:
                block.compile()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)

    def hello(self):
        return {
            "program": f"torch {torch.__version__}{' compiled' if self.options.compile else ''}",
            "threads": torch.get_num_threads(),
            "isa": torch.backends.cpu.get_cpu_capability(),
            "blas": "MKL" if torch.backends.mkl.is_available() else "not MKL",
        }

    def warm(self, what, sizes, data):
        start = time.perf_counter()
        peer.timed(self.step if what == "steps" else self.evaluate, sizes, data)
        return {"compile_seconds": time.perf_counter() - start}

    def logits(self, batch):
        angle = torch.from_numpy(decoder.angles(batch.positions)).float()
        return self.model(torch.from_numpy(batch.tokens), angle.cos(), angle.sin())

    def loss(self, logits, batch):
        return F.cross_entropy(logits.flatten(0, 1), torch.from_numpy(batch.targets).flatten().long())

    def step(self, batch):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.logits(batch), batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()

    @torch.inference_mode()
    def evaluate(self, batch):
        return (self.logits(batch).argmax(-1) == torch.from_numpy(batch.targets)).float().mean()

    def tensors(self, what, batch):
        """Loss, logits and gradients, or the logits alone, at the formula's weights."""
        self.model.fill()
        if what == "eval":
            with torch.inference_mode():
                return [("logits", self.logits(batch).numpy())]
        self.optimizer.zero_grad(set_to_none=True)
        logits = self.logits(batch)
        loss = self.loss(logits, batch)
        loss.backward()
        found = [("loss", loss.detach().view(1).numpy()), ("logits", logits.detach().numpy())]
        return found + [(name, piece(lambda w: w.grad).contiguous().numpy()) for name, piece in self.model.named()]


if __name__ == "__main__":
    options = decoder.parse(__doc__)
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    peer.serve(Peer(options), decoder.Data(options))
