"""Checks of model files from other people: they may contain data only, no code, no outside paths and no servers.

transformers, sentence-transformers and peft import classes, open files and download code by names in a model's
configuration. This module lists what is allowed there; everything else is refused before those libraries read it.
"""

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from seedbed.io import UserError, is_own, read_json

LARGEST = 2**27
"""Maximum bytes of a file that is read whole. Tokenizers of 262,000 tokens have 33 MB, indexes of the largest models
less.
"""
WHOLE = {".json", ".jinja", ".md", ".model", ".txt"}
"""Endings of such files."""

_HOMES = {
    "Transformer": "base.modules.transformer",
    "Pooling": "sentence_transformer.modules.pooling",
    "WeightedLayerPooling": "sentence_transformer.modules.weighted_layer_pooling",
    "Dense": "base.modules.dense",
    "LayerNorm": "sentence_transformer.modules.layer_norm",
    "Dropout": "sentence_transformer.modules.dropout",
    "Normalize": "base.modules.normalize",
    "StaticEmbedding": "sentence_transformer.modules.static_embedding",
}
MODULES = {
    **{f"sentence_transformers.{home}.{name}": name for name, home in _HOMES.items()},
    **{f"sentence_transformers.models.{name}": name for name in _HOMES},  # until 5.3
    "sentence_transformers.sentence_transformer.modules.normalize.Normalize": "Normalize",  # 5.4 to 5.7
    "parallel_adapters.AdaptedTransformer": "AdaptedTransformer",  # `encoders.models`, whatever code is next to it
    "int8_transformer.Int8Transformer": "Int8Transformer",  # likewise
    **{f"two_paths.{name}": name for name in ("FeaturePath", "TwoPaths")},  # likewise
}
"""Types in modules.json -> sentence-transformers modules whose files name no class (Dense's does, see ACTIVATIONS).
Excluded: Router and Asym, which import classes that their files name; WordEmbeddings, which imports a tokenizer by name
and may unpickle; and modules of static embeddings without a transformer.
"""
INT8, GRAPH = "int8_config.json", "model.onnx"
"""Files of an Int8Transformer."""
WIDEST = 2**20
"""Maximum dimensions of a state, and tokens of a text."""
ACTIVATIONS = {
    "torch.nn.modules.linear.Identity",
    *(
        f"torch.nn.modules.activation.{name}"
        for name in ("ELU", "GELU", "LeakyReLU", "Mish", "ReLU", "Sigmoid", "SiLU", "Tanh")
    ),
}
"""Activations that a Dense module may name; sentence-transformers would import and call any name below `torch`."""


def _only(*keys: str) -> Callable[[Any], bool]:
    """Whether a mapping has no other keys, and plain values."""
    return lambda value: {*value} <= {*keys} and _plain(value.values())


_SCALAR = (bool, int, float, str, type(None))
_WORD = re.compile(r"\w*")
_FORWARD = {"method": "forward", "method_output_name": "last_hidden_state"}
_TRANSFORMER: dict[str, Callable[[Any], bool]] = {
    "max_seq_length": lambda value: isinstance(value, int | None),
    "do_lower_case": lambda value: isinstance(value, bool),
    "transformer_task": lambda value: value == "feature-extraction",
    "modality_config": lambda value: all(_FORWARD.items() <= way.items() for way in value.values()),
    "module_output_name": lambda value: value == "token_embeddings",
    "unpad_inputs": lambda value: isinstance(value, bool | None),
    "processing_kwargs": lambda value: all(
        map(_only("add_generation_prompt", "max_length", "padding", "truncation"), value.values())
    ),
    **dict.fromkeys(
        ("model_kwargs", "model_args"), _only("add_pooling_layer", "attn_implementation", "dtype", "torch_dtype")
    ),
    **dict.fromkeys(
        ("processor_kwargs", "tokenizer_args"),
        _only("do_lower_case", "model_max_length", "padding_side", "truncation_side"),
    ),
    **dict.fromkeys(("config_kwargs", "config_args"), _only("output_hidden_states", "use_cache")),
}
"""Keys of sentence_bert_config.json: they reach the model's constructor, and by `method` any function of the model."""

_LORA = {
    *("alpha_pattern", "auto_mapping", "base_model_name_or_path", "bias", "ensure_weight_tying", "exclude_modules"),
    *("fan_in_fan_out", "inference_mode", "init_lora_weights", "layers_pattern", "layers_to_transform", "lora_alpha"),
    *("lora_bias", "lora_dropout", "megatron_core", "modules_to_save", "peft_type", "peft_version"),
    *("qalora_group_size", "r", "rank_pattern", "revision", "target_modules", "target_parameters", "task_type"),
    *("trainable_token_indices", "use_dora", "use_rslora"),
}
"""Allowed keys of adapter_config.json; peft imports what `megatron_core` names if `megatron_config` is set."""


