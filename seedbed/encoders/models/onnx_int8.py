"""A transformer in 8-bit integers that onnxruntime runs on a CPU.

A copy of this file, named CODE, is saved in the folder of each such encoder, so that sentence-transformers opens it
where Seedbed is not installed. It therefore imports nothing of Seedbed but its type of errors.
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
"""File of the transformer: `input_ids` (1, t) to `states` (1, t, d)."""
TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
"""Files of its tokenizer."""
CODE = "int8_transformer.py"
"""Name of the copy of this file in the encoder's folder."""


class Int8Transformer(Module):
    """A quantised transformer that computes each text separately.

    The scale of quantised activations depends on all texts that are computed together, so that a batch would change its
    texts' vectors.

    Args:
        graph: the bytes of GRAPH.
        tokenizer: the tokenizer.
        max_seq_length: tokens of a text; longer ones are truncated. None: no limit.
        width: dimensions of a token's state.
        weights: the number of weights in the graph.
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
        """Dimensions of a token's state."""
        return self.width

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None, **kwargs: Any) -> dict[str, Tensor | int]:
        """Tokenise texts with a prompt before them: `input_ids` and `attention_mask`, (b, t) each.

        With a prompt also `prompt_length`, the number of its tokens; a Pooling with `include_prompt: false` leaves them
        out.
        """
        texts = [f"{prompt or ''}{text}" for text in inputs]
        cut = {"truncation": self.max_seq_length is not None, "max_length": self.max_seq_length}
        found = self.tokenizer(texts, padding=True, return_tensors="pt", **cut)
        features = {name: found[name] for name in ("input_ids", "attention_mask")}
        if prompt:  # counted as sentence-transformers' Transformer does: alone, without the special token at its end
            ids = self.preprocess([prompt])["input_ids"][0].tolist()
            features["prompt_length"] = len(ids) - (ids[-1] in self.tokenizer.all_special_ids)
        return features

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Add `token_embeddings` (b, t, d) to the features; they are zero at padding."""
        ids, there = (features[name].cpu() for name in ("input_ids", "attention_mask"))
        states = torch.zeros(*ids.shape, self.width)
        for row, own in enumerate(there.bool()):
            (made,) = self.session.run(None, {"input_ids": ids[row, own][None].numpy()})
            states[row, own] = torch.from_numpy(made[0])
        features["token_embeddings"] = states.to(features["input_ids"].device)
        return features

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Save the graph, the tokenizer, the settings and a copy of this file."""
        self.save_config(output_path)
        self.tokenizer.save_pretrained(output_path)
        Path(output_path, GRAPH).write_bytes(self.graph)
        if (copy := Path(output_path, CODE)) != Path(__file__):
            shutil.copyfile(__file__, copy)

    @classmethod
    def load(cls, model_name_or_path: str, *args: Any, **kwargs: Any) -> "Int8Transformer":
        """Open what `save` wrote.

        Raises:
            UserError: a file is missing.
        """
        names = ("subfolder", "token", "cache_folder", "revision", "local_files_only")
        place = {name: kwargs[name] for name in names if name in kwargs}
        found = {name: cls.load_file_path(model_name_or_path, name, **place) for name in (GRAPH, *TOKENIZER)}
        if lacking := [name for name, path in found.items() if path is None]:
            raise UserError(f"{model_name_or_path}: no {lacking[0]}; save the encoder again")
        folder = Path(found[GRAPH]).parent  # the local folder, which may be the hub's cache
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        return cls(Path(found[GRAPH]).read_bytes(), tokenizer, **cls.load_config(model_name_or_path, **place))


Int8Transformer.__module__ = Path(CODE).stem  # what modules.json is to name: the copy, not Seedbed
MODULES: Mapping[str, type[Module]] = {f"{Int8Transformer.__module__}.{Int8Transformer.__name__}": Int8Transformer}
"""Type in modules.json -> its class."""
