"""Training a tokenizer of one language of the same type as a given one; equal texts give equal bytes.

transformers' `train_new_from_iterator` is not reproducible: scores of a unigram tokenizer differ by a thousandth from
run to run, and WordPiece selects other tokens, since its first ones are in the order of a hash.
"""

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import sentencepiece
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from seedbed.encoders.objectives.vocabulary import Vocabulary
from seedbed.io import UserError

Texts = Callable[[], Iterator[str]]
"""A function that iterates over texts from the first."""
START = "▁"
"""The mark of the start of a word."""
NO_TEXT = "\ufffd"
"""What decoders write for bytes that are not valid text."""
LONGEST = 2**20
"""The maximum length of a text for SentencePiece, in bytes."""


def train_tokenizer(
    source: PreTrainedTokenizerBase, texts: Texts, settings: Vocabulary, *, mask: bool = True
) -> PreTrainedTokenizerFast:
    """Train a tokenizer of the source's type, with its normaliser and its special tokens, which get the first ids.

    Unigram is trained by SentencePiece, which is reproducible for a fixed number of threads; WordPiece and BPE by
    `tokenizers`, WordPiece with a sorted initial alphabet of the characters that continue a word.

    Args:
        source: the old tokenizer.
        texts: iterated once or twice.
        settings: settings of the vocabulary.
        mask: the tokenizer must have a mask token, because masked language modelling follows.

    Raises:
        UserError: a source without fast tokenizer, of an unsupported type or without a mask token; or texts with too
            few distinct tokens for the vocabulary.
    """
    if not source.is_fast:
        raise UserError(f"{source.name_or_path}: no fast tokenizer, and no other can be trained; save it with one")
    form = json.loads(source.backend_tokenizer.to_str())
    special = _special(source, form, settings.mask_token, mask=mask)
    kind = form["model"]["type"]
    if kind not in (kinds := {"Unigram": _unigram, "WordPiece": _wordpiece, "BPE": _bpe}):
        raise UserError(f"{source.name_or_path}: a tokenizer of kind {kind}; expected one of {', '.join(kinds)}")
    if settings.size <= len(special):
        raise UserError(f"vocabulary.size: {settings.size}, and {len(special)} tokens are special; give more")
    model = kinds[kind](form, [token["content"] for token in special], texts, settings)
    if (found := len(model["vocab"])) != settings.size:
        raise _unfilled(settings.size, found)
    ids = {token["content"]: place for place, token in enumerate(special)}
    whole = form | {
        "truncation": None,
        "padding": None,
        "added_tokens": [token | {"id": place} for place, token in enumerate(special)],
        "post_processor": renumbered(form["post_processor"], ids),
        "model": form["model"] | model,
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(whole)),
        **source.special_tokens_map | ({"mask_token": settings.mask_token} if settings.mask_token in ids else {}),
        model_max_length=source.model_max_length,
        model_input_names=source.model_input_names,
        padding_side="right",
    )


def _special(source: PreTrainedTokenizerBase, form: dict[str, Any], piece: str, *, mask: bool) -> list[dict[str, Any]]:
    """The special tokens as a tokenizer's file has them, in the order of their ids; with the mask's piece, if given."""
    names = {*source.all_special_tokens}
    special = [token for token in form["added_tokens"] if token["special"] or token["content"] in names]
    if piece and source.mask_token not in (None, piece):
        raise UserError(f"vocabulary.mask_token: {piece!r}, but the backbone's is {source.mask_token!r}; leave it out")
    if piece and piece not in (vocabulary := source.get_vocab()):
        raise UserError(f"vocabulary.mask_token: {piece!r} is no token of the backbone; give one of its vocabulary")
    if mask and not piece and source.mask_token is None:
        raise UserError(
            f"{source.name_or_path}: its tokenizer has no mask token, for masked language modelling; name the piece "
            "that is to be it as vocabulary.mask_token, or take another backbone"
        )
    if piece and piece not in {token["content"] for token in special}:
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        special.append({"id": vocabulary[piece], "content": piece, **flags, "special": True})
    return sorted((token | {"special": True} for token in special), key=lambda token: token["id"])


