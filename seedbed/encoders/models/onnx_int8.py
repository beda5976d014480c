"""A transformer in integers of 8 bits, which onnxruntime runs on a CPU.

A copy of this file lies in the folder of each such encoder, as CODE, so that sentence-transformers opens it where
Seedbed is not installed. So it reads nothing else of Seedbed but the kind of its errors.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from sentence_transformers.sentence_transformer.modules import Module
from torch import Tensor
from transformers import AutoTokenizer, PreTrainedTokenizerBase

try:
    from seedbed.io import UserError
except ImportError:
    UserError = ValueError

GRAPH = "model.onnx"
"""The transformer: `input_ids` (1, t) to `states` (1, t, d)."""
TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
"""The files of its tokenizer."""
CODE = "int8_transformer.py"
"""What a copy of this file is called beside it."""


class Int8Transformer(Module):
    """A transformer's last states, each text by itself.

    What stands in for an activation depends on the largest of all that are computed together: texts of one batch would
    change each other's vectors.

    Args:
        graph: what GRAPH holds.
        max_seq_length: tokens of a text that are read.
        width: numbers of a state.
        weights: how many numbers the graph holds.
    """

    config_keys = ["max_seq_length", "width", "weights"]
    config_file_name = "int8_config.json"
    save_in_root = True
    modalities = ["text"]

    def __init__(
        self,
        graph: bytes,
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_seq_length: int | None,
        width: int,
        weights: int,
    ) -> None:
        super().__init__()
        import onnxruntime

        self.graph, self.tokenizer = graph, tokenizer
        self.max_seq_length, self.width, self.weights = max_seq_length, width, weights
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        self.session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def get_embedding_dimension(self) -> int:
        """Numbers of a state."""
        return self.width

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None, **kwargs: Any) -> dict[str, Tensor]:
        """Tokens (b, t) of texts behind their prompt, and where they are."""
        texts = [f"{prompt or ''}{text}" for text in inputs]
        cut = {"truncation": self.max_seq_length is not None, "max_length": self.max_seq_length}
        found = self.tokenizer(texts, padding=True, return_tensors="pt", **cut)
        return {name: found[name] for name in ("input_ids", "attention_mask")}

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Adds `token_embeddings` (b, t, d), zeros where there is padding."""
        ids, there = (features[name].cpu() for name in ("input_ids", "attention_mask"))
        states = torch.zeros(*ids.shape, self.width)
        for row, own in enumerate(there.bool()):
            (made,) = self.session.run(None, {"input_ids": ids[row, own][None].numpy()})
            states[row, own] = torch.from_numpy(made[0])
        features["token_embeddings"] = states.to(features["input_ids"].device)
        return features

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Save the graph, the tokenizer, settings, and a copy of this file."""
        self.save_config(output_path)
        self.tokenizer.save_pretrained(output_path)
        Path(output_path, GRAPH).write_bytes(self.graph)
        if (copy := Path(output_path, CODE)) != Path(__file__):
            shutil.copyfile(__file__, copy)

    @classmethod
    def load(cls, model_name_or_path: str, *args: Any, **kwargs: Any) -> "Int8Transformer":
        """Open what `save` wrote; UserError: a file is not there."""
        names = ("subfolder", "token", "cache_folder", "revision", "local_files_only")
        place = {name: kwargs[name] for name in names if name in kwargs}
        found = {name: cls.load_file_path(model_name_or_path, name, **place) for name in (GRAPH, *TOKENIZER)}
        if lacking := [name for name, path in found.items() if path is None]:
            raise UserError(f"{model_name_or_path}: no {lacking[0]}; save the encoder again")
        folder = Path(found[GRAPH]).parent  # where they lie now, be it the hub's cache
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        return cls(Path(found[GRAPH]).read_bytes(), tokenizer, **cls.load_config(model_name_or_path, **place))


Int8Transformer.__module__ = Path(CODE).stem  # what modules.json is to name: the copy, not Seedbed
MODULES: Mapping[str, type[Module]] = {f"{Int8Transformer.__module__}.{Int8Transformer.__name__}": Int8Transformer}
"""The type in modules.json -> what it is."""
