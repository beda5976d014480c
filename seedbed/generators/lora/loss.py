"""Batches of examples, and the loss of completions, with logits only for tokens that have a loss.

Gemma 3 has a vocabulary of 262k tokens, and most tokens of an example are prompt, which has no loss.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Sampler
from transformers import PreTrainedModel

from seedbed.generators.lora.data import Example

IGNORED = -100
"""Label of a position without loss, as in transformers."""
WINDOW = 50
"""Number of micro batches that are sorted by length together: padding decreases, and the order stays random."""
CHUNK = 128
"""Number of positions whose logits are computed at once: 134 MB in float32 for 262k tokens."""


def collate(examples: Sequence[Example]) -> dict[str, Tensor]:
    """A batch of examples, padded on the right: `input_ids`, `attention_mask` and `labels`, (B, T) each."""
    rows = {
        "input_ids": [one.prompt + one.completion for one in examples],
        "attention_mask": [[1] * len(one) for one in examples],
        "labels": [[IGNORED] * len(one.prompt) + one.completion for one in examples],
    }
    filler = {"labels": IGNORED}
    return {name: pad_sequence([*map(torch.tensor, each)], True, filler.get(name, 0)) for name, each in rows.items()}


class ByLength(Sampler[int]):
    """Sampler of batches with similar lengths in a random order, which differs between epochs.

    Unlike transformers' group_by_length, it has no descending order of lengths, which would tie a step's number to
    length.
    """

    def __init__(self, lengths: Sequence[int], size: int, seed: int) -> None:
        self.lengths, self.size, self.seed, self.epoch = lengths, size, seed, 0

    def __len__(self) -> int:
        return len(self.lengths)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        draw = random.Random(f"{self.seed}/{self.epoch}")
        order = draw.sample(range(len(self.lengths)), len(self.lengths))
        whole = len(order) // self.size * self.size
        windows = [order[start:whole][: WINDOW * self.size] for start in range(0, whole, WINDOW * self.size)]
        ordered = [index for window in windows for index in sorted(window, key=self.lengths.__getitem__)]
        runs = [ordered[start : start + self.size] for start in range(0, whole, self.size)]
        draw.shuffle(runs)
        yield from (index for run in runs for index in run)
        yield from order[whole:]  # a short run must be the last, or it would shift all that follow


def completion_loss(model: PeftModel, batch: Mapping[str, Tensor]) -> Tensor:
    """Summed cross-entropy of the completion tokens, in nats: transformers' loss, without logits of other tokens.

    Args:
        model: the language model with its adapter.
        batch: `input_ids`, `attention_mask` and `labels`, each (B, T), see `collate`.

    Returns:
        A float32 scalar, differentiable with respect to the body of the model, not to the head.
    """
    base = model.get_base_model()
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    hidden = base.get_decoder()(**inputs, use_cache=False).last_hidden_state[:, :-1]
    targets = batch["labels"][:, 1:].to(hidden.device)
    learnt = targets != IGNORED
    return _HeadLoss.apply(hidden[learnt], targets[learnt], partial(logits_of, base))


class _HeadLoss(torch.autograd.Function):
    """Summed cross-entropy behind a frozen head. The gradient is taken while a chunk's logits exist, then they go."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, targets: Tensor, logits: Callable[[Tensor], Tensor]) -> Tensor:
        total, slopes = torch.zeros((), device=hidden.device), []
        chunks = -(-len(targets) // CHUNK)
        for positions, wanted in zip(hidden.detach().chunk(chunks), targets.chunk(chunks), strict=True):
            with torch.enable_grad():
                scores = logits(positions.requires_grad_())
            log_probability = scores.detach().log_softmax(-1, dtype=torch.float32)
            place = (torch.arange(len(wanted), device=scores.device), wanted.to(scores.device))
            total -= log_probability[place].sum().to(total.device)
            slope = log_probability.exp_()
            slope[place] -= 1
            slopes += torch.autograd.grad(scores, positions, slope.to(scores.dtype))
        ctx.save_for_backward(torch.cat(slopes))
        return total

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        (slope,) = ctx.saved_tensors
        return slope * upstream, None, None


def logits_of(base: PreTrainedModel, hidden: Tensor) -> Tensor:
    """Logits (n, vocabulary) of last hidden states (n, width)."""
    scores = base.get_output_embeddings()(hidden)
    cap = getattr(base.config.get_text_config(), "final_logit_softcapping", None)
    return scores if cap is None else cap * torch.tanh(scores / cap)
