"""The tokenizers of the replica's models: of the real classes, in the real files, trained on the replica's own words."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertTokenizer,
    CohereTokenizer,
    GemmaTokenizer,
    LlamaTokenizer,
    M2M100Tokenizer,
    MarianTokenizer,
    NllbTokenizer,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    Qwen2Tokenizer,
    RobertaTokenizer,
    T5Tokenizer,
    XGLMTokenizer,
    XLMRobertaTokenizer,
)
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES

from seedbed.languages import registry
from seedbed.resources import resource
from tests.rehearsal import replica

GEMMA = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
TURNS = ("<start_of_turn>", "<end_of_turn>")
_FRAME = "{{{{ bos_token }}}}{{% for message in messages %}}{0}{{% endfor %}}{{% if add_generation_prompt %}}{1}{{% endif %}}"
_QWEN = (
    "{{% for message in messages %}}<|im_start|>{{{{ message.role }}}}\n{{{{ message.content }}}}<|im_end|>\n{{% endfor %}}"
    "{{% if add_generation_prompt %}}<|im_start|>assistant\n{0}{{% endif %}}"
)
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
    "qwen": _QWEN.format(""),
    "qwen3": _QWEN.format("{% if enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"),
    "r1": _FRAME.format(
        "{{ '<｜Assistant｜>' if message.role == 'assistant' else '<｜User｜>' }}{{ message.content }}",
        "<｜Assistant｜><think>\n",
    ),
}
"""Frames of conversations, of texts alone."""


FURTHER = ("amh", "aze", "ben", "ces", "ita", "jpn", "kin", "kir", "nld", "pol", "por", "tgl", "zsm")
"""Languages of the studies that words.yaml has not."""
THOUGHTS = ("<think>", "</think>")
"""What stands around a model's thoughts: tokens, and no special ones."""


def texts() -> Iterator[str]:
    """All words of the replica, the names of its languages, and prompts."""
    for lang in sorted({*replica.load("words.yaml"), *FURTHER}):
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


def qwen(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pairs of bytes, in their own two files too; a conversation's turns end otherwise than a text."""
    vocabulary, merges = _trained(_bytes(), ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *map(" ".join, merges)]) + "\n")
    turns = ["<|im_start|>", "<|im_end|>"]
    tokenizer = Qwen2Tokenizer(vocab=vocabulary, merges=merges, extra_special_tokens=turns, **options)
    tokenizer.add_tokens([*THOUGHTS])
    return tokenizer


def qwen_chat(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """The same, for which a turn's end is the end."""
    return qwen(folder, eos_token="<|im_end|>", **options)


def r1(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Qwen's with the tokens of DeepSeek's conversations, by themselves in one file."""
    names = {"bos_token": "<｜begin▁of▁sentence｜>", "eos_token": "<｜end▁of▁sentence｜>"}
    trained = _bytes()
    _trained(trained, [*names.values(), "<｜User｜>", "<｜Assistant｜>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=trained, pad_token=names["eos_token"], **names, **options)
    tokenizer.add_tokens([*THOUGHTS])
    return tokenizer


def mistral(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Byte pairs with ▁ for blanks; a text ends with </s>."""
    trained = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    trained.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    vocabulary, merges = _trained(trained, ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))])
    return LlamaTokenizer(vocab=vocabulary, merges=merges, pad_token="</s>", add_eos_token=True, **options)


def nllb(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Byte pairs of SentencePiece's, and a token for each of 202 languages."""
    _pieces(folder / "sentencepiece.bpe.model", 4000, model_type="bpe")
    return NllbTokenizer.from_pretrained(folder, extra_special_tokens=FAIRSEQ_LANGUAGE_CODES, **options)


def m2m100(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """The same for 100 languages, whose tokens stand after the list of pieces."""
    pieces = _pieces(folder / "sentencepiece.bpe.model", 4000, model_type="bpe")
    _numbered(folder, ["<s>", "<pad>", "</s>", "<unk>", *pieces])
    return M2M100Tokenizer.from_pretrained(folder, **options)


def marian(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pieces of both sides, each side's in a file of its own, numbered together."""
    pieces = _pieces(folder / "source.spm", 4000, model_type="bpe")
    (folder / "target.spm").write_bytes((folder / "source.spm").read_bytes())
    _numbered(folder, ["</s>", "<unk>", *pieces, "<pad>"])
    return MarianTokenizer.from_pretrained(folder, **options)


def cohere(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pairs of bytes."""
    first = ["<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>", "<EOS_TOKEN>", "<EOP_TOKEN>"]
    turns = ["<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"]
    vocabulary, merges = _trained(_bytes(), [*first, *turns])
    return CohereTokenizer(vocab=vocabulary, merges=merges, extra_special_tokens=turns, **options)


def bert(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pieces of words, in a list of their own too.

    Letters, and the commonest words: tokenizers' own trainer of such pieces gives others in each process.
    """
    divided = pre_tokenizers.BertPreTokenizer()
    counts = Counter(word for text in texts() for word, _ in divided.pre_tokenize_str(text))
    letters = sorted({letter for word in counts for letter in word})
    words = sorted(counts, key=lambda word: (-counts[word], word))
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = dict.fromkeys([*special, *letters, *(f"##{letter}" for letter in letters), *words])
    vocabulary = {piece: place for place, piece in enumerate(islice(pieces, 2000))}
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


def _numbered(folder: Path, pieces: Sequence[str]) -> None:
    """A list of pieces by their numbers."""
    (folder / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))


def _pieces(file: Path, size: int = 2000, **options: Any) -> list[str]:
    """Train SentencePiece; its pieces without the special ones, whose numbers the options may say."""
    trained = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(" ".join(texts()).split()), model_writer=trained, vocab_size=size,
        hard_vocab_limit=False, character_coverage=1.0, minloglevel=2, **options,
    )  # fmt: skip
    file.write_bytes(trained.getvalue())
    known = SentencePieceProcessor(model_proto=trained.getvalue())
    return [
        known.id_to_piece(number)
        for number in range(len(known))
        if not (known.is_control(number) or known.is_unknown(number))
    ]


KINDS: dict[str, Callable[..., PreTrainedTokenizerBase]] = {
    "bert": bert, "bloom": bloom, "cohere": cohere, "gemma": gemma, "gemma-masked": gemma_masked, "llama": llama,
    "m2m100": m2m100, "marian": marian, "mistral": mistral, "nllb": nllb, "qwen": qwen, "qwen-chat": qwen_chat, "r1": r1,
    "roberta": roberta, "t5": t5, "xglm": xglm, "xlm-r": xlm_r,
}  # fmt: skip
"""By their names in models.yaml."""
