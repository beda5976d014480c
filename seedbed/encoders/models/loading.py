"""Loading encoders: from pretrained weights with a pooling, from folders that Seedbed saved, or behind an API."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import (
    Dense,
    Module,
    Pooling,
    StaticEmbedding,
    Transformer,
    WeightedLayerPooling,
)
from sentence_transformers.util import fullname
from torch import nn
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_MASKED_LM_MAPPING,
    MODEL_MAPPING,
    AutoConfig,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from seedbed import model_files
from seedbed.encoders import settings
from seedbed.encoders.endpoint import Endpoint
from seedbed.encoders.models import onnx_int8, parallel_adapters, two_paths
from seedbed.encoders.pooling import AVERAGES, LAST, OURS, TrainingHead, dense
from seedbed.encoders.prompts import Prefix, read_prompts, saved_prompts, set_prompts
from seedbed.io import UserError
from seedbed.weights import LOCAL, NO_CODE, opening, require_whole_body

TOKENIZER_FILES = ("tokenizer.json", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model", "vocab.txt")
WEIGHTED = ("WeightedLayerPooling", "Dense", "LayerNorm", "StaticEmbedding")
"""Modules that have weights."""
FIRST = ("cls", "cls_mlp", "cls_mlp_train")
"""Poolings that take the vector of the first token."""
SAFETENSORS = {"use_safetensors": True, "ignore_mismatched_sizes": True}
"""How weights are read; `require_whole_body` reports by name which of them do not fit."""


def load(
    weights: Path,
    *,
    pooling: settings.Pooling,
    layers: int = 4,
    prefix: Prefix | None = None,
    language: str = "",
    seed: int = 0,
    dropout: float | None = None,
) -> SentenceTransformer:
    """Build an encoder from pretrained weights: the transformer, then pooling, in float32.

    The poolings cls_mlp and cls_mlp_train add a dense layer; `as_saved` removes the latter's when the encoder is saved.
    The pooling own takes the modules that sentence-transformers saved with the weights, parallel adapters included, or
    the mean if there are none.

    Args:
        weights: a directory as `save_pretrained` writes it, of transformers or of sentence-transformers; of the latter
            only the transformer with its tokenizer and lower-casing is used, except with own. Safetensors only; no code
            of the directory is run and no server is contacted, see `model_files.check`.
        pooling: the name of a pooling, see `Training.pooling`.
        layers: the number of last blocks that the poolings last_... use.
        prefix: the prompt before every text in `encode`, `encode_query` and `encode_document`; it is saved with the
            encoder. `Prompts` give one for queries and one for documents, a mapping one for each language. None: the
            prompts in the weights' own file, see `prompts.read_prompts`.
        language: the language whose prompt is the default, if `prefix` is a mapping.
        seed: seed of the dense layer's weights; nothing else is random.
        dropout: dropout probability of every layer, for training; None: the backbone's.

    Raises:
        UserError: a directory without config.json, tokenizer or safetensors, or that cannot be loaded; missing weights;
            a dropout for a backbone without any, or with pooling own; more layers than the backbone has; parallel
            adapters with another pooling than own; an encoder-decoder; or the first token of a language model.
    """
    weights = Path(weights)
    if pooling == "own" and (weights / "modules.json").is_file():
        if dropout is not None:
            raise UserError(f"{weights}: dropout cannot be set with pooling own; take another pooling")
        encoder = open_encoder(weights).float()  # 16 bits, if saved so, would round training steps away
        if isinstance(encoder[0], two_paths.TwoPaths):  # each of its two encoders has its tokenizer and prefix
            return encoder
        return set_prompts(encoder, read_prompts(weights) if prefix is None else prefix, language)
    folder = directory_of(weights, adapted=pooling == "own")
    prefix = read_prompts(weights) if prefix is None else prefix
    if pooling == "static":
        return set_prompts(_static(folder), prefix, language)
    pooling = "mean" if pooling == "own" else pooling
    transformer = limited(_transformer(folder, hidden_states=pooling in {*AVERAGES, *LAST}, dropout=dropout))
    if pooling in FIRST:
        _require_both_ways(transformer.auto_model.config, folder, pooling)
    modules = [transformer, *_pooling(pooling, transformer, layers, seed)]
    return set_prompts(SentenceTransformer(modules=modules, local_files_only=True), prefix, language)


@dataclass(frozen=True)
class Original:
    """An encoder or a backbone that another encoder is made of, and how it is read; the fields are arguments of
    `load`.
    """

    weights: Path
    pooling: settings.Pooling = "mean"
    layers: int = 4
    prefix: Prefix | None = None
    language: str = ""

    def load(self, seed: int = 0) -> SentenceTransformer:
        """The encoder."""
        return load(
            self.weights,
            pooling=self.pooling,
            layers=self.layers,
            prefix=self.prefix,
            language=self.language,
            seed=seed,
        )

    def with_transformer(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> SentenceTransformer:
        """The encoder with that of a Hugging Face `...ForMaskedLM` as its transformer."""
        encoder = load(self.weights, pooling=self.pooling, layers=self.layers, prefix="")
        model.config.output_hidden_states = encoder[0].auto_model.config.output_hidden_states
        tokenizer.model_max_length = encoder[0].tokenizer.model_max_length
        encoder[0].model, encoder[0].processor = model.base_model, tokenizer
        # Only now: which prompts there can be depends on the tokenizer.
        return set_prompts(encoder, read_prompts(self.weights) if self.prefix is None else self.prefix, self.language)


def _static(folder: Path) -> SentenceTransformer:
    """An encoder of the mean of a text's word embeddings, without special tokens and without normalisation."""
    transformer = _transformer(folder, hidden_states=False, dropout=None)
    tokens = transformer.tokenizer.backend_tokenizer
    tokens.no_truncation()
    weights = transformer.auto_model.get_input_embeddings().weight.detach().float().clone()
    return SentenceTransformer(modules=[StaticEmbedding(tokens, embedding_weights=weights)], local_files_only=True)


