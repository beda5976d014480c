"""Recipes: where an encoder starts, what it learns from, and by which objective. The papers' are presets."""

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

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

KINDS = {
    "sentences": "text",
    "written": "triplets",
    "triplets": "triplets",
    "paraphrases": "paraphrases",
    "translated": "paraphrases",
    "pairs": "matched_pairs",
    "scored_pairs": "pairs",
    "queries": "retrieval",
    "parallel": "parallel",
    "neighbours": "parallel",
    "candidates": "text",
}
"""What a recipe can learn from -> the kind of its rows."""


VOCABULARY, ADAPTED = "vocabulary", "adapted"
STARTS = (VOCABULARY, ADAPTED)
"""What `from` of a recipe can be besides a recipe: the backbone as rules train_vocabulary and adapt_backbone leave it
for the language."""


class Data(Settings):
    """What a recipe learns from: exactly one. A corpus is a name under `corpora`, or under `corpora.others`."""

    sentences: str = ""
    """The sentences alone that are drawn from a corpus of each language, usually `text`."""
    written: str = ""
    """Triplets that the recipe's generator writes in this way: prompting, composition or xllora."""
    triplets: str = ""
    """A corpus of anchors, positives and negatives."""
    paraphrases: str = ""
    """A corpus of anchors and positives, and of negatives in those rows that have one."""
    translated: str = ""
    """A corpus of paraphrases in the pivot language, which the recipe's generator translates into each other one."""
    pairs: str = ""
    """A corpus of pairs that belong together: `sentence1`, `sentence2`."""
    scored_pairs: str = ""
    """A corpus of pairs with scores: `sentence1`, `sentence2`, `score`."""
    queries: str = ""
    """A corpus of queries and their documents, a row for each judgement: `query`, `document`, perhaps `relevance`."""
    candidates: str = ""
    """A corpus of any kind, whose texts have been translated by the recipe's `translators`."""
    neighbours: str = ""
    """A name under `mining`: the seed pairs with the sentences that were mined for each."""
    parallel: str = ""
    """A corpus of sentences and their translations into the pivot language: `text`, `pivot`. `seed_pairs` are those
    that are drawn from `corpora.parallel`."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind)]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(KINDS)}; found {', '.join(given) or 'none'}")
        if self.written and self.written not in (ways := [name for name in METHODS if name != TRANSLATION]):
            near = suggest(self.written, ways)
            raise ValueError(f"written: no way {self.written!r} of writing triplets; {near}")
        return self

    @property
    def key(self) -> str:
        """Which of them is given."""
        return next(kind for kind in KINDS if getattr(self, kind))

    @property
    def corpus(self) -> str:
        """The corpus that it is, or is drawn or written from."""
        fixed = "text" if self.written else SEED_PAIRS if self.neighbours else ""
        return fixed or getattr(self, self.key)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it can have."""
        if self.candidates:
            return ("text", "candidates")
        ranks = tuple(f"neighbour_{rank}" for rank in range(1, MOST_NEIGHBOURS + 1)) if self.neighbours else ()
        return COLUMNS[KINDS[self.key]] + ranks


TRANSLATED = ("translators", "judge", "similarity", "choose", "actor")
"""What only recipes have that read translations."""


