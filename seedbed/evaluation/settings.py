"""Settings of tasks and of text maps."""

import re
import unicodedata
from functools import partial
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from seedbed.corpora.settings import WHOLE, Source
from seedbed.encoders.tuning_settings import FineTuning, Reading
from seedbed.evaluation import protocols
from seedbed.names import PAIR, Name, Pair, languages_of, pair_of
from seedbed.settings import NoResult, Once, Seed, Settings, explain, written
from seedbed.vectors.types import Distance

OPTIONS = (
    *("train", "train_language", "distance", "instruction", "labels", "k", "mteb", "scale"),
    *("fine_tuning", "reading", "unseen", "pairs"),
)
"""Settings of a task that only some protocols use, see `Protocol.options`."""


OF_SETS = ("source", "train", "clean", "apart_from")
"""Settings of a task's sets; a task with `set_of` has those of the other task."""


Label = Annotated[
    str,
    AfterValidator(partial(unicodedata.normalize, "NFC")),
    written(r"\S(.*\S)?", "a label without blanks around it, like neutral", maybe_empty=False),
]
"""A label in NFC, as labels of data sets are."""


class MtebTask(Settings):
    """The mteb task that a score must agree with."""

    name: str
    """Exact name in mteb."""
    subset: str = "default"
    """hf_subset; may contain registry placeholders."""


