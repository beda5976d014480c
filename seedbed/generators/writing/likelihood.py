"""Log-likelihoods of answers to prompts by a language model, computed in one of four ways.

Usually a batch of prompts is read once, and each answer after their cached keys and values. Prompts that begin alike
are read with their answers as a tree of tokens: one sequence in which each token attends to its ancestors only, at the
position of its depth. So what all candidates share is read once. A model that caches more than keys and values reads
whole sequences. An encoder-decoder reads prompts by its encoder and answers by its decoder.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from peft import PeftModel
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from tqdm.auto import tqdm
from transformers import DynamicCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from seedbed.batching import by_length
from seedbed.generators.writing.backends import Backend
from seedbed.generators.writing.backends.encoder_decoder import read_by_encoder
from seedbed.generators.writing.soft_prompts import followed, read
from seedbed.generators.writing.vllm_likelihood import by_vllm

MASKED = {"full_attention", "sliding_attention"}
"""Types of layers whose attention is given by a mask alone."""
ATTENTION = MASKED | {"chunked_attention"}
"""Types of layers that cache nothing but keys and values."""

Tokens = Sequence[int]
Report = Callable[[Sequence[int], np.ndarray], object]
"""Gets the numbers of some prompts, and their rows of the result, as soon as they are there."""


def answer_log_likelihoods(
    backend: Backend,
    prompts: Sequence[Tokens],
    answers: Sequence[Tokens],
    report: Report = lambda rows, found: None,
    *,
    alike: bool = False,
) -> np.ndarray:
    """Log-likelihood (prompts, answers) of each answer after each prompt, by an open back end; see `log_likelihoods`.
    The back end is one of `settings.WITH_LIKELIHOODS`, which `require_likelihoods` checks.

    Raises:
        UserError: an answer is longer than what the back end may write.
    """
    # By attributes: if their classes were imported, an edit of how they generate would re-run these jobs.
    if hasattr(backend, "model"):
        return log_likelihoods(backend.model, prompts, answers, backend.batch_size, report, alike=alike)
    return by_vllm(backend, prompts, answers, report)


@torch.inference_mode()
def log_likelihoods(
    model: PreTrainedModel | PeftModel,
    prompts: Sequence[Tokens],
    answers: Sequence[Tokens],
    batch_size: int,
    report: Report = lambda rows, found: None,
    *,
    alike: bool = False,
) -> np.ndarray:
    """Log-likelihood (prompts, answers) of each answer after each prompt, in nats, all given as token ids.

    The log-softmax is in float32, and summed over an answer's tokens in float64.

    Args:
        model: a decoder, maybe with an adapter, or an encoder-decoder.
        prompts: token ids of each prompt.
        answers: token ids of each answer.
        batch_size: prompts that are read at a time, the longest first: memory runs out at once or never.
        report: called with the prompts that are done, see `Report`.
        alike: the prompts begin alike, and are few: what they share is read once, and all are one batch.
    """
    layers = None if isinstance(model, PeftModel) else _layers(model)
    if alike and layers is not None:
        found = _of_tree(model, prompts, answers, layers)
        report(range(len(prompts)), found)
        return found
    of_batch = _of_targets if model.config.is_encoder_decoder else _of_batch if _attends(model) else _of_wholes
    found = np.zeros((len(prompts), len(answers)))
    batches = [*by_length([len(prompt) for prompt in prompts], batch_size)]
    for rows in tqdm(batches, desc="Prompts", unit="batch", disable=alike):
        found[rows] = of_batch(model, [prompts[row] for row in rows], answers)
        report(rows, found[rows])
    return found


def spines(answers: Sequence[Tokens]) -> list[tuple[int, ...]]:
    """The token sequences to encode after a prompt for the likelihoods of all answers; none is a prefix of another.

    For "1" to "10", with a token for each digit, that is only "1".
    """
    read = {tuple(answer[:length]) for answer in answers for length in range(len(answer))}
    return sorted(one for one in read if not any(len(two) > len(one) and two[: len(one)] == one for two in read))


@dataclass
class _Tree:
    """Token ids in an order in which each comes after its parent."""

    ids: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    places: dict[tuple[int, int], int] = field(default_factory=dict)
    """Parent and token -> place."""

    def add(self, tokens: Tokens, parent: int = -1) -> list[int]:
        """Add consecutive tokens after a parent (-1: at the root), and return their places."""
        found = []
        for token in tokens:
            if (parent, token) not in self.places:
                self.places[parent, token] = len(self.ids)
                self.ids.append(token)
                self.parents.append(parent)
                self.depths.append(self.depths[parent] + 1 if parent >= 0 else 0)
            parent = self.places[parent, token]
            found.append(parent)
        return found

    def seen(self) -> Tensor:
        """Whether a token (rows) sees another (columns): itself and its ancestors."""
        mask = torch.zeros(len(self.ids), len(self.ids), dtype=torch.bool)
        for place, parent in enumerate(self.parents):
            if parent >= 0:
                mask[place] = mask[parent]
            mask[place, place] = True
        return mask


def _kinds(model: PreTrainedModel | PeftModel) -> set[str]:
    """Types of a model's layers; empty if all are alike."""
    return {*(getattr(model.config.get_text_config(), "layer_types", None) or ())}


