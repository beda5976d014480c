"""Estimates of a job's GPU memory from the sizes of its model, before anything is loaded.

They are minimum requirements plus a margin for kernels and the allocator; none has been compared with a GPU yet.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.io import UserError, read_json

TRAINED = 16.0
"""Bytes of a trained weight: itself, its gradient and AdamW's two moments, in float32."""
BYTES = {"float32": 4.0, "bfloat16": 2.0, "auto": 2.0}
"""Bytes of a number by dtype; auto is bfloat16 on current GPUs."""
NF4 = 0.516
"""Bytes of a weight in 4 bits with double quantisation: 4.127 bits (Dettmers et al. 2023, QLoRA, section 3)."""
KEPT_MORE = 1.5
"""Factor for what autocast, attention and dropout masks store in addition to what `stored_activations` counts."""
CHUNK = 128
"""Positions whose logits exist at once when an adapter is trained."""
BATCHED = 8192
"""Tokens that vLLM encodes at once."""
SEQUENCES = 16
"""Rows for which vLLM should have memory at least."""
SAMPLED = 256
"""Rows whose next token vLLM samples at once."""
CONTEXT = 1.5 * 2**30
"""Memory of CUDA itself and of the libraries' workspaces."""
MARGIN = 1.1
LONGEST_HEADER = 100_000_000
"""Bytes of the head of a safetensors file, by its format."""
MIB = 2**20


def stored_activations(layers: float, width: float, feed_forward: float) -> float:
    """Minimum number of activations that backpropagation stores for one token in all layers.

    In each layer 8 vectors of the model's width (the inputs of query, key and value, these three, the attention's
    output, the inputs of both norms and the first one's output) and 2 of the feed-forward width, before and after the
    nonlinearity. This is the count of Korthikanti et al. (2022, "Reducing activation recomputation in large transformer
    models", section 4.1) without attention scores and dropout masks, which not every kernel stores: 32 of their 34 sbh
    if the feed-forward width is 4 h.
    """
    return layers * (8 * width + 2 * feed_forward)


@dataclass(frozen=True)
class Shape:
    """Sizes of a transformer."""

    parameters: float
    body: float
    """Parameters without word embeddings."""
    layers: float
    width: float
    feed_forward: float
    cached: float
    """Numbers of a token in the keys and values of all layers."""
    vocabulary: float

    @property
    def activations(self) -> float:
        """Activations of a token that backpropagation stores in all layers."""
        return stored_activations(self.layers, self.width, self.feed_forward)


def guessed(parameters: float, body: float) -> Shape:
    """The shape of a model of which only the size is known, assumed to be a hundred times as wide as deep.

    A layer has 12 width^2 weights, and two heads share keys and values, which is between multi-head attention and the
    groups of large models.
    """
    layers = (body / 120_000) ** (1 / 3)
    width = 100 * layers
    return Shape(parameters, body, layers, width, 4 * width, layers * width, max(parameters - body, 0) / width)


def shape_of(folder: Path) -> Shape | None:
    """The shape of the model in a folder, from its config.json and the headers of its weights; None: no model.

    Raises:
        UserError: one of these files is broken.
    """
    sizes = counted(folder)
    if sizes is None or not (folder / "config.json").is_file():
        return None
    config: Mapping[str, Any] = read_json(folder / "config.json")
    if not isinstance(config, dict):
        raise UserError(f"{folder / 'config.json'}: expected the settings of a transformer; save or fetch it again")
    config = config.get("text_config") or config
    guess = guessed(*sizes)
    layers, width = config.get("num_hidden_layers", guess.layers), config.get("hidden_size", guess.width)
    heads = config.get("num_attention_heads", 1)
    head = config.get("head_dim") or width / heads
    return Shape(
        *sizes,
        layers=layers,
        width=width,
        feed_forward=config.get("intermediate_size", 4 * width),
        cached=2 * layers * (config.get("num_key_value_heads") or heads) * head,
        vocabulary=config.get("vocab_size", guess.vocabulary),
    )


def counted(folder: Path) -> tuple[float, float] | None:
    """Parameters in the safetensors headers of a folder: all, and without embeddings; None: no weights.

    Embeddings are matrices with `embed` in their names, of positions too.

    Raises:
        UserError: a file has no such header.
    """
    shapes = {}
    for file in sorted(folder.glob("*.safetensors")):
        shapes |= _header(file)
    sizes = {name: math.prod(shape) for name, shape in shapes.items()}
    if not sizes:
        return None
    embedded = sum(size for name, size in sizes.items() if "embed" in name and len(shapes[name]) == 2)
    return sum(sizes.values()), max(sum(sizes.values()) - embedded, 1)


