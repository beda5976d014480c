"""Two paths of a text into one vector: its own encoder's, and that of its translation by an encoder of the pivot.

A copy of this file lies in the folder of each encoder that has such modules, as CODE, so that sentence-transformers
opens it where Seedbed is not installed. So it reads nothing else of Seedbed but the kind of its errors.
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
"""What a copy of this file is called beside them."""
SIDES = ("source", "english")
"""The folders of the two encoders."""
Fusion = Literal["none", "concat", "prefix", "english"]
"""How two paths become one vector. none: side by side, each of length one. concat: the same, and a linear map, which
`couple` adds. prefix: the source's features stand before the tokens of the translation. english: its vector alone."""


def pool_time(states: Tensor, mask: Tensor, size: int) -> Tensor:
    """A row's own tokens brought to so many states: adaptive average pooling, whatever padding there is.

    State i of n tokens is the mean of those from floor(i n / size) to before ceil((i + 1) n / size), as
    `torch.nn.functional.adaptive_avg_pool1d` has it; of fewer tokens than `size` some are repeated. Source: paper 002,
    appendix A.4.

    Args:
        states: (b, t, d).
        mask: (b, t), true or 1 where there is a token.
        size: how many, from 1.

    Returns:
        (b, size, d), in float32 at least.

    Raises:
        UserError: shapes that do not fit, a row without a token, or such a size.
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
        """What stands for the states in the other encoder's space."""
        return self.layers(states)


class FeaturePath(Module):
    """Token states to `size` features of another encoder's width, and their mean, which is the sentence's vector.

    Source: paper 002, section 4.1.1 and appendix A.4; the vector is g of equation 3 (see docs/papers/lira.md).
    """

    config_keys = ["source", "width", "hidden", "size"]

    def __init__(self, source: int, width: int, hidden: int = 512, size: int = 4) -> None:
        super().__init__()
        self.source, self.width, self.hidden, self.size = source, width, hidden, size
        self.adaptor = Adaptor(source, width, hidden)

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Adds `prefix` (b, size, width) and `sentence_embedding` (b, width) to `token_embeddings`."""
        pooled = pool_time(features["token_embeddings"], features["attention_mask"], self.size)
        features["prefix"] = self.adaptor(pooled)
        features["sentence_embedding"] = features["prefix"].float().mean(dim=1)
        return features

    def get_embedding_dimension(self) -> int:
        """Numbers of a vector."""
        return self.width

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Save settings and weights; a copy of this file stands in the encoder's folder."""
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


