"""The tape of the backward pass, as a list and as a picture."""

import numpy as np

from ._poslab import _inside
from .figures.notebook import pyplot


class Tape:
    """The record of a with-block, op by op.

        x = pl.Tensor([[1.0, 2.0]], requires_grad=True)
        with pl.Tape() as tape:
            loss = pl.sum_all(pl.softmax(x) * x)
        tape.steps                          # [("softmax", [inputs], [results]), ...] in the order of recording
        tape.plot(x=x, loss=loss)           # before or after loss.backward(), which adds norms of gradients

    A tape holds all tensors that it lists, so it takes memory for as long as it lives. If one tape is inside another,
    only the inner one lists the ops of its block."""

    def __init__(self):
        self.steps = []

    def __enter__(self):
        self._reader = _inside.TapeReader()
        self._reader.enter()
        return self

    def __exit__(self, *error):
        self._reader.exit()
        self.steps = self._reader.steps()

    def __len__(self):
        return len(self.steps)

    def __repr__(self):
        return "\n".join([f"tape of {len(self)} ops"] + [
            f"{n:3}  {op}({', '.join(_size(t) for t in inputs)}) -> {', '.join(_size(t) for t in results)}"
            for n, (op, inputs, results) in enumerate(self.steps, 1)])

    def plot(self, axes=None, **names):
        """Draws the tape from top to bottom, and returns the axes: a box for each op, with its number on the tape and
        the shape of its result, and a rounded box for each tensor that no op here made. names: labels of tensors. A
        box shows the norm of its gradient, if there is one; grey boxes need no gradient."""
        return _draw(self.steps, {_address(t): name for name, t in names.items()}, axes)


def _address(tensor):
    return tensor.numpy().__array_interface__["data"][0]     # a reshaped tensor counts as the same one


def _size(tensor):
    return "×".join(map(str, tensor.shape))


def _text(title, tensor):
    lines = [title, _size(tensor)]
    if tensor.grad is not None:
        lines.append(f"|grad| {np.linalg.norm(tensor.grad.numpy()):.3g}")
    return "\n".join(lines)


class _Node:
    def __init__(self, text, tensor, depth, op):
        self.text, self.depth, self.op, self.wanted, self.x = text, depth, op, tensor.requires_grad, 0.0


def _nodes_and_arrows(steps, names):
    nodes, arrows = {}, []
    for number, (op, inputs, results) in enumerate(steps, 1):
        for t in inputs:
            if _address(t) not in nodes:
                nodes[_address(t)] = _Node(_text(names.get(_address(t), "constant"), t), t, 0, False)
        depth = 1 + max((nodes[_address(t)].depth for t in inputs), default=0)
        for t in results:
            name = names.get(_address(t))
            title = f"{number} {op}" + (f" = {name}" if name else "")
            nodes[_address(t)] = _Node(_text(title, t), t, depth, True)
            arrows += [(_address(i), _address(t)) for i in inputs]
    readers = {}
    for here, there in arrows:
        readers.setdefault(here, []).append(nodes[there].depth)
    for address, node in nodes.items():
        if not node.op and address in readers:
            node.depth = min(readers[address]) - 1
    return nodes, arrows


def _draw(steps, names, axes):
    if not steps:
        raise ValueError("the tape is empty: the with-block had no op that needs a gradient; make a tensor with "
                         "requires_grad=True and compute with it there")
    nodes, arrows = _nodes_and_arrows(steps, names)
    rows = {}
    for node in nodes.values():
        rows.setdefault(node.depth, []).append(node)
    for row in rows.values():
        for place, node in enumerate(row):
            node.x = place - (len(row) - 1) / 2
    if axes is None:
        size = (1.9 * max(map(len, rows.values())) + 0.4, 1.05 * len(rows) + 0.2)
        axes = pyplot().subplots(figsize=size, layout="constrained")[1]
    for node in nodes.values():
        box = {"boxstyle": "square,pad=0.35" if node.op else "round,pad=0.4,rounding_size=0.6",
               "facecolor": ("#dbe9f6" if node.op else "#fde9c9") if node.wanted else "#ececec", "edgecolor": "#555"}
        node.drawn = axes.text(node.x, -node.depth, node.text, ha="center", va="center", fontsize=9, bbox=box, zorder=2)
    for here, there in arrows:
        a, b = nodes[here], nodes[there]
        axes.annotate("", (b.x, -b.depth), (a.x, -a.depth), zorder=1, arrowprops={
            "arrowstyle": "-|>", "color": "#555", "patchA": a.drawn.get_bbox_patch(),
            "patchB": b.drawn.get_bbox_patch(),
            "connectionstyle": "arc3,rad=0" if b.depth - a.depth == 1 else "arc3,rad=0.5"})   # around the boxes between
    widest = max(abs(node.x) for node in nodes.values()) + 0.55
    axes.set(xlim=(-widest, widest), ylim=(-max(rows) - 0.55, -min(rows) + 0.55))
    axes.set_axis_off()
    return axes
