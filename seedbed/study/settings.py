"""Settings of the study that belong to no package: languages, sources of text, its starting step, GPUs."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, field_validator

from seedbed.corpora.read.folders import Word
from seedbed.corpora.settings import Kind, Source
from seedbed.corpora.shape.clean import unicode_scripts
from seedbed.names import Name
from seedbed.settings import Settings, named, written

Start = Literal["scratch", "adapters", "triplets", "encoders"]
"""The reproduction ladder, from the bottom."""
GpuKind = named(r"\w+", "a kind of GPU in letters, digits and _, like a100")


def is_taken(start: Start, step: Start) -> bool:
    """Whether a study that starts at one step of the ladder takes the published work of a step."""
    ladder = get_args(Start)
    return ladder.index(start) >= ladder.index(step)


def _known_script(script: str) -> str:
    if script and not unicode_scripts(script):
        raise ValueError("expected a script of ISO 15924 that Unicode knows, like Latn")
    return script


class Language(Settings):
    """One language of the study; what it leaves out comes from the registry, seedbed/resources/languages.tsv."""

    name: Annotated[str, written(r"\p{L}[\p{L}\p{M}\p{N} .,/()'’-]*", "a name like Swahili (Congo)")] = ""
    """English name, as prompts use it."""
    script: Annotated[str, AfterValidator(_known_script)] = ""
    """ISO 15924, like Latn."""
    corpus: Source | None = None
    """Sentences, instead of `corpora.text`. Of a list the first source that exists is read (see `otherwise`)."""
    instructions: Source | None = None
    """Instructions, instead of `corpora.instructions`."""
    corpora: dict[Name, Source] = {}
    """Sources instead of those of the same name in `corpora.others`."""
    tests: dict[Name, Source] = {}
    """Test sets by task, instead of the task's whole source."""
    codes: dict[Word, Annotated[str, written(r"[\p{L}\p{M}\p{N}_ .,:/+()'-]+", "a plain name, like hin_Deva")]] = {}
    """Values of registry columns: what some resource calls the language."""
    on_request: bool = False
    """Tables show it only if they name it."""

    @field_validator("corpus", mode="before")
    @classmethod
    def _in_turn(cls, corpus: Any) -> Any:
        """`[first, second]` is the first, otherwise the second."""
        if not isinstance(corpus, list) or not all(isinstance(source, Mapping) for source in corpus):
            return corpus
        chosen = None
        for source in reversed(corpus):
            chosen = {**source, "otherwise": chosen}
        return chosen


class OwnCorpus(Source):
    """A named source with the kind of its rows."""

    kind: Kind = "text"
    """Text is sampled as sentences. Of other kinds all rows are used that `cleaning` leaves: one for each first text,
    since the others' second ones would be negatives; of translations, one for each side; of choices, one for each
    question of a passage; graded and labelled pairs all. docs/data.md lists their columns."""

    @property
    def source(self) -> Source:
        """The settings of its source, without its kind."""
        return Source.model_validate(self.model_dump(exclude={"kind"}, exclude_unset=True))


class Corpora(Settings):
    """Sources of text, as templates over the registry; a study that only scores encoders needs none."""

    text: Source | None = None
    """Sentences of a language: `text`."""
    instructions: Source | None = None
    """Prompts and responses in a language: `prompt`, `response`."""
    nli: Source | None = None
    """Triplets in the pivot language: `anchor`, `positive`, `negative`."""
    nli_translations: Source | None = None
    """Human translations of NLI premises with the pivot's hypotheses (or labelled rows: premise, hypothesis, label)."""
    nli_machine: Source | None = None
    """Machine translations of NLI premises, in the same shape."""
    parallel: Source | None = None
    """Human translations: `text` in a language, `pivot` in the pivot language."""
    nli_pairs: Source | None = None
    """Labelled pairs of a language, for classifiers: `premise`, `hypothesis`, `label`."""
    published_positive: Source | None = None
    """Ready examples for the positive XL-LoRA adapter: `anchor` in any language, `target` in the pivot language."""
    published_negative: Source | None = None
    """Ready examples for the negative XL-LoRA adapter, with the columns of `published_positive`."""
    others: dict[Name, OwnCorpus] = {}
    """Further corpora, which recipes name in their `data`; each says its `kind`."""


class Gpus(Settings):
    """The GPUs of a cluster, so that each job requests one with enough memory for its model."""

    memory: dict[GpuKind, Annotated[int, Field(gt=0)]] = {}
    """MiB of each kind; a job that fits none is refused. Empty: jobs do not say which."""
    told_by: Literal["constraint", "gpu_model"] = "constraint"
    """constraint: features, all that fit. gpu_model: types of `--gpus`, the smallest that fits."""