class Recipe(Settings):
    """How an encoder is made."""

    model_config = ConfigDict(populate_by_name=True)

    method: str = ""
    """A way of the papers, whose settings it has but for those given here; left out, the recipe's own name, if that is
    one: base (the backbone as it is), unsupervised, crosslingual, prompting, composition, xllora, or published (one of
    `encoders` as it is; without any, the backbone)."""
    like: str = ""
    """A recipe that this one varies: it has all its settings but those given here."""
    on_request: bool = False
    """Only in tables that name it."""
    start: str = Field("", alias="from")
    """Another recipe, from whose encoder of the same backbone, language and seed training starts; it keeps that
    encoder's pooling. Or what the backbone is after `adaptation` to the language: `adapted`, or `vocabulary` for it
    without masked language modelling. Left out, it starts from the backbone."""
    prefix: str | None = None
    """Put before every sentence instead of the backbone's prefix. Left out, it is that of the recipe that it starts
    from; from `adapted` or `vocabulary` there is none, since a vocabulary of its own ends the backbone's prefix."""
    prefix_of: Once[str] = []
    """Two untrained recipes or more, each with another prefix: before anything is trained, `best.dev` chooses in each
    language whose prefix every sentence gets; where it has no test, in the languages that have one."""
    data: Data | None = None
    """What it learns from; left out, it is not trained."""
    objective: dict[str, dict[str, Any]] = {}
    """What training minimises: the name of an objective, or the name with its settings, like `{ranking: {scale: 20}}`;
    see docs/encoders.md."""
    language: Literal["own", "pivot", "all"] | Code | Annotated[list[Code], Field(min_length=2)] = "own"
    """Whose data it learns from: that of each language; or the pivot's, or that of one named language, for all. `all`:
    one encoder learns from the data of all its languages, where rows of the same id are translations of each other; a
    batch is in one language, unless `training.crosslingual` says otherwise. Several codes: so of these languages alone,
    where others have no such data; it is there for all of the recipe's."""
    generator: str = ""
    """Who wrote the triplets; left out, the first generator."""
    text: str = ""
    """A name of `corpora.others`, whose sentences a recipe learns that learns sentences alone; left out, as `data`
    says."""
    rows: int | None = Field(None, gt=1)
    """Train on at most so many rows; no more triplets are written, or sentences drawn, than some recipe needs."""
    languages: Once[str] | None = None
    """Only for these languages."""
    seeds: Annotated[Once[Seed], Field(min_length=1)] | None = None
    """Only with these of the study's seeds."""
    backbones: Once[str] | None = None
    """Only of these backbones; left out, of all, but of no endpoint where something is trained."""
    translators: Once[str] = []
    """Names under `translators`, whose candidates it learns to choose from, or chooses from."""
    judge: str = ""
    """A name under `judges`, who scored them; left out, nobody did."""
    similarity: str = ""
    """How like a text each candidate is, for policy and critic: by this backbone, as an untrained recipe of the study
    has it; `none`; left out, by the features of the anchored recipe."""
    fusion: Literal["", "none", "concat", "prefix", "english"] = ""
    """It reads a text and the English that was chosen for it; see docs/lira.md. Of backbones that are a `pair`."""
    choose: Literal["", "actor", "uniform", "first", "judge", "critic", "oracle"] = ""
    """Which English, where it reads that."""
    actor: str = ""
    """The recipe whose policy and features choose; left out, the nearest that it starts from."""
    encoders: dict[str, Source] = {}
    """Published encoders by backbone, as templates over the registry; used where the study starts at `encoders`, or
    where nothing is trained."""
    training: dict[str, Any] = {}
    """Changes to the study's `training`."""
    aligned: Literal["always", "pairs", "never"] = "always"
    """pairs, never: the encoders of the recipe that it is `like`, whose parallel adapters are off, in tests of one
    language alone (paper 004, table 5) or in all; nothing is trained."""
    summary: str = ""
    """What the card of an encoder says of its making, in a sentence or two."""

    @field_validator("language", mode="before")
    @classmethod
    def _several(cls, language: Any) -> Any:
        """One fault at a time, which a choice of three types would not tell."""
        if isinstance(language, list) and len({*map(str, language)}) < max(2, len(language)):
            raise ValueError(f"two codes or more, each once, or one alone that is no list; found {language}")
        return language

    @field_validator("objective", mode="before")
    @classmethod
    def _named(cls, objective: Any) -> Any:
        """A name alone stands for an objective with its defaults."""
        return {objective: {}} if isinstance(objective, str) and objective else objective

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.data) != bool(self.objective) or len(self.objective) > 1:
            raise ValueError("give one `objective` with its `data`, or neither: then nothing is trained")
        if self.data:
            kind, learns = KINDS[self.data.key], self.learns()
            if not any({*shape, *learns.values} <= {*self.data.columns} for shape in learns.shapes):
                reads = " or ".join(", ".join((*shape, *learns.values)) for shape in learns.shapes)
                has = f"data.{self.data.key} has {', '.join(COLUMNS[kind])}"
                raise ValueError(f"{has}; {next(iter(self.objective))} reads {reads}")
        if self.text and not (self.data and self.data.sentences):
            raise ValueError("text: this recipe learns from no sentences alone; leave it out")
        if not self.objective and self.start and not self.fusion:
            raise ValueError("from: nothing is trained; give `data` and an `objective`, or leave it out")
        if self.prefix_of and (self.prefix is not None or len(self.prefix_of) < 2):
            raise ValueError("prefix_of: name two recipes or more and no `prefix`; or a `prefix`, and `prefix_of: []`")
        if self.prefix_of and not self.objective:
            raise ValueError("prefix_of: nothing is trained; the untrained recipes that it names are there already")
        self._translated()
        return self

    def _translated(self) -> None:
        """What is said of translations is needed, and whole."""
        if not self.paired and (given := [name for name in TRANSLATED if getattr(self, name)]):
            raise ValueError(
                f"{given[0]}: this recipe reads no translation; give `fusion`, or `data: {{candidates: ...}}`"
            )

    @property
    def paired(self) -> bool:
        """Whether its encoders are of two backbones, and of translations."""
        return bool(self.fusion or (self.data and self.data.candidates))

    @property
    def of_several(self) -> bool:
        """Whether one encoder learns from the data of several languages."""
        return self.language == "all" or not isinstance(self.language, str)

    @property
    def trained(self) -> bool:
        """Whether something is trained."""
        return bool(self.objective)

    @property
    def written(self) -> str:
        """How its triplets are written, or its rows translated; empty: no generator writes for it."""
        return (self.data and (TRANSLATION if self.data.translated else self.data.written)) or ""

    @cached_property
    def together(self) -> bool:
        """Whether adapters of all its encoders learn at once, which these then take."""
        return self.trained and self.learns().together

    @property
    def drawn(self) -> str | None:
        """The one of `corpora.others` that its sentences are drawn from, or nothing for `text`.

        None: it does not learn from sentences alone.
        """
        if not (self.data and self.data.sentences):
            return None
        return self.text or ("" if self.data.sentences == "text" else self.data.sentences)

    def learns(self) -> Objective:
        """The objective, with the recipe's similarity where it has candidates; UserError: as `objectives.load`."""
        [(name, settings)] = self.objective.items()
        if self.data.candidates and self.similarity:
            settings = settings | {"similarity": "none" if self.similarity == "none" else "given"}
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


def with_method(name: str, recipe: dict[str, Any]) -> dict[str, Any]:
    """A recipe with its own name as its method, if that is a preset's and it is like no other."""
    return {"method": name, **recipe} if name in presets() and not recipe.get("like") else recipe


def with_preset(name: str, recipe: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe with the settings of its preset beneath its own.

    Raises:
        ValueError: it names no preset, and does not say itself what it is.
    """
    method = recipe.get("method", "")
    if not (isinstance(name, str) and isinstance(method, str)):  # told as a wrong type
        return dict(recipe)
    if method and method not in presets():
        raise ValueError(f"{name}.method: no {method!r}; {suggest(str(method), [*presets()])}")
    if not (method or {*recipe} & {"data", "objective", "fusion"}):
        near = suggest(name, [*presets()])
        raise ValueError(f"{name}: no method of this name; give one, or `data` and `objective`; {near}")
    preset = presets().get(method, {})
    training = recipe.get("training", {})
    merged = {"training": {**preset.get("training", {}), **training}} if isinstance(training, Mapping) else {}
    return {**preset, **recipe, "method": method, **merged}
