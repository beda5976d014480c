"""Recipes: where an encoder starts, what it learns from, and by which objective. The papers' are presets."""

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from seedbed import yamls
from seedbed.corpora.settings import COLUMNS, Source
from seedbed.encoders import objectives
from seedbed.encoders.objectives import Objective
from seedbed.encoders.settings import MOST_NEIGHBOURS, Reference
from seedbed.generators.settings import METHODS, TRANSLATION
from seedbed.io import compact
from seedbed.names import SEED_PAIRS, Code
from seedbed.resources import resource
from seedbed.settings import Once, Seed, Settings, suggest

VOCABULARY, ADAPTED = "vocabulary", "adapted"
STARTS = (VOCABULARY, ADAPTED)
"""What `from` of a recipe can be besides a recipe: the backbone as rules train_vocabulary and adapt_backbone leave it
for the language."""
DATA = ("corpus", "written", "neighbours", "candidates")
"""What a recipe can learn from."""


class Data(Settings):
    """What a recipe learns from: one of `corpus`, `written`, `neighbours` and `candidates`; none of it: nothing."""

    corpus: str = ""
    """A name under `corpora`, or under `corpora.others`, where each says its `kind`. Of text the sentences that are
    drawn from it, `seed_pairs` what is drawn from `corpora.parallel`."""
    written: str = ""
    """Triplets that a generator writes in this way: prompting, composition, xllora or query-generation."""
    neighbours: str = ""
    """A name under `mining`: the seed pairs with the sentences that were mined for each."""
    candidates: str = ""
    """A corpus of any kind, whose texts have been translated by `english.translators`."""
    by: str = ""
    """Who writes: a name under `generators`; left out, the first. Of a corpus of paraphrases in the pivot language: who
    translates it into each other language; left out, nobody does."""
    rows: int | None = Field(None, gt=1)
    """Train on at most so many rows; no more triplets are written, or sentences drawn, than some recipe needs."""
    from_languages: Literal["own", "pivot", "all"] | Code | Annotated[list[Code], Field(min_length=2)] = "own"
    """Whose data it learns from: that of each language; or the pivot's, or that of one named language, for all. `all`:
    one encoder learns from the data of all its languages, where rows of the same id are translations of each other; a
    batch is in one language, unless `training.crosslingual` says otherwise. Several codes: so of these languages alone,
    where others have no such data; it is there for all of the recipe's."""

    _kind: str = PrivateAttr("")

    @field_validator("from_languages", mode="before")
    @classmethod
    def _several(cls, language: Any) -> Any:
        """One fault at a time, which a choice of three types would not tell."""
        if isinstance(language, list) and len({*map(str, language)}) < max(2, len(language)):
            raise ValueError(f"two codes or more, each once, or one alone that is no list; found {language}")
        return language

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [key for key in DATA if getattr(self, key)]
        if len(given) > 1:
            raise ValueError(f"give one of {', '.join(DATA)}; found {', '.join(given)}")
        if self.written and self.written not in (ways := [name for name in METHODS if name != TRANSLATION]):
            near = suggest(self.written, ways)
            raise ValueError(f"written: no way {self.written!r} of writing triplets; {near}")
        return self

    def __bool__(self) -> bool:
        """Whether there is something to learn from."""
        return any(getattr(self, key) for key in DATA)

    @property
    def key(self) -> str:
        """Which of DATA is given."""
        return next(key for key in DATA if getattr(self, key))

    @property
    def origin(self) -> str:
        """The corpus that it is, or is drawn or written from."""
        fixed = "text" if self.written else SEED_PAIRS if self.neighbours else ""
        return fixed or getattr(self, self.key)

    @property
    def kind(self) -> str:
        """The kind of its rows; of a corpus it is known once the study is, see `of_kind`."""
        return {"written": "triplets", "neighbours": "parallel", "candidates": "text"}.get(self.key, self._kind)

    def of_kind(self, kind: str) -> None:
        """Note the kind of the corpus."""
        self._kind = kind

    @property
    def sentences(self) -> str:
        """The text whose sentences are drawn; empty: it is something else."""
        return self.corpus if self.corpus and self.kind == "text" else ""

    @property
    def translated(self) -> str:
        """The corpus of the pivot language that a generator translates into each other one; empty: none is."""
        return self.corpus if self.by else ""

    @property
    def apart(self) -> bool:
        """Whether rows of one id are no translations of each other in several languages."""
        return bool(self.written or self.neighbours or (self.corpus and self.kind in ("text", "parallel")))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it can have."""
        if self.candidates:
            return ("text", "candidates")
        ranks = tuple(f"neighbour_{rank}" for rank in range(1, MOST_NEIGHBOURS + 1)) if self.neighbours else ()
        return COLUMNS[self.kind] + ranks


class English(Settings):
    """How an encoder reads the English of texts, or learns to choose it among translations."""

    translators: Once[str] = []
    """Names under `translators`, whose candidates it learns to choose from, or chooses from."""
    judge: str = ""
    """A name under `judges`, who scored them; left out, nobody did."""
    similarity: str = ""
    """How like a text each candidate is, for policy and critic: by this backbone, as an untrained recipe of the study
    has it; `none`; left out, by the features of the anchored recipe."""
    fusion: Literal["", "none", "concat", "prefix", "english"] = ""
    """How it reads a text and its chosen English; see docs/papers/lira.md. Only of backbones that are a `pair`."""
    choose: Literal["", "actor", "uniform", "first", "judge", "critic", "oracle"] = ""
    """Which English, where it reads that."""
    actor: str = ""
    """The recipe whose policy and features choose; left out, the nearest that it starts from."""


class Only(Settings):
    """What a recipe is limited to."""

    languages: Once[str] | None = None
    """Only for these languages."""
    backbones: Once[str] | None = None
    """Only of these backbones; left out, of all, but of no endpoint where something is trained."""
    seeds: Annotated[Once[Seed], Field(min_length=1)] | None = None
    """Only with these of the study's seeds."""


