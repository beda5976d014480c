"""A batch that several processes encode: each its share of the texts, while the loss sees the vectors of all.

So the loss, with its negatives, its queues and its own weights, is that of one process in every process. It is computed
in each of them, which costs little compared with the encoding.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, distributed, nn

from seedbed import processes
from seedbed.encoders.losses.rows import select_texts
from seedbed.encoders.training.chunks import encoding_by


class Shares:
    """How this process encodes its share of each batch.

    Dropout is sampled by the seed, the step and the process. So a resumed training gives the same result, texts of two
    processes differ in dropout, and what a loss samples by torch's generator is the same in all processes.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.begin(0)

    def begin(self, step: int) -> None:
        """Begin a step of the optimiser, the first of which is 0."""
        self.step, self.pass_ = step, 0

    @contextlib.contextmanager
    def encoded_by(self, encoder: SentenceTransformer) -> Iterator[None]:
        """Context in which an encoder encodes a share wherever gradients are computed, and returns the vectors of all
        texts. With one process nothing changes.
        """
        whole = encoder.forward

        def forward(features: dict[str, Any], **options: Any) -> dict[str, Any]:
            if not torch.is_grad_enabled():
                return whole(features, **options)
            vectors = _Gathered.apply(self._own(whole, features), len(features["input_ids"]))
            return features | {"sentence_embedding": vectors}

        with encoding_by(encoder, forward) if processes.count() > 1 else contextlib.nullcontext():
            yield

    def _own(self, encode: Any, features: Mapping[str, Any]) -> Tensor:
        """The vectors of this process's share."""
        mine = share(len(features["input_ids"]))
        some = mine if mine.start < mine.stop else slice(0, 1)  # else its weights had no gradients
        drawn = np.random.SeedSequence([self.seed, self.step, self.pass_, processes.index()])
        self.pass_ += 1
        with torch.random.fork_rng():
            torch.manual_seed(int(drawn.generate_state(1, np.uint64)[0]))
            return encode(select_texts(features, some))["sentence_embedding"][: mine.stop - mine.start]


def share(rows: int) -> slice:
    """The slice of `rows` rows that this process encodes: equal slices, of which the last may be shorter or empty."""
    size = -(-rows // processes.count())
    start, stop = (min(place * size, rows) for place in (processes.index(), processes.index() + 1))
    return slice(start, stop)


class _Gathered(torch.autograd.Function):
    """The vectors (rows, width) of all rows, in every process, from those (share, width) of each.

    In the backward pass every process gets the gradient of the whole loss and passes on that of its own rows only. This
    is multiplied by the number of processes, because `average` divides the sum over the processes by it.
    """

    @staticmethod
    def forward(context: Any, own: Tensor, rows: int) -> Tensor:
        context.mine = share(rows)
        padded = own.new_zeros(-(-rows // processes.count()), *own.shape[1:])  # gloo gathers equal shapes
        padded[: len(own)] = own
        found = [torch.empty_like(padded) for _ in range(processes.count())]
        distributed.all_gather(found, padded)
        return torch.cat(found)[:rows]

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient[context.mine] * processes.count(), None


def average(weights: Iterable[nn.Parameter]) -> None:
    """Replace each weight's gradient by the mean over all processes, so that weights stay the same in all of them.

    The mean of an encoder's gradients is the sum of the shares' parts, see `_Gathered`; a loss's own weights have the
    whole gradient everywhere. All processes run the same modules: a weight has a gradient in all of them or in none.
    """
    if processes.count() == 1:
        return
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    for sent in [distributed.all_reduce(gradient, async_op=True) for gradient in gradients]:
        sent.wait()
    torch._foreach_div_(gradients, processes.count())
