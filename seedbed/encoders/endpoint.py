"""A sentence-transformers module whose vectors an embedding API computes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sentence_transformers.sentence_transformer.modules import InputModule

from seedbed.encoders import settings
from seedbed.io import UserError, read_json, write_json
from seedbed.servers import post, today
from seedbed.settings import validated

TRANSPORT = "transport.json"
"""File of the settings that do not change vectors, such as time limits; cached embeddings stay valid when it changes.
"""


class Endpoint(InputModule):
    """Encodes texts by a server with OpenAI's or Cohere's embedding API; the only module of such an encoder.

    The saved folder contains the name of the environment variable with the token, never the token. The token is read
    when a request is sent.
    """

    config_file_name = "endpoint.json"
    tokenizer = None
    wait = 1.0
    """Seconds before the second try; doubled after each further one."""

    def __init__(self, endpoint: settings.EndpointSettings) -> None:
        super().__init__()
        self.settings = endpoint

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None, **kwargs: Any) -> dict[str, Any]:
        """The texts with the prompt before them, under `texts`."""
        return {"texts": [(prompt or "") + text for text in inputs]}

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Request vectors and add `sentence_embedding` (texts, dimensions) in float32.

        Raises:
            UserError: the server does not answer or refuses the request, or its answer is not one finite vector of the
                expected dimensions for each text.
        """
        texts, size = features["texts"], self.settings.batch_size
        vectors = [self._vectors(texts[start : start + size]) for start in range(0, len(texts), size)]
        return features | {"sentence_embedding": torch.from_numpy(np.concatenate(vectors))}

    def get_embedding_dimension(self) -> int:
        """Dimensions of a vector."""
        return self.settings.dimensions

    def _vectors(self, texts: list[str]) -> np.ndarray:
        """One request: (texts, dimensions), checked."""
        endpoint = self.settings
        path, body = request(endpoint, texts)
        url = f"{endpoint.url.rstrip('/')}/{path}"
        answer = post(url, body, key=endpoint.key, timeout=endpoint.timeout, tries=1 + endpoint.retries, wait=self.wait)
        where = f"{url}: model {endpoint.model!r}"
        try:
            vectors = [np.asarray(vector, np.float32) for vector in vectors_of(answer, endpoint.style)]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise UserError(f"{where}: no vectors in its answer; does it speak `style: {endpoint.style}`?") from None
        if len(vectors) != len(texts):
            raise UserError(f"{where}: {len(vectors)} vectors for {len(texts)} texts; expected one for each")
        for vector in vectors:
            if vector.shape != (endpoint.dimensions,):
                raise UserError(f"{where}: a vector of {vector.size} numbers; `dimensions` says {endpoint.dimensions}")
            if not np.isfinite(vector).all():
                raise UserError(f"{where}: a vector with numbers that are not finite; ask whoever runs the server")
        return np.stack(vectors)

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Write the settings that vectors depend on into endpoint.json, and all others into TRANSPORT."""
        what = self.settings.model_dump(mode="json")
        how = {name: what.pop(name) for name in sorted(self.settings.idle())}
        write_json(what, Path(output_path) / self.config_file_name)
        write_json(how, Path(output_path) / TRANSPORT)

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **kwargs: Any) -> Self:
        """Open what `save` wrote, with the study's current values of the settings that change no vectors. No request is
        sent.

        Raises:
            UserError: a file is missing or changed, or the study does not name this API.
        """
        folder = Path(model_name_or_path, subfolder)
        return cls(today(described(folder), folder))


def described(folder: Path | str) -> settings.EndpointSettings:
    """Read the settings that `save` wrote.

    Raises:
        UserError: a file is missing, or was changed.
    """
    everything, written = {}, "what saving an encoder behind an API writes"
    for path in (Path(folder, Endpoint.config_file_name), Path(folder, TRANSPORT)):
        if not isinstance(found := read_json(path), dict):
            raise UserError(f"{path}: no settings; expected {written}")
        everything |= found
    return validated(settings.EndpointSettings, everything, folder, written)


def request(endpoint: settings.EndpointSettings, texts: list[str]) -> tuple[str, dict[str, Any]]:
    """The path below the API's URL, and the JSON body, of a request for the vectors of texts."""
    model = {"model": endpoint.model}
    if endpoint.style == "openai":
        return "embeddings", model | {"input": texts}
    return "embed", model | {"texts": texts, "input_type": endpoint.input_type, "embedding_types": ["float"]}


def vectors_of(answer: Any, style: str) -> list[Any]:
    """The vectors in a server's answer (parsed JSON), in the order of the texts; `style` is "openai" or "cohere".

    Raises:
        KeyError or TypeError: the answer has another form.
    """
    if style == "openai":  # each vector names its text, and any order is allowed
        by_index = {row["index"]: row["embedding"] for row in answer["data"]}
        return [by_index[index] for index in range(len(answer["data"]))]
    found = answer["embeddings"]  # by type; the first version of the protocol gives the list itself
    return found["float"] if isinstance(found, dict) else list(found)