def renumbered(processor: Any, ids: dict[str, int]) -> Any:
    """A post-processor of `tokenizers`, as JSON, with new ids of its special tokens (`ids`: token -> id); None is
    returned unchanged.
    """
    if not processor:
        return processor
    if processor["type"] == "Sequence":
        return processor | {"processors": [renumbered(one, ids) for one in processor["processors"]]}
    if processor["type"] == "TemplateProcessing":
        tokens = processor["special_tokens"]
        return processor | {
            "special_tokens": {
                name: one | {"ids": [ids[token] for token in one["tokens"]]} for name, one in tokens.items()
            }
        }
    return processor | {
        name: [processor[name][0], ids[processor[name][0]]] for name in ("sep", "cls") if name in processor
    }


def _unfilled(size: int, found: int) -> UserError:
    return UserError(
        f"vocabulary.size: {size} tokens, and the text fills {found}; give that many or fewer, or more text"
    )


def _unigram(form: dict[str, Any], special: list[str], texts: Texts, settings: Vocabulary) -> dict[str, Any]:
    """A unigram model trained by SentencePiece, in the form of `tokenizers`: tokens with log-probabilities."""
    kinds = _pre_tokenizers(form)
    if not kinds <= {"Metaspace", "WhitespaceSplit"}:
        raise UserError(f"tokenizer: unigram on words of {', '.join(sorted(kinds))}; expected Metaspace")
    bare, written = _empty(form, models.Unigram()), io.BytesIO()
    unknown = form["model"]["unk_id"]
    known = form["model"]["vocab"][unknown][0] if unknown is not None else ""
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(_normal(bare, text) for text in texts()), model_writer=written, model_type="unigram",
            vocab_size=settings.size - len(special) + 1, num_threads=settings.threads, minloglevel=2,
            normalization_rule_name="identity", max_sentence_length=LONGEST,
            unk_id=0, bos_id=-1, eos_id=-1, pad_id=-1,
        )  # fmt: skip
    except RuntimeError as error:  # its message alone says how many there are
        if found := re.search(r"value <= (\d+)", str(error)):
            raise _unfilled(settings.size, int(found[1]) + len(special) - 1) from None
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"vocabulary.size: {settings.size} tokens cannot be trained by SentencePiece ({reason})"
        ) from None
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    pieces = [(model.id_to_piece(place), model.get_score(place)) for place in range(1, model.get_piece_size())]
    learnt = [[piece, score] for piece, score in pieces if piece not in special]
    vocabulary = [[token, 0.0] for token in special] + learnt
    return {"vocab": vocabulary, "unk_id": special.index(known) if known else None}


def _normal(tokenizer: Tokenizer, text: str) -> str:
    """A text as a tokenizer normalises it before it splits it."""
    return tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text


def _empty(form: dict[str, Any], model: Any) -> Tokenizer:
    """A tokenizer with another model and no tokens."""
    empty = json.loads(Tokenizer(model).to_str())["model"]
    bare = {"added_tokens": [], "post_processor": None, "model": empty, "truncation": None, "padding": None}
    return Tokenizer.from_str(json.dumps(form | bare))


def _pre_tokenizers(form: dict[str, Any]) -> set[str]:
    """The types of a tokenizer's steps that split a text into words."""
    steps = form["pre_tokenizer"] or {"type": "None"}
    return {step["type"] for step in steps.get("pretokenizers", [steps])}


