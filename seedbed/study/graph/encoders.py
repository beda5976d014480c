"""What an encoder starts from and learns from."""

from types import SimpleNamespace
from typing import Any

from seedbed.corpora.settings import Source
from seedbed.encoders import objectives
from seedbed.encoders.objectives import Objective
from seedbed.encoders.recipes import ADAPTED, KINDS, STARTS
from seedbed.encoders.settings import Endpoint, Pivot, Reference, Training
from seedbed.languages import ANY
from seedbed.names import anchors_in
from seedbed.study import pairs, paths, published
from seedbed.study.graph import generators, servers
from seedbed.study.model import Study
from seedbed.study.paths import at


def starts_anchored(study: Study, recipe: str) -> str:
    """The nearest recipe that a recipe is or starts from which is anchored and has a policy; empty: none is."""
    spec = study.recipes[recipe]
    if spec.data and spec.data.candidates:
        return recipe
    return starts_anchored(study, spec.start) if spec.start and spec.start not in STARTS else ""


def trained_on(study: Study, recipe: str, code: str) -> str:
    """The language folder of the encoder that a recipe offers to a language."""
    spec = study.recipes[recipe]
    if not spec.trained and spec.start:
        return trained_on(study, spec.start, code)
    if not spec.trained:
        return code if any("{" in str(source.hub or source.file) for source in spec.encoders.values()) else ANY
    return ANY if spec.of_several else {"own": code, "pivot": study.pivot}.get(spec.language, spec.language)


def learnt_in(study: Study, recipe: str, folder: str) -> list[str]:
    """The languages from whose data an encoder in a language folder learns: its own, or all of the recipe's."""
    spec = study.recipes[recipe]
    if not (spec.together or spec.of_several):
        return [folder]
    of_all = {*(spec.languages or study.languages), *([study.pivot] if spec.together else [])}
    return sorted(of_all if isinstance(spec.language, str) else spec.language)


def seeds_of(study: Study, recipe: str) -> list[int]:
    """Nothing is random about an encoder that is not trained; of a copy there is one for each that it is made of."""
    spec = study.recipes[pairs.maker(study, recipe)]
    if not spec.trained and spec.start:
        return seeds_of(study, spec.start)
    untrained = not spec.trained or (spec.encoders and published.begins(study, "encoders"))
    if not untrained and (learns := spec.learns()).drawless:
        several = spec.start in study.recipes and not learns.of_seeds
        started = seeds_of(study, spec.start) if spec.start in study.recipes else sorted(study.seeds)
        return [one for one in started if one in (spec.seeds or started)] if several else started[:1]
    return [0] if untrained else sorted(study.seeds if spec.seeds is None else spec.seeds)


def heads_of(study: Study, recipe: str) -> list[int]:
    """The seeds of what is fine-tuned on a recipe's encoders: there is chance in a head, be they trained or not."""
    seeds = study.recipes[recipe].seeds
    return sorted(study.seeds if seeds is None else seeds)


def seed_of(study: Study, recipe: str, seed: Any) -> int:
    """The seed of a recipe's encoder for what has this seed: the same, or the first if it has no such."""
    seeds = seeds_of(study, recipe)
    return int(seed) if seed is not None and int(seed) in seeds else seeds[0]


def training_of(study: Study, recipe: str) -> Training:
    """Training settings of a recipe: the study's, changed by it; another recipe's encoder keeps its modules."""
    spec = study.recipes[recipe]
    kept = spec.start and spec.start not in STARTS
    return study.training.updated(({"pooling": "own"} if kept else {}) | spec.training)


def data_of(study: Study, recipe: str, code: str = "") -> str:
    """The file that a recipe's encoders learn from, with {lang}, maybe {backbone}; empty: they learn nothing.

    In the language `code`: the pivot's rows are not translated.
    """
    spec = study.recipes[recipe]
    if writes(study, recipe, code):
        writer = generators.of_recipe(study, recipe)
        return at(study, paths.TRIPLETS, generator=writer, method=spec.written, lang="{lang}")
    if not spec.data:
        return ""
    if mining := spec.data.neighbours:
        return at(study, paths.NEIGHBOURS, backbone="{backbone}", mining=mining, lang="{lang}")
    corpus = spec.data.corpus if spec.drawn is None else anchors_in(spec.drawn)
    return at(study, paths.CORPUS, lang="{lang}", corpus=corpus)


def writes(study: Study, recipe: str, code: str) -> bool:
    """Whether a generator writes what a recipe's encoder of a language learns from; the pivot needs no translation."""
    spec = study.recipes[recipe]
    return bool(spec.written) and not (spec.data.translated and code == study.pivot)


def backbones_of(study: Study, recipe: str) -> list[str] | None:
    """The backbones that a recipe makes encoders of: those that it names, or that can be trained; None: all.

    Pairs are for recipes that read translations, and these for pairs alone.
    """
    spec = study.recipes[recipe]
    if spec.backbones is None and study.paired:
        fit = [name for name in study.backbones if (name in study.paired) == spec.paired]
        return [name for name in fit if not (spec.trained and _remote(study, name))]
    if spec.backbones is not None or not spec.trained:
        return spec.backbones
    remote = {name for name in study.backbones if _remote(study, name)}
    return [name for name in study.backbones if name not in remote] if remote else None


