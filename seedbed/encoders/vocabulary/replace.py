"""Vocabulary replacement: a backbone gets a tokenizer of one language and word embeddings for it (paper 004, section
3).
"""

import logging
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fasttext
import numpy as np
import torch
from torch import nn
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, PreTrainedModel, PreTrainedTokenizerBase

from seedbed import manifests
from seedbed.encoders.export.save import save
from seedbed.encoders.models.loading import Original, directory_of, without_pooler
from seedbed.encoders.models.mlm_head import open_masked
from seedbed.encoders.objectives.vocabulary import Vocabulary
from seedbed.encoders.vocabulary import focus, tokenizer
from seedbed.encoders.vocabulary.corpus import CorpusSentences
from seedbed.io import UserError
from seedbed.weights import LOCAL, REPORTED, is_pooler, open_tokenizer, opening, require_whole

log = logging.getLogger(__name__)

NUMBERED = ("pad_token", "bos_token", "eos_token", "cls_token", "sep_token", "mask_token")
"""Special tokens whose ids a model's config may have."""


def replace_vocabulary(
    original: Original,
    texts: CorpusSentences,
    settings: Vocabulary,
    output: Path,
    *,
    about: dict[str, Any],
    mask: bool = True,
    tell: manifests.Tell | None = None,
) -> dict[str, Any]:
    """Replace an encoder's vocabulary by one trained on a text, and save it; all weights but word embeddings are
    unchanged.

    A head for masked language modelling is saved too if the backbone has one; its decoder has the new word embeddings,
    and each bias is zero.

    Args:
        original: the encoder; its pooling and prompts are the new one's.
        texts: sentences in the language.
        settings: settings of the vocabulary.
        output: the folder that is written; it is replaced as a whole at the end.
        about: JSON for the manifest.
        mask: masked language modelling follows, so that the tokenizer needs a mask token.
        tell: writes the card; None: no card.

    Returns:
        The size of the vocabulary, the settings, the counts of `focus.initialise`, and for the old and the new
        tokenizer the share of unknown tokens and the mean number of tokens of a word, in held-out sentences.

    Raises:
        UserError: weights that cannot be loaded; a padding id that differs between tokenizer and config, or that
            positions depend on; a tokenizer that cannot be trained; too many unknown tokens in held-out sentences; or
            FOCUS without an anchor.
    """
    folder = directory_of(original.weights)
    source, model = open_tokenizer(folder), open_model(folder)
    _require_padding(original.weights, source, model)
    target = tokenizer.train_tokenizer(source, texts.training, settings, mask=mask)
    facts = _held_out(source, target, texts, settings)
    embeddings = model.get_input_embeddings().weight.detach().numpy()
    rows, counts = _rows(embeddings, source, target, texts, settings)
    _set(model, target, torch.from_numpy(rows), original.weights)
    found = {"vocabulary": len(target), **settings.model_dump(mode="json"), "sentences": texts.count, "rows": counts}
    encoder = original.with_transformer(model, target)
    save(encoder, output, about, found | facts, write_files=model.save_pretrained, used=versions(), tell=tell)
    return found | facts


def versions() -> dict[str, str]:
    """Versions of the libraries that a vocabulary and its word embeddings depend on."""
    return manifests.versions_of("tokenizers", "sentencepiece", "fasttext-wheel", "numpy", "torch", "transformers")


def open_model(folder: Path) -> PreTrainedModel:
    """Load a folder's transformer in float32, with its head for masked language modelling if it has one.

    Raises:
        UserError: it cannot be loaded, or weights other than a pooler's are missing.
    """
    with opening(folder):
        config = AutoConfig.from_pretrained(folder, **LOCAL)
    if type(config) in AutoModelForMaskedLM._model_mapping:
        model, missing = open_masked(folder, "take another backbone")
        if not missing:
            return model
    with opening(folder):
        options = REPORTED | {"dtype": torch.float32} | without_pooler(config)
        model, report = AutoModel.from_pretrained(folder, **LOCAL, **options)
    require_whole(folder, report, is_pooler)
    return model


