"""Recipes: an encoder's start point, training data and objective. The papers' recipes are presets."""

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from seedbed import yamls
from seedbed.corpora.settings import COLUMNS, Source
from seedbed.encoders import objectives
from seedbed.encoders.compression.settings import Copies
from seedbed.encoders.objectives import Objective
from seedbed.encoders.settings import MOST_NEIGHBOURS, NEIGHBOUR, Reference
from seedbed.encoders.translations.settings import TranslationChoice
from seedbed.generators.settings import METHODS, TRANSLATION
from seedbed.names import SEED_PAIRS, Code
from seedbed.resources import resource
from seedbed.settings import Once, Seed, Settings, suggest

TRAINED = Objective.rule
"""The rule that makes encoders, unless their objective names another."""
DATA = ("corpus", "written", "neighbours", "candidates")
"""The types of training data."""


class Data(Settings):
    """What a recipe trains on: one of `corpus`, `written`, `neighbours` and `candidates`, or nothing."""

    corpus: str = ""
    """A name under `corpora` or `corpora.others`. Text is sampled; `seed_pairs` is sampled from `corpora.parallel`."""
    written: str = ""
    """Generated triplets: prompting, composition, xllora or query-generation."""
    neighbours: str = ""
    """A name under `mining`: the seed pairs with their mined neighbours."""
    candidates: str = ""
    """A corpus whose texts `english.translators` translate."""
    by: str = ""
    """The generator; left out, the first. Of paraphrases in the pivot language: what translates them; left out,
    nothing."""
    rows: int | None = Field(None, gt=1)
    """Maximum number of rows; no more are generated or sampled than some recipe needs."""
    from_languages: Literal["own", "pivot", "all"] | Code | Annotated[list[Code], Field(min_length=2)] = "own"
    """Whose data: each language's own; the pivot's, or one named language's, for all; `all`, or a list: one encoder for
    all of the recipe's languages, where rows of one id are translations and a batch is in one language unless
    `training.crosslingual`."""

    _kind: str = PrivateAttr("")

    @field_validator("from_languages", mode="before")
    @classmethod
    def _several(cls, language: Any) -> Any:
        """Check the forms one by one, for one clear error instead of one for each type of the union."""
        if isinstance(language, list) and len({*map(str, language)}) < max(2, len(language)):
            raise ValueError(f"expected one code, or a list of two or more distinct codes; found {language}")
        return language

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [key for key in DATA if getattr(self, key)]
        if len(given) > 1:
            raise ValueError(f"give one of {', '.join(DATA)}; found {', '.join(given)}")
        if self.by and not (self.written or self.corpus):
            raise ValueError("by: it generates `written` triplets or translates a `corpus`; give one, or leave it out")
        if self.written and self.written not in (ways := [name for name in METHODS if name != TRANSLATION]):
            near = suggest(self.written, ways)
            raise ValueError(f"written: no way {self.written!r} of writing triplets; {near}")
        return self

    def __bool__(self) -> bool:
        """Whether there is training data."""
        return any(getattr(self, key) for key in DATA)

    @property
    def key(self) -> str:
        """The given type of data, one of DATA."""
        return next(key for key in DATA if getattr(self, key))

    @property
    def origin(self) -> str:
        """The corpus that the data is, or is sampled or generated from."""
        fixed = "text" if self.written else SEED_PAIRS if self.neighbours else ""
        return fixed or getattr(self, self.key)

    @property
    def kind(self) -> str:
        """The kind of the rows, such as text or triplets; empty for a corpus before `of_kind` is called."""
        return {"written": "triplets", "neighbours": "parallel", "candidates": "text"}.get(self.key, self._kind)

    def of_kind(self, kind: str) -> None:
        """Set the kind of the corpus."""
        self._kind = kind

    @property
    def drawn_from(self) -> tuple[str, ...]:
        """The corpora that the data is, or is sampled, generated or mined from."""
        if not self:
            return ()
        return (self.origin, "text") if self.neighbours else (self.origin,)

    @property
    def sentences(self) -> str:
        """The corpus of single texts that the data is sampled from; empty if the data is something else."""
        return self.corpus if self.corpus and self.kind == "text" else ""

    @property
    def translated(self) -> str:
        """The corpus in the pivot language that a generator translates into each other language; empty: none."""
        return self.corpus if self.by else ""

    @property
    def apart(self) -> bool:
        """Whether rows with the same id in several languages are not translations of each other."""
        return bool(self.written or self.neighbours or (self.corpus and self.kind in ("text", "parallel")))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the data can have."""
        if self.candidates:
            return ("text", "candidates")
        ranks = tuple(f"{NEIGHBOUR}{rank}" for rank in range(1, MOST_NEIGHBOURS + 1)) if self.neighbours else ()
        return COLUMNS[self.kind] + ranks


class English(Settings):
    """How an encoder reads translations, or trains to choose them."""

    translators: Once[str] = []
    """Names under `translators`."""
    judge: str = ""
    """A name under `judges`; left out, no scores."""
    similarity: str = ""
    """Similarity of text and translation: by this backbone, `none`, or, left out, by the anchored features."""
    fusion: Literal["", "none", "concat", "prefix", "english"] = ""
    """How it reads a text and its chosen English; see docs/papers/lira.md. Only of backbones that are a `pair`."""
    choose: Literal["", TranslationChoice] = ""
    """Which translation it reads."""
    actor: str = ""
    """The recipe whose policy and features choose; left out, the nearest it starts from."""


class Only(Settings):
    """What a recipe is limited to."""

    languages: Once[str] | None = None
    """Languages; default: all."""
    backbones: Once[str] | None = None
    """Backbones; default: all, without APIs if something is trained, or pooled otherwise than by `base`."""
    seeds: Annotated[Once[Seed], Field(min_length=1)] | None = None
    """Seeds; default: the study's."""