class PrefixChoice(Settings):
    """A prefix that a development task chooses."""

    choose: Annotated[Once[str], Field(min_length=2)]
    """Untrained recipes, each with another prefix: before anything is trained, `best.dev` chooses in each language
    whose prefix every sentence gets; where it has no test, in the languages that have one."""


class Recipe(Settings):
    """How an encoder is made. An entry with `over` stands for several, see docs/recipes.md."""

    model_config = ConfigDict(populate_by_name=True)

    like: str = ""
    """A recipe that this one varies: it has all its settings but those given here. One of the study; or a preset, a way
    of the papers: base (the backbone as it is), unsupervised, crosslingual, prompting, composition, xllora, published
    (one of `published` as it is; without any, the backbone), ... A recipe with the name of a preset varies that."""
    over: list[str | int] | dict[str, dict[str, Any]] = []
    """The entry stands for several recipes: its name has a {}, and so may its texts, in whose place each of these is
    put; `{KEY: {NAME: VALUE}}` also sets the key of each, like `{training.pooling: {mean: mean, cls: cls_mlp}}`."""
    on_request: bool = False
    """Only in tables that name it."""
    start: str = Field("", alias="from")
    """Another recipe, from whose encoder of the same backbone, language and seed training starts; it keeps that
    encoder's pooling. Or what the backbone is after `adaptation` to the language: `adapted`, or `vocabulary` for it
    without masked language modelling. Left out, it starts from the backbone."""
    data: Data = Data()
    """What it learns from; left out, it is not trained."""
    objective: dict[str, dict[str, Any]] = {}
    """What training minimises: the name of an objective, or the name with its settings, like `{ranking: {scale: 20}}`;
    see docs/recipes.md."""
    training: dict[str, Any] = {}
    """Changes to the study's `training`."""
    prefix: str | PrefixChoice | None = None
    """Put before every sentence instead of the backbone's prefix; `{choose: [RECIPE, ...]}`: that of one of these. Left
    out, it is that of the recipe that it starts from; from `adapted` or `vocabulary` there is none, since a vocabulary
    of its own ends the backbone's prefix."""
    english: English = English()
    """How it reads the English of texts, or learns to choose it."""
    only: Only = Only()
    """What it is limited to."""
    published: dict[str, Source] = {}
    """Published encoders by backbone, as templates over the registry; used where the study starts at `encoders`, or
    where nothing is trained."""
    aligned: Literal["always", "pairs", "never"] = "always"
    """pairs, never: the encoders of the recipe that it is `like`, whose parallel adapters are off, in tests of one
    language alone (paper 004, table 5) or in all; nothing is trained."""
    summary: str = ""
    """What the card of an encoder says of its making, in a sentence or two."""

    @field_validator("objective", mode="before", json_schema_input_type=str | dict[str, dict[str, Any]])
    @classmethod
    def _named(cls, objective: Any) -> Any:
        """A name alone stands for an objective with its defaults."""
        return {objective: {}} if isinstance(objective, str) and objective else objective

    @field_validator("prefix", mode="before")
    @classmethod
    def _chosen(cls, prefix: Any) -> Any:
        """One fault at a time, which a choice of two types would not tell."""
        return PrefixChoice.model_validate(prefix) if isinstance(prefix, Mapping) else prefix

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.data) != bool(self.objective) or len(self.objective) > 1:
            raise ValueError("give one `objective` with its `data`, or neither: then nothing is trained")
        if not self.objective and self.start and not self.english.fusion:
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
        """Note the kind of the corpus that it learns from, if it learns.

        Raises:
            ValueError: its objective reads other columns.
        """
        if not self.data:
            return
        self.data.of_kind(kind)
        learns = self.learns()
        if not any({*shape, *learns.values} <= {*self.data.columns} for shape in learns.shapes):
            reads = " or ".join(", ".join((*shape, *learns.values)) for shape in learns.shapes)
            has = f"data.{self.data.key} has {', '.join(COLUMNS[self.data.kind])}"
            raise ValueError(f"{has}; {next(iter(self.objective))} reads {reads}")

    @property
    def prefix_of(self) -> list[str]:
        """The recipes among whose prefixes a development task chooses; none: it has its own, or another's."""
        return self.prefix.choose if isinstance(self.prefix, PrefixChoice) else []

    @property
    def paired(self) -> bool:
        """Whether its encoders are of two backbones, and of translations."""
        return bool(self.english.fusion or self.data.candidates)

    @property
    def of_several(self) -> bool:
        """Whether one encoder learns from the data of several languages."""
        return self.data.from_languages == "all" or not isinstance(self.data.from_languages, str)

    @property
    def trained(self) -> bool:
        """Whether something is trained."""
        return bool(self.objective)

    @property
    def written(self) -> str:
        """How its triplets are written, or its rows translated; empty: no generator writes for it."""
        return TRANSLATION if self.data.translated else self.data.written

    @cached_property
    def together(self) -> bool:
        """Whether adapters of all its encoders learn at once, which these then take."""
        return self.trained and self.learns().together

    @property
    def drawn(self) -> str | None:
        """The one of `corpora.others` that its sentences are drawn from, or nothing for `text`.

        None: it does not learn from sentences alone.
        """
        if not self.data.sentences:
            return None
        return "" if self.data.sentences == "text" else self.data.sentences

    def learns(self) -> Objective:
        """The objective, with the recipe's similarity where it has candidates; UserError: as `objectives.load`."""
        [(name, settings)] = self.objective.items()
        if self.data.candidates and self.english.similarity:
            settings = settings | {"similarity": "none" if self.english.similarity == "none" else "given"}
        return _parsed(compact({name: settings}))

    def references(self) -> dict[str, Reference]:
        """The encoders that the objective refers to, by the names of its settings."""
        return self.learns().references() if self.objective else {}


_parsed = cache(objectives.parsed)
"""Every job of an encoder asks for its objective again and again."""


@cache
def presets() -> dict[str, dict[str, Any]]:
    """The papers' recipes by name: settings of a recipe."""
    return yamls.read(resource("recipes.yaml"))
