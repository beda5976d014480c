"""Translations that encoders learn from or read: whose, who judged them, and which were chosen."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from seedbed.classifiers.settings import REASONING
from seedbed.encoders.choosing_settings import Chosen
from seedbed.encoders.settings import Endpoint, Reference
from seedbed.languages import ANY
from seedbed.names import TRAINING, languages_of
from seedbed.study import paths
from seedbed.study.graph import classifiers, corpora, encoders, evaluation, servers, shares, translations
from seedbed.study.model import Study
from seedbed.study.paths import at

TRANSLATED = REASONING[1]
"""The variant of a language model that is asked in English."""


def plain(study: Study) -> str:
    """The first recipe that uses a backbone as it is; empty: there is none."""
    found = (name for name, recipe in study.recipes.items() if not (recipe.trained or recipe.paired))
    return next(found, "")


def chooser(study: Study, recipe: str) -> str:
    """The recipe whose features, and policy, choose for a recipe; empty: none."""
    return study.recipes[recipe].actor or encoders.starts_anchored(study, recipe)


# ---- What an encoder is trained with.


def _reads(study: Study, wildcards: Any) -> bool:
    recipe = study.recipes[wildcards.recipe]
    return recipe.paired and not encoders.published_for(study, wildcards)


def english(study: Study, wildcards: Any) -> list[str] | str:
    """The weights of the English side; empty: there is none."""
    if not _reads(study, wildcards):
        return []
    return encoders.backbone_weights(study, study.paired[wildcards.backbone].english)


def similarity(study: Study, wildcards: Any) -> list[str] | str:
    """The encoder by which candidates are like their text; empty: none, or the recipe's own features."""
    name = study.recipes[wildcards.recipe].similarity if _reads(study, wildcards) else ""
    return encoders.of_recipe(study, name, plain(study), ANY) if name not in ("", "none") else []


def folders(study: Study, wildcards: Any) -> dict[str, str]:
    """What training refers to beside the objective's encoders: `english`, and where it chooses itself `similarity`."""
    learns = study.recipes[wildcards.recipe].data
    found = {"english": english(study, wildcards)}
    if learns and learns.candidates:
        found["similarity"] = similarity(study, wildcards)
    return {name: file for name, file in found.items() if file}


def references(study: Study, wildcards: Any) -> dict[str, str]:
    """What training refers to: the encoders of the objective, and what `folders` gives."""
    return encoders.references(study, wildcards) | folders(study, wildcards)


def learnt(study: Study, wildcards: Any) -> list[str]:
    """The translations that a policy learns from, of each translator in turn, language after language."""
    return [file for _, files in _candidates(study, wildcards) for file in files]


def learnt_judgements(study: Study, wildcards: Any) -> list[str]:
    """What a judge says of them, of each language."""
    judge = study.recipes[wildcards.recipe].judge
    sets = [corpus_lang for corpus_lang, _ in _candidates(study, wildcards)] if judge else []
    return [at(study, paths.JUDGEMENTS, judge=judge, lang=lang, corpus=corpus) for corpus, lang in sets]


def _candidates(study: Study, wildcards: Any) -> list[tuple[tuple[str, str], list[str]]]:
    recipe = study.recipes[wildcards.recipe]
    if encoders.untrained(study, wildcards) or not recipe.data.candidates:
        return []
    corpus, names = recipe.data.corpus, recipe.translators
    codes = encoders.learnt_in(study, wildcards.recipe, wildcards.lang)
    return [((corpus, code), translations.translations(study, names, corpus, code)) for code in codes]


def read(study: Study, wildcards: Any) -> list[str]:
    """The English of what an encoder of two texts is trained on, language by language."""
    recipe = study.recipes[wildcards.recipe]
    if not recipe.fusion or encoders.untrained(study, wildcards):
        return []
    codes = encoders.learnt_in(study, wildcards.recipe, wildcards.lang)
    return [_chosen(study, wildcards, wildcards.seed, code, recipe.data.corpus) for code in codes]


def translations_of(study: Study, wildcards: Any) -> list[dict[str, str]]:
    """Of each set of texts that a policy learns from, translator -> what it wrote."""
    names = study.recipes[wildcards.recipe].translators
    return [dict(zip(names, files, strict=True)) for _, files in _candidates(study, wildcards)]


def fusion(study: Study, wildcards: Any) -> str | None:
    """How a text and its English become one vector; None: a text alone does."""
    return study.recipes[wildcards.recipe].fusion or None if _reads(study, wildcards) else None


# ---- Which are chosen.


def _chosen(study: Study, wildcards: Any, seed: Any, lang: str, corpus: str) -> str:
    """The choices of a recipe's encoder among the translations of a set of texts."""
    facts = {"backbone": wildcards.backbone, "recipe": wildcards.recipe, "lang": wildcards.lang, "seed": seed}
    return at(study, paths.CHOICES, **facts, test_lang=lang, corpus=corpus)


def candidates(study: Study, wildcards: Any) -> dict[str, str]:
    """Translator -> what it wrote of a set of texts."""
    names = study.recipes[wildcards.recipe].translators
    files = translations.translations(study, names, wildcards.corpus, wildcards.test_lang)
    return dict(zip(names, files, strict=True))


