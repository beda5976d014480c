"""Encoders: the initial checkpoint, training data and reference encoders of each, and the facts of its card."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from seedbed import licences, origins
from seedbed.encoders import objectives
from seedbed.encoders.objectives import Objective
from seedbed.encoders.recipes import Recipe
from seedbed.encoders.settings import EndpointSettings, Mining, Pivot, Prompts, Reference, Training, text_of
from seedbed.languages import ANY, filled, placeholders, registry
from seedbed.names import DRAWN
from seedbed.resources import resource
from seedbed.study import paths, published
from seedbed.study.backbone import StudyBackbone, endpoints_of
from seedbed.study.graph import records
from seedbed.study.graph.product import Code, Files, Product
from seedbed.study.graph.translation import StudyTranslator, translations_of
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe, objective_of, untrained
from seedbed.study.sizes import Load, Sizes

TWO_PATHS, INTEGERS = "seedbed/encoders/models/two_paths.py", "seedbed/encoders/models/onnx_int8.py"


@dataclass(frozen=True)
class Encoder(Product, rule="train_encoder", place=paths.ENCODER):
    """The encoder that a recipe makes of a backbone with a seed. `lang` is its language folder, see
    `StudyRecipe.folder`.
    """

    backbone: str
    recipe: str
    lang: str
    seed: int

    @classmethod
    def resolved(cls, study: Study, backbone: str, recipe: str, code: str, seed: int | None = None) -> Self:
        """The encoder of a backbone and a recipe for a language: of a seed, or of the first if it lacks that."""
        of = StudyRecipe.get(study, recipe)
        return cls.get(study, backbone, of.maker.name, of.folder(code), of.seed(seed))

    # ---- What it is.

    @cached_property
    def made_by(self) -> StudyRecipe:
        """Its recipe."""
        return StudyRecipe.get(self.study, self.recipe)

    @property
    def spec(self) -> Recipe:
        """The entry of its recipe."""
        return self.made_by.spec

    @cached_property
    def based_on(self) -> StudyBackbone:
        """Its backbone."""
        return StudyBackbone.get(self.study, self.backbone)

    @cached_property
    def published(self) -> Any:
        """The source of the published encoder (`Source`); None: the study does not take one."""
        return published.encoder(self.study, self.backbone, self.recipe, self.lang)

    @cached_property
    def is_pivot(self) -> bool:
        """Whether other encoders are aligned with it, so that its own weights do not change."""
        return self.made_by.is_pivot(self.lang)

    @cached_property
    def trains(self) -> bool:
        """Whether its job trains it. It does not if the recipe trains nothing, if the encoder is published, if others
        are aligned with it, or if another job trains its adapters with those of other languages.
        """
        return self.spec.made and not (self.spec.together or self.is_pivot or self.published)

    @property
    def endpoint(self) -> EndpointSettings | None:
        """The API that computes its vectors; None: it has weights."""
        return None if self.published else self.based_on.spec.endpoint

    @property
    def languages(self) -> list[str]:
        """The languages on whose data it is trained."""
        return self.made_by.languages(self.lang)

    @cached_property
    def start(self) -> tuple[str, str]:
        """The names of the backbone and of the recipe whose encoder it starts from; without a recipe (empty), it starts
        from the backbone.

        The encoder that others are aligned with (`is_pivot`) is a copy of the one that the objective's `Pivot` names.
        """
        if not self.is_pivot:
            return self.backbone, self.spec.start
        pivot = next(iter(self.made_by.pivots.values()))
        return pivot.backbone or self.backbone, pivot.recipe or self.spec.start

    @cached_property
    def begun_from(self) -> "Encoder | None":
        """The encoder of another recipe that it starts from; None: a backbone."""
        backbone, recipe = self.start
        return Encoder.resolved(self.study, backbone, recipe, self.lang, self.seed) if recipe else None

    # ---- What its job reads.

    @cached_property
    def weights(self) -> str:
        """Path of the weights that training starts from, or of the published encoder; empty: it is an API embedding
        model.
        """
        if self.published:
            model = "+".join([self.backbone, self.recipe, self.lang])
            return self.at(paths.WEIGHTS, room="encoders", model=model)
        if self.endpoint:
            return ""
        return self.begun_from.path if self.begun_from else self.based_on.weights(self.lang)

    def data(self, code: str) -> str:
        """Its training data in a language."""
        return self.made_by.data(code).format(lang=code, backbone=self.backbone)

    @property
    def reads_rows(self) -> bool:
        """Whether it is trained on rows of a training set, not on candidate translations."""
        return self.trains and not self.spec.data.candidates

    @property
    def texts(self) -> str:
        """The training data of an encoder of one language; empty: it is not trained, or on several languages."""
        return self.data(self.lang) if self.reads_rows and not self.spec.of_several else ""

    @property
    def each(self) -> dict[str, str]:
        """Language -> training data of an encoder of all of a recipe's languages; empty for any other encoder."""
        return {code: self.data(code) for code in self.languages} if self.reads_rows and self.spec.of_several else {}

    @property
    def pivot_language(self) -> str:
        """The language in whose file the pivot's texts are: its own, where translations have the same ids."""
        data = self.spec.data
        return self.lang if data.written or data.kind == "parallel" else self.study.pivot

    @property
    def pivot_rows(self) -> str:
        """Path of the rows in the pivot language for an encoder that is aligned with the pivot's. Empty: it is not
        aligned, or its training data have the pivot's texts too.
        """
        if not (self.trains and self.made_by.pivots) or self.pivot_language == self.lang:
            return ""
        return self.at(paths.CORPUS, lang=self.pivot_language, corpus=self.spec.data.origin)

    @cached_property
    def references(self) -> dict[str, str]:
        """Setting of the objective -> the encoder that it refers to, or for the pivot's the vectors of the texts.

        `adapters`: those of all of a recipe's encoders, where they are trained together.
        """
        if self.spec.together and not self.published:
            return {"adapters": self.at(paths.JOINT)}
        if not self.trains:
            return {}
        return {name: self._referred(one) for name, one in self.spec.references().items()}

    def _referred(self, one: Reference) -> str:
        if not isinstance(one, Pivot):
            return Encoder.resolved(self.study, one.backbone, one.recipe, self.lang, self.seed).path
        recipe, corpus = one.recipe or self.spec.start, self.spec.data.origin
        if self.spec.data.written:
            corpus = f"{self.made_by.writer}+{self.spec.written}"
        of = {"backbone": one.backbone or self.backbone, "recipe": recipe, "lang": self.pivot_language}
        seed = StudyRecipe.get(self.study, recipe).seed(self.seed)
        return self.at(paths.PIVOT, **of, corpus=corpus, seed=seed)

    @property
    def mining(self) -> str:
        """The name of the mining method of its training data; empty: they were not mined."""
        return self.spec.data.neighbours if self.trains else ""

    # ---- Translations that it is trained on or takes as input.

    @property
    def reads_english(self) -> bool:
        """Whether its input includes translations, or it is trained to choose them."""
        return self.spec.paired and not self.published

    @property
    def english_backbone(self) -> StudyBackbone | None:
        """The backbone that encodes translations; None: there is none."""
        return StudyBackbone.get(self.study, self.study.paired[self.backbone].english) if self.reads_english else None

    @property
    def english(self) -> str:
        """The path of the weights of the backbone that encodes translations; empty: there is none."""
        return self.english_backbone.weights() if self.english_backbone else ""

    @property
    def similarity(self) -> str:
        """The encoder that measures the similarity of text and candidates; empty: none, or the recipe's features do."""
        name = self.spec.english.similarity if self.reads_english else ""
        return Encoder.resolved(self.study, name, untrained(self.study), ANY).path if name not in ("", "none") else ""

    @cached_property
    def candidates(self) -> list[dict[str, str]]:
        """The candidates that a policy is trained on: for each language's texts, translator -> its translations."""
        if not (self.trains and self.spec.data.candidates):
            return []
        names = self.spec.english.translators
        return [translations_of(self.study, names, self.spec.data.candidates, code) for code in self.languages]

    @property
    def judgements(self) -> list[str]:
        """Paths of a judge's scores of `candidates`, one for each language; empty: there is no judge."""
        if not (self.spec.english.judge and self.candidates):
            return []
        of = {"judge": self.spec.english.judge, "corpus": self.spec.data.candidates}
        return [self.at(paths.JUDGEMENTS, **of, lang=code) for code in self.languages]

    def chosen(self, sets: Iterable[tuple[str, str]]) -> list[str]:
        """The English of sets of texts (name, and language or order of two) that it reads, each set's once."""
        if not (self.backbone in self.study.paired and self.spec.english.fusion):
            return []
        by = self._choice()
        return [self.at(paths.CHOICES, **by, test_lang=lang, corpus=corpus) for corpus, lang in dict.fromkeys(sets)]

    def _choice(self) -> dict[str, Any]:
        """Wildcards of the choice of translations that it reads: of the recipe that chooses alike, with language and
        seed of the encoder that chooses. Without such an encoder: any language; the seed counts if it is random."""
        recipe = self.made_by.chooses_like(self.backbone).name
        if not self.made_by.chooses_by:
            seed = self.seed if self.spec.english.choose == "uniform" else 0
            return {"recipe": recipe, "lang": ANY, "seed": seed}
        chooser = StudyRecipe.get(self.study, self.made_by.chooses_by)
        return {"recipe": recipe, "lang": chooser.folder(self.lang), "seed": chooser.seed(self.seed)}

    # ---- Its prefix.

    @property
    def before(self) -> str | Prompts | None:
        """What the study puts before the texts that it encodes; None: what the encoder itself says. An encoder that
        others are aligned with has the prefix of the one that it copies.
        """
        backbone, recipe = self._prefixed_as()
        return recipe.before(backbone)

    @property
    def prefix(self) -> str:
        """As `before`, of texts that are neither query nor document."""
        return text_of(self.before)

    @property
    def prefix_file(self) -> str:
        """The JSON file with the prefix that a development task chose for it; empty: none did, or it is published."""
        backbone, recipe = self._prefixed_as()
        chooser = recipe.prefix_chooser
        if self.published or not chooser:
            return ""
        lang = StudyRecipe.get(self.study, chooser).folder(self.lang)
        return self.at(paths.CHOSEN, what="prefix", owner=f"{backbone}+{chooser}", lang=lang)

    @property
    def plain_prefix(self) -> str | None:
        """The prefix of every text, for uses in which all texts have the same prefix, such as fine-tuning; None: what
        the encoder itself says.

        Raises:
            UserError: the prefix depends on the language, or a development task chooses it.
        """
        backbone, recipe = self._prefixed_as()
        prefix = recipe.given_prefix(backbone)
        return prefix if isinstance(self.before, str) else None

    def _prefixed_as(self) -> tuple[str, StudyRecipe]:
        """The backbone and the recipe whose prefix it has."""
        backbone, recipe = self.start if self.is_pivot else (self.backbone, self.recipe)
        return backbone, StudyRecipe.get(self.study, recipe)

    @property
    def objective(self) -> Objective | None:
        """The objective that its job minimises; None: it trains nothing."""
        return self.spec.minimises if self.trains else None

    @property
    def training(self) -> Training:
        """The training settings that its job reads: if it does not train by them, those of modules alone."""
        return self.made_by.training if self.trains or self.spec.together else self.made_by.modules

    def module_arguments(self) -> dict[str, Any]:
        """Arguments about its modules and its prefix.

        If its prefix or a teacher's depends on the language, they include its language and the columns that are in the
        pivot language. The program looks up a language's prefix in the registry, so that a further language changes no
        other encoder. Prefixes for which the study differs from the registry are arguments too.
        """
        prefix, study = self.prefix, self.study
        before = {"prompts" if isinstance(self.before, Prompts) else "prefix": self.before}
        told = {"training": self.training} | before
        refers = self.spec.references().values() if self.trains else ()
        teachers = [one for one in refers if not isinstance(one, Pivot)]  # they encode the training data themselves
        theirs = [StudyRecipe.get(study, one.recipe).prefix(one.backbone) for one in teachers]
        if not any(map(placeholders, [prefix, *theirs])):
            return told
        columns = self.made_by.in_pivot() if self.trains else []
        own = {code: prompt for code in study.codes if (prompt := _own_prefix(study, prefix, code))}
        return told | {"language": self.lang, "languages": dict.fromkeys(columns, study.pivot), "own_prefixes": own}

    # ---- Its job.

    def inputs(self) -> dict[str, Files]:
        fused = self.spec.english.fusion and self.trains
        refer = self.references | ({"english": self.english} if self.english else {})
        if self.spec.data.candidates and self.similarity:
            refer["similarity"] = self.similarity
        return {
            "weights": self.weights,
            "texts": self.texts,
            "each": self.each,
            "pivot": self.pivot_rows,
            "refer": refer,
            "mined": self.at(paths.NEIGHBOURS_AUDIT, mining=self.mining) if self.mining else "",
            "miner": self.based_on.weights(self.lang) if self.mining and self.spec.start else "",
            "translations": [file for one in self.candidates for file in one.values()],
            "judgements": self.judgements,
            "english": self.chosen((self.spec.data.origin, code) for code in self.languages) if fused else [],
            "chosen_prefix": self.prefix_file,
        }

    def settings(self) -> dict[str, Any]:
        mining = self.study.mining[self.mining].updated({"count": Mining().count}) if self.mining else None
        refers = [*(one.backbone for one in self.spec.references().values()), self.spec.english.similarity]
        return self.module_arguments() | {
            "objective": objective_of(self.objective),
            "rows": self.spec.data.rows,
            "mining": mining,  # a recipe takes as many of the neighbours as it wants
            "translations": self.candidates,
            "fusion": (self.spec.english.fusion or None) if self.reads_english else None,
            "english_prompts": self.english_backbone and self.english_backbone.spec.prompts,
            "endpoint": self.endpoint,
            "endpoints": endpoints_of(self.study, refers),
            "about": self.lineage(),
        }

    def code(self) -> Code:
        """The objective, but not what a plain encoder never meets; the registry, if its prefix has columns of it."""
        modules = (objectives.module_of(objectives.name_of(self.objective)),) if self.objective else ()
        data = (resource("languages.tsv"),) if placeholders(self.prefix) else ()
        plain = self.backbone not in self.study.paired and _is_plain(self.made_by)
        return Code(data=data, modules=modules, without=(TWO_PATHS, INTEGERS) if plain else ())

    def load(self, sizes: Sizes) -> Load:
        """Training, on a GPU; what is used as it is, is only copied."""
        weights = sizes.encoder(self.backbone)
        if not self.trains:
            return Load(parameters=weights)
        translations = sum(map(len, self.candidates))
        kept = sizes.anchoring(self.backbone, self.recipe, translations)
        return Load(1, sizes.encoding(self.backbone, self.recipe), weights, kept)

    # ---- Its card.

    def described(self) -> dict[str, Any]:
        """Facts that every encoder's manifest has: its backbone, recipe, method, language and seed."""
        return {
            "backbone": self.backbone,
            "recipe": self.recipe,
            "method": self.made_by.method,
            "language": self.lang,
            "language_name": self.study.facts(self.lang)["name"],
            "seed": self.seed,
        }

    def lineage(self) -> dict[str, Any]:
        """Facts for its card: what it was made from, and how."""
        if self.is_pivot and not self.published:
            return self.begun_from.lineage() | self.described()
        source, others = self._weights_of()
        about = self.described() | {
            "base_model": (source and source.hub) or "",
            "backbone_licence": source.licence if source else "",
            "summary": "" if self.published else self.spec.summary,
            "data": [],
        }
        if self.endpoint:
            about["endpoint"] = self.endpoint
        begun = self.begun_from.lineage()["data"] if self.begun_from and not self.published else []
        if self.published or not (self.trains or self.spec.together):
            return about | {"data": origins.once(begun + others)}
        if self.spec.of_several:
            about["languages"] = self.languages
        written = any(map(self.made_by.is_written, self.languages))
        if written:
            about["generator"] = self.made_by.writer
        generator = [records.model(self.study, self.made_by.writer, "generator")] if written else []
        about["data"] = origins.once(begun + self._training_data() + generator + self._translators() + others)
        return about

    def _weights_of(self) -> tuple[Any, list[dict[str, Any]]]:
        """The source of its weights; and of one that reads a text and its English a record of the other backbone."""
        if self.published:
            return self.published, []
        pair, fusion = self.based_on.spec.pair, self.spec.english.fusion
        if not (pair and fusion):
            return self.based_on.source(self.lang), []
        english = StudyBackbone.get(self.study, pair.english).source(self.lang)
        if fusion == "english":
            return english, []
        return self.based_on.source(self.lang), [records.data(pair.english, english) | {"role": licences.BACKBONE}]

    def _training_data(self) -> list[dict[str, Any]]:
        """Records of the corpora that it is trained on."""
        data, study = self.spec.data, self.study
        role = self.spec.drawn or DRAWN.get(data.origin, data.origin)
        codes = [study.pivot] if data.translated else self.languages
        roles = [role, "text"] if data.neighbours else [role]
        return [records.data(name, study.corpus(name, code)) for code in codes for name in roles]

    def _translators(self) -> list[dict[str, Any]]:
        """Translators of its training data into the pivot language, and judges; none: they were not translated."""
        study, codes = self.study, [code for code in self.languages if code != self.study.pivot]
        if not codes:
            return []
        found = []
        for name in self.spec.english.translators:
            spec = study.translators[name]
            if spec.generator:
                found.append(records.model(study, spec.generator, "translator"))
                continue
            sources = [StudyTranslator.get(study, name).given(code) for code in codes]
            found += [records.data(name, source) for source in sources if source]
        judge = self.spec.english.judge
        return found + ([records.model(study, study.judges[judge].generator, "judge")] if judge else [])


def _own_prefix(study: Study, prefix: str, code: str) -> str:
    """The prefix of a language for which the study says otherwise than the registry; empty: it does not, or none."""
    facts, known, columns = study.facts(code), registry().get(code, {}), placeholders(prefix)
    if not all(facts.get(name) for name in columns) or all(facts[name] == known.get(name) for name in columns):
        return ""
    return filled(prefix, facts)


def _is_plain(recipe: StudyRecipe) -> bool:
    """Whether training a recipe's encoders never loads a two-path or int8 encoder, whatever else the study has: neither
    the recipe nor one that it starts from takes an encoder's own modules, published weights, an int8 copy or another
    encoder.
    """
    spec, study = recipe.spec, recipe.study
    own = spec.training.get("pooling", study.training.pooling) == "own"
    candidates = spec.data.candidates
    given = spec.published and (study.start == "encoders" or not spec.made)
    plain = not (own or candidates or given or spec.references() or spec.copies.int8)
    return plain and (recipe.start is None or _is_plain(recipe.start))