def _remote(study: Study, backbone: str) -> bool:
    """Whether a backbone, or one that it fuses, is behind an endpoint."""
    spec = study.backbones[backbone]
    return bool(spec.endpoint) or any(
        study.backbones[name].endpoint for name in (spec.fusion.of if spec.fusion else ())
    )


def body_of(study: Study, backbone: str) -> str:
    """The backbone that reads texts: itself, or of a pair the multilingual one."""
    return study.paired[backbone].multilingual if backbone in study.paired else backbone


def weights_of(study: Study, backbone: str) -> str:
    """Who has a backbone's weights: the first of those with its source, so that they are fetched once."""
    source = study.backbones[backbone].source
    return next(name for name, other in study.backbones.items() if other.source == source)


def of_recipe(study: Study, backbone: str, recipe: str, code: str, seed: Any = None) -> str:
    """The encoder that a backbone and a recipe offer to a language, of a seed, or of the first if it has no such."""
    facts = {"lang": trained_on(study, recipe, code), "seed": seed_of(study, recipe, seed)}
    return at(study, paths.ENCODER, backbone=backbone, recipe=pairs.maker(study, recipe), **facts)


def untested(study: Study, *codes: str) -> list[str]:
    """The encoders of languages without a test set, for which no table asks; `codes`: of these languages alone."""
    return [
        at(study, paths.ENCODER, backbone=backbone, recipe=name, lang=trained_on(study, name, code), seed=seed)
        for code, tasks in study.tests_by_language.items()
        if code in (codes or study.languages)
        for name, recipe in study.recipes.items()
        for backbone in backbones_of(study, name) or study.backbones
        for seed in seeds_of(study, name)
        if recipe.trained
        and not (tasks or code in study.reserved or recipe.on_request or recipe.aligned != "always")
        and code in (recipe.languages or [code])
        and not (study.backbones[backbone].on_request or study.backbones[backbone].fusion)
    ]


def published_for(study: Study, wildcards: Any) -> Source | None:
    """The published encoder, if the study takes it."""
    return published.encoder(study, wildcards.backbone, wildcards.recipe, wildcards.lang)


def untrained(study: Study, wildcards: Any) -> bool:
    """Whether nothing is trained: a backbone, a published one, a pivot's, or one with adapters that are there."""
    recipe = study.recipes[wildcards.recipe]
    alone = recipe.trained and not recipe.together and not is_pivot(study, wildcards.recipe, wildcards.lang)
    return not alone or bool(published_for(study, wildcards))


def is_pivot(study: Study, recipe: str, code: str) -> bool:
    """Whether a recipe aligns other languages' encoders with that of this language, which it leaves as it is."""
    return code == study.pivot and bool(pivots(study, recipe))


def pivots(study: Study, recipe: str) -> dict[str, Pivot]:
    """The encoders of the pivot language that a recipe's objective refers to, by settings."""
    found = study.recipes[recipe].references()
    return {name: one for name, one in found.items() if isinstance(one, Pivot)}


def start_of(study: Study, wildcards: Any) -> tuple[str, str]:
    """The backbone and the recipe whose encoder an encoder starts from; without a recipe, the backbone.

    In the pivot language, where others are aligned, it is the one that they are aligned with.
    """
    start = study.recipes[wildcards.recipe].start
    if not is_pivot(study, wildcards.recipe, wildcards.lang):
        return wildcards.backbone, start
    pivot = next(iter(pivots(study, wildcards.recipe).values()))
    return pivot.backbone or wildcards.backbone, pivot.recipe or start


def start_job(study: Study, wildcards: Any) -> SimpleNamespace:
    """The wildcards of the encoder of another recipe that an encoder starts from."""
    backbone, start = start_of(study, wildcards)
    own = {"recipe": start, "lang": trained_on(study, start, wildcards.lang)}
    return SimpleNamespace(backbone=backbone, seed=seed_of(study, start, wildcards.seed), **own)


def endpoint(study: Study, wildcards: Any) -> Endpoint | None:
    """The endpoint that makes an encoder's vectors; None: it has weights."""
    return None if published_for(study, wildcards) else study.backbones[wildcards.backbone].endpoint


def source_of(study: Study, backbone: str, lang: str) -> Source | None:
    """Where a backbone's weights in a language folder come from; None: an endpoint has them."""
    spec = study.backbones[body_of(study, backbone)]
    return spec.by_language.get(lang, spec.source)


def backbone_weights(study: Study, backbone: str, lang: str = ANY) -> str:
    """The weights of a backbone in a language folder; others of the same source share them."""
    backbone = body_of(study, backbone)
    if lang in study.backbones[backbone].by_language:
        return at(study, paths.WEIGHTS, room="encoders", model=f"{backbone}+{lang}")
    return at(study, paths.WEIGHTS, room="encoders", model=weights_of(study, backbone))


