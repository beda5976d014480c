"""How a tiny model is made to answer: random weights, and planted among them which word may follow which.

A random model goes on until it is cut, and what is cut is no translation. This one writes one word of each of several
groups, group after group, and ends: English words for a translator, numbers with signs between them for a judge. Which
word of a group it takes hangs on all that it has read, so that each text has a translation of its own, whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seedbed.languages import registry
from tests.rehearsal import replica
from tests.rehearsal.tokenizing import FURTHER, THOUGHTS
from tests.rehearsal.writing import whole

WORDS = 3
"""English words of a group; six groups make 729 sentences."""
NUMBERS = (("1", "2", "3"), (",",), ("4", "5", "6"), (";",), ("7", "8", "9"))
"""What a judge says: each token once, since the last one alone says which group is next."""
GROUPS = 5
"""Of words in any language: 243 sentences of each."""
STRENGTH = 4.0
"""Of what is planted, beside what is random."""
NOISE = 0.4
"""Of a word by itself."""


def english(tokenizer: PreTrainedTokenizerBase) -> list[list[int]]:
    """The groups of a translator."""
    words = whole(tokenizer, replica.words("eng"))
    groups = [words[first : first + WORDS] for first in range(0, len(words), WORDS)]
    return groups


def thought(tokenizer: PreTrainedTokenizerBase) -> list[list[int]]:
    """Those of one that ends its thoughts first, which its template began."""
    return [[tokenizer.convert_tokens_to_ids(THOUGHTS[1])], *english(tokenizer)]


def numbers(tokenizer: PreTrainedTokenizerBase) -> list[list[int]]:
    """The groups of a judge."""
    return [[tokenizer.convert_tokens_to_ids(one) for one in group] for group in NUMBERS]


def spoken(tokenizer: PreTrainedTokenizerBase) -> dict[int, list[list[int]]]:
    """The token of each language that NLLB knows -> its groups."""
    found = {}
    for lang in sorted({*replica.load("words.yaml"), *FURTHER}):
        token = tokenizer.convert_tokens_to_ids(registry()[lang]["flores"])
        words = whole(tokenizer, replica.words(lang))[: GROUPS * WORDS]
        if token != tokenizer.unk_token_id and len(words) == GROUPS * WORDS:
            found[token] = [words[first : first + WORDS] for first in range(0, len(words), WORDS)]
    return found


@torch.no_grad()
def plant_spoken(model: PreTrainedModel, languages: Mapping[int, Sequence[Sequence[int]]], end: int) -> None:
    """The same for a translator into many languages: the token with which a translation begins says whose words follow.

    Words have no places of their own, but groups have and languages, and what was read of a language may be written.
    """
    body = model.get_decoder()
    count = GROUPS + 1
    whose = range(2 * count, 2 * count + len(languages))
    for part in (body.get_input_embeddings(), model.get_output_embeddings()):
        nn.init.normal_(part.weight, std=NOISE)
        part.weight[:, : whose.stop] = 0
        part.weight[:, count - 1] = STRENGTH
        for place, (token, groups) in zip(whose, languages.items(), strict=True):
            part.weight[token, place] = STRENGTH
            for group, words in enumerate(groups):
                for word in words:
                    part.weight[word, count - 1] = 0
                    part.weight[word, [group, count + group, place]] = STRENGTH
        part.weight[end, 2 * count - 1] = 3 * STRENGTH  # it is of no language
    for layer in body.layers:
        _mixed(layer, whose.stop, _longer(body))
    follows = torch.block_diag(_follows([[group] for group in range(GROUPS)]), 8 * STRENGTH * torch.eye(len(whose)))
    _steps(body.layers[-1], follows * _longer(body), [*range(count), *whose], [*range(count, 2 * count), *whose])
    body.layer_norm.weight[:count] = 0.0


@torch.no_grad()
def plant(model: PreTrainedModel, groups: Sequence[Sequence[int]], end: int) -> None:
    """Tie each word to those of the next group, and those of the last to `end`.

    The first places of a state say which word was read last, or that it was none; as many more which may be written.
    The last layer leads from those to these, and nothing else writes to either.
    """
    body = model.get_decoder()
    words = [word for group in groups for word in group]
    count = len(words) + 1
    read, written = slice(0, count), slice(count, 2 * count)
    _words(model, words, end, read, written)
    for layer in body.layers:
        _mixed(layer, 2 * count, _longer(body))
    last = body.layers[-1]
    _steps(last, _follows(groups) * _longer(body), read, written)
    if _of_gemma(body):
        last.post_feedforward_layernorm.weight.fill_(4 * _longer(body) - 1)
    norms = [part for name, part in body.named_children() if name in ("norm", "layer_norm")]
    (norms or [last.final_layer_norm])[0].weight[read] = -1.0 if _of_gemma(body) else 0.0


def _words(model: PreTrainedModel, words: Sequence[int], end: int, read: slice, written: slice) -> None:
    """Embeddings and output rows, which may be the same: what was read, and what may be written."""
    for part in (model.get_decoder().get_input_embeddings(), model.get_output_embeddings()):
        nn.init.normal_(part.weight, std=NOISE)
        part.weight[:, : written.stop] = 0
        part.weight[:, read.stop - 1] = STRENGTH
        for place, word in enumerate(words):
            part.weight[word, read.stop - 1] = 0
            part.weight[word, [place, written.start + place]] = STRENGTH
        part.weight[end, written.stop - 1] = STRENGTH


def _follows(groups: Sequence[Sequence[int]]) -> torch.Tensor:
    """Which place may follow which (to, from); the last is none of the words, and the end."""
    numbers = [number for number, group in enumerate(groups) for _ in group]
    to, of = torch.tensor([*numbers, len(groups)]), torch.tensor([*numbers, -1])
    # An embedding that is an output too stands for its own word.
    return 8 * STRENGTH * ((to[:, None] == of + 1).float() - torch.eye(len(to)))


def _longer(body: nn.Module) -> float:
    """By how much it makes embeddings longer than they are, as far as nothing makes them shorter again."""
    config = body.config
    longer = _of_gemma(body) or (getattr(config, "scale_embedding", False) and config.model_type != "marian")
    return config.hidden_size**0.5 if longer else 1.0


def _of_gemma(body: nn.Module) -> bool:
    """Whether its norms multiply by one more than their weights."""
    return body.config.model_type.startswith("gemma")


def _mixed(layer: nn.Module, places: int, longer: float) -> None:
    """Attention that reads much of what stands before, and writes to no planted place."""
    for name, part in layer.named_modules():
        if name.endswith(("q_norm", "k_norm")):
            part.weight.fill_(3.0)
        if isinstance(part, nn.Linear):
            writes = name.endswith(("o_proj", "out_proj", "down_proj", "fc2"))
            asks = name.endswith(("q_proj", "k_proj"))
            nn.init.xavier_normal_(part.weight, gain=longer if writes else 4.0 if asks else 1.0)
            if writes:
                part.weight[:places] = 0
    if hasattr(layer, "pre_feedforward_layernorm"):  # of Gemma: what its blocks write is made as long as this
        for norm in (layer.post_attention_layernorm, layer.post_feedforward_layernorm):
            norm.weight.fill_(longer - 1)


def _steps(layer: nn.Module, follows: torch.Tensor, read: slice | list[int], written: slice | list[int]) -> None:
    """The last layer's way from the word that was read to those that may follow."""
    block = getattr(layer, "mlp", layer)
    count, gated = len(follows), hasattr(block, "up_proj")
    for part in (block.gate_proj, block.up_proj) if gated else (block.fc1,):
        part.weight.zero_()
        part.weight[:count, read] = torch.eye(count)
    last = block.down_proj if gated else block.fc2
    last.weight.zero_()
    last.weight[written, :count] = follows / (STRENGTH**2 if gated else STRENGTH)


KINDS = {"english": english, "numbers": numbers, "thought": thought}
"""By their names in models.yaml."""
