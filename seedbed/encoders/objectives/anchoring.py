"""Anchoring: a text's features are trained towards its chosen translation, and a policy is trained to choose it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from seedbed.encoders.objectives import Objective
from seedbed.encoders.settings import BEFORE
from seedbed.encoders.translations.settings import WEIGHTS
from seedbed.io import UserError

if TYPE_CHECKING:
    from seedbed.encoders.models.two_paths import FeaturePath
    from seedbed.encoders.translations.candidates import Candidates

SHARE = 0.5
"""The share of the machine's memory that cached states may take."""


class Anchoring(Objective):
    """A policy that chooses among candidate translations (REINFORCE), with alignment and anchoring:
    `anchoring.AnchoringLoss`.

    The encoder's transformer gets a `two_paths.FeaturePath`, whose adaptor maps its pooled states to the width of an
    English encoder. With `training: {part: head}` the transformer is frozen and its states are cached; with part all it
    is trained too, at `training.learning_rate`. Source: paper 002, section 4.1, appendix A.4 and table 13.

        recipes:
          anchored:
            data: {candidates: own-texts}
            english: {translators: [one, another]}
            objective: {anchoring: {baseline: mean}}
            training: {part: head, batch_size: 64, epochs: 20}
    """

    shapes = (("text",),)
    values = ("candidates",)
    optional = (BEFORE + "candidates",)
    adds_weights = True

    pool_size: int = Field(4, gt=0)
    """States of a text and features of it: S_feat, and the pool size of table 12."""
    hidden: int = Field(512, gt=0)
    """Width of the adaptor's hidden layer."""
    weights: tuple[float, float, float] = WEIGHTS
    """How much counts of a judge's semantic, emotional and pragmatic score in the reward."""
    similarity_weight: float = 1.0
    """How much the similarity counts in the reward."""
    similarity: Literal["adaptor", "given", "none"] = "adaptor"
    """Whose similarity of a text with a candidate the policy and its reward take: equation 7's, that of an encoder that
    the recipe's `english.similarity` names, or 0."""
    alignment_weight: float = Field(1.0, ge=0)
    """Eta of equation 12."""
    anchor_weight: float = Field(1.0, ge=0)
    """Lambda of equation 12."""
    form: Literal["squared", "cosine"] = "squared"
    """The loss of anchoring: equation 5, or 1 - cosine."""
    baseline: Literal["none", "mean"] = "mean"
    """What is taken off a reward: nothing (paper), or the mean of the policy."""
    actions: Literal["drawn", "expected"] = "drawn"
    """What the policy is trained on. drawn: a sampled candidate (paper); expected: the expectation over all."""
    actor_rate: float = Field(1.0e-4, gt=0)
    """Learning rate of the policy."""
    adaptor_rate: float = Field(1.0e-4, gt=0)
    """Learning rate of the adaptor."""

    def cached_bytes(self, texts, translations, source, width):
        """Bytes of the cached states of texts, and of the states and vectors of translations, in float32."""
        return 4 * (self.pool_size * (texts * source + translations * width) + translations * width)

    def prepare(self, encoder, folders, seed):
        """Add a new `FeaturePath` of the English encoder's width to the transformer, unless it has one.

        Raises:
            UserError: the encoder is not a transformer of a single text, or the English encoder's vectors are not as
                wide as its word embeddings.
        """
        import torch

        from seedbed.encoders.models.loading import load, of_modules
        from seedbed.encoders.models.two_paths import FeaturePath, TwoPaths

        if isinstance(encoder[0], TwoPaths) or not hasattr(encoder[0], "auto_model"):
            raise UserError("anchoring: features are of one transformer; start from an encoder of one text")
        if isinstance(encoder[-1], FeaturePath):
            return encoder
        english = load(folders["english"], pooling="own")
        width = english[0].auto_model.get_input_embeddings().embedding_dim
        if english.get_embedding_dimension() != width:
            found = f"vectors of {english.get_embedding_dimension()} numbers and input embeddings of {width}"
            raise UserError(f"anchoring: the English encoder has {found}; take one with as many of both")
        torch.manual_seed(seed)
        source = encoder[0].get_embedding_dimension()
        path = FeaturePath(source, width, self.hidden, self.pool_size)
        return of_modules(encoder, [encoder[0], path.to(encoder.device)])

    def whole_batch_reason(self, training):
        """A reason if the transformer is trained: the loss reads a text's features, not only their mean."""
        return "" if training.part == "head" else "reads features of texts"

    def rates(self, training):
        """Learning rates of the policy and of the adaptor, by regular expressions of their weights' names."""
        return {r"^actor\.": self.actor_rate, r"\.adaptor\.": self.adaptor_rate}

    def loss(self, encoder, table, training, folders):
        """Build an `AnchoringLoss`; the English encoder's prompt is that in the table's column BEFORE of candidates, or
        that in its own file.

        Raises:
            UserError: a single translator; neither a judge nor a similarity that compares candidates; states that do
                not fit the memory; or a table whose candidates or scores cannot be read.
        """
        from seedbed.encoders.losses.anchoring import AnchoringLoss
        from seedbed.encoders.models.loading import load
        from seedbed.encoders.translations.candidates import unpack_candidates
        from seedbed.encoders.translations.similarity import given_similarity

        candidates = unpack_candidates(table)
        if len(candidates.translators) < 2:
            found = f"{candidates.translators[0]} alone"
            raise UserError(f"anchoring: translations by {found}; a choice is among two or more translators")
        if self.similarity == "none" and candidates.scores is None:
            raise UserError("anchoring: neither a judge nor a similarity tells candidates apart; name one")
        before = table[BEFORE + "candidates"].iloc[0] if BEFORE + "candidates" in table.columns else None
        english, given = load(folders["english"], pooling="own", prefix=before), None
        if self.similarity != "adaptor":
            given = given_similarity(candidates, folders.get("similarity") if self.similarity == "given" else None)
        self._require_room(candidates, encoder[1])
        return AnchoringLoss(encoder, candidates, english, given=given, kept=training.part == "head", **self.options)

    @property
    def options(self) -> dict[str, Any]:
        """The settings that the loss takes as keywords."""
        named = {"weights", "similarity_weight", "alignment_weight", "anchor_weight", "form", "baseline", "actions"}
        return self.model_dump(include=named)

    def _require_room(self, candidates: Candidates, path: FeaturePath) -> None:
        """States of all texts and translations fit the memory; UserError: they do not."""
        from seedbed.encoders.models import memory

        texts, translations = len(candidates.texts), len(candidates.distinct()[0])
        needed = self.cached_bytes(texts, translations, path.source, path.width)
        has = memory.machine_bytes()
        if needed <= SHARE * has:
            return
        numbers = (
            f"4 bytes x {self.pool_size} states x ({texts} texts x {path.source} + {translations} translations x "
            f"{path.width})"
        )
        fitting = int(self.pool_size * SHARE * has / needed)
        raise UserError(
            f"anchoring.pool_size: {numbers} = {needed / memory.GIB:.1f} GiB to cache, and this machine has "
            f"{has / memory.GIB:.1f}, of which half may be taken; give {max(1, fitting)} or less, or fewer rows"
        )

    def remarks(self, encoder, columns, folders):
        """The name of the English encoder."""
        return {"english": folders["english"].parent.name if "english" in folders else ""}
