"""The model of torch_encoder.py with its whole training step in one CUDA graph (torch_base.OneGraph)."""

import torch_base
import torch_encoder


class Peer(torch_base.OneGraph, torch_encoder.Peer):
    pass


if __name__ == "__main__":
    torch_encoder.main(Peer, __doc__)
