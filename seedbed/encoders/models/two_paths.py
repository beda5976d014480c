"""Two-path encoders (LaSR): a text by a multilingual encoder and its translation by an English one, fused into one
vector.

A copy of this file, named CODE, is saved in the folder of each encoder with such modules, so that sentence-transformers
opens it where Seedbed is not installed. It therefore imports nothing of Seedbed but its type of errors.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Module
from torch import Tensor, nn
from torch.nn.functional import normalize

try:
    from seedbed.io import UserError
except ImportError:
    UserError = ValueError

CODE = "two_paths.py"
"""Name of the copy of this file in the encoder's folder."""
SIDES = ("source", "english")
"""Folder names of the two encoders."""
SOURCE = ".source"
"""Ending of the names of what is tokenised for the source."""
Fusion = Literal["none", "concat", "prefix", "english"]
"""How the vectors of the two paths are fused. none: concatenated, each at unit length. concat: the same, followed by a
linear map that `add_english_path` adds. prefix: the source's features are prepended to the token embeddings of the
translation. english: the translation's vector only.
"""


def pool_time(states: Tensor, mask: Tensor, size: int) -> Tensor:
    """Adaptive average pooling of each row's token states to a fixed number of states, ignoring padding.

    State i of n tokens is the mean of those from floor(i n / size) to before ceil((i + 1) n / size), as in
    `torch.nn.functional.adaptive_avg_pool1d`; with fewer tokens than `size`, some are repeated. Source: paper 002,
    appendix A.4.

    Args:
        states: (b, t, d).
        mask: (b, t), True or 1 where there is a token.
        size: the number of states, 1 or more.

    Returns:
        (b, size, d), in float32 or more precise.

    Raises:
        UserError: shapes that do not fit, a row without tokens, or a size below 1.
    """
    if states.ndim != 3 or mask.shape != states.shape[:2] or size < 1:
        shapes = f"states {tuple(states.shape)}, mask {tuple(mask.shape)}, size {size}"
        raise UserError(f"pool_time: {shapes}; expected (b, t, d), (b, t) and 1 or more")
    there = mask.bool()
    count = there.sum(dim=1)[:, None]
    if (empty := (count == 0).nonzero()).numel():
        raise UserError(f"pool_time: row {empty[0, 0].item()} has no token")
    bins = torch.arange(size, device=states.device)[None]
    first, last = bins * count // size, -(-(bins + 1) * count // size)
    place = (there.cumsum(dim=1) - 1)[:, None]
    inside = there[:, None] & (place >= first[..., None]) & (place < last[..., None])
    precision = torch.promote_types(states.dtype, torch.float32)
    shares = inside.to(precision) / inside.sum(dim=2, keepdim=True)
    with torch.autocast(states.device.type, enabled=False):
        return shares @ states.to(precision).masked_fill(~there[..., None], 0)


class Adaptor(nn.Module):
    """Linear, ReLU, LayerNorm, Linear: (..., source) to (..., width). Source: paper 002, appendix A.4."""

    def __init__(self, source: int, width: int, hidden: int = 512) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(source, hidden), nn.ReLU(), nn.LayerNorm(hidden), nn.Linear(hidden, width)
        )

    def forward(self, states: Tensor) -> Tensor:
        """Map states into the English encoder's space."""
        return self.layers(states)


class FeaturePath(Module):
    """Maps token states of width `source` to `size` features of the English encoder's width; their mean is the sentence
    vector.

    Source: paper 002, section 4.1.1 and appendix A.4; the vector is g of equation 3 (see docs/papers/lira.md).
    """

    config_keys = ["source", "width", "hidden", "size"]

    def __init__(self, source: int, width: int, hidden: int = 512, size: int = 4) -> None:
        super().__init__()
        self.source, self.width, self.hidden, self.size = source, width, hidden, size
        self.adaptor = Adaptor(source, width, hidden)

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Add `prefix` (b, size, width) and `sentence_embedding` (b, width), computed from `token_embeddings`."""
        pooled = pool_time(features["token_embeddings"], features["attention_mask"], self.size)
        features["prefix"] = self.adaptor(pooled)
        features["sentence_embedding"] = features["prefix"].float().mean(dim=1)
        return features

    def get_embedding_dimension(self) -> int:
        """Dimensions of the sentence vector."""
        return self.width

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Save settings and weights; a copy of this file is written into the encoder's folder."""
        self.save_config(output_path)
        self.save_torch_weights(output_path)
        _copy_code(Path(output_path).parent)

    @classmethod
    def load(cls, model_name_or_path: str, *args: Any, **kwargs: Any) -> "FeaturePath":
        """Open what `save` wrote."""
        place = _place(kwargs)
        module = cls(**cls.load_config(model_name_or_path, **place))
        cls.load_torch_weights(model_name_or_path, model=module, **place)
        return module


