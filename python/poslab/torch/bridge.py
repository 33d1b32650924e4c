"""A call of the engine as a step of PyTorch's autograd. Both sides share the memory of values, and PyTorch gets the
gradients."""

import torch
from torch.autograd.function import once_differentiable

from .. import _poslab as engine


def shared(tensor, name, gradient=False):
    """A tensor of PyTorch as one of the engine, on the same memory if it is contiguous. Raises ValueError unless it is
    float32 on the CPU."""
    if tensor.device.type != "cpu":
        raise ValueError(f"poslab.torch: {name} is on {tensor.device}, but poslab.torch runs on the CPU; "
                         "move the model and its inputs there with .cpu()")
    if tensor.dtype != torch.float32:
        raise ValueError(f"poslab.torch: {name} is {tensor.dtype}, and the engine computes in float32; use .float()")
    if not tensor.numel():
        raise ValueError(f"poslab.torch: {name} is {tuple(tensor.shape)}, which is empty; give one sequence and one "
                         "slot or more")
    own = engine.from_numpy(tensor.detach().contiguous().numpy())
    return own.require_grad() if gradient else own


def of_engine(tensor):
    """The reverse of shared(): a tensor of PyTorch on the memory of an engine's tensor, which it keeps alive."""
    return torch.from_numpy(tensor.numpy())


def at_one_place(own, tensor):
    """Whether a parameter of the engine shares its memory with the tensor of PyTorch."""
    return own.numpy().ctypes.data == tensor.data_ptr() and tensor.is_contiguous()


def call(function, inputs, parameters):
    """function(**inputs), with gradients. inputs: tensors of PyTorch by name; those that are None are left out.
    parameters: pairs of an engine's parameter and the PyTorch tensor with the same values, which gets the gradient."""
    inputs = {name: tensor for name, tensor in inputs.items() if tensor is not None}
    if torch.is_autocast_enabled("cpu"):        # autocast has rounded them to bfloat16
        inputs = {name: tensor.float() for name, tensor in inputs.items()}
    own, theirs = [p[0] for p in parameters], [p[1] for p in parameters]
    tensors = [*inputs.values(), *theirs]
    recorded = torch.is_grad_enabled() and engine._inside.recording() and any(t.requires_grad for t in tensors)
    with torch.set_grad_enabled(recorded):
        return _Call.apply(function, list(inputs), own, recorded, *tensors)


class _Call(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, names, parameters, recorded, *tensors):
        inputs = [shared(t, name, recorded and t.requires_grad) for name, t in zip(names, tensors)]
        if not recorded:
            with engine.no_grad():
                return of_engine(function(**dict(zip(names, inputs))))
        since = engine.tape_length()
        try:
            y = function(**dict(zip(names, inputs)))
        finally:
            ctx.piece = engine._inside.TapePiece(since)
        ctx.y, ctx.inputs = y, [*inputs, *parameters]
        result = of_engine(y)
        ctx.save_for_backward(*tensors, result)             # so that PyTorch raises in backward() if one has changed
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        ctx.saved_tensors    # noqa: B018 (PyTorch raises here if one has been changed)
        wanted = [x if needed else None for x, needed in zip(ctx.inputs, ctx.needs_input_grad[4:])]
        for x in ctx.inputs:
            x.clear_grad()
        ctx.piece.backward(ctx.y, shared(dy, "a gradient"))
        gradients = [None if x is None else of_engine(engine._inside.take_grad(x)) for x in wanted]
        return None, None, None, None, *gradients
