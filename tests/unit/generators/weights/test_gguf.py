"""A GGUF file becomes a model whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from transformers.integrations.ggml import _gguf_parse_value

from seedbed.generators.weights.formats.gguf import Reader, convert
from seedbed.io import UserError

WIDTH, INNER, WORDS = 32, 64, 40
TOKENS = ["", "▁ọjọ́", "\n", *(f"t{number}" for number in range(3, WORDS))]
SHAPES = {
    "token_embd.weight": (WORDS, WIDTH), "output.weight": (WORDS, WIDTH), "output_norm.weight": (WIDTH,),
    **{f"blk.0.attn_{name}.weight": (WIDTH, WIDTH) for name in ("q", "k", "v", "output")},
    **{f"blk.0.ffn_{name}.weight": (INNER, WIDTH) for name in ("gate", "up")},
    "blk.0.ffn_down.weight": (WIDTH, INNER), "blk.0.attn_norm.weight": (WIDTH,), "blk.0.ffn_norm.weight": (WIDTH,),
}  # fmt: skip


def llama(file: Path, without: str = "", **options: Any) -> Path:
    """A Llama of one block as GGUF, random, that may lack a tensor."""
    writer = gguf.GGUFWriter(file, "llama", **options)
    writer.add_block_count(1)
    writer.add_context_length(32)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // 2)
    writer.add_vocab_size(WORDS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([-0.1 * number for number in range(WORDS)])
    writer.add_token_types([1 + number % 3 for number in range(WORDS)])
    writer.add_array("general.tags", [True, False])
    for name, shape in SHAPES.items():
        if name != without:
            writer.add_tensor(name, np.random.default_rng(0).random(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def test_a_file_that_lacks_a_tensor_is_refused_and_gives_no_random_weights(tmp_path: Path) -> None:
    file = llama(tmp_path / "model.gguf", without="blk.0.ffn_up.weight")
    with pytest.raises(UserError, match=r"model\.gguf: .*mlp\.up_proj\.weight; take a GGUF file"):
        convert(file, tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("endianess", gguf.GGUFEndian)
def test_what_is_read_fast_is_what_the_library_reads(tmp_path: Path, endianess: gguf.GGUFEndian) -> None:
    file = llama(tmp_path / "model.gguf", endianess=endianess)
    ours, theirs = Reader(file), gguf.GGUFReader(file)
    assert [*ours.fields] == [*theirs.fields]
    for name, field in theirs.fields.items():
        same = ours.fields[name]
        assert (same.offset, same.types) == (field.offset, field.types), name
        assert values(same) == values(field), name
    assert values(ours.fields["tokenizer.ggml.tokens"]) == TOKENS
    assert [tensor.name for tensor in ours.tensors] == [tensor.name for tensor in theirs.tensors]
    for mine, other in zip(ours.tensors, theirs.tensors, strict=True):
        np.testing.assert_array_equal(mine.data, other.data)


def values(field: gguf.ReaderField) -> list[Any]:
    """What transformers reads of a field."""
    return [_gguf_parse_value(field.parts[place], field.types) for place in field.data]