class Coupled(Module):
    """A text and its English become one vector, by two encoders.

    A text of `encode` is a pair (text, English); or a text alone, whose English is then looked up in `english`.

    Args:
        source: encoder of the text; None where the fusion is english.
        english: encoder of the translation.
        fusion: see `Fusion`.

    Raises:
        UserError: a fusion by prefix of a source without features, or whose features are of another width.
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
        """That of the text."""
        return next(iter(self.sides.values())).tokenizer

    @property
    def max_seq_length(self) -> int | None:
        """Tokens of the text that are read."""
        return next(iter(self.sides.values())).max_seq_length

    def get_embedding_dimension(self) -> int:
        """Numbers of a vector."""
        if self.fusion in ("none", "concat"):
            return sum(int(side.get_embedding_dimension()) for side in self.sides.values())
        return int(self.sides["english"].get_embedding_dimension())

    def train(self, mode: bool = True) -> "Coupled":
        """Dropout is on in those transformers alone that are trained."""
        super().train(mode)
        for side in self.sides.values():
            side[0].train(mode and any(weight.requires_grad for weight in side[0].parameters()))
        return self

    def translation(self, text: str) -> str:
        """The English of a text; UserError: there is none."""
        if not (found := self.english.get(text, "")).strip():
            raise UserError(
                f"no English of {text[:80]!r}; give a list of pairs (text, English), or have translations chosen"
            )
        return found

    def preprocess(self, inputs: Sequence[Any], prompt: str | None = None, **kwargs: Any) -> dict[str, Any]:
        """Tokens of the English, and of the text with `.source` after their names, each with its encoder's prompt.

        Raises:
            UserError: a text without English.
        """
        pairs = [one if isinstance(one, tuple | list) else (one, self.translation(one)) for one in inputs]
        if wrong := [len(one) for one in pairs if len(one) != 2]:
            raise UserError(f"{wrong[0]} texts in the place of two; give a list of pairs (text, English)")
        if lacking := [text for text, translation in pairs if not translation.strip()]:
            raise UserError(f"the English of {lacking[0][:80]!r} is empty; give (text, English)")
        found = {}
        for name, texts in zip(SIDES, zip(*pairs, strict=True), strict=True):
            if name in self.sides:
                side = self.sides[name]
                if name == "english" and self.fusion == "prefix":
                    side.tokenizer.padding_side = "right"  # the features stand right before the first token
                own = side.prompts.get(side.default_prompt_name) or None
                tokens = side.preprocess(list(texts), prompt=own)
                ending = "" if name == "english" else ".source"
                found |= {f"{key}{ending}": value for key, value in tokens.items() if isinstance(value, Tensor)}
        return found

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Adds `sentence_embedding` (b, d)."""
        ending = ".source"
        english = {key: value for key, value in features.items() if not key.endswith(ending)}
        source = {key.removesuffix(ending): value for key, value in features.items() if key.endswith(ending)}
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
        """The vector of texts, (b, d), whose tokens stand after features (b, s, d)."""
        transformer, *others = self.sides["english"]
        model, size = transformer.auto_model, prefix.shape[1]
        ids, mask = english["input_ids"], english["attention_mask"]
        if (room := (transformer.max_seq_length or ids.shape[1] + size) - size) < ids.shape[1]:
            ends = ids.gather(1, mask.sum(dim=1, keepdim=True) - 1)  # a text that is cut ends by the same token
            last = torch.where(mask[:, room : room + 1] == 1, ends, ids[:, room - 1 : room])
            ids, mask = torch.cat([ids[:, : room - 1], last], dim=1), mask[:, :room]
        tokens = model.get_input_embeddings()(ids)
        given = torch.cat([prefix.to(tokens), tokens], dim=1)
        mask = torch.cat([mask.new_ones(len(mask), size), mask], dim=1)
        states = model(inputs_embeds=given, attention_mask=mask).last_hidden_state
        features = {"token_embeddings": states, "attention_mask": mask}
        for module in others:
            features = module(features)
        return features["sentence_embedding"]

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Save both encoders in folders of their own, and a copy of this file."""
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
    ) -> "Coupled":
        """Open what `save` wrote; code of the folders is run where the folder's own was."""
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


for _kind in (FeaturePath, Coupled):
    _kind.__module__ = Path(CODE).stem  # what modules.json is to name: the copy, not Seedbed
MODULES = {f"{kind.__module__}.{kind.__name__}": kind for kind in (FeaturePath, Coupled)}
"""Types in modules.json -> what they are."""


def sides_of(encoder: SentenceTransformer) -> list[SentenceTransformer]:
    """The encoders that tokenise: itself, or the two of its paths."""
    return [*encoder[0].sides.values()] if isinstance(encoder[0], Coupled) else [encoder]


def _unit(vectors: Tensor) -> Tensor:
    return normalize(vectors.to(torch.promote_types(vectors.dtype, torch.float32)), dim=1)


def _place(given: Mapping[str, Any]) -> dict[str, Any]:
    names = ("subfolder", "token", "cache_folder", "revision", "local_files_only")
    return {name: given[name] for name in names if name in given}


def _copy_code(folder: Path) -> None:
    if (copy := folder / CODE) != Path(__file__):
        shutil.copyfile(__file__, copy)