def _header(file: Path) -> dict[str, list[int]]:
    """Name of a tensor -> its shape, as a safetensors file begins."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = stream.read(length) if length <= LONGEST_HEADER else b""
    try:
        tensors = json.loads(header).items()
        return {name: [*map(int, tensor["shape"])] for name, tensor in tensors if name != "__metadata__"}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UserError(f"{file}: no file of safetensors; save or fetch it again") from None


@dataclass(frozen=True)
class Need:
    """Memory requirement of one GPU, or of each of several."""

    fixed: float
    """Bytes of weights and what is stored for each weight."""
    batch: float
    """Bytes of a typical batch."""

    @property
    def least(self) -> int:
        """MiB of a GPU on which the job may run."""
        return _mebibytes(self.fixed)

    @property
    def whole(self) -> int:
        """MiB of a GPU on which the job should run."""
        return _mebibytes(self.fixed + self.batch)


def _mebibytes(needed: float) -> int:
    return math.ceil((CONTEXT + MARGIN * needed) / MIB)


def weights(shape: Shape, dtype: str, quantization: str = "none") -> float:
    """Bytes of a model's weights; with quantisation, word embeddings are not quantised."""
    if quantization == "none":
        return BYTES[dtype] * shape.parameters
    return NF4 * shape.body + BYTES[dtype] * (shape.parameters - shape.body)


def training(
    shape: Shape, *, tokens: float, dtype: str, frozen: float = 0, added: float = 0, checkpointed: bool = False
) -> Need:
    """Requirement of training by AdamW, with all weights in float32.

    Args:
        tokens: tokens of a forward pass.
        dtype: dtype of matrix products.
        frozen: the number of the model's weights that are not trained.
        added: the number of new weights that are trained, such as an adapter's.
        checkpointed: whether activations within layers are computed again in the backward pass.
    """
    fixed = TRAINED * (shape.parameters - frozen + added) + BYTES["float32"] * frozen
    inputs, layers = tokens * shape.layers * shape.width, KEPT_MORE * tokens * shape.activations
    return Need(fixed, BYTES[dtype] * (inputs + layers / shape.layers if checkpointed else layers))


def adapter_parameters(parameters: float, rank: int) -> float:
    """Parameters of a LoRA adapter of all linear layers: a power law through Gemma 3 270M's (1.9M at rank 8) and 27B's
    (57M).
    """
    return 0.14 * rank * parameters**0.74


def parallel_parameters(body: float, reduction: float) -> float:
    """Parameters of parallel adapters: two matrices of d x d / reduction in a block, which has 12 d^2 weights."""
    return body / (6 * reduction)


def adapting(shape: Shape, *, tokens: float, dtype: str, quantization: str, rank: int) -> Need:
    """Requirement of training a LoRA adapter on frozen weights, with gradient checkpointing of each layer.

    Args:
        tokens: tokens of a forward pass.
        dtype: dtype of weights and activations.
        quantization: "none", or quantised layers.
    """
    inputs = tokens * shape.layers * shape.width
    layer = 2 * KEPT_MORE * tokens * shape.activations / shape.layers  # its own, and what the adapters in it keep
    logits = CHUNK * shape.vocabulary * (2 * BYTES["float32"] + BYTES[dtype])
    of_adapter = TRAINED * adapter_parameters(shape.parameters, rank)
    return Need(weights(shape, dtype, quantization) + of_adapter, (inputs + layer) * BYTES[dtype] + logits)


def reading(shape: Shape, *, tokens: float, dtype: str) -> Need:
    """Requirement of a forward pass without gradients."""
    return Need(weights(shape, dtype), tokens * (4 * shape.width + 2 * shape.feed_forward) * BYTES[dtype])


def writing(shape: Shape, *, rows: int, prompt: int, new: int, dtype: str, quantization: str = "none") -> Need:
    """Requirement of generating from a batch of prompts, with a key-value cache that is copied when rows join.

    Args:
        prompt: tokens of a prompt.
        new: generated tokens of a row.
    """
    read = reading(shape, tokens=rows * prompt, dtype=dtype)
    cache = 2 * rows * (prompt + new) * shape.cached * BYTES[dtype]
    return Need(
        weights(shape, dtype, quantization), read.batch + cache + 3 * rows * shape.vocabulary * BYTES["float32"]
    )


def serving(shape: Shape, *, length: int, dtype: str, gpus: int, share: float) -> Need:
    """Requirement of vLLM on each of its GPUs, with memory for a few rows of full length.

    Args:
        length: tokens of a row.
        share: the share of a GPU's memory that vLLM may use.
    """
    read = reading(shape, tokens=BATCHED, dtype=dtype)
    cache = SEQUENCES * length * shape.cached * BYTES[dtype]
    logits = 3 * SAMPLED * shape.vocabulary * BYTES["float32"]
    return Need(read.fixed / gpus / share, ((read.batch + cache) / gpus + logits) / share)


def together(needs: Sequence[Need]) -> Need:
    """Requirement of several models at the same time."""
    return Need(sum(need.fixed for need in needs), sum(need.batch for need in needs))
