"""Training steps of the same model in PyTorch, written for speed: the peer that bench/steps.py times poslab against.

One step = draw a batch and positions, forward, mean cross-entropy, backward, clip to norm 1, Adam; dropout 0.1 where
spec B.3 has it. Idiomatic: one product for q, k and v; fused Adam; foreach clipping; attention by
scaled_dot_product_attention or by plain matmul and softmax, whichever a few steps find faster (or --attention names).
Leaves out: tasks (targets are random numbers: a step costs the same), per-layer and per-sequence positions.

    .venv/bin/python bench/peers/torch_train.py --encoding relative --positions randomized       # one JSON line
    .venv/bin/python bench/peers/torch_train.py --encoding rope --serve             # driven by bench/steps.py
"""

import argparse
import json
import math
import pathlib
import statistics
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "reference"))
import formula
import model as reference

LAYERS, HEADS, WIDTH = reference.LAYERS, reference.HEADS, reference.WIDTH
HEAD = WIDTH // HEADS


def rotary(positions):
    """cos and sin for interleaved pairs, each angle twice.                        (T, 1, D) each"""
    angle = positions[:, None] * 10000.0 ** (-torch.arange(HEAD // 2) / (HEAD // 2))
    angle = angle.repeat_interleave(2, -1)[:, None]
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    turned = torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)
    return x * cos + turned * sin


class Block(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.encoding, self.attention, self.rate = options.encoding, options.attention, options.dropout
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.w1, self.w2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        if options.encoding == "relative":
            self.u, self.v = nn.Parameter(torch.empty(HEADS, HEAD)), nn.Parameter(torch.empty(HEADS, HEAD))
            self.w = nn.Linear(WIDTH, WIDTH, bias=False)

    def relative(self, q, signal):
        """(q_i + v) . W PE, one logit for each pair.                q: (B, T, H, D) -> (B, H, T, T)"""
        time = q.shape[1]
        r = self.w(signal).unflatten(-1, (HEADS, HEAD))
        if signal.dim() == 3:  # true differences: r is (T, T, H, D)
            return torch.einsum("bihd,ijhd->bhij", q + self.v, r)
        s = (q + self.v).transpose(1, 2) @ r.permute(1, 2, 0)  # (B, H, T, 2T-1): row i, column j - i + T - 1
        s = s.flatten(-2)[..., time - 1 : time - 1 + time * (2 * time - 2)]  # Transformer-XL's shift: only a new view
        return s.unflatten(-1, (time, 2 * time - 2))[..., :time]

    def forward(self, x, signal):
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, HEAD)).unbind(2)
        bias = None
        if self.encoding == "rope":
            q, k = rotate(q, *signal), rotate(k, *signal)
        elif self.encoding == "alibi":
            bias = signal
        elif self.encoding == "relative":
            bias = self.relative(q, signal) / math.sqrt(HEAD)
            q = q + self.u
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if self.attention == "sdpa":
            o = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        else:
            s = (q / math.sqrt(HEAD)) @ k.transpose(-1, -2)
            o = torch.softmax(s if bias is None else s + bias, -1) @ v
        x = self.norm1(x + F.dropout(self.output(o.transpose(1, 2).flatten(-2)), self.rate, self.training))
        return self.norm2(x + F.dropout(self.w2(F.relu(self.w1(x))), self.rate, self.training))