def starting_weights(study: Study, wildcards: Any) -> list[str] | str:
    """What training starts from, or the published encoder; an endpoint has none."""
    if published_for(study, wildcards):
        model = "+".join([wildcards.backbone, wildcards.recipe, wildcards.lang])
        return at(study, paths.WEIGHTS, room="encoders", model=model)
    if endpoint(study, wildcards):
        return []
    backbone, start = start_of(study, wildcards)
    if not start:
        return backbone_weights(study, wildcards.backbone, wildcards.lang)
    if start in STARTS:
        path = paths.ADAPTED if start == ADAPTED else paths.VOCABULARY
        return at(study, path, backbone=wildcards.backbone, lang=wildcards.lang)
    return of_recipe(study, backbone, start, wildcards.lang, wildcards.seed)


def references(study: Study, wildcards: Any) -> dict[str, str]:
    """Setting of the objective -> the encoder that it refers to, or for the pivot's the vectors of the texts.

    `adapters`: those of all of a recipe's encoders, where they are trained together. `seed2`, ...: the other seeds of
    the recipe that it starts from, where it is made of all; `start`: what their training started from, where that has a
    share.
    """
    recipe = study.recipes[wildcards.recipe]
    if recipe.together and not published_for(study, wildcards):
        facts = {"backbone": wildcards.backbone, "recipe": wildcards.recipe, "seed": wildcards.seed}
        return {"adapters": at(study, paths.JOINT, **facts)}
    if untrained(study, wildcards):
        return {}
    found = {name: _referred(study, wildcards, one) for name, one in recipe.references().items()}
    learns = recipe.learns()
    for seed in seeds_of(study, recipe.start)[1:] if learns.of_seeds else ():
        found[f"seed{seed}"] = of_recipe(study, wildcards.backbone, recipe.start, wildcards.lang, seed)
    if learns.of_start:
        found[objectives.START] = str(starting_weights(study, start_job(study, wildcards)))
    return found


def _referred(study: Study, wildcards: Any, one: Reference) -> str:
    if not isinstance(one, Pivot):
        return of_recipe(study, one.backbone, one.recipe, wildcards.lang, wildcards.seed)
    spec = study.recipes[wildcards.recipe]
    backbone, recipe = one.backbone or wildcards.backbone, one.recipe or spec.start
    corpus, lang = spec.data.corpus, pivot_language(study, wildcards)
    if spec.data.written:
        corpus = f"{generators.of_recipe(study, wildcards.recipe)}+{spec.written}"
    seed = seed_of(study, recipe, wildcards.seed)
    return at(study, paths.PIVOT, backbone=backbone, recipe=recipe, corpus=corpus, lang=lang, seed=seed)


def pivot_language(study: Study, wildcards: Any) -> str:
    """The language in whose file the pivot's texts are: its own, where translations have the same ids."""
    data = study.recipes[wildcards.recipe].data
    return wildcards.lang if data.written or KINDS[data.key] == "parallel" else study.pivot


def objective(study: Study, wildcards: Any) -> dict[str, Objective] | None:
    """The objective by its name; None: the encoder is used as it is."""
    learns = study.recipes[wildcards.recipe].learns() if not untrained(study, wildcards) else None
    return learns and {objectives.name_of(learns): learns}


def training(study: Study, wildcards: Any) -> Training:
    """How an encoder is trained."""
    return training_of(study, wildcards.recipe)


def modules(study: Study, wildcards: Any) -> list[str]:
    """The files that the program loads by the objective's name."""
    return [] if untrained(study, wildcards) else objectives.modules_of(study.recipes[wildcards.recipe].learns())


def endpoints(study: Study, wildcards: Any) -> list[Endpoint]:
    """The endpoints behind the encoders that an encoder refers to."""
    recipe = study.recipes[wildcards.recipe]
    return servers.endpoints_of(study, [*(one.backbone for one in recipe.references().values()), recipe.similarity])


def texts(study: Study, wildcards: Any) -> list[str] | str:
    """What an encoder learns from, if it is of one language; one that is used as it is learns nothing."""
    recipe = study.recipes[wildcards.recipe]
    if untrained(study, wildcards) or recipe.of_several or recipe.data.candidates:
        return []
    return data_of(study, wildcards.recipe, wildcards.lang).format(lang=wildcards.lang, backbone=wildcards.backbone)


def each_texts(study: Study, wildcards: Any) -> dict[str, str]:
    """Language -> what an encoder of all of a recipe's languages learns from; nothing for any other."""
    recipe = study.recipes[wildcards.recipe]
    if untrained(study, wildcards) or not recipe.of_several or recipe.data.candidates:
        return {}
    codes = learnt_in(study, wildcards.recipe, wildcards.lang)
    return {code: data_of(study, wildcards.recipe, code).format(lang=code) for code in codes}
