"""Parallel adapters, which align an encoder with another and can be switched off.

A copy of this file, named CODE, is saved in the folder of each encoder with such adapters, so that
sentence-transformers opens it where Seedbed is not installed. It therefore imports nothing of Seedbed but its type of
errors.
"""

import math
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Transformer
from torch import Tensor, nn

try:
    from seedbed.io import UserError
except ImportError:
    UserError = ValueError

ADAPTERS = "adapters.safetensors"
"""File of the adapters of all layers; its metadata has their scaling."""
CODE = "parallel_adapters.py"
"""Name of the copy of this file in the encoder's folder."""
KNOWN = ("bert", "roberta", "xlm-roberta")
"""Model types whose layers end with LayerNorm(dropout(dense(h)) + x), where x is the input of their feed-forward layer.
"""


class ParallelAdapter(nn.Module):
    """scaling * (up relu(down x + b) + c), added to a feed-forward layer's output.

    `up` and both biases start at 0, so that nothing is added at first; `down` is sampled from U(-1 / sqrt(width), 1 /
    sqrt(width)). Source: He et al. (2022, "Towards a unified view of parameter-efficient transfer learning"), parallel
    adapter, as in the configuration ParBnConfig of the library adapters.

    Args:
        width: dimensions of the states.
        reduction: the bottleneck has width // reduction dimensions.
        scaling: the factor.
        seed: seed of `down`.

    Raises:
        UserError: a reduction below 1 or above the width.
    """

    def __init__(self, width: int, *, reduction: int = 2, scaling: float = 4.0, seed: int = 0) -> None:
        super().__init__()
        if not 1 <= reduction <= width:
            raise UserError(f"reduction: {reduction} for states of width {width}; give 1 to {width}")
        self.scaling = float(scaling)
        self.down = nn.Linear(width, width // reduction)
        self.up = nn.Linear(width // reduction, width)
        nn.init.kaiming_uniform_(self.down.weight, a=math.sqrt(5), generator=torch.Generator().manual_seed(seed))
        for zero in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(zero)

    def forward(self, states: Tensor) -> Tensor:
        """What is added to the output for input states (..., width): (..., width)."""
        return self.up(self.down(states).relu()) * self.scaling


class _Beside:
    """Two hooks that add an adapter to a layer; the layer's modules and the names of their weights are unchanged."""

    def __init__(self, layer: nn.Module, adapter: ParallelAdapter) -> None:
        self.adapter, self.on, self.read = adapter, True, None
        layer.output.register_forward_pre_hook(self.before)
        layer.output.dropout.register_forward_hook(self.after)

    def before(self, output: nn.Module, given: tuple[Tensor, Tensor]) -> None:
        """Remember the input of the feed-forward layer, for the adapter."""
        self.read = given[1] if self.on else None

    def after(self, dropout: nn.Module, given: tuple[Tensor], made: Tensor) -> Tensor | None:
        """Add the adapter's output for the same input."""
        read, self.read = self.read, None
        return None if read is None else made + self.adapter(read)


class AdaptedTransformer(Transformer):
    """A transformer with a parallel adapter at the feed-forward layer of each of its layers.

    `encode(texts, aligned=False)` switches the adapters off; the vectors are then exactly those of the transformer
    without them.
    """

    forward_kwargs = Transformer.forward_kwargs | {"aligned"}

    def attach(self, adapters: nn.ModuleList) -> None:
        """Attach one adapter to each layer.

        Raises:
            UserError: a transformer of an unsupported type, or another number of layers.
        """
        layers = layers_of(self)
        if len(layers) != len(adapters):
            raise UserError(f"{len(adapters)} adapters for {len(layers)} layers; expected one for each")
        self.adapters = adapters
        self.hooks = [_Beside(layer, adapter) for layer, adapter in zip(layers, adapters, strict=True)]

    def forward(self, features: dict[str, Any], aligned: bool = True, **kwargs: Any) -> dict[str, Any]:
        """Run the transformer on tokenised texts; unless `aligned`, with the adapters off."""
        for hook in self.hooks:
            hook.on = aligned
        try:
            return super().forward(features, **kwargs)
        finally:
            for hook in self.hooks:
                hook.on = True

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Save the transformer without adapters, the adapters, and a copy of this file."""
        super().save(output_path, *args, **kwargs)
        write(self.adapters, Path(output_path, ADAPTERS))
        if (copy := Path(output_path, CODE)) != Path(__file__):
            shutil.copyfile(__file__, copy)

    @classmethod
    def load(cls, model_name_or_path: str, *args: Any, **kwargs: Any) -> "AdaptedTransformer":
        """Open what `save` wrote.

        Raises:
            UserError: a transformer of an unsupported type, or adapters that do not fit it.
        """
        module = super().load(model_name_or_path, *args, **kwargs)
        place = ("subfolder", "token", "cache_folder", "revision", "local_files_only")
        given = {name: kwargs[name] for name in place if name in kwargs}
        path = cls.load_file_path(model_name_or_path, ADAPTERS, **given)
        if path is None:
            raise UserError(f"{model_name_or_path}: no {ADAPTERS}; save the encoder again")
        module.attach(read(path))
        return module


AdaptedTransformer.__module__ = Path(CODE).stem  # what modules.json is to name: the copy, not Seedbed
MODULE = f"{AdaptedTransformer.__module__}.{AdaptedTransformer.__name__}"
"""The type in modules.json of a transformer with adapters."""


def add_adapters(encoder: SentenceTransformer, *, reduction: int = 2, scaling: float = 4.0, seed: int = 0) -> None:
    """Attach new adapters, which change none of its vectors, to an encoder in place; its own weights keep their names.

    `encoder[0].adapters` are the adapters, the first layer's first; see `ParallelAdapter`. Their matrices `down` differ
    from layer to layer.

    Raises:
        UserError: it has adapters already, its transformer is of an unsupported type, or its states are narrower than
            `reduction`.
    """
    transformer = encoder[0]
    widths = [layer.output.dense.out_features for layer in layers_of(transformer)]
    seeds = torch.randint(2**62, (len(widths),), generator=torch.Generator().manual_seed(seed)).tolist()
    adapters = nn.ModuleList(
        ParallelAdapter(width, reduction=reduction, scaling=scaling, seed=one)
        for width, one in zip(widths, seeds, strict=True)
    )
    attach_adapters(encoder, adapters)


def attach_adapters(encoder: SentenceTransformer, adapters: nn.ModuleList) -> None:
    """Attach given adapters to an encoder, in place; its own weights keep their names.

    Raises:
        UserError: it has adapters already, its transformer is of an unsupported type, or has another number of layers.
    """
    transformer = encoder[0]
    if isinstance(transformer, AdaptedTransformer):
        raise UserError("this encoder has parallel adapters already; align the one that it was made from")
    layers_of(transformer)  # before its class changes: one of another kind stays as it is
    transformer.__class__ = AdaptedTransformer
    transformer.attach(adapters.to(encoder.device))


def layers_of(transformer: nn.Module) -> list[nn.Module]:
    """The layers of a transformer to which adapters can be attached.

    Raises:
        UserError: a transformer of an unsupported type.
    """
    kind = getattr(
        getattr(getattr(transformer, "model", None), "config", None), "model_type", type(transformer).__name__
    )
    layers = list(transformer.model.encoder.layer) if kind in KNOWN else []
    if not layers:
        raise UserError(f"adapters: the feed-forward layers of a {kind} are not known; take one of {', '.join(KNOWN)}")
    return layers


def write(adapters: nn.ModuleList, path: Path) -> None:
    """Write the adapters of all layers, and their scaling, into one safetensors file."""
    state = {name: weight.detach().cpu().contiguous() for name, weight in adapters.state_dict().items()}
    save_file(state, path, metadata={"scaling": repr(adapters[0].scaling)})


def read(path: str | Path) -> nn.ModuleList:
    """Read adapters from a file of `write`.

    Raises:
        UserError: the file holds no adapters.
    """
    try:
        with safe_open(str(path), "pt") as file:
            scaling = float(file.metadata()["scaling"])
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
        count = len({name.partition(".")[0] for name in state})
        shapes = [state[f"{layer}.down.weight"].shape for layer in range(count)]
        adapters = nn.ModuleList(
            ParallelAdapter(width, reduction=width // inner, scaling=scaling) for inner, width in shapes
        )
        adapters.load_state_dict(state)
    except (AttributeError, KeyError, TypeError, RuntimeError, ValueError, ZeroDivisionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{path}: no parallel adapters ({reason}); save the encoder again") from None
    return adapters