def remote(endpoint: settings.EndpointSettings, *, prefix: Prefix | None = None) -> SentenceTransformer:
    """An encoder whose vectors an API computes; no request is sent before there are texts. `prefix` is as in
    `prompts.set_prompts`, None: no prompt.
    """
    return set_prompts(SentenceTransformer(modules=[Endpoint(endpoint)], local_files_only=True), prefix or "")


def open_encoder(directory: Path, *, servers: bool = False) -> SentenceTransformer:
    """Open an encoder that a recipe saved; no code of the directory is run.

    Args:
        directory: the encoder's folder.
        servers: allow an encoder behind an API, if the API is among `servers.named`; other servers never get texts or
            tokens.

    Raises:
        UserError: no encoder there, one that cannot be loaded or lacks weights, or a module without safetensors.
    """
    modules = model_files.modules_of(directory)
    if servers and [kind for kind, _ in modules] == [fullname(Endpoint)]:
        encoder = remote(Endpoint.load(str(modules[0][1])).settings)
        encoder.prompts, encoder.default_prompt_name = saved_prompts(Path(directory))
        return encoder
    model_files.check(directory)
    for kind, folder in modules:
        if model_files.MODULES[kind] in WEIGHTED and not (folder / "model.safetensors").is_file():
            raise UserError(f"{folder}: no model.safetensors; save the encoder again with safetensors")
    with opening(directory):
        adapted = {parallel_adapters.MODULE: parallel_adapters.AdaptedTransformer}
        encoder = SentenceTransformer._load_with_module_classes(
            str(directory),
            adapted | two_paths.MODULES | onnx_int8.MODULES,  # never the code there
            model_kwargs=NO_CODE | SAFETENSORS,
            processor_kwargs=dict(NO_CODE),
            config_kwargs=dict(NO_CODE),
            **LOCAL,
        )
    for transformer, folder in _transformers(encoder, Path(directory)):
        require_whole_body(transformer.auto_model, folder)
        if options := transformer.load_config(str(folder), local_files_only=True).get("model_kwargs"):
            save_with(transformer, options)
    for module in encoder.modules():  # a saved average of layers is not trained further
        if isinstance(module, WeightedLayerPooling):
            module.requires_grad_(False)
    return encoder


