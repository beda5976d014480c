"""Checks of a model's files as they came: weights that are not cut short, and a tokenizer that opens and fits them."""

from pathlib import Path

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from seedbed import model_files
from seedbed.io import UserError, read_json
from seedbed.weights import open_tokenizer, opening

INDEX = "model.safetensors.index.json"


def require_whole_files(directory: Path) -> None:
    """Require that every file of weights is whole, and that the tokenizer of a model opens and fits its embeddings.

    Of weights only the headers are read. An adapter needs no tokenizer.

    Raises:
        UserError: the first file that is wrong.
    """
    for path in sorted(directory.rglob("*.safetensors")):
        try:
            with safe_open(path, "np"):
                pass
        except SafetensorError as error:
            raise UserError(
                f"{path}: broken or cut short ({error}; {path.stat().st_size} bytes); get the file again, in a clone "
                "of git by `git lfs pull`"
            ) from None
    for index in sorted(directory.rglob(INDEX)):
        shards = {*read_json(index).get("weight_map", {}).values()}
        lacking = sorted(name for name in shards if not (index.parent / name).is_file())
        if lacking and not (index.parent / "model.safetensors").is_file():
            raise UserError(f"{index}: lists {lacking[0]}, which is not there; get all {len(shards)} files of weights")
    if not (directory / "adapter_config.json").is_file():
        _require_tokenizer(model_files.transformer_in(directory))


def _require_tokenizer(folder: Path) -> None:
    """Require that a model's tokenizer opens, and that its tokens have rows of embeddings.

    Tokens that were added to its vocabulary do not count: Gemma 3's text models have no row for the one of images.
    """
    if (file := folder / "tokenizer.json").is_file():
        with opening(file):  # transformers would not name it
            Tokenizer.from_file(str(file))
    tokens, config = open_tokenizer(folder).vocab_size, read_json(folder / "config.json")
    parts = [part for part in (config, config.get("text_config")) if isinstance(part, dict)]
    rows = next((part["vocab_size"] for part in parts if "vocab_size" in part), None)
    if isinstance(rows, int) and tokens > rows:
        raise UserError(
            f"{folder}: its tokenizer has {tokens} tokens, and its embeddings have {rows} rows (vocab_size in "
            "config.json); take the tokenizer that was saved with the weights"
        )
