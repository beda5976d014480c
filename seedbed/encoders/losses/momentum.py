"""Momentum contrast: a queue of vectors, and a copy of an encoder that follows it slowly. Source: He et al. (2020)."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from seedbed.io import UserError


class Queue(nn.Module):
    """The last vectors that were added, at most `size` of them: first in, first out. It starts empty.

    Its state is in buffers.

    Raises:
        UserError: a size or width below 1.
    """

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        if min(size, width) < 1:
            raise UserError(f"queue: size {size}, width {width}; both must be at least 1")
        self.register_buffer("held", torch.zeros(size, width))
        self.register_buffer("held_ids", torch.zeros(size, dtype=torch.int64))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    @property
    def vectors(self) -> Tensor:
        """Vectors (n, width), n <= size, oldest first."""
        return self.held[len(self.held) - int(self.count) :]

    @property
    def ids(self) -> Tensor:
        """What the vectors are of (n,), as given to `add`."""
        return self.held_ids[len(self.held) - int(self.count) :]

    @torch.no_grad()
    def add(self, vectors: Tensor, ids: Tensor) -> None:
        """Add vectors (n, width) with their ids (n,), in this order; as many of the oldest go as have no place.

        Raises:
            UserError: shapes that do not fit.
        """
        size, width = self.held.shape
        if vectors.ndim != 2 or vectors.shape[1] != width or ids.shape != vectors.shape[:1]:
            raise UserError(
                f"queue: vectors {tuple(vectors.shape)} and ids {tuple(ids.shape)}; expected (n, {width}) and (n,)"
            )
        for held, new in ((self.held, vectors), (self.held_ids, ids)):
            held.copy_(torch.cat([held, new.to(held)])[-size:])
        self.count.add_(len(vectors)).clamp_(max=size)


@torch.no_grad()
def follow(target: nn.Module, source: nn.Module, *, momentum: float) -> None:
    """Move a module's weights towards another's, in place: t <- momentum t + (1 - momentum) s, in float32.

    Buffers are copied. What both share stays as it is. Source: paper 001, section 3.5.

    Args:
        target: its weights are float32: at a momentum of 0.995 half precision would round most steps to none.
        source: a module with the same weights by name and shape, in any precision.
        momentum: at least 0, below 1.

    Raises:
        UserError: such a momentum, other names or shapes, or weights of the target in half precision.
    """
    if not 0 <= momentum < 1:
        raise UserError(f"momentum: {momentum}; it must be at least 0 and below 1")
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


class Follower(nn.Module):
    """A copy of a module for `follow`: without gradients, and without dropout for good.

    Frozen weights are no copies but the module's own: for a multilingual encoder, whose word embeddings are most of
    it, that is most of the memory.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        frozen = {id(weight): weight for weight in module.parameters() if not weight.requires_grad}
        self.copy = copy.deepcopy(module, frozen).requires_grad_(False)
        self.eval()

    def train(self, mode: bool = True) -> Follower:
        """It stays as in use, whatever is asked for."""
        return super().train(False)
