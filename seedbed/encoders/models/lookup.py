"""An encoder's input embeddings, read alone: of a model of any size its tokenizer and one table."""

from pathlib import Path

import torch
from safetensors import safe_open
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Transformer
from torch import Tensor, nn
from transformers import PretrainedConfig

from seedbed import model_files
from seedbed.encoders.models.loading import SAFETENSORS, directory_of, limited, load
from seedbed.weights import NO_CODE, opening


class Table(nn.Module):
    """A module of input embeddings that replaces their transformer."""

    def __init__(self, table: Tensor, config: PretrainedConfig) -> None:
        super().__init__()
        self.config = config
        self.table = nn.Embedding(*table.shape, device="meta")
        self.table.weight = nn.Parameter(table, requires_grad=False)

    def get_input_embeddings(self) -> nn.Embedding:
        """The embeddings, by the name that transformers has for them."""
        return self.table


def lookup(weights: Path) -> SentenceTransformer:
    """Load an encoder with pooling own that only looks up input embeddings of texts, without its transformer.

    The other weights are not read. If the input embeddings are not the rows of one table, or the file has no such table
    under the model's name for it, the whole encoder is loaded instead.

    Raises:
        UserError: as `load`.
    """
    weights = Path(weights)
    transformer = _without_weights(weights)
    table = transformer and _table(transformer)
    if table is None:
        return load(weights, pooling="own")
    transformer.model = Table(table, transformer.model.config)
    return SentenceTransformer(modules=[transformer], local_files_only=True)


def _without_weights(weights: Path) -> Transformer | None:
    """The transformer on the meta device, with its tokenizer; None: the first module is no plain transformer."""
    whole = {"device_map": "meta"} | SAFETENSORS | NO_CODE
    if modules := (weights / "modules.json").is_file():
        model_files.check(weights)
        kind, folder = model_files.modules_of(weights)[0]
        if model_files.MODULES[kind] != Transformer.__name__:
            return None
    else:
        folder, whole = directory_of(weights), whole | {"dtype": torch.float32}
    with opening(folder):
        found = Transformer.load(
            str(folder),
            local_files_only=True,
            model_kwargs=whole,
            processor_kwargs=dict(NO_CODE),
            config_kwargs=dict(NO_CODE),
        )
    return found if modules else limited(found)


def _table(transformer: Transformer) -> Tensor | None:
    """The table of input embeddings, read from the weights' file; None: the table alone does not give them."""
    model, embeddings = transformer.model, transformer.model.get_input_embeddings()
    if type(embeddings) is not nn.Embedding:
        return None
    name = next(name for name, weight in model.named_parameters() if weight is embeddings.weight)
    names = {name, f"{model.base_model_prefix}.{name}"}
    for file in sorted(Path(model.name_or_path).glob("*.safetensors")):
        with opening(file), safe_open(file, "pt") as tensors:
            for key in names & {*tensors.keys()}:
                found = tensors.get_tensor(key)
                return found.to(embeddings.weight.dtype) if found.shape == embeddings.weight.shape else None
    return None