def check(directory: Path) -> None:
    """Check all configuration files of a model, an adapter or an encoder, in all sub-folders; only JSON is read.

    Raises:
        UserError: a link leads out of the folder or to a folder; a configuration names code, an outside file or a hub
            kernel; a JSON file is broken; or a file that would be read whole is larger than LARGEST.
    """
    for path in sorted(Path(directory).rglob("*")):
        # Folders that links lead to are not looked into here, and libraries would open what is in them.
        if path.is_symlink() and not is_own(path, Path(directory)):
            raise UserError(
                f"{path}: leads out of its folder; copy the model, what links lead to in their place (cp -rL)"
            )
        if path.suffix not in WHOLE or not path.is_file():
            continue
        _measure(path)
        for pattern, look in _LOOKS.items():
            if fnmatch(path.name, pattern):
                content = _read(path, list if look is _modules else dict)
                try:
                    look(path, content)
                except (AttributeError, TypeError, RecursionError):
                    raise UserError(f"{path}: not as a model has it: a value is of another kind") from None


def modules_of(directory: Path) -> list[tuple[str, Path]]:
    """The modules that modules.json lists, in order: type and folder.

    Raises:
        UserError: no such file, or not in sentence-transformers' format.
    """
    path = Path(directory) / "modules.json"
    if not path.is_file():
        raise UserError(f"{directory}: no modules.json; expected an encoder as train_encoder writes it")
    entries = _read(path, list)
    if not entries or not all(map(_is_module, entries)):
        raise UserError(f"{path}: expected a list of modules, each with type, path and name")
    for entry in entries:
        if not is_inside(entry["path"]):
            raise UserError(f"{path}: path {entry['path']!r} leads out of the model's directory")
    return [(str(entry["type"]), Path(directory) / entry["path"]) for entry in entries]


def transformer_in(directory: Path) -> Path:
    """The folder of a model's transformer: the first module's of an encoder, else the model's own.

    Raises:
        UserError: its modules.json is not in sentence-transformers' format.
    """
    return modules_of(directory)[0][1] if (directory / "modules.json").is_file() else directory


def _is_module(entry: Any) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in ("name", "path", "type"))


def _measure(path: Path) -> None:
    if (size := path.stat().st_size) > LARGEST:
        raise UserError(f"{path}: {size} bytes; no file of this kind is larger than {LARGEST}")


def _read(path: Path, kind: type) -> Any:
    _measure(path)
    try:
        value = read_json(path)
    except RecursionError:
        raise UserError(f"{path}: not JSON of a model (nested too deeply)") from None
    if not isinstance(value, kind):
        raise UserError(f"{path}: not JSON of a model (expected a {'list' if kind is list else 'mapping'})")
    return value


def _modules(path: Path, _: list[Any]) -> None:
    for kind, folder in modules_of(path.parent):
        if kind not in MODULES:
            raise UserError(
                f"{path}: {kind} is foreign code; allowed are sentence-transformers' {', '.join(sorted(_HOMES))}"
            )
        if (folder / "adapter_config.json").is_file():
            raise UserError(f"{folder}: an adapter instead of a module; merge it into the model")
        if MODULES[kind] == "Int8Transformer":
            _integers(folder)
        config = folder / "config.json"
        if MODULES[kind] == "Dense" and config.is_file():
            name = _read(config, dict).get("activation_function", "torch.nn.modules.activation.Tanh")
            if not isinstance(name, str) or name not in ACTIVATIONS:
                raise UserError(f"{config}: activation_function {name!r} is none of {', '.join(sorted(ACTIVATIONS))}")


def _integers(folder: Path) -> None:
    """onnxruntime reads what a graph names outside of itself, from the folder in which one works, and one above."""
    config = _read(folder / INT8, dict)
    width, longest, weights = (config.get(name) for name in ("width", "max_seq_length", "weights"))
    sound = [type(width) is int and 0 < width <= WIDEST, type(weights) is int and weights >= 0]
    sound.append(longest is None or (type(longest) is int and 0 < longest <= WIDEST))
    if not all(sound) or len(config) != 3:
        raise UserError(f"{folder / INT8}: expected width, weights and max_seq_length, whole numbers; save it again")
    import onnx

    try:
        graph = onnx.load(folder / GRAPH, load_external_data=False)
    except Exception as error:  # protobuf has its own exception
        raise UserError(f"{folder / GRAPH}: no graph of ONNX ({str(error).splitlines()[0]}); save it again") from None
    if _leads_out(graph):
        raise UserError(f"{folder / GRAPH}: names files outside of it; save the encoder again")


def _leads_out(message: Any) -> bool:
    """Whether a tensor at any place in a message of ONNX is stored in another file."""
    for field, value in message.ListFields():
        if field.name == "external_data" or (field.name == "data_location" and value):
            return True
        if field.message_type and any(map(_leads_out, value if field.is_repeated else [value])):
            return True
    return False


