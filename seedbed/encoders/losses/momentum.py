"""Momentum contrast: a queue of earlier vectors and a momentum encoder. Source: He et al. (2020, "Momentum contrast for
unsupervised visual representation learning").
"""

import copy
from typing import Self

import torch
from torch import Tensor, nn

from seedbed.io import UserError


class Queue(nn.Module):
    """A first-in, first-out queue of the last `size` vectors (width,), with an integer id for each. It starts empty; of
    size 0 it stays so.

    Its content is in buffers, so checkpoints contain it.
    """

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.register_buffer("held", torch.zeros(size, width))
        self.register_buffer("held_ids", torch.zeros(size, dtype=torch.int64))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    @property
    def vectors(self) -> Tensor:
        """The vectors in the queue (n, width), n <= size, oldest first."""
        return self.held[len(self.held) - int(self.count) :]

    @property
    def ids(self) -> Tensor:
        """The ids of the vectors (n,), as passed to `add`."""
        return self.held_ids[len(self.held) - int(self.count) :]

    @torch.no_grad()
    def add(self, vectors: Tensor, ids: Tensor) -> None:
        """Append vectors (n, width) with integer ids (n,), in this order; the oldest leave if there are more than
        `size`.

        Raises:
            UserError: shapes that do not fit.
        """
        size, width = self.held.shape
        if vectors.ndim != 2 or vectors.shape[1] != width or ids.shape != vectors.shape[:1]:
            raise UserError(
                f"queue: vectors {tuple(vectors.shape)} and ids {tuple(ids.shape)}; expected (n, {width}) and (n,)"
            )
        for held, new in ((self.held, vectors), (self.held_ids, ids)):
            held.copy_(torch.cat([held, new.to(held)])[len(new) :])
        self.count.add_(len(vectors)).clamp_(max=size)


@torch.no_grad()
def momentum_update(target: nn.Module, source: nn.Module, *, momentum: float) -> None:
    """Update a module's weights as an exponential moving average of another's, in place: t <- m t + (1 - m) s, in
    float32.

    Buffers are copied. Weights that both modules share are skipped. Source: paper 001, section 3.5.

    Args:
        target: the module that is updated. Its weights must be float32: with a momentum of 0.995, most steps would be
            rounded away in half precision.
        source: a module with weights of the same names and shapes, in any precision.
        momentum: m, at least 0 and below 1.

    Raises:
        UserError: different names or shapes, or half-precision weights in the target.
    """
    ours, theirs = dict(target.named_parameters()), dict(source.named_parameters())
    if [(name, x.shape) for name, x in ours.items()] != [(name, x.shape) for name, x in theirs.items()]:
        raise UserError("momentum: the two modules have other weights; one must be a copy of the other")
    apart = [(name, x, theirs[name]) for name, x in ours.items() if x.data_ptr() != theirs[name].data_ptr()]
    if half := [name for name, x, _ in apart if x.dtype.itemsize < 4]:
        raise UserError(f"momentum: {half[0]} is {ours[half[0]].dtype}; what follows must be float32")
    if apart:
        torch._foreach_lerp_([x for _, x, _ in apart], [y.to(x.dtype) for _, x, y in apart], 1 - momentum)
    for x, y in zip(target.buffers(), source.buffers(), strict=True):
        x.copy_(y)


class MomentumEncoder(nn.Module):
    """A copy of a module for momentum updates: without gradients, and always without dropout.

    Frozen weights are shared with the original instead of copied: in a multilingual encoder with frozen word embeddings
    that is most of the memory.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        frozen = {id(weight): weight for weight in module.parameters() if not weight.requires_grad}
        self.copy = copy.deepcopy(module, frozen).requires_grad_(False)
        self.eval()

    def train(self, mode: bool = True) -> Self:
        """Stay in evaluation mode, whatever `mode` says."""
        return super().train(False)
