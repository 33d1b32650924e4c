"""The common part of the peers in PyTorch: weights, a training step with fused Adam, an evaluation, and the commands.

One step = forward, mean cross-entropy, backward, clip to norm 1 (foreach), Adam. With --precision bf16 the forward pass
is under autocast, and the loss in fp32.
"""

import time

import peer
import torch
from torch.nn import functional as F


def hello(program):
    """The description that a peer prints first; the CPU computes the products."""
    return {
        "program": program,
        "threads": torch.get_num_threads(),
        "isa": torch.backends.cpu.get_cpu_capability(),
        "blas": "MKL" if torch.backends.mkl.is_available() else "not MKL",
    }


class Peer:
    """A peer made of a model with `blocks` and `named()`. named() yields pairs: poslab's name, and a function that
    selects the part of that name, in poslab's layout, from a parameter's values or its gradient."""

    compiling = {}  # options for compiling a block

    def __init__(self, options, model):
        self.options, self.model, self.bf16 = options, model, options.precision == "bf16"
        self.fill()
        if options.compile:
            for block in model.blocks:
                block.compile(**self.compiling)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    @torch.no_grad()
    def fill(self):
        for name, piece in self.model.named():
            p = piece(lambda w: w.data)
            p.copy_(torch.from_numpy(peer.weight(name, *p.shape)))

    def hello(self):
        program = f"torch {torch.__version__}{' autocast' if self.bf16 else ''}"
        program += " compiled" if self.options.compile else ""
        return hello(program) | ({"blas": "cuBLAS"} if self.options.device == "cuda" else {})

    def warm(self, what, sizes, data):
        """Compiles, and returns the seconds that it took."""
        start = time.perf_counter()
        peer.timed(self.step if what == "steps" else self.evaluate, sizes, data)
        return {"compile_seconds": time.perf_counter() - start}

    def there(self, array):
        return torch.from_numpy(array).to(self.options.device, non_blocking=True)

    def logits(self, batch):
        raise NotImplementedError

    def in_precision(self, batch):
        """The logits in fp32, for any rounding of factors."""
        with torch.autocast(self.options.device, torch.bfloat16, enabled=self.bf16):
            return self.logits(batch).float()

    def loss(self, logits, batch):
        return F.cross_entropy(logits.flatten(0, 1), self.there(batch.targets).flatten().long())

    def step(self, batch):
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.in_precision(batch), batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()

    @torch.inference_mode()
    def evaluate(self, batch):
        self.model.eval()
        return (self.in_precision(batch).argmax(-1) == self.there(batch.targets)).float().mean()

    def tensors(self, what, batch):
        """Loss, logits and gradients, or the logits alone, with the formula's weights and without dropout."""
        self.fill()
        self.model.eval()
        if what == "eval":
            with torch.inference_mode():
                return [("logits", self.in_precision(batch).cpu().numpy())]
        self.optimizer.zero_grad(set_to_none=True)
        logits = self.in_precision(batch)
        loss = self.loss(logits, batch)
        loss.backward()
        found = [("loss", loss.detach().view(1).cpu().numpy()), ("logits", logits.detach().cpu().numpy())]
        gradients = ((name, piece(lambda w: w.grad)) for name, piece in self.model.named())
        return found + [(name, g.contiguous().cpu().numpy()) for name, g in gradients]


class OneGraph:
    """A mixin for a peer: the whole training step (forward, backward, clipping and Adam) is one CUDA graph, PyTorch's
    fastest way to run steps of one shape on a GPU. The first step of a shape warms up on a side stream and is recorded;
    later steps replay the graph with other data."""

    mode = None  # of torch.compile: its own CUDA graphs would be inside our graph

    def __init__(self, *options):
        super().__init__(*options)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True, capturable=True)
        self.recorded = {}  # {shapes of a batch: its graph, the graph's input tensors, the loss}

    def hello(self):
        said = super().hello()
        return said | {"program": said["program"] + ", a step is one graph"}

    def there(self, array):
        return array if torch.is_tensor(array) else super().there(array)

    def record(self, batch):
        kept = peer.Batch(*(self.there(x).clone() for x in batch))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                super().step(kept)
        torch.cuda.current_stream().wait_stream(side)
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = super().step(kept)
        return graph, kept, loss

    def step(self, batch):
        shapes = tuple(x.shape for x in batch)
        if shapes not in self.recorded:
            self.recorded[shapes] = self.record(batch)
        graph, kept, loss = self.recorded[shapes]
        for to, x in zip(kept, batch):
            to.copy_(torch.from_numpy(x), non_blocking=True)
        graph.replay()
        return loss.clone()  # the next replay overwrites it