def _wordpiece(form: dict[str, Any], special: list[str], texts: Texts, settings: Vocabulary) -> dict[str, Any]:
    """A model of WordPiece: the characters that continue words come first, which a hash would order else."""
    model = form["model"]
    prefix = model["continuing_subword_prefix"]
    bare = _empty(form, models.WordPiece(unk_token=model["unk_token"], continuing_subword_prefix=prefix))
    inside = {letter for text in texts() for word in _words(bare, text) for letter in word[1:]}
    given = [f"{prefix}{letter}" for letter in sorted(inside)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=settings.size,
        special_tokens=[*special, *given],
        continuing_subword_prefix=prefix,
        show_progress=False,
    )
    bare.train_from_iterator(texts(), trainer)
    return {"vocab": json.loads(bare.to_str())["model"]["vocab"]}


def _words(tokenizer: Tokenizer, text: str) -> Iterator[str]:
    normal, splitter = _normal(tokenizer, text), tokenizer.pre_tokenizer
    return (word for word, _ in splitter.pre_tokenize_str(normal)) if splitter else iter([normal])


def _bpe(form: dict[str, Any], special: list[str], texts: Texts, settings: Vocabulary) -> dict[str, Any]:
    """A model of byte-pair encoding."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet()) if "ByteLevel" in _pre_tokenizers(form) else []
    bare = _empty(form, models.BPE(unk_token=form["model"].get("unk_token")))
    trainer = trainers.BpeTrainer(
        vocab_size=settings.size, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    bare.train_from_iterator(texts(), trainer)
    model = json.loads(bare.to_str())["model"]
    return {"vocab": model["vocab"], "merges": model["merges"]}


def comparable_forms(tokenizer: PreTrainedTokenizerBase) -> dict[str, str]:
    """Token -> the spelling by which tokens of two tokenizers are compared: its text, with ▁ where a word begins.

    Special tokens are compared like others. Source: deepfocus 1.0.1, of Dobler and de Melo (2023), which unlike this
    function gives all incomplete characters one form, and all white space too (docs/papers/modular.md).
    """
    model = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    if model["type"] == "WordPiece":
        prefix = model["continuing_subword_prefix"]
        return {
            token: token.removeprefix(prefix) if token.startswith(prefix) else START + token
            for token in tokenizer.get_vocab()
        }
    byte_level = isinstance(tokenizer.backend_tokenizer.decoder, decoders.ByteLevel)
    return {token: _text_of_bytes(token) if byte_level else token for token in tokenizer.get_vocab()}


def _text_of_bytes(token: str) -> str:
    """The form of a token of bytes: its text; where bytes are a part of a character, the token itself, marked."""
    text = decoders.ByteLevel().decode([token])
    return f"{NO_TEXT}{token}" if NO_TEXT in text else text.replace(" ", START)


def match_tokens(source: PreTrainedTokenizerBase, target: PreTrainedTokenizerBase) -> dict[str, int]:
    """Token of the target -> id of the source's token of the same form; of several the highest id, as in deepfocus."""
    known, ids = comparable_forms(source), source.get_vocab()
    found = {known[token]: ids[token] for token in sorted(ids, key=ids.__getitem__)}
    return {token: found[form] for token, form in comparable_forms(target).items() if form in found}


def pieces(source: PreTrainedTokenizerBase, target: PreTrainedTokenizerBase) -> dict[str, list[int]]:
    """Token of the target -> ids of the source's tokens into which the source splits it, without unknown ones."""
    model, unknown = source.backend_tokenizer.model, source.unk_token_id
    prefix = getattr(model, "continuing_subword_prefix", None) or ""
    return {
        token: [piece.id for piece in model.tokenize(token.removeprefix(prefix)) if piece.id != unknown]
        for token in target.get_vocab()
    }


def unknown_share(tokenizer: PreTrainedTokenizerBase, texts: Iterable[str]) -> tuple[float, float]:
    """The share of unknown tokens in texts, and the mean number of tokens of a word; words are separated by spaces.

    Raises:
        UserError: the texts have no token.
    """
    tokens = words = unknown = 0
    for text in texts:
        ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        tokens += len(ids)
        words += len(text.split())
        unknown += ids.count(tokenizer.unk_token_id)
    if not tokens:
        raise UserError("vocabulary: the held-out sentences have no token; give more text")
    return unknown / tokens, tokens / words
