"""The tokenizers of the replica's models: of the real classes, in the real files, trained on the replica's own words."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceTrainer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertTokenizer,
    CohereTokenizer,
    GemmaTokenizer,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    RobertaTokenizer,
    T5Tokenizer,
    XGLMTokenizer,
    XLMRobertaTokenizer,
)

from seedbed.languages import registry
from seedbed.resources import resource
from tests.rehearsal import replica

GEMMA = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
TURNS = ("<start_of_turn>", "<end_of_turn>")
_FRAME = "{{{{ bos_token }}}}{{% for message in messages %}}{0}{{% endfor %}}{{% if add_generation_prompt %}}{1}{{% endif %}}"
CHAT = {
    "gemma": _FRAME.format(
        "<start_of_turn>{{ 'model' if message.role == 'assistant' else message.role }}\n{{ message.content | trim }}"
        "<end_of_turn>\n",
        "<start_of_turn>model\n",
    ),
    "llama": _FRAME.format(
        "<|start_header_id|>{{ message.role }}<|end_header_id|>\n\n{{ message.content | trim }}<|eot_id|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
    ),
    "cohere": _FRAME.format(
        "<|START_OF_TURN_TOKEN|>{{ '<|CHATBOT_TOKEN|>' if message.role == 'assistant' else '<|USER_TOKEN|>' }}"
        "{{ message.content | trim }}<|END_OF_TURN_TOKEN|>",
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    ),
}
"""Frames of conversations, of texts alone."""


def texts() -> Iterator[str]:
    """All words of the replica, the names of its languages, and prompts."""
    for lang in sorted(replica.load("words.yaml")):
        yield " ".join([*replica.words(lang), registry()[lang]["name"], *replica.words(lang)])
    for path in sorted(resource("prompts").glob("*.yaml")):
        yield path.read_text()


def gemma(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Byte pairs with ▁ for blanks, whole words of the replica's among them."""
    trained = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("▁", "merged_with_next"), pre_tokenizers.Punctuation("isolated")]
    )
    vocabulary, merges = _trained(trained, [*GEMMA, *(f"<0x{byte:02X}>" for byte in range(256)), *TURNS, "\n"])
    return GemmaTokenizer(vocab=vocabulary, merges=merges, extra_special_tokens=[*TURNS], **options)


def gemma_masked(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Gemma's for an encoder: texts stand between <bos> and <eos>."""
    tokenizer = gemma(folder, cls_token="<bos>", sep_token="<eos>", **options)
    ends = [("<bos>", GEMMA.index("<bos>")), ("<eos>", GEMMA.index("<eos>"))]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", pair="<bos> $A <eos> $B <eos>", special_tokens=ends
    )
    return tokenizer


def roberta(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pairs of bytes, in their own two files too."""
    vocabulary, merges = _trained(_bytes(), ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *map(" ".join, merges)]) + "\n")
    return RobertaTokenizer(vocab=vocabulary, merges=merges, **options)


def bloom(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pairs of bytes."""
    names = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    trained = _bytes()
    _trained(trained, [*names.values()])
    return PreTrainedTokenizerFast(tokenizer_object=trained, padding_side="left", **names, **options)


def llama(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pairs of bytes; nothing is there to pad with."""
    names = {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}
    trained = _bytes()
    _trained(trained, [*names.values(), "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>"])
    return PreTrainedTokenizerFast(tokenizer_object=trained, **names, **options)


def cohere(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pairs of bytes."""
    first = ["<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>", "<EOS_TOKEN>", "<EOP_TOKEN>"]
    turns = ["<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"]
    vocabulary, merges = _trained(_bytes(), [*first, *turns])
    return CohereTokenizer(vocab=vocabulary, merges=merges, extra_special_tokens=turns, **options)


def bert(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pieces of words, in a list of their own too."""
    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trained.train_from_iterator(
        texts(), trainers.WordPieceTrainer(vocab_size=2000, special_tokens=special, show_progress=False)
    )
    vocabulary = dict(sorted(trained.get_vocab().items(), key=lambda entry: entry[1]))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    return BertTokenizer(vocab=vocabulary, do_lower_case=False, **options)


def xlm_r(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pieces of SentencePiece's, whose own file stays beside."""
    _pieces(folder / "sentencepiece.bpe.model")
    return XLMRobertaTokenizer.from_pretrained(folder, **options)


def xglm(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """The same with made-up words at its end."""
    _pieces(folder / "sentencepiece.bpe.model")
    return XGLMTokenizer.from_pretrained(folder, **options)


def t5(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """The same in a file of another name, with other special tokens."""
    _pieces(folder / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    return T5Tokenizer.from_pretrained(folder, extra_ids=0, **options)


def _bytes() -> Tokenizer:
    blank = Tokenizer(models.BPE())
    blank.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    blank.decoder = decoders.ByteLevel()
    return blank


def _trained(blank: Tokenizer, special: Sequence[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Train byte pairs; their vocabulary and their merges."""
    alphabet = pre_tokenizers.ByteLevel.alphabet() if isinstance(blank.decoder, decoders.ByteLevel) else []
    trainer = trainers.BpeTrainer(
        vocab_size=8000, special_tokens=[*special], initial_alphabet=alphabet, show_progress=False
    )
    blank.train_from_iterator(texts(), trainer)
    found = json.loads(blank.to_str())["model"]
    return found["vocab"], [tuple(pair) for pair in found["merges"]]


def _pieces(file: Path, **numbers: int) -> None:
    """Train SentencePiece; `numbers` are those of special pieces."""
    pieces = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(" ".join(texts()).split()), model_writer=pieces, vocab_size=2000,
        hard_vocab_limit=False, character_coverage=1.0, minloglevel=2, **numbers,
    )  # fmt: skip
    file.write_bytes(pieces.getvalue())


KINDS: dict[str, Callable[..., PreTrainedTokenizerBase]] = {
    "bert": bert, "bloom": bloom, "cohere": cohere, "gemma": gemma, "gemma-masked": gemma_masked, "llama": llama,
    "roberta": roberta, "t5": t5, "xglm": xglm, "xlm-r": xlm_r,
}  # fmt: skip
"""By their names in models.yaml."""