def judged(study: Study, wildcards: Any) -> list[str] | str:
    """What a judge says of them; empty: nobody judged."""
    judge = study.recipes[wildcards.recipe].judge
    return at(study, paths.JUDGEMENTS, judge=judge, lang=wildcards.test_lang, corpus=wildcards.corpus) if judge else []


def policy(study: Study, wildcards: Any) -> list[str] | str:
    """The encoder whose policy, or features, choose; empty: nothing of the kind is asked."""
    recipe, name = study.recipes[wildcards.recipe], chooser(study, wildcards.recipe)
    if not name or recipe.choose not in ("actor", "critic") or (recipe.choose == "critic" and recipe.similarity):
        return []
    return encoders.of_recipe(study, wildcards.backbone, name, wildcards.lang, wildcards.seed)


def weights(study: Study, wildcards: Any) -> list[str] | str:
    """The English side, whose input embeddings features are compared with; empty: they are not."""
    alone = study.recipes[wildcards.recipe].similarity or not policy(study, wildcards)
    return [] if alone else encoders.backbone_weights(study, study.paired[wildcards.backbone].english)


def critic(study: Study, wildcards: Any) -> list[str] | str:
    """The encoder that says how like its text each candidate is; empty: nobody is asked, or the features say it."""
    asked = study.recipes[wildcards.recipe].choose in ("actor", "critic")
    return similarity(study, wildcards) if asked else []


def endpoints(study: Study, wildcards: Any) -> list[Endpoint]:
    """The endpoints behind that encoder."""
    return servers.endpoints_of(study, [study.recipes[wildcards.recipe].similarity])


def how(study: Study, wildcards: Any) -> Chosen:
    """How a translation is chosen: as the recipe says, with the weights of the policy's training."""
    recipe, name = study.recipes[wildcards.recipe], chooser(study, wildcards.recipe)
    learns = study.recipes[name].learns() if name else None
    weighed = {"weights": learns.weights} if learns else {}
    return Chosen(choose=recipe.choose, similarity=recipe.similarity != "none", **weighed)


# ---- What scores read.


def scored(study: Study, wildcards: Any) -> dict[str, list[str]]:
    """PLACE/LANGUAGE -> files of the English of all texts of a job's tasks; empty: nothing reads any.

    For an encoder of two texts, or a variant of a language model that is asked in English, by its place among the job's
    systems.
    """
    if wildcards.backbone in study.classifiers:
        order = {job.recipe: place for place, job in enumerate(shares.systems_of(study, wildcards))}
        found = {f"{order[job.recipe]}/{job.test_lang}": _said(study, job) for job in shares.jobs_of(study, wildcards)}
    else:
        seeds = encoders.seeds_of(study, wildcards.recipe) if wildcards.recipe in study.recipes else []
        found = {
            f"{place}/{wildcards.test_lang}": of_sets(study, wildcards, seed, _sets(study, wildcards))
            for place, seed in enumerate(seeds)
        }
    return {key: files for key, files in found.items() if files}


def _said(study: Study, wildcards: Any) -> list[str]:
    """The English that a variant of a classifier, or the encoder that helps it, reads in a language; empty: none."""
    if of := classifiers.helping(study, wildcards.backbone, wildcards.recipe):
        return _read_by(study, of, wildcards)
    spec = study.classifiers[wildcards.backbone].reasoning
    translator = spec.english if spec and wildcards.recipe == TRANSLATED else ""
    asked = [*dict.fromkeys(_sets(study, wildcards))] if translator else []
    return [file for corpus, lang in asked for file in translations.translations(study, [translator], corpus, lang)]


def of_sets(study: Study, wildcards: Any, seed: Any, sets: Iterable[tuple[str, str]]) -> list[str]:
    """The English of sets of texts (name, and language or order of two) that an encoder reads, each set's once; empty:
    it reads none."""
    reads = wildcards.backbone in study.paired and study.recipes[wildcards.recipe].fusion
    found = dict.fromkeys(sets) if reads else ()
    return [_chosen(study, wildcards, seed, lang, corpus) for corpus, lang in found]


def _read_by(study: Study, of: Reference, wildcards: Any) -> list[str]:
    """The English that an encoder reads which helps a language model; empty: it reads none."""
    lang = encoders.trained_on(study, of.recipe, wildcards.test_lang)
    job = SimpleNamespace(backbone=of.backbone, recipe=of.recipe, lang=lang)
    return of_sets(study, job, encoders.seed_of(study, of.recipe, None), _sets(study, wildcards))


def _sets(study: Study, wildcards: Any) -> list[tuple[str, str]]:
    """The sets of texts of a job's tasks: name and language, or order of two."""
    found = []
    for task, lang in evaluation.sets(study, wildcards):
        found.append((study.test_set(task), lang))
        if corpora.training_set(study, task, lang) and len(languages_of(lang)) == 1:
            found.append((f"{study.test_set(task)}{TRAINING}", study.train_of(task, lang)))
    return found


def scored_files(study: Study, wildcards: Any) -> list[str]:
    """The files of texts and their English that a job of scores reads."""
    return [file for files in scored(study, wildcards).values() for file in files]