class TwoPaths(Module):
    """Encodes a text and its English translation into one vector, by two encoders.

    An input of `encode` is a pair (text, English), or a text alone, whose translation is looked up in `english`.

    Args:
        source: encoder of the text; None with fusion english.
        english: encoder of the translation.
        fusion: see `Fusion`.

    Raises:
        UserError: a source with fusion english or none with another; or, with fusion prefix, a source without features
            of the English encoder's width.
    """

    config_keys = ["fusion"]
    save_in_root = True
    modalities = ["text"]

    def __init__(
        self, source: SentenceTransformer | None, english: SentenceTransformer, fusion: Fusion = "none"
    ) -> None:
        super().__init__()
        self.fusion = fusion
        sides = {"source": source, "english": english}
        self.sides = nn.ModuleDict({name: side for name, side in sides.items() if side is not None})
        self.english: Mapping[str, str] = {}
        if (source is None) != (fusion == "english"):
            raise UserError(f"fusion {fusion}: english reads the translation alone, every other one the text too")
        if fusion == "prefix":
            width = english[0].auto_model.get_input_embeddings().embedding_dim
            if not isinstance(path := source[-1], FeaturePath) or path.width != width:
                advice = "start from an encoder that was anchored to this English one, or take concat"
                raise UserError(f"fusion prefix: the source gives no features of width {width}; {advice}")
            if (length := english.max_seq_length or path.size + 1) <= path.size:
                raise UserError(f"fusion prefix: {path.size} features leave none of {length} tokens; take fewer")

    @property
    def auto_model(self) -> nn.Module:
        """The transformer of the English encoder."""
        return self.sides["english"][0].auto_model

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the text's encoder; with fusion english, of the English encoder."""
        return next(iter(self.sides.values())).tokenizer

    @property
    def max_seq_length(self) -> int | None:
        """Maximum tokens of the text, or with fusion english of the translation; longer ones are truncated."""
        return next(iter(self.sides.values())).max_seq_length

    def get_embedding_dimension(self) -> int:
        """Dimensions of the fused vector."""
        if self.fusion in ("none", "concat"):
            return sum(int(side.get_embedding_dimension()) for side in self.sides.values())
        return int(self.sides["english"].get_embedding_dimension())

    def train(self, mode: bool = True) -> "TwoPaths":
        """Turn dropout on in transformers that are trained, and off in frozen ones."""
        super().train(mode)
        for side in self.sides.values():
            side[0].train(mode and any(weight.requires_grad for weight in side[0].parameters()))
        return self

    def translation(self, text: str) -> str:
        """Look up the English translation of a text.

        Raises:
            UserError: there is none.
        """
        if not (found := self.english.get(text, "")).strip():
            raise UserError(
                f"no English of {text[:80]!r}; give a list of pairs (text, English), or have translations chosen"
            )
        return found

    def preprocess(self, inputs: Sequence[Any], prompt: str | None = None, **kwargs: Any) -> dict[str, Any]:
        """Tokenise the translations, and the texts under names that end in SOURCE, each with its encoder's prompt;
        `prompt`, which may be empty, replaces that of the English.

        Raises:
            UserError: a text without a translation.
        """
        pairs = [one if isinstance(one, tuple | list) else (one, self.translation(one)) for one in inputs]
        if wrong := [len(one) for one in pairs if len(one) != 2]:
            raise UserError(f"{wrong[0]} texts instead of two; give a list of pairs (text, English)")
        if lacking := [text for text, translation in pairs if not translation.strip()]:
            raise UserError(f"the English of {lacking[0][:80]!r} is empty; give (text, English)")
        found = {}
        for name, texts in zip(SIDES, zip(*pairs, strict=True), strict=True):
            if name in self.sides:
                side = self.sides[name]
                if name == "english" and self.fusion == "prefix":
                    side.tokenizer.padding_side = "right"  # the features come right before the first token
                own = side.prompts.get(side.default_prompt_name) or None
                tokens = side.preprocess(list(texts), prompt=own if prompt is None or name == "source" else prompt)
                ending = SOURCE if name == "source" else ""
                # A Pooling with `include_prompt: false` needs the number of the prompt's tokens.
                found |= {f"{key}{ending}": value for key, value in tokens.items() if isinstance(value, Tensor | int)}
        return found

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Add the fused `sentence_embedding` (b, d), of unit length."""
        english = {key: value for key, value in features.items() if not key.endswith(SOURCE)}
        source = {key.removesuffix(SOURCE): value for key, value in features.items() if key.endswith(SOURCE)}
        made = self.sides["source"](source) if source else {}
        if self.fusion == "prefix":
            vector = self._after(made["prefix"], english)
        else:
            vector = self.sides["english"](english)["sentence_embedding"]
            if made:
                vector = torch.cat([_unit(made["sentence_embedding"]), _unit(vector)], dim=1)
        features["sentence_embedding"] = _unit(vector)
        return features

    def _after(self, prefix: Tensor, english: dict[str, Any]) -> Tensor:
        """The vectors (b, d) of texts whose tokens are preceded by features (b, s, d)."""
        transformer, *others = self.sides["english"]
        model, size = transformer.auto_model, prefix.shape[1]
        ids, mask = english["input_ids"], english["attention_mask"]
        if (room := (transformer.max_seq_length or ids.shape[1] + size) - size) < ids.shape[1]:
            # A truncated text keeps its last token; of those before, some may be masked.
            places = torch.arange(ids.shape[1], device=ids.device)
            ends = ids.gather(1, (mask * places).argmax(dim=1, keepdim=True))
            longer = mask[:, room:].any(dim=1, keepdim=True)
            ids = torch.cat([ids[:, : room - 1], torch.where(longer, ends, ids[:, room - 1 : room])], dim=1)
            mask = torch.cat([mask[:, : room - 1], mask[:, room - 1 : room] | longer.to(mask.dtype)], dim=1)
        tokens = model.get_input_embeddings()(ids)
        given = torch.cat([prefix.to(tokens), tokens], dim=1)
        mask = torch.cat([mask.new_ones(len(mask), size), mask], dim=1)
        states = model(inputs_embeds=given, attention_mask=mask).last_hidden_state
        features = {"token_embeddings": states, "attention_mask": mask}
        for module in others:
            features = module(features)
        return features["sentence_embedding"]

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Save both encoders in their own folders, and a copy of this file."""
        self.save_config(output_path)
        for name, side in self.sides.items():
            side.save_pretrained(str(Path(output_path, name)), create_model_card=False)
        _copy_code(Path(output_path))

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        *args: Any,
        module_classes: Mapping[str, type[nn.Module]] | None = None,
        trust_remote_code: bool = False,
        model_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> "TwoPaths":
        """Open what `save` wrote; code of the two folders is run only if `trust_remote_code` is set."""
        place = _place(kwargs)
        config = cls.load_config(model_name_or_path, **place)
        place.pop("subfolder", None)
        found: dict[str, SentenceTransformer | None] = dict.fromkeys(SIDES)
        for name in SIDES[config["fusion"] == "english" :]:
            folder = cls.load_dir_path(model_name_or_path, name, **place)
            options = {"local_files_only": True, "trust_remote_code": trust_remote_code, "model_kwargs": model_kwargs}
            options |= {key: kwargs[key] for key in ("processor_kwargs", "config_kwargs") if key in kwargs}
            found[name] = SentenceTransformer._load_with_module_classes(folder, module_classes or {}, **options)
        return cls(**found, **config)


for _kind in (FeaturePath, TwoPaths):
    _kind.__module__ = Path(CODE).stem  # what modules.json is to name: the copy, not Seedbed
MODULES = {f"{kind.__module__}.{kind.__name__}": kind for kind in (FeaturePath, TwoPaths)}
"""Types in modules.json -> their classes."""


def sides_of(encoder: SentenceTransformer) -> list[SentenceTransformer]:
    """The encoders with a tokenizer: the encoder itself, or those of a two-path encoder."""
    return [*encoder[0].sides.values()] if isinstance(encoder[0], TwoPaths) else [encoder]


def _unit(vectors: Tensor) -> Tensor:
    return normalize(vectors.to(torch.promote_types(vectors.dtype, torch.float32)), dim=1)


def _place(given: Mapping[str, Any]) -> dict[str, Any]:
    names = ("subfolder", "token", "cache_folder", "revision", "local_files_only")
    return {name: given[name] for name in names if name in given}


def _copy_code(folder: Path) -> None:
    if (copy := folder / CODE) != Path(__file__):
        shutil.copyfile(__file__, copy)
