"""The model of torch_encoder.py with its whole training step, forward, backward, clipping and Adam, in one CUDA graph.

The fastest form that PyTorch has for steps of one shape on a GPU. Blocks are compiled without graphs of their own; the
first step of a shape warms up on a side stream, is recorded, and is replayed from then on with other data.
"""

import peer
import torch
import torch_encoder
import torch_schemes


class Peer(torch_encoder.Peer):
    mode = None  # of torch.compile: no graphs inside the graph

    def __init__(self, options):
        super().__init__(options)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True, capturable=True)
        self.recorded = {}  # by the shapes of a batch: its graph, its tensors there, its loss

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
        return loss.clone()  # the next replay writes there


if __name__ == "__main__":
    torch_encoder.main(Peer, __doc__)