def _transformer(path: Path, config: dict[str, Any]) -> None:
    for key, value in config.items():
        try:
            allowed = key in _TRANSFORMER and _TRANSFORMER[key](value)
        except (AttributeError, TypeError):  # of another shape
            allowed = False
        if not allowed:
            raise UserError(f"{path}: {key}: {str(value)[:80]!r} is not among what an encoder may ask for")


def _encoder(path: Path, config: dict[str, Any]) -> None:
    if (kind := config.get("model_type", "SentenceTransformer")) != "SentenceTransformer":
        raise UserError(f"{path}: a model of type {kind!r}; expected a SentenceTransformer")


def _config(path: Path, config: dict[str, Any]) -> None:
    """transformers fetches an attention from the hub, as code, if it has a repository's name."""
    if "configuration_files" in config:
        raise UserError(f"{path}: configuration_files: another configuration would replace this one; leave it out")
    for key, value in config.items():
        if "_implementation" in key:
            names = value.values() if isinstance(value, dict) else [value]
            if not _plain(names):
                raise UserError(f"{path}: {key}: {value!r} is code from elsewhere; expected a name like sdpa")
        elif isinstance(value, dict):
            _config(path, value)


def _tokenizer(path: Path, config: dict[str, Any]) -> None:
    """transformers replaces three named files by the model's own; it would open any other file that is named."""
    overridden = {"tokenizer_file", "special_tokens_map_file", "added_tokens_file"}
    for key in ("vocab", "merges", "source_spm", "target_spm"):
        if isinstance(config.get(key), str):
            raise UserError(f"{path}: {key}: {config[key]!r} is a file that a tokenizer would open")
    named = [(key, value) for key, value in config.items() if key.endswith("_file") and key not in overridden]
    named += [("fast_tokenizer_files", name) for name in config.get("fast_tokenizer_files") or []]
    for key, value in named:
        if value is not None and not _file_name(value):
            raise UserError(f"{path}: {key}: {value!r} is no file of the model's directory")


def _special(path: Path, config: dict[str, Any]) -> None:
    """Keys of this file override what transformers has found: it would open a `vocab_file` that is named here."""
    if odd := sorted(key for key in config if not re.fullmatch(r"\w+_tokens?", key)):
        raise UserError(f"{path}: {odd[0]} is no special token")


def _processor(path: Path, config: dict[str, Any]) -> None:
    """transformers loads the model that an audio tokenizer names, from anywhere, before it looks for a processor."""
    if "audio_tokenizer" in config or path.name == "audio_tokenizer_config.json":
        raise UserError(f"{path}: an audio tokenizer, which is another model; take one for texts")


def _index(path: Path, config: dict[str, Any]) -> None:
    shards = config.get("weight_map", {})
    if not isinstance(shards, dict) or not all(map(_file_name, shards.values())):
        raise UserError(f"{path}: weight_map names a file that is none of the model's directory")


def _adapter(path: Path, config: dict[str, Any]) -> None:
    if (kind := config.get("peft_type")) != "LORA":
        raise UserError(f"{path}: peft_type {kind!r}; only LORA adapters are read")
    if odd := sorted(key for key, value in config.items() if value and key not in _LORA):
        raise UserError(f"{path}: {odd[0]} is set; only plain LoRA adapters are read")
    library = (config.get("auto_mapping") or {}).get("parent_library", "transformers.models.")
    if not re.fullmatch(r"transformers\.models\.[a-z0-9_.]*", library):
        raise UserError(f"{path}: auto_mapping: parent_library {library!r} is foreign code")
    if (path.parent / "config.json").is_file():
        raise UserError(f"{path}: an adapter next to a model's config.json; merge it into the model, or give it alone")


_LOOKS = {
    "modules.json": _modules,
    "sentence_*_config.json": _transformer,
    "config_sentence_transformers.json": _encoder,
    "config.json": _config,
    "tokenizer_config.json": _tokenizer,
    "special_tokens_map.json": _special,
    "processor_config.json": _processor,
    "audio_tokenizer_config.json": _processor,
    "*.index.json": _index,
    "adapter_config.json": _adapter,
}
"""Pattern of file names -> the function that checks such files."""


def _plain(values: Iterable[Any]) -> bool:
    """Whether all are numbers, switches or single words: no path, no repository, no dotted name."""
    return all(
        isinstance(value, _SCALAR) and (not isinstance(value, str) or _WORD.fullmatch(value)) for value in values
    )


def is_inside(name: Any) -> bool:
    """Whether a relative path stays inside the folder that it is relative to."""
    return isinstance(name, str) and "\\" not in name and not {"..", "/"} & {*PurePosixPath(name).parts}


def _file_name(name: Any) -> bool:
    return is_inside(name) and "/" not in name