def _transformers(encoder: SentenceTransformer, directory: Path) -> Iterator[tuple[Transformer, Path]]:
    """The transformers of an encoder, or of its two paths, and the folder of each."""
    for module, (_, folder) in zip(encoder, model_files.modules_of(directory), strict=True):
        if isinstance(module, Transformer):
            yield module, folder
        elif isinstance(module, two_paths.TwoPaths):
            for name, side in module.sides.items():
                yield from _transformers(side, directory / name)


def as_saved(encoder: SentenceTransformer) -> SentenceTransformer:
    """The encoder in the form in which it is saved: sentence-transformers' own modules wherever one does the same.

    Weights are shared. Both encoders of a two-path encoder are replaced in place.
    """
    transformer, *others = encoder
    if isinstance(transformer, two_paths.TwoPaths):
        for name, side in transformer.sides.items():
            transformer.sides[name] = as_saved(side)
    if not any(isinstance(module, OURS) for module in others):
        return encoder
    layers = transformer.auto_model.config.num_hidden_layers
    parts = [module.stock(layers) if isinstance(module, OURS) else [module] for module in others]
    return of_modules(encoder, [transformer, *chain.from_iterable(parts)])


def of_modules(encoder: SentenceTransformer, modules: list[Module]) -> SentenceTransformer:
    """Make an encoder of other modules, with the device, prompts and similarity function of a given one."""
    return SentenceTransformer(
        modules=modules,
        device=str(encoder.device),
        prompts=encoder.prompts,
        default_prompt_name=encoder.default_prompt_name,
        similarity_fn_name=encoder.similarity_fn_name,
        local_files_only=True,
    )


def directory_of(weights: Path, *, adapted: bool = False) -> Path:
    """Check a directory of weights, of transformers or of sentence-transformers, and return the directory of its
    transformer.

    Args:
        adapted: the caller loads parallel adapters too; otherwise weights with them are refused.

    Raises:
        UserError: no such directory; no config.json, tokenizer or safetensors in it; parallel adapters that would be
            lost; or the directory is refused by `model_files.check`.
    """
    if not weights.is_dir():
        raise UserError(f"{weights}: no such directory; expected weights as save_pretrained writes them")
    model_files.check(weights)
    weights = model_files.transformer_in(weights)
    if not adapted and (weights / parallel_adapters.ADAPTERS).is_file():
        raise UserError(f"{weights}: its adapters would be lost; take pooling own, or the encoder that was aligned")
    if not (weights / "config.json").is_file():
        raise UserError(f"{weights}: no config.json; expected weights as save_pretrained writes them")
    if not any((weights / name).is_file() for name in TOKENIZER_FILES):
        raise UserError(f"{weights}: no tokenizer; expected one of {', '.join(TOKENIZER_FILES)}")
    if not any(weights.glob("*.safetensors")):
        raise UserError(f"{weights}: no *.safetensors; save the model again with save_pretrained")
    return weights


def dropouts(config: PretrainedConfig) -> dict[str, float]:
    """A transformer's dropout probabilities by their names in its config, without those of classification heads."""
    ending = ("dropout", "dropout_prob", "dropout_rate")
    return {
        name: float(value)
        for name, value in config.to_dict().items()
        if name.endswith(ending) and not name.startswith("classifier") and isinstance(value, int | float)
    }


def _transformer(weights: Path, *, hidden_states: bool, dropout: float | None) -> Transformer:
    """The sentence-transformers module around the weights."""
    with opening(weights):
        config = AutoConfig.from_pretrained(weights, **LOCAL)
        options = without_pooler(config)
    rates = {} if dropout is None else dict.fromkeys(dropouts(config), dropout)
    if dropout is not None and not rates:
        raise UserError(f"{weights}: this kind of backbone has no dropout to set; leave training.dropout out")
    with opening(weights):
        transformer = Transformer(
            str(weights),
            model_kwargs=LOCAL | SAFETENSORS | options | {"dtype": torch.float32},
            processor_kwargs=dict(NO_CODE),  # a tokenizer would save `local_files_only` too
            config_kwargs=LOCAL | rates | {"output_hidden_states": hidden_states},
            do_lower_case=Transformer.load_config(str(weights), local_files_only=True).get("do_lower_case", False),
        )
    _require_encoder(transformer.auto_model, config, weights)
    require_whole_body(transformer.auto_model, weights)
    save_with(transformer, options)
    return transformer