class Encoder(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.options = options
        self.embedding = nn.Embedding(options.symbols_in, WIDTH)
        if options.encoding == "learned":
            self.table = nn.Embedding(options.max_position, WIDTH)
        self.blocks = nn.ModuleList(Block(options) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, options.symbols_out)
        self.slopes = torch.tensor(reference.alibi_slopes(HEADS))[:, None, None]

    def forward(self, tokens, positions):
        """positions: (T) of tokens, or (2T - 1) offsets for j - i = 1 - T .. T - 1."""
        o = self.options
        x = self.embedding(tokens) * math.sqrt(WIDTH)
        signal = None
        if o.encoding == "sincos":
            x = F.dropout(x + reference.sinusoid(positions, WIDTH), o.dropout, self.training)
        elif o.encoding == "learned":
            x = F.dropout(x + self.table(positions.long()), o.dropout, self.training)
        elif o.encoding == "rope":
            signal = rotary(positions)
        elif o.encoding in ("relative", "alibi"):
            distance = positions
            if o.positions == "randomized" and not o.offsets:
                distance = positions[None, :] - positions[:, None]
            if o.encoding == "relative":
                signal = reference.sinusoid(distance, WIDTH)
            else:
                if distance.dim() == 1:
                    slot = torch.arange(tokens.shape[1])
                    distance = distance[slot[None, :] - slot[:, None] + len(slot) - 1]
                signal = self.slopes * (0.5 * (distance < 0) - distance.abs())
        for block in self.blocks:
            x = block(x, signal)
        return self.head(x[:, -o.outputs :])

    def named(self):
        """(name in poslab, the piece of a parameter that holds it, stored transposed)."""
        yield "embedding", lambda of: of(self.embedding.weight), False
        if self.options.encoding == "learned":
            yield "encoding.table", lambda of: of(self.table.weight), False
        for n, b in enumerate(self.blocks):
            for i, part in enumerate(("query", "key", "value")):
                yield f"block{n}.attention.{part}", lambda of, b=b, i=i: of(b.qkv.weight)[
                    i * WIDTH : (i + 1) * WIDTH
                ], True
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
                yield f"block{n}.{name}", lambda of, w=layer.weight: of(w), True
            for name, p in vectors:
                yield f"block{n}.{name}", lambda of, p=p: of(p), False
            if self.options.encoding == "relative":
                yield f"encoding.layer{n}.w", lambda of, w=b.w.weight: of(w), True
                yield f"encoding.layer{n}.u", lambda of, p=b.u: of(p), False
                yield f"encoding.layer{n}.v", lambda of, p=b.v: of(p), False
        yield "head.w", lambda of: of(self.head.weight), True
        yield "head.b", lambda of: of(self.head.bias), False

    @torch.no_grad()
    def fill(self):
        """Weights from the formula that poslab's side computes too (tests/formula.h)."""
        for name, piece, transposed in self.named():
            p = piece(lambda w: w.data)
            values = torch.tensor(formula.weight(name, p.numel()), dtype=p.dtype)
            p.copy_(values.reshape(p.T.shape).T if transposed else values.reshape(p.shape))


class Trainer:
    def __init__(self, options):
        self.options = options
        self.model = Encoder(options)
        self.model.fill()
        self.run = torch.compile(self.model, dynamic=False) if options.compile else self.model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)
        if options.attention == "faster":
            trial = {}
            for attention in ("sdpa", "plain"):
                self.attend(attention)
                self.steps(2)
                trial[attention] = min(self.steps(5)["ms"])
            self.attend(min(trial, key=trial.get))

    def attend(self, attention):
        self.options.attention = attention
        for block in self.model.blocks:
            block.attention = attention

    def draw_positions(self):
        o, slots = self.options, self.options.length + self.options.outputs
        relative = o.encoding in ("relative", "alibi")
        if o.positions == "sequential":
            return torch.arange(1 - slots if relative else 0, slots).float()
        if o.offsets:
            right = 1 + torch.randperm(o.max_position - 1)[: slots - 1].sort().values.float()
            return torch.cat([-right.flip(0), torch.zeros(1), right])
        return torch.randperm(o.max_position)[:slots].sort().values.float()

    def step(self):
        o = self.options
        tokens = torch.full((o.batch, o.length + o.outputs), o.symbols_in - 1)
        tokens[:, : o.length] = torch.randint(0, o.symbols_in - 1, (o.batch, o.length))
        targets = torch.randint(0, o.symbols_out, (o.batch * o.outputs,))
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(self.run(tokens, self.draw_positions()).flatten(0, 1), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def steps(self, count):
        times = []
        for _ in range(count):
            start = time.perf_counter()
            loss = self.step()
            times.append(1e3 * (time.perf_counter() - start))
        return {"ms": times, "loss": loss}

    def check(self, path):
        """Loss, logits and gradients at the formula's weights, tokens and positions, dropout off: float32s in a row."""
        o, slots = self.options, self.options.length + self.options.outputs
        self.model.fill()
        self.model.eval()
        tokens = torch.full((o.batch, slots), o.symbols_in - 1)
        tokens[:, : o.length] = torch.tensor(
            formula.integers("check.tokens", o.batch * o.length, o.symbols_in - 1)
        ).view(o.batch, -1)
        targets = torch.tensor(formula.integers("check.targets", o.batch * o.outputs, o.symbols_out))
        positions = self.draw_positions()
        if o.positions == "randomized":
            positions = torch.tensor(formula.increasing("check.positions", slots)).float()
            if o.offsets:
                right = 1 + positions[:-1]
                positions = torch.cat([-right.flip(0), torch.zeros(1), right])
        self.optimizer.zero_grad(set_to_none=True)
        logits = self.run(tokens, positions)
        loss = F.cross_entropy(logits.flatten(0, 1), targets)
        loss.backward()
        tensors = [("loss", loss.detach().view(1)), ("logits", logits.detach())]
        for name, piece, transposed in self.model.named():
            g = piece(lambda w: w.grad)
            tensors.append((name, g.T if transposed else g))
        with open(path, "wb") as file:
            for _, x in tensors:
                file.write(x.contiguous().numpy().astype("<f4").tobytes())
        self.model.train()
        return {"tensors": [[name, x.numel()] for name, x in tensors]}


def serve(trainer):
    """The protocol of bench/steps.py: one JSON line at the start, then one for each line read."""
    o = trainer.options
    say = lambda answer: print(json.dumps(answer), flush=True)
    say(
        {
            "program": f"torch {torch.__version__}{' compiled' if o.compile else ''}",
            "threads": torch.get_num_threads(),
            "isa": torch.backends.cpu.get_cpu_capability(),
            "blas": "MKL" if torch.backends.mkl.is_available() else "not MKL",
            "attention": o.attention,
        }
    )
    for line in sys.stdin:
        words = line.split()
        if words[0] == "steps":
            say(trainer.steps(int(words[1])))
        elif words[0] == "check":
            say(trainer.check(words[1]))
        else:
            sys.exit(f"unknown command: {line}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--encoding", default="none", choices=["none", "sincos", "learned", "relative", "alibi", "rope"]
    )
    parser.add_argument("--positions", default="sequential", choices=["sequential", "randomized"])
    parser.add_argument("--relative-mode", default="paper", choices=["paper", "offset_table", "differences"])
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--outputs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--symbols-in", type=int, default=3, help="'empty' included")
    parser.add_argument("--symbols-out", type=int, default=2)
    parser.add_argument("--max-position", type=int, default=2048)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=0, help="default: all cores")
    parser.add_argument("--attention", default="faster", choices=["faster", "sdpa", "plain"])
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--serve", action="store_true")
    options = parser.parse_args()
    # A table of random offsets instead of differences: what the paper's text means for ALiBi (spec A.2).
    table = options.relative_mode == "offset_table" or (
        options.encoding == "alibi" and options.relative_mode == "paper"
    )
    options.offsets = options.encoding in ("relative", "alibi") and (options.positions == "sequential" or table)
    return options


def main():
    options = parse()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    trainer = Trainer(options)
    if options.serve:
        return serve(trainer)
    trainer.steps(5)  # warm: threads, memory, compilation
    done = trainer.steps(options.steps)
    print(
        json.dumps(
            {"ms_per_step": statistics.median(done["ms"]), "threads": torch.get_num_threads(), **done, **vars(options)}
        )
    )


if __name__ == "__main__":
    main()