def _require_padding(weights: Path, tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> None:
    if (told := model.config.pad_token_id) not in (None, own := tokenizer.pad_token_id):
        raise UserError(
            f"{weights}: the tokenizer's padding has id {own}, and config.json says {told}; save both with one id"
        )


def _held_out(
    source: PreTrainedTokenizerBase, target: PreTrainedTokenizerBase, texts: CorpusSentences, settings: Vocabulary
) -> dict[str, Any]:
    """Unknown tokens and tokens of a word by both tokenizers in held-out sentences; UserError: too many unknown."""
    share, length = tokenizer.unknown_share(target, texts.held_out())
    before, old_length = tokenizer.unknown_share(source, texts.held_out())
    if share > settings.unknown:
        raise UserError(
            f"vocabulary: {share:.1%} of the tokens of held-out sentences are unknown, over {settings.unknown:.1%}; "
            "give more text, or text in one script, or raise vocabulary.unknown"
        )
    return {"unknown": {"old": before, "new": share}, "tokens_of_a_word": {"old": old_length, "new": length}}


def _rows(
    embeddings: np.ndarray,
    source: PreTrainedTokenizerBase,
    target: PreTrainedTokenizerBase,
    texts: CorpusSentences,
    settings: Vocabulary,
) -> tuple[np.ndarray, dict[str, Any]]:
    """As `focus.initialise`, with auxiliary vectors of fastText or with `pieces`."""
    old = {token: place for token, place in tokenizer.match_tokens(source, target).items() if place < len(embeddings)}
    if settings.initialisation == "pieces":
        composed = tokenizer.pieces(source, target)
        return focus.initialise(embeddings, old, target.get_vocab(), {}, seed=settings.seed, pieces=composed)
    auxiliary = token_vectors((target.tokenize(text, verbose=False) for text in texts.all()), settings)
    return focus.initialise(embeddings, old, target.get_vocab(), auxiliary, seed=settings.seed)


def token_vectors(texts: Iterable[list[str]], settings: Vocabulary) -> dict[str, np.ndarray]:
    """Train fastText's CBOW on tokenised texts, in one thread, so that equal texts and settings give equal vectors,
    which measure the similarity of tokens within one vocabulary.

    Other options are fastText's defaults: character n-grams of 3 to 6 within a token, seed 0. Source: deepfocus 1.0.1,
    of Dobler and de Melo (2023).

    Args:
        texts: the tokens of each text.
        settings: dimensions, negatives, epochs, min_count and bucket are used.

    Returns:
        Token -> vector (dimensions,), of the tokens that occur min_count times or more, and of `</s>`, which fastText
        adds at the end of each text.

    Raises:
        UserError: no token occurs often enough.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "tokens.txt")
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(" ".join(tokens) + "\n" for tokens in texts)
        try:
            model = fasttext.train_unsupervised(
                str(file), model="cbow", dim=settings.dimensions, neg=settings.negatives, epoch=settings.epochs,
                minCount=settings.min_count, bucket=settings.bucket, thread=1, verbose=0,
            )  # fmt: skip
        except (RuntimeError, ValueError):  # "Empty vocabulary. Try a smaller -minCount value."
            raise UserError(
                f"vocabulary.min_count: no token is {settings.min_count} times in the text; give a smaller number, or "
                "take `initialisation: pieces`"
            ) from None
    return {token: model.get_word_vector(token) for token in model.get_words()}


def _set(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: torch.Tensor, weights: Path) -> None:
    """Give a model rows for the tokens of a tokenizer, in its embeddings, its head and its configuration."""
    pad = tokenizer.pad_token_id
    for module in model.modules():
        table = getattr(module, "position_embeddings", None)
        if isinstance(table, nn.Embedding) and table.padding_idx not in (None, pad):
            raise UserError(
                f"{weights}: positions count from the padding's id, {table.padding_idx}, which would be {pad}; save "
                "the tokenizer with its special tokens first"
            )
    model.resize_token_embeddings(len(rows), mean_resizing=False)
    embeddings = model.get_input_embeddings()
    with torch.no_grad():
        embeddings.weight.copy_(rows)
        decoder = model.get_output_embeddings()
        if decoder is not None and decoder.weight is not embeddings.weight:
            decoder.weight.copy_(rows)
        if decoder is not None and decoder.bias is not None:
            decoder.bias.zero_()
    if embeddings.padding_idx is not None:
        embeddings.padding_idx = pad
    for name in NUMBERED:
        if getattr(model.config, f"{name}_id", None) is not None:
            setattr(model.config, f"{name}_id", getattr(tokenizer, f"{name}_id"))
