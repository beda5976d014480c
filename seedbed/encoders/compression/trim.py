"""Vocabulary trimming: an encoder without the tokens that texts do not use."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer
from torch import nn
from transformers import PreTrainedTokenizerFast

from seedbed.encoders.vocabulary.tokenizer import renumbered
from seedbed.io import UserError

KINDS = ("Unigram", "WordPiece")
"""Types of tokenizers that can be cut: how they split a word depends only on the tokens of that word."""


def count_tokens(encoder: SentenceTransformer, texts: Iterable[str]) -> Counter[int]:
    """Count the tokens of texts by id, without special tokens."""
    found: Counter[int] = Counter()
    for text in texts:
        found.update(encoder.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    return found


def kept_ids(tokenizer: PreTrainedTokenizerFast, counts: Counter[int], *, least: int = 1) -> list[int]:
    """The ids of the tokens that a trimmed tokenizer keeps, sorted.

    They are special tokens, tokens that occur `least` times or more by `counts` (token id -> occurrences in the texts),
    and single-letter tokens of the texts' letters in both cases, so that no word of these letters is unknown.
    """
    form = json.loads(tokenizer.backend_tokenizer.to_str())
    ids = {one["id"] for one in form["added_tokens"]} | {*tokenizer.all_special_ids}
    ids |= {token for token, count in counts.items() if count >= least}
    names = tokenizer.convert_ids_to_tokens(sorted(counts))
    letters = {other for name in names for letter in name for other in (letter, letter.lower(), letter.upper())}
    prefix = form["model"].get("continuing_subword_prefix") or "▁"
    ids |= {place for name, place in tokenizer.get_vocab().items() if name.removeprefix(prefix) in {*letters, ""}}
    return sorted(ids)


def cut_tokenizer(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> Tokenizer:
    """Make a tokenizer of a subset of tokens; the id at position n of `ids`, from 0, becomes n. Texts of these tokens
    are split as before.

    Raises:
        UserError: a tokenizer of another type than KINDS.
    """
    form = json.loads(tokenizer.backend_tokenizer.to_str())
    model, kind = form["model"], form["model"]["type"]
    if kind not in KINDS:
        raise UserError(f"copy: a tokenizer of kind {kind} cannot be cut; only {' and '.join(KINDS)} can")
    new = {old: place for place, old in enumerate(ids)}
    if kind == "Unigram":  # what was added beyond its vocabulary stays beyond it
        own = [old for old in ids if old < len(model["vocab"])]
        model |= {"vocab": [model["vocab"][old] for old in own], "unk_id": new[model["unk_id"]]}
    else:
        model["vocab"] = {name: new[old] for name, old in model["vocab"].items() if old in new}
    added = [one | {"id": new[one["id"]]} for one in form["added_tokens"]]
    names = {tokenizer.convert_ids_to_tokens(old): place for old, place in new.items()}
    processor = renumbered(form["post_processor"], names)
    whole = form | {"added_tokens": added, "post_processor": processor, "truncation": None, "padding": None}
    return Tokenizer.from_str(json.dumps(whole))


def trim(encoder: SentenceTransformer, texts: Sequence[str], *, least: int = 1) -> SentenceTransformer:
    """Remove from an encoder, in place, the tokens that neither the texts use nor its prompts followed by a text.

    With `least` 1 its vectors of these texts are unchanged. Source: Abdaoui et al. (2020, "Load what you need"), who
    trim multilingual models to the tokens of a language.

    Args:
        encoder: one with a plain transformer; it is changed in place and returned.
        texts: sentences without prompts.
        least: occurrences that a token needs.

    Raises:
        UserError: a tokenizer that cannot be cut.
    """
    counts: Counter[int] = Counter()
    for prompt in sorted({"", *encoder.prompts.values()}):
        counts |= count_tokens(encoder, (prompt + text for text in texts))
    tokenizer, model = encoder.tokenizer, encoder[0].auto_model
    ids = kept_ids(tokenizer, counts, least=least)
    places = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if getattr(places, "padding_idx", None) is not None:  # positions are counted from the id of padding on
        ids = sorted({*ids, *range(tokenizer.pad_token_id)})
    special = {name: value for name, value in tokenizer.special_tokens_map.items() if isinstance(value, str)}
    encoder[0].processor = PreTrainedTokenizerFast(
        tokenizer_object=cut_tokenizer(tokenizer, ids),
        **special,
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        padding_side=tokenizer.padding_side,
    )
    old = model.get_input_embeddings()
    padding = encoder.tokenizer.pad_token_id
    rows = nn.Embedding(len(ids), old.embedding_dim, padding_idx=padding)
    rows.weight.data = old.weight.data[ids].clone()
    model.set_input_embeddings(rows)
    model.config.vocab_size, model.config.pad_token_id = len(ids), padding
    return encoder