class Task(Settings):
    """One protocol on one data set."""

    protocol: protocols.Name
    """A protocol listed below, or a file of `protocols/` in the study's folder."""
    source: Source | None = None
    """The test set; `tests` of a language overrides it."""
    set_of: str = ""
    """Name of a task whose test and training sets are those of this task too."""
    train: Source | None = None
    """knn, icl, tuned, qa: the training set."""
    train_language: str = ""
    """knn, icl, tuned, qa: the training set's language, which is then not tested; left out, the test's."""
    distance: Distance = "cosine"
    """bitext, layers, knn, icl: distance of sentences. MINERS: euclidean."""
    instruction: str = "Generate a sentiment label for a given input."
    """icl, and knn with a classifier in context: the instruction; MINERS says topic instead of sentiment for
    topics."""
    labels: Once[Label] = []
    """icl: further possible labels; MINERS offers neutral for NollySenti."""
    k: Annotated[list[int], Field(min_length=1)] = [1]
    """bitext, knn: numbers of neighbours, a score for each."""
    fine_tuning: FineTuning = FineTuning()
    """tuned: fine-tuning settings."""
    unseen: Literal["drop", "keep", "refuse"] = "drop"
    """tuned: test texts with a label that no training text has are dropped and counted, count as errors, or are
    refused."""
    reading: Reading = Reading()
    """qa: fine-tuning and search of answers."""
    mteb: MtebTask | None = None
    """Also score through mteb; `source` must be what mteb pins."""
    languages: Once[str] | None = None
    """Languages; default: all that have a source."""
    pairs: Literal["all"] | Once[Pair] | dict[Pair, dict[str, Any]] = []
    """sts, choice: also tests of two languages, `aze-kaz`: `all`, some, or changes to `source` for each order, like
    `{deu-eng: {config: de-en}}`. Orders are scored separately and averaged."""
    on_request: bool = False
    """Tables show it only if they name it: development sets."""
    clean: bool = False
    """Apply `cleaning` to the test set: for text that is no published benchmark. Not of retrieval and qa."""
    apart_from: Once[Name] = []
    """Corpora trained on before this test set existed: its rows that repeat their text are dropped, so nothing is
    retrained."""
    scale: tuple[float, float] = (0.0, 1.0)
    """sts, geometry: least and greatest gold score."""
    batch_size: NoResult[int] = Field(128, gt=0)
    """Sentences encoded together at most; of a job's tasks the least counts."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.scale[0] >= self.scale[1]:
            raise ValueError(f"scale goes from the least to the greatest gold score, found {self.scale}")
        return self

    @field_validator("pairs", mode="before")
    @classmethod
    def _of_two(cls, pairs: Any) -> Any:
        """Check the forms one by one, for one clear error instead of one for each type of the union."""
        if pairs != "all" and not isinstance(pairs, list | dict):
            raise ValueError("expected `all`, pairs like [aze-kaz], or changes for each order like {aze-kaz: {...}}")
        named = [] if pairs == "all" else [*pairs]
        for order in named:
            if not (isinstance(order, str) and re.fullmatch(PAIR, order)):
                raise ValueError(f"{order!r} is no pair of ISO 639-3 codes; expected one like aze-kaz")
            if len({*languages_of(order)}) < 2:
                raise ValueError(f"{order}: one language twice; a pair is of two")
        if not isinstance(pairs, dict) and len({*map(pair_of, named)}) < len(named):
            raise ValueError("one pair in both orders; name it once, both are scored")
        return pairs

    @model_validator(mode="after")
    def _sources(self) -> Self:
        for order in self.orders():
            self.of_order(order)
            if self.set_of:
                raise ValueError(f"pairs.{order}: with `set_of` sources are the other task's; name pairs alone")
        given = [name for name in OF_SETS if getattr(self, name) != type(self).model_fields[name].default]
        if self.set_of and given:
            raise ValueError(f"{given[0]}: with `set_of` it is that of {self.set_of}; give it there, or leave one out")
        return self

    @field_validator("k")
    @classmethod
    def _nearest(cls, k: list[int]) -> list[int]:
        if min(k) < 1 or k != sorted(set(k)):
            raise ValueError(f"numbers of neighbours, from 1, each once and ascending; found {k}")
        return k

    @model_validator(mode="after")
    def _reads(self) -> Self:
        protocol = protocols.declared(self.protocol)
        reads = (*protocol.options, *(["pairs"] if protocol.second else []))
        for name in OPTIONS:
            if name not in reads and getattr(self, name) != type(self).model_fields[name].default:
                known = f"it reads {', '.join(reads)}" if reads else "it reads no such setting"
                raise ValueError(f"{name}: protocol {self.protocol} does not read it, leave it out; {known}")
        if self.clean and protocol.kind in WHOLE:
            raise ValueError(
                f"clean: cleaning drops no row of protocol {self.protocol} ({protocol.kind}); leave it out"
            )
        return self

    def orders(self) -> list[str]:
        """Orders of language pairs that have their own source."""
        return [*self.pairs] if isinstance(self.pairs, dict) else []

    def of_order(self, order: str) -> Source:
        """The source of an order of a language pair: `source` with the changes in `pairs`, placeholders not yet filled.

        Raises:
            ValueError: it is not a valid source.
        """
        try:
            changes = self.pairs[order]
            return self.source.updated(changes) if self.source else Source.model_validate(changes)
        except ValidationError as error:
            raise ValueError(explain(error, Source, where=f"pairs.{order}")) from None


class TextMap(Settings):
    """Parallel texts in the plane, where an encoder puts them (MINERS, section 4.1; NeighXLM, figure 5)."""

    task: str
    """knn or icl: the texts are of its training sets, in each of its languages. With `pairs` a task whose test sets are
    translations, bitext or layers: the texts are of these."""
    texts: int = Field(200, gt=0)
    """Approximate number of texts in all languages together; each sentence is in every language."""
    pairs: int | None = Field(None, gt=0)
    """Instead of `texts`: number of translation pairs of each language; all if there are fewer."""
    seed: Seed = 0
    """Seed of sampling and of the method."""
    method: Literal["tsne", "umap"] = "tsne"
    """Method of projection to the plane: t-SNE or UMAP."""
    perplexity: float = Field(30.0, ge=1)
    """tsne: perplexity, below the number of texts. MINERS reports none; the default is scikit-learn's."""
    neighbours: int = Field(15, ge=3)
    """umap: number of neighbours, the text itself among them, below that of texts. NeighXLM reports none; the default
    is umap-learn's."""

    def of_each(self, languages: int) -> int:
        """Texts of each of several languages, if there are enough: with `pairs` both sides of each."""
        return 2 * self.pairs if self.pairs else max(1, round(self.texts / languages))

    def shortage(self, count: int) -> str:
        """Why so many texts are too few for the method, and what to change; empty: they are enough."""
        name, more = "perplexity" if self.method == "tsne" else "neighbours", "pairs" if self.pairs else "texts"
        if count > (least := getattr(self, name)):
            return ""
        return f"{name} {least:g} needs more than {least:g} texts, there are {count}; raise `{more}` or lower `{name}`"

    @model_validator(mode="after")
    def _read(self) -> Self:
        other, method = ("neighbours", "t-SNE") if self.method == "tsne" else ("perplexity", "UMAP")
        unread = {other: method} | ({"texts": "a map of `pairs`"} if self.pairs else {})
        for name, reader in unread.items():
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name}: {reader} does not read it, leave it out")
        return self
