"""The tokenizers of the replica's models: of the real classes, in the real files, trained on the replica's own words."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceTrainer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import GemmaTokenizer, PreTrainedTokenizerBase, XLMRobertaTokenizer

from seedbed.languages import registry
from tests.rehearsal import replica

PROMPTS = Path(__file__).parents[2] / "resources" / "prompts"
GEMMA = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
TURNS = ("<start_of_turn>", "<end_of_turn>")
CHAT = (
    "{{ bos_token }}{% for message in messages %}<start_of_turn>"
    "{{ 'model' if message.role == 'assistant' else message.role }}\n{{ message.content | trim }}<end_of_turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
"""Gemma's frame, of texts alone."""


def texts() -> Iterator[str]:
    """All words of the replica, the names of its languages, and prompts."""
    for lang in sorted(replica.load("words.yaml")):
        yield " ".join([*replica.words(lang), registry()[lang]["name"], *replica.words(lang)])
    for path in sorted(PROMPTS.glob("*.yaml")):
        yield path.read_text()


def gemma(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Byte pairs with ▁ for blanks, whole words of the replica's among them; without a chat template."""
    trained = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("▁", "merged_with_next"), pre_tokenizers.Punctuation("isolated")]
    )
    special = [*GEMMA, *(f"<0x{byte:02X}>" for byte in range(256)), *TURNS, "\n"]
    trained.train_from_iterator(
        texts(), trainers.BpeTrainer(vocab_size=8000, special_tokens=special, show_progress=False)
    )
    found = json.loads(trained.to_str())["model"]
    merges = [tuple(pair) for pair in found["merges"]]
    return GemmaTokenizer(vocab=found["vocab"], merges=merges, extra_special_tokens=list(TURNS), **options)


def gemma_chat(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """The same with the frame of a conversation."""
    return gemma(folder, chat_template=CHAT, **options)


def gemma_mask(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Gemma's pieces for an encoder: texts stand between <bos> and <eos>."""
    from_gemma = gemma(folder, cls_token="<bos>", sep_token="<eos>", **options)
    from_gemma.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", pair="<bos> $A <eos> $B <eos>", special_tokens=[("<bos>", 2), ("<eos>", 1)]
    )
    return from_gemma


def xlm_r(folder: Path, **options: Any) -> PreTrainedTokenizerBase:
    """Pieces of SentencePiece's, whose own file stays beside."""
    pieces = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(" ".join(texts()).split()), model_writer=pieces, vocab_size=2000,
        hard_vocab_limit=False, character_coverage=1.0, minloglevel=2,
    )  # fmt: skip
    (folder / "sentencepiece.bpe.model").write_bytes(pieces.getvalue())
    return XLMRobertaTokenizer.from_pretrained(folder, **options)


KINDS: dict[str, Callable[..., PreTrainedTokenizerBase]] = {
    "gemma": gemma,
    "gemma-chat": gemma_chat,
    "gemma-mask": gemma_mask,
    "xlm-r": xlm_r,
}
"""By their names in models.yaml."""