def _layers(model: PreTrainedModel) -> set[str] | None:
    """As `_kinds`; None: the model cannot read a tree of tokens, because of its positions or layers."""
    config, kinds = model.config.get_text_config(), _kinds(model)
    rotates = getattr(config, "rope_parameters", None) or getattr(config, "rope_theta", None)
    takes = "position_ids" in inspect.signature(model.forward).parameters
    ready = rotates and takes and model.config._attn_implementation in ("sdpa", "eager")
    return kinds if ready and kinds <= MASKED and not model.config.is_encoder_decoder else None


def _attends(model: PreTrainedModel | PeftModel) -> bool:
    """Whether a model caches nothing but keys and values, which can be cut back."""
    return not model._is_stateful and _kinds(model) <= ATTENTION


def _of_tree(
    model: PreTrainedModel, prompts: Sequence[Tokens], answers: Sequence[Tokens], layers: set[str]
) -> np.ndarray:
    tree = _Tree()
    ends = [tree.add(prompt)[-1] for prompt in prompts]
    # For each prompt and answer: the places of the tokens before the tokens of the answer.
    before = [[[end, *tree.add(answer[:-1], end)] for answer in answers] for end in ends]
    asked = sorted({place for rows in before for row in rows for place in row})
    chances = _of_places(model, tree, asked, layers)
    rows = {place: row for row, place in enumerate(asked)}
    found = np.empty((len(prompts), len(answers)))
    for number, of_answers in enumerate(before):
        for column, (answer, places) in enumerate(zip(answers, of_answers, strict=True)):
            taken = chances[[rows[place] for place in places], list(answer)]
            found[number, column] = taken.double().sum().item()
    return found


def _of_places(model: PreTrainedModel, tree: _Tree, asked: list[int], layers: set[str]) -> Tensor:
    """Log-probabilities (asked, vocabulary) of the next token after the tokens in these places."""
    device, config = model.device, model.config.get_text_config()
    depths = torch.tensor(tree.depths)
    seen = tree.seen()
    window = getattr(config, "sliding_window", None)
    near = seen & (depths[:, None] - depths < window) if window else seen
    masks = {
        name: torch.zeros(mask.shape, dtype=model.dtype).masked_fill(~mask, torch.finfo(model.dtype).min)[None, None]
        for name, mask in (("full_attention", seen), ("sliding_attention", near))
    }
    masks = {name: mask.to(device) for name, mask in masks.items()}
    output = model(
        input_ids=torch.tensor([tree.ids], device=device),
        position_ids=depths[None].to(device),
        attention_mask=masks if layers else masks["sliding_attention"],
        use_cache=False,
        logits_to_keep=torch.tensor(asked, device=device),
    )
    return output.logits[0].float().log_softmax(-1).cpu()


