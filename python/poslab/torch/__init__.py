"""Every encoding, sampler and temperature as a layer of PyTorch, run by poslab's kernels on the CPU.

    import poslab.torch as pt
    layer = pt.Attention("rerope:window=8", d_model=64, heads=4, causal=True)
    y = layer(x)                                # (B, T, C) -> (B, T, C), with gradients
    layer.logits(x), layer.weights(x)           # (B, H, T, T)

Tensors share their memory with the engine, whose parameters are parameters of the module. docs/torch.md has more.
Leaves out: CUDA, float16 and bfloat16, second derivatives.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "poslab.torch needs PyTorch, which is not installed here; pip install torch, or use poslab without it"
    ) from error

from .attention import Attention, Cache, Scheme
from .flex import mask_mod, score_mod
from .llama import patch

__all__ = ["Attention", "Cache", "Scheme", "mask_mod", "patch", "score_mod"]
