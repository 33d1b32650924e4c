"""AdamW and learning rate schedules, as in tests/nn/adam.cpp: tests/data/adamw.json has PyTorch's results, and `python
tests/torch/test_adamw.py` writes it."""

import json
import math
import pathlib

import torch

GOLDEN = pathlib.Path(__file__).parents[1] / "data/adamw.json"
STEPS, WARMUP, LR, FLOOR, DECAY = 100, 10, 0.01, 0.1, 0.1


def schedule(name, optimizer):
    s = torch.optim.lr_scheduler
    rise = s.LinearLR(optimizer, start_factor=1 / WARMUP, total_iters=WARMUP - 1)
    fall = {"constant": lambda: s.ConstantLR(optimizer, factor=1),
            "linear": lambda: s.LinearLR(optimizer, 1, FLOOR, total_iters=STEPS - WARMUP),
            "cosine": lambda: s.CosineAnnealingLR(optimizer, T_max=STEPS - WARMUP, eta_min=FLOOR * LR)}[name]()
    return s.SequentialLR(optimizer, [rise, fall], milestones=[WARMUP])


def gradient(n, step):
    return [math.sin(0.7 * i + 0.3 * step * (1 + i % 3)) * 0.03 * (1 + i % 5) for i in range(n)]


def trained(name):
    """A matrix (3, 4), which weight decay changes, and a vector (5), which it does not."""
    weights = [torch.tensor([math.cos(i) for i in range(n)], dtype=torch.float64).reshape(shape).requires_grad_()
               for n, shape in ((12, (3, 4)), (5, (5,)))]
    optimizer = torch.optim.AdamW([{"params": weights[:1], "weight_decay": DECAY},
                                   {"params": weights[1:], "weight_decay": 0.0}], lr=LR)
    rates, moves = [], schedule(name, optimizer)
    for step in range(STEPS):
        all_of_it = torch.tensor(gradient(17, step), dtype=torch.float64)
        assert all_of_it.norm() < 1                       # above 1 poslab clips, without PyTorch's epsilon
        weights[0].grad, weights[1].grad = all_of_it[:12].reshape(3, 4), all_of_it[12:]
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step(), moves.step()
    return {"rates": rates, "weights": torch.cat([w.detach().flatten() for w in weights]).tolist()}


def made():
    return {name: trained(name) for name in ("constant", "linear", "cosine")}


def test_the_golden_values_are_those_of_pytorch():
    golden = json.loads(GOLDEN.read_text())
    for name, now in made().items():
        for key, values in now.items():
            assert len(values) == len(golden[name][key]), (name, key)
            assert max(abs(a - b) for a, b in zip(values, golden[name][key])) < 1e-12, (name, key)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(made(), separators=(",", ":")).replace(',"', ',\n"') + "\n")