def _of_wholes(model: PreTrainedModel | PeftModel, prompts: Sequence[Tokens], answers: Sequence[Tokens]) -> np.ndarray:
    """Each prompt separately, encoded once with each spine, without a cache."""
    found = np.full((len(prompts), len(answers)), np.nan)
    for row, prompt in enumerate(prompts):
        for spine in spines(answers):
            whole = followed(prompt, spine)
            given = read(model, torch.tensor([whole], device=model.device), [whole])
            kept = torch.arange(len(prompt) - 1, len(whole), device=model.device)
            chances = model(**given, logits_to_keep=kept).logits[0].float().log_softmax(-1).cpu()
            for column, answer in enumerate(answers):
                if tuple(answer[:-1]) == spine[: len(answer) - 1]:
                    taken = chances[torch.arange(len(answer)), torch.tensor(list(answer))]
                    found[row, column] = taken.double().sum().item()
    return found


def left_padded(prompts: Sequence[Tokens], device: torch.device) -> tuple[Tensor, Tensor]:
    """Token ids (prompts, longest), filled up on the left, and their attention mask."""
    ids = [torch.tensor(prompt) for prompt in prompts]
    masks = [torch.ones_like(row) for row in ids]
    return tuple(pad_sequence(rows, batch_first=True, padding_side="left").to(device) for rows in (ids, masks))


def _of_batch(model: PreTrainedModel | PeftModel, prompts: Sequence[Tokens], answers: Sequence[Tokens]) -> np.ndarray:
    """One batch. The cache gets no config: so it keeps all of a sliding window, and can be cut back."""
    tokens, mask = left_padded(prompts, model.device)
    cache = DynamicCache()
    first = _chances(model, read(model, tokens, prompts), mask, cache, last=1)[:, 0]
    found = torch.empty(len(prompts), len(answers), dtype=torch.float64)
    for number, answer in enumerate(answers):
        ids = torch.tensor(list(answer), device=model.device)
        by_token = [first[:, ids[0]]]
        if more := len(answer) - 1:
            rows = ids.expand(len(prompts), -1)
            chances = _chances(model, {"input_ids": rows[:, :-1]}, pad(mask, (0, more), value=1), cache, last=more)
            by_token += chances.gather(2, rows[:, 1:, None])[:, :, 0].unbind(1)
            cache.crop(-more)
        found[:, number] = torch.stack(by_token).double().sum(0).cpu()
    return found.numpy()


def _of_targets(model: PreTrainedModel, prompts: Sequence[Tokens], answers: Sequence[Tokens]) -> np.ndarray:
    """One batch of an encoder-decoder: prompts to the encoder, each answer to the decoder, as training reads labels."""
    states, mask = read_by_encoder(model, prompts)
    found = torch.empty(len(prompts), len(answers), dtype=torch.float64)
    for number, answer in enumerate(answers):
        labels = torch.tensor([list(answer)] * len(prompts), device=model.device)
        output = model(encoder_outputs=BaseModelOutput(states), attention_mask=mask, labels=labels)
        chances = output.logits.float().log_softmax(-1)
        found[:, number] = chances.gather(2, labels[:, :, None])[:, :, 0].double().sum(1).cpu()
    return found.numpy()


def _chances(
    model: PreTrainedModel | PeftModel, given: dict[str, Tensor], mask: Tensor, cache: DynamicCache, *, last: int
) -> Tensor:
    """Log-probabilities (rows, last, vocabulary) of what follows each of the last tokens that are given, in float32.

    The positions are picked by a tensor, which copies them (see `HfBackend`).
    """
    (length,) = {each.shape[1] for each in given.values()}
    kept = torch.arange(length - last, length, device=model.device)
    places = (mask.cumsum(1) - 1).clamp(min=0)[:, -length:]
    cached = {"past_key_values": cache, "use_cache": True}
    output = model(**given, attention_mask=mask, position_ids=places, logits_to_keep=kept, **cached)
    return output.logits.float().log_softmax(-1)
