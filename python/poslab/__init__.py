"""Positional encodings and length generalization: the engine, its encodings, tasks and training, from Python.

    import poslab as pl
    x = pl.Tensor([[1.0, 2.0]], requires_grad=True)
    pl.sum_all(pl.softmax(x) * x).backward()        # x.grad
    pl.encodings.rerope(window=8).matrix(32)        # its value for each pair of slots, without a model
    pl.tasks.reverse_string.batch(8, length=20)     # tokens and targets
    run = pl.train(preset="tiny", task="even_pairs", encoding="rope", out="runs/rope")

docs/python.md has more. The C++ engine computes all numbers, so they equal those of the command line bit for bit.
"""

from . import _poslab
from ._poslab import *  # all ops, under their names
from .chosen import encodings, samplers, tasks, temperatures
from .figures.notebook import plot_lengths, plot_matrices
from .html import of_tensor
from .model import Model, load
from .own import Encoding, Sampler, Task, check
from .pages import Page, graph, inspect, report
from .runs import Run, evaluate, options, resume, train
from .sweeps import Reproduction, Sweep, reproduce, sweep
from .tape import Tape

_poslab.Tensor._repr_html_ = of_tensor
__version__ = _poslab.__version__
