"""Exporting an encoder's transformer to ONNX, quantised to 8-bit integers."""

import logging
import tempfile
import warnings
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import WeightedLayerPooling
from torch import Tensor, nn

from seedbed.encoders.models.loading import as_saved, of_modules
from seedbed.encoders.models.onnx_int8 import Int8Transformer
from seedbed.io import UserError


class _States(nn.Module):
    """Maps tokens (1, t) of one text, without padding, to the states (1, t, d) that are pooled.

    These are the states of the last layer, or the weighted mean of several layers by `layers`.
    """

    def __init__(self, transformer: nn.Module, layers: list[WeightedLayerPooling]) -> None:
        super().__init__()
        self.transformer, self.layers = transformer, nn.ModuleList(layers)

    def forward(self, input_ids: Tensor) -> Tensor:
        mask = torch.ones_like(input_ids)
        found = self.transformer(input_ids=input_ids, attention_mask=mask, output_hidden_states=bool(self.layers))
        features = {"token_embeddings": found.last_hidden_state, "all_layer_embeddings": found.hidden_states}
        for module in self.layers:
            features = module(features)
        return features["token_embeddings"]


def quantized(encoder: SentenceTransformer) -> SentenceTransformer:
    """Make a copy of an encoder whose transformer has weights and activations in 8-bit integers, for onnxruntime.

    Weights have one scale for each column of a matrix. Only 7 of the 8 bits are used, so that processors without 8-bit
    instructions do not overflow and all machines compute the same vectors. Source: dynamic quantisation of onnxruntime,
    `per_channel` and `reduce_range`.

    Raises:
        UserError: a transformer that torch.onnx cannot export, such as T5's.
    """
    transformer, *others = as_saved(encoder)
    layers = [module for module in others if isinstance(module, WeightedLayerPooling)]  # they become part of the graph
    with tempfile.TemporaryDirectory() as folder:
        whole, small = Path(folder, "whole.onnx"), Path(folder, "small.onnx")
        _export(_States(transformer.auto_model, layers).cpu().eval(), whole, transformer.max_seq_length)
        with _Quiet():
            quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
        graph = small.read_bytes()
    sizes = {"width": int(transformer.get_embedding_dimension()), "weights": transformer.auto_model.num_parameters()}
    module = Int8Transformer(graph, encoder.tokenizer, max_seq_length=transformer.max_seq_length, **sizes)
    return of_modules(encoder, [module, *(other for other in others if other not in layers)])


def _export(states: _States, path: Path, longest: int | None) -> None:
    """Write a transformer's graph, for texts of 2 tokens or more.

    Raises:
        UserError: torch.onnx cannot export it.
    """
    import onnx

    text, tokens = torch.ones(1, 8, dtype=torch.long), torch.export.Dim("tokens", min=2, max=longest)
    options = {"input_names": ["input_ids"], "output_names": ["states"], "dynamic_shapes": {"input_ids": {1: tokens}}}
    try:
        with _Quiet():
            program = torch.onnx.export(states, (text,), dynamo=True, verbose=False, **options)
    except torch.onnx.OnnxExporterError as error:
        model = states.transformer.config
        raise UserError(
            f"{model.name_or_path}: int8: torch.onnx cannot export a transformer of kind {model.model_type}; copy it "
            "as bfloat16, trimmed or static"
        ) from error
    graph = program.model_proto
    for node in graph.graph.node:  # paths of source files on this machine
        del node.metadata_props[:]
    for value in (*graph.graph.value_info, *graph.graph.input, *graph.graph.output, graph.graph, graph):
        del value.metadata_props[:]
    onnx.save(graph, path)


class _Quiet(warnings.catch_warnings):
    """Suppresses what the exporters say of missing libraries, and of functions that will be renamed."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore")
        self.level = logging.root.manager.disable
        logging.disable(logging.WARNING)

    def __exit__(self, *error: object) -> None:
        logging.disable(self.level)
        super().__exit__(*error)
