"""The model of torch_decoder.py with its whole training step in one CUDA graph (torch_base.OneGraph)."""

import torch_base
import torch_decoder


class Peer(torch_base.OneGraph, torch_decoder.Peer):
    pass


if __name__ == "__main__":
    torch_decoder.main(Peer, __doc__)
