"""poslab's encoder in PyTorch, written for speed: a peer of bench/compare.py, eager or compiled.

Dropout is 0.1 where spec B.3 has it. One product makes q, k and v. Attention is scaled_dot_product_attention or plain
matmul and softmax, whichever is faster in a few steps (or the form that --form names). Evaluation is in inference mode.
"""

import math
import time

import peer
import torch
import torch._inductor.config
import torch_base
import torch_schemes
from torch import nn
from torch.nn import functional as F
from torch_schemes import HEAD, HEADS, LAYERS, WIDTH


class Block(nn.Module):
    def __init__(self, options, position):
        super().__init__()
        self.position, self.form, self.rate = position, options.form, options.dropout
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.w1, self.w2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, signal):
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, HEAD)).unbind(2)
        q, k, bias = self.position(q, k, signal)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if self.form == "sdpa":
            o = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=self.position.causal)
        else:
            weights = torch.softmax(self.position.logits(q, k, bias, signal), -1)
            o = self.position.mix(weights, v, signal)
        x = self.norm1(x + F.dropout(self.output(o.transpose(1, 2).flatten(-2)), self.rate, self.training))
        return self.norm2(x + F.dropout(self.w2(F.relu(self.w1(x))), self.rate, self.training))


class Encoder(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.embedding = nn.Embedding(options.symbols_in, WIDTH)
        self.scheme = torch_schemes.SCHEMES[options.encoding](options)
        self.blocks = nn.ModuleList(Block(options, self.scheme.layer()) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, options.symbols_out)

    def forward(self, tokens, positions, outputs):
        """positions: (T) of tokens, or (2T - 1) offsets for j - i = 1 - T .. T - 1."""
        x = self.scheme.embed(self.embedding(tokens) * math.sqrt(WIDTH), positions)
        signal = self.scheme.prepare(positions)
        for block in self.blocks:
            x = block(x, signal)
        return self.head(x[:, -outputs:])

    def named(self):
        yield "embedding", lambda of: of(self.embedding.weight)
        for name, p in self.scheme.named_parameters():
            yield f"encoding.{name}", lambda of, p=p: of(p)
        for n, b in enumerate(self.blocks):
            for i, part in enumerate(("query", "key", "value")):
                rows = slice(i * WIDTH, (i + 1) * WIDTH)
                yield f"block{n}.attention.{part}", lambda of, w=b.qkv.weight, rows=rows: of(w)[rows].T
            linears = [("attention.output", b.output), ("ffn.w1", b.w1), ("ffn.w2", b.w2)]
            vectors = [
                ("norm1.gain", b.norm1.weight),
                ("norm1.bias", b.norm1.bias),
                ("norm2.gain", b.norm2.weight),
                ("norm2.bias", b.norm2.bias),
                ("ffn.b1", b.w1.bias),
                ("ffn.b2", b.w2.bias),
            ]
            for name, layer in linears:
                yield f"block{n}.{name}", lambda of, w=layer.weight: of(w).T
            for name, p in vectors:
                yield f"block{n}.{name}", lambda of, p=p: of(p)
            for name, p in b.position.named_parameters():
                yield f"encoding.layer{n}.{name}", lambda of, p=p: of(p)
        yield "head.w", lambda of: of(self.head.weight).T
        yield "head.b", lambda of: of(self.head.bias)


class Peer(torch_base.Peer):
    mode = "reduce-overhead"  # options of torch.compile on a GPU: the launches of a block become CUDA graphs

    def __init__(self, options):
        # Block by block: 187 ms (rope, 20+20), and only one block is compiled, not five; the whole model at once takes
        # 213. With eager's random numbers: 206 ms; with the compiler's own 224.
        torch._inductor.config.fallback_random = options.device == "cpu"
        self.compiling = {"dynamic": options.dynamic, "mode": None if options.device == "cpu" else self.mode}
        super().__init__(options, Encoder(options))
        self.forms = self.model.scheme.forms

    def warm(self, what, sizes, data):
        """Chooses a form of attention, compiles, and returns the seconds that both took."""
        start = time.perf_counter()
        run = self.step if what == "steps" else self.evaluate
        sizes = list(dict.fromkeys(sizes))

        def milliseconds(form):
            self.attend(form)
            first = peer.timed(run, sizes[:1], data)[0][0]
            return min(peer.timed(run, sizes[:1] * (1 if first > 500 else 5), data)[0])

        form = self.options.form
        if len(self.forms) == 1:
            form = self.forms[0]
        elif form == "faster" and self.options.compile:
            # No trial here: the compiler's processes do not survive a fork. Plain, sdpa: 187 and 251 ms a step (rope,
            # 20+20), 206 and 211 (relative), 2515 and 690 a test (none, 500+500). Eager trials have the same winners.
            form = "plain" if what == "steps" else "sdpa"
        elif form == "faster":
            forms = self.forms  # a GPU does not survive a fork either, and its memory is not the process's
            form = peer.faster(forms, milliseconds) if self.options.device == "cpu" else min(forms, key=milliseconds)
        self.attend(form)
        peer.timed(run, sizes, data)
        return {"compile_seconds": time.perf_counter() - start, "form": form}

    def attend(self, form):
        for block in self.model.blocks:
            block.form = form

    def logits(self, batch):
        return self.model(self.there(batch.tokens), self.there(batch.positions), batch.targets.shape[1])


def main(kind, about):
    options = peer.parse(about, torch_schemes.SCHEMES)
    torch.manual_seed(1)
    torch.set_default_device(options.device)
    # Weights are filled on one thread: a child that peer.faster forks would wait for threads that it does not have.
    torch.set_num_threads(1)
    ours = kind(options)
    torch.set_num_threads(options.threads)
    peer.serve(ours)


if __name__ == "__main__":
    main(Peer, __doc__)
