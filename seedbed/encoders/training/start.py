"""What a training of an encoder starts from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Transformer

from seedbed.encoders.models import loading
from seedbed.encoders.models.two_paths import sides_of
from seedbed.encoders.models.two_paths_setup import EnglishPath, add_english_path
from seedbed.encoders.objectives import Objective
from seedbed.encoders.prompts import Prefix
from seedbed.encoders.settings import Training
from seedbed.io import UserError


@dataclass(frozen=True)
class Start:
    """An encoder before training, with the prompts before its texts and the other encoders that it needs."""

    weights: Path
    """A directory as `save_pretrained` writes it, of transformers or sentence-transformers."""
    prefix: Prefix | None = None
    """See `loading.load`; the columns' names say which texts are queries and documents (`READ_AS`)."""
    languages: Mapping[str, str] = field(default_factory=dict)
    """Column -> its language, where the prompt depends on the language; "": that of all other columns."""
    english_path: EnglishPath | None = None
    """Makes the encoder take a text and its English translation; None: the text alone."""
    folders: Mapping[str, Path] = field(default_factory=dict)
    """A folder for each encoder that the objective refers to; `adapters` of a joint training, if there is no objective;
    `english`, the English encoder's weights, with `english_path`.
    """

    def open(self, training: Training, objective: Objective | None, seed: int) -> SentenceTransformer:
        """Load the encoder with the pooling and layers of `training`, and with its dropout if there is an objective;
        `seed` is that of new weights.

        Raises:
            UserError: weights that cannot be loaded; a pooling that needs training, or takes none; or, with an
                objective, an encoder without a transformer.
        """
        if reason := training.misfit(trained=bool(objective)):
            raise UserError(f"pooling {reason}")
        encoder = loading.load(
            self.weights,
            pooling=training.pooling,
            layers=training.layers,
            prefix=self.prefix,
            language=self.languages.get("", ""),
            seed=seed,
            dropout=training.dropout if objective else None,
        )
        if self.english_path:
            encoder = add_english_path(encoder, self.folders["english"], self.english_path, self.prefix)
        if objective and not all(isinstance(side[0], Transformer) for side in sides_of(encoder)):
            raise UserError(
                f"{self.weights}: an encoder without a transformer, such as a static one, is not trained; take the one "
                "that it is a copy of"
            )
        return encoder
