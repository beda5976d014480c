"""What a study needs from outside: every corpus has a source, and every file that a source names is there."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.corpora.settings import Source, check_paths
from seedbed.encoders.settings import SYNTHETIC, UNTRAINED, Method
from seedbed.generators.settings import PART_CORPUS, POLARITIES
from seedbed.io import UserError
from seedbed.languages import ANY

if TYPE_CHECKING:
    from seedbed.config import Study


def with_sources(study: Study) -> None:
    """Every corpus that a recipe needs has a source, and every local file is there.

    Raises:
        UserError: one is not.
    """
    _check_places(study)
    for code in study.languages:
        for role in ("text", "instructions", *study.corpora.others):
            _check_file(study.corpus(role, code), f"the {role} corpus of {code}")
        for task in study.tests_by_language[code]:
            _check_file(study.test(task, code), f"the {task} test set of {code}")
            if other := study.train_of(task, code):
                _check_file(study.training_set(task, other), f"the {task} training set of {other}")
        if not study.tests_by_language[code] and not any(code in _folders(study, name) for name in study.recipes):
            raise UserError(
                f"languages.{code}: no test set in any task, and no recipe trains an encoder of it; give a test set "
                "under `tests:` (a file, say), or a recipe such as unsupervised"
            )
    _check_file(study.corpus("nli", study.pivot), "corpora.nli")
    for kind in ("generators", "backbones"):
        for name, model in getattr(study, kind).items():
            _check_model(model.source and model.source.resolved(study.facts(ANY)), f"{kind}.{name}.source")
    _published(study)
    if study.adapted():
        _pairs(study)
    for name, recipe in study.recipes.items():
        _learnt(study, name)
        if recipe.method == "composition":
            _composition(study, study.generator_of(name))
        if recipe.method == "xllora":
            _xllora(study, study.generator_of(name))


def _folders(study: Study, recipe: str) -> set[str]:
    """The languages in whose folders a recipe trains encoders; what it takes from others is none."""
    spec = study.recipes[recipe]
    if spec.method in UNTRAINED:
        return set()
    backbones = study.backbones_of(recipe) or study.backbones
    folders = {study.trained_on(recipe, code) for code in spec.languages or study.languages}
    return {code for code in folders if not all(study.published_encoder(name, recipe, code) for name in backbones)}


def _learnt(study: Study, recipe: str) -> None:
    """What a recipe learns from has a source: NLI triplets, or sentences of its languages and of the pivot."""
    spec, folders = study.recipes[recipe], _folders(study, recipe)
    if folders and not study.corpora.nli and _learns_nli(study, recipe):
        raise UserError(
            f"corpora.nli: no source; recipe {recipe} needs NLI triplets in {study.pivot}: give a file, say"
        )
    reads_pivot = study.anchors.language_id or (spec.method in SYNTHETIC and study.audit.reads_pivot)
    for code in sorted(folders) if spec.method != "crosslingual" else ():
        if study.corpus(spec.text or "text", code) is None:
            if spec.text:
                raise UserError(f"corpora.others.{spec.text}: nothing for {code}, in which recipe {recipe} learns it")
            raise UserError(
                f"languages.{code}: no corpus; give `corpus:` (a file, say), or `corpora.text` for all languages"
            )
        if reads_pivot and not (compared := study.corpus("text", study.pivot)):
            raise UserError(
                f"corpora.text: nothing for {study.pivot}, whose sentences language identification tells {code} from; "
                "give some, or set `anchors.language_id` and `audit.language_id` to false"
            )
        if reads_pivot:
            _check_file(compared, f"the text corpus of {study.pivot}, which language identification tells {code} from")


def _learns_nli(study: Study, recipe: str) -> bool:
    """Whether a recipe's encoders, or its generator's task adapters, learn from NLI triplets in the pivot language."""
    method, generator = study.recipes[recipe].method, study.generator_of
    if method in ("composition", "xllora"):
        built = method == "composition" or study.generators[generator(recipe)].xllora.uses("synthetic")
        return built and not all(_given(study, generator(recipe), method, code) for code in _folders(study, recipe))
    return method == "crosslingual"


def _given(study: Study, generator: str, method: Method, code: str) -> bool:
    """Whether the study takes what others have made: the triplets of a language, or the adapters that write them."""
    adapters = [study.published_adapter(generator, method, polarity, code) for polarity in POLARITIES]
    return bool(study.published_triplets(generator, method, code) or all(adapters))


def _pairs(study: Study) -> None:
    if study.corpus("nli_pairs", study.pivot) is None:
        raise UserError(f"classifiers: they learn from labelled pairs in {study.pivot}; give `corpora.nli_pairs`")
    asked = {code for code, tasks in study.tests_by_language.items() if {*tasks} - {*study.held_out(code)}}
    for code in sorted({*asked, study.pivot}):
        _check_file(study.corpus("nli_pairs", code), f"the nli_pairs corpus of {code}")


def _composition(study: Study, generator: str) -> None:
    if not study.generators[generator].composition.scale:
        return
    role = study.generators[generator].language_corpus
    key = "instructions" if role == "annotated" else role
    if lacking := [code for code in [*study.languages, study.pivot] if study.corpus(role, code) is None]:
        raise UserError(
            f"recipes.composition: language adapters learn from {role}, which {', '.join(lacking)} lack; "
            f"give `corpora.{key}`, or set `language_data` of {generator} to another kind"
        )


def _xllora(study: Study, generator: str) -> None:
    spec = study.generators[generator].xllora
    if spec.source == "published":
        if not (study.corpora.published_positive and study.corpora.published_negative):
            raise UserError(
                "recipes.xllora: published examples need corpora.published_positive and .published_negative"
            )
        for polarity in POLARITIES:
            _check_file(study.corpus(f"published_{polarity}", ANY), f"corpora.published_{polarity}")
        return
    where = f"generators.{generator}.xllora"
    roles = [PART_CORPUS[part] for part in spec.parts]
    lacking = [code for code in spec.languages if not any(study.corpus(role, code) for role in roles)]
    if lacking or not spec.languages:
        raise UserError(
            f"{where}.languages: xllora learns from {', '.join(lacking) or 'no language'}, which have no "
            f"{' or '.join(f'`corpora.{role}`' for role in roles)}; give one, or other languages"
        )
    if "machine" in spec.parts and not any(study.corpus("nli_machine", code) for code in spec.languages):
        raise UserError(f"{where}.parts: machine needs `corpora.nli_machine`; give it, or other parts")
    for role in roles:
        for code in spec.languages:
            _check_file(study.corpus(role, code), f"the {role} corpus of {code}")


def _published(study: Study) -> None:
    """What others have made, where the study takes it."""
    for name, recipe in study.recipes.items():
        for code in recipe.languages or study.languages:
            folder = study.trained_on(name, code)
            for backbone in recipe.encoders:
                encoder = study.published_encoder(backbone, name, folder)
                _check_model(encoder, f"recipes.{name}.encoders.{backbone} for {folder}")
            if recipe.method not in SYNTHETIC:
                continue
            facts = study.generator_of(name), recipe.method
            where = f"of {facts[0]} by {facts[1]} for {code}"
            _check_file(study.published_triplets(*facts, code), f"the triplets {where}")
            for polarity in POLARITIES:
                _check_model(study.published_adapter(*facts, polarity, code), f"the {polarity} adapter {where}")


def _check_places(study: Study) -> None:
    """Folders are no files, the lock is no folder, and named folders are there."""
    for key in ("results", "downloads"):
        if (folder := Path(getattr(study, key))).exists() and not folder.is_dir():
            raise UserError(f"{key}: {folder} is a file; give a folder")
    if Path(study.lock).is_dir():
        raise UserError(f"lock: {study.lock} is a folder; give a file, like assets.lock.json")
    check_paths(study.paths)


def _check_file(source: Source | None, what: str) -> None:
    """All files that rows of a corpus are read from are there."""
    for reading in source.readings() if source else ():
        if reading.convert:
            raise UserError(f"{what}: convert is of a model's weights, and here are texts; leave it out")
        if not reading.file:
            continue
        if _is(Path.is_dir, reading.file) and not reading.member:
            raise UserError(f"{what}: {reading.file} is a folder; say which of its files with `member:`")
        _there(reading, what)


def _check_model(source: Source | None, what: str) -> None:
    """The folder of a model is there."""
    if not source or not source.file:
        return
    if _is(Path.is_file, source.file):
        raise UserError(f"{what}: {source.file} is a file; a local model is a folder with config.json")
    _there(source, what)


def _there(source: Source, what: str) -> None:
    if not _is(Path.exists, source.file):
        raise UserError(f"{what}: no such file {source.file}; paths are relative to the folder in which you run")
    if source.member and _is(Path.is_dir, source.file) and not _has(Path(source.file), source.member):
        raise UserError(f"{what}: no member of {source.file} matches {source.member!r}")


def _is(ask: Callable[[Path], bool], file: str) -> bool:
    """Ask of a path; a name that no file can have (too long, with a null byte) is none of a file."""
    try:
        return ask(Path(file))
    except (OSError, ValueError):
        return False


def _has(folder: Path, member: str) -> bool:
    """Whether a folder has a file of a name, or of a pattern."""
    if not {*"*?["} & {*member}:
        return _is(Path.is_file, str(folder / member))
    files = (path for path in folder.rglob("*") if path.is_file())
    return any(fnmatchcase(str(file.relative_to(folder)), member) for file in files)