class PrefixChoice(Settings):
    """A prefix that a development task chooses."""

    choose: Annotated[Once[str], Field(min_length=2)]
    """Untrained recipes, each with another prefix: `best.dev` chooses before training, per language; without a test
    there, by the languages that have one."""


class Recipe(Settings):
    """How an encoder is made; see docs/recipes.md."""

    model_config = ConfigDict(populate_by_name=True)

    like: str = ""
    """A recipe of the study, or a preset (base, unsupervised, adjacent, xllora, ...), whose settings this one has but
    for those given here. An entry with a preset's name varies it."""
    over: list[str | float] | dict[str, dict[str, Any]] = []
    """Several recipes in one entry: `{}` in its name and texts is replaced by each of these; `{KEY: {NAME: VALUE}}`
    also sets a key: `{training.pooling: {mean: mean, cls: cls_mlp}}`."""
    on_request: bool = False
    """Tables show it only if they name it."""
    start: str = Field("", alias="from")
    """Another recipe, from whose encoder of the same backbone, language and seed it starts, with its pooling; left out,
    the backbone. A preset that the study does not name is then built too, like `adapted`."""
    data: Data = Data()
    """Training data; left out, nothing is trained."""
    objective: dict[str, dict[str, Any]] = {}
    """What training minimises: a name, or a name with settings, like `{ranking: {scale: 20}}`."""
    copies: Copies = Copies()
    """Instead of an objective: another encoder from finished ones, by a name, or a name with settings, like `{trimmed:
    {least_count: 2}}`; `data` are the sentences for that."""
    training: dict[str, Any] = {}
    """Changes to the study's `training`."""
    prefix: str | PrefixChoice | None = None
    """Text before every sentence instead of the backbone's; `{choose: [RECIPE, ...]}`: that of one of these. Left out,
    that of the recipe it starts from."""
    english: English = English()
    """How it reads English translations, or trains to choose them."""
    only: Only = Only()
    """Limits."""
    published: dict[str, Source] = {}
    """Published encoders by backbone; used if the study starts at `encoders`, or if nothing is trained."""
    aligned: Literal["always", "pairs", "never"] = "always"
    """pairs, never: the encoders of the recipe it is `like`, with parallel adapters off in tests of one language (paper
    004, table 5) or in all."""
    summary: str = ""
    """A sentence or two for the encoder's card."""

    @field_validator("objective", mode="before", json_schema_input_type=str | dict[str, dict[str, Any]])
    @classmethod
    def _named(cls, objective: Any) -> Any:
        """The name of an objective without settings means the objective with its defaults."""
        return {objective: {}} if isinstance(objective, str) and objective else objective

    @field_validator("prefix", mode="before")
    @classmethod
    def _chosen(cls, prefix: Any) -> Any:
        """Validate a mapping by itself, for one clear error instead of one for each type of the union."""
        return PrefixChoice.model_validate(prefix) if isinstance(prefix, Mapping) else prefix

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.data) != self.made or len(self.objective) + bool(self.copies) > 1:
            raise ValueError("give one `objective`, or `copies`, with its `data`, or none: then nothing is trained")
        if not self.made and self.start and not self.english.fusion:
            raise ValueError("from: nothing is trained; give `data` and an `objective`, or leave it out")
        if self.prefix_of and not self.objective:
            raise ValueError("prefix.choose: nothing is trained; the untrained recipes that it names are there already")
        if not self.paired and (given := [name for name, value in self.english if value]):
            raise ValueError(
                f"english.{given[0]}: this recipe reads no translation; give `english.fusion`, or "
                "`data: {candidates: ...}`"
            )
        return self

    def of_kind(self, kind: str) -> None:
        """Set the kind of the corpus that it is trained on, and check that the objective can take it.

        Raises:
            ValueError: the objective needs other columns.
        """
        if not self.data:
            return
        self.data.of_kind(kind)
        if self.copies:
            if not self.data.sentences:
                raise ValueError(f"data.{self.data.key}: copies look at sentences; give a corpus of texts")
            return
        objective = self.minimises
        if not any({*shape, *objective.values} <= {*self.data.columns} for shape in objective.shapes):
            reads = " or ".join(", ".join((*shape, *objective.values)) for shape in objective.shapes)
            has = f"data.{self.data.key} has {', '.join(COLUMNS[self.data.kind])}"
            raise ValueError(f"{has}; {next(iter(self.objective))} reads {reads}")
        if "score" in self.data.columns and "score" not in objective.values:
            raise ValueError(
                f"data.{self.data.key} has pairs with scores; {next(iter(self.objective))} reads none, and each is a "
                "positive pair to it; take graded or correlation, or give its good pairs as `kind: matched_pairs`"
            )

    @property
    def prefix_of(self) -> list[str]:
        """The recipes among whose prompts a development task chooses; empty: the prompt is given."""
        return self.prefix.choose if isinstance(self.prefix, PrefixChoice) else []

    @property
    def paired(self) -> bool:
        """Whether it uses English translations: a two-path encoder, or training that chooses translations."""
        return bool(self.english.fusion or self.data.candidates)

    @property
    def of_several(self) -> bool:
        """Whether one encoder is trained on the data of several languages."""
        return self.data.from_languages == "all" or not isinstance(self.data.from_languages, str)

    @property
    def trained(self) -> bool:
        """Whether something is trained."""
        return bool(self.objective)

    @property
    def reads_training(self) -> bool:
        """Whether it is trained by `training`; an objective with a program of its own has settings of its own."""
        return self.trained and self.rule == TRAINED

    @property
    def made(self) -> bool:
        """Whether its encoders are trained or compressed. If not, they are their start points."""
        return bool(self.objective or self.copies)

    @cached_property
    def rule(self) -> str:
        """The rule that makes its encoders."""
        return "copy_encoder" if self.copies else self.minimises.rule if self.objective else TRAINED

    @property
    def written(self) -> str:
        """How its triplets are generated, or its rows translated; empty: no generator is involved."""
        return TRANSLATION if self.data.translated else self.data.written

    @cached_property
    def together(self) -> bool:
        """Whether the adapters of all its encoders are trained jointly."""
        return self.trained and self.minimises.together

    @property
    def drawn(self) -> str | None:
        """The corpus of `corpora.others` that its sentences are sampled from, "" for `text`; None: it is not trained on
        sentences.
        """
        if not self.data.sentences:
            return None
        return "" if self.data.sentences == "text" else self.data.sentences

    @cached_property
    def minimises(self) -> Objective | None:
        """What training minimises: the objective, with the recipe's similarity if it has candidates; None: nothing is
        trained.

        Raises:
            UserError: no such objective, or settings that it does not have.
        """
        if not self.trained:
            return None
        [(name, settings)] = self.objective.items()
        if self.data.candidates and self.english.similarity:
            settings = settings | {"similarity": "none" if self.english.similarity == "none" else "given"}
        return objectives.load(name, settings)

    def references(self) -> dict[str, Reference]:
        """The encoders that the objective refers to: name of the setting -> the reference."""
        return self.minimises.references() if self.minimises else {}


@cache
def presets() -> dict[str, dict[str, Any]]:
    """The papers' recipes: name -> settings of a recipe."""
    return yamls.read(resource("recipes.yaml"))
