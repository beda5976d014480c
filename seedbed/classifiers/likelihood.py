"""A language model as a classifier: the label whose text is the likeliest answer."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from peft import PeftModel
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from tqdm.auto import tqdm
from transformers import DynamicCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from seedbed.corpora.labels import LABELS
from seedbed.generators.backends import refuse_encoder_decoder
from seedbed.generators.backends.encoder_decoder import read_by_encoder
from seedbed.generators.examples import Texts
from seedbed.generators.models import open_adapter, open_language_model
from seedbed.generators.prefixed import read
from seedbed.generators.prompts import Style, encode, encode_completion, pair_prompt
from seedbed.weights import open_tokenizer


def label_scores(
    base: Path, rows: Iterable[Texts], *, adapter: Path | None, language: str, style: Style, batch_size: int = 32
) -> np.ndarray:
    """Log-likelihoods (n, labels) of each label as the answer to each pair, in nats; computed in float32.

    The token that ends an answer does not count: a base model need not know it.

    Args:
        rows: premise and hypothesis.
        adapter: of the task, composed or not; None for the model as it is.
        language: name of the language of the pairs.
    """
    tokenizer = open_tokenizer(base)
    refuse_encoder_decoder(base)
    model = open_language_model(base, dtype=torch.float32)
    model = open_adapter(model, adapter) if adapter else model
    model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    answers = [encode_completion(tokenizer, str(number), style)[:-1] for number in range(len(LABELS))]
    texts = [pair_prompt(row["premise"], row["hypothesis"], language, style) for row in rows]
    return log_likelihoods(model, [encode(tokenizer, text, style) for text in texts], answers, batch_size)


@torch.inference_mode()
def log_likelihoods(
    model: PreTrainedModel | PeftModel,
    prompts: Sequence[Sequence[int]],
    answers: Sequence[Sequence[int]],
    batch_size: int,
    told: Callable[[Sequence[int], np.ndarray], object] = lambda rows, found: None,
) -> np.ndarray:
    """Log-likelihood (prompts, answers) of each answer after each prompt, in nats, all given as token ids.

    A prompt is read once, whatever the number of answers; each answer is then read after the keys and values of a whole
    batch, which are cut back to the prompts. For models whose layers all have attention.

    Args:
        told: gets the numbers of the prompts of each batch, and their rows of the result, as they are there.
    """
    of_batch = _of_targets if model.config.is_encoder_decoder else _of_batch
    found = np.zeros((len(prompts), len(answers)))
    order = sorted(range(len(prompts)), key=lambda row: len(prompts[row]), reverse=True)  # memory runs out at once
    for start in tqdm(range(0, len(order), batch_size), desc="Prompts", unit="batch"):
        rows = order[start : start + batch_size]
        found[rows] = of_batch(model, [prompts[row] for row in rows], answers)
        told(rows, found[rows])
    return found


def left_padded(prompts: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Token ids (prompts, longest), filled up on the left, and their attention mask."""
    ids = [torch.tensor(prompt) for prompt in prompts]
    masks = [torch.ones_like(row) for row in ids]
    return tuple(pad_sequence(rows, batch_first=True, padding_side="left").to(device) for rows in (ids, masks))


def _of_batch(
    model: PreTrainedModel | PeftModel, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]]
) -> np.ndarray:
    """One batch. A cache that knows no config keeps all of a sliding window: it can be cut back."""
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


def _of_targets(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]]
) -> np.ndarray:
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