def _require_encoder(model: PreTrainedModel, config: PretrainedConfig, weights: Path) -> None:
    """Raise a UserError at an encoder-decoder, unless it was saved without its decoder, or is a T5, whose encoder can
    be read alone: BART's vectors would be its decoder's, and of NLLB no weight would be read.
    """
    kind = type(model).__name__
    alone = kind.endswith("EncoderModel") or kind in (config.architectures or ())
    if config.is_encoder_decoder and (hasattr(model, "decoder") or not alone):
        raise UserError(
            f"{weights}: {config.model_type} is an encoder-decoder, such as translators are; take an encoder, or a T5"
        )


def _require_both_ways(config: PretrainedConfig, weights: Path, pooling: str) -> None:
    """Raise a UserError at a language model, whose first token knows nothing of those after it."""
    generates = type(config) in MODEL_FOR_CAUSAL_LM_MAPPING and type(config) not in MODEL_FOR_MASKED_LM_MAPPING
    if generates and not getattr(config, "use_bidirectional_attention", False):
        found = f"{config.model_type} reads from left to right, so that its first token knows nothing of the others"
        raise UserError(f"{weights}: training.pooling {pooling}: {found}; take mean, or first_last_average")


def without_pooler(config: PretrainedConfig) -> dict[str, bool]:
    """Options of `from_pretrained` that leave out BERT's pooler, which no pooling here uses and which LoRA would wrap;
    empty for a transformer without one.
    """
    architecture = inspect.signature(MODEL_MAPPING.get(type(config), PreTrainedModel))
    return {"add_pooling_layer": False} if "add_pooling_layer" in architecture.parameters else {}


def save_with(transformer: Transformer, options: dict[str, Any]) -> None:
    """Save further options of `from_pretrained` with a transformer, which is loaded with them again.

    Without those of `_transformer`, loading a saved encoder (or a checkpoint, strictly) would add a pooler of random
    weights again.
    """
    transformer.model_kwargs = getattr(transformer, "model_kwargs", {}) | options
    transformer.config_keys = [*dict.fromkeys([*transformer.config_keys, "model_kwargs"])]


def limited(transformer: Transformer) -> Transformer:
    """Make a transformer take as many tokens as it can and pad on the right, in place; it is returned."""
    transformer.max_seq_length = max_tokens(transformer.auto_model, transformer.max_seq_length)
    # The first token must be at the first place: BERT's positions count from there.
    transformer.tokenizer.padding_side = "right"
    return transformer


def max_tokens(model: nn.Module, tokenizer_limit: int) -> int:
    """The maximum number of tokens: the tokenizer's limit, or the number of position embeddings if that is smaller.

    RoBERTa counts positions from its padding index + 1, so that XLM-R's 514 positions hold 512 tokens.
    """
    tables = (getattr(module, "position_embeddings", None) for module in model.modules())
    lengths = [
        table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)
        for table in tables
        if isinstance(table, nn.Embedding)
    ]
    return min([tokenizer_limit, *lengths])


def _pooling(name: settings.Pooling, transformer: Transformer, layers: int, seed: int) -> list[Module]:
    width = transformer.get_embedding_dimension()
    if name in LAST:
        if layers > (blocks := transformer.auto_model.config.num_hidden_layers):
            raise UserError(f"training.layers: {layers}, but the backbone has {blocks} blocks; give {blocks} or fewer")
        return [LAST[name](width, layers)]
    if name in AVERAGES:
        return [AVERAGES[name](width)]
    if name in ("cls_mlp", "cls_mlp_train"):
        deviation = getattr(transformer.auto_model.config, "initializer_range", 0.02)
        kind = TrainingHead if name == "cls_mlp_train" else Dense
        return [Pooling(width, "cls"), dense(width, deviation=deviation, seed=seed, kind=kind)]
    return [Pooling(width, name)]
