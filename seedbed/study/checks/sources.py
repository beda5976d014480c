"""Checks that a study's inputs exist: every corpus has a source, and every file that a source names exists."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

from seedbed.corpora.read.folders import check_paths
from seedbed.corpora.settings import Source
from seedbed.encoders.recipes import Recipe
from seedbed.generators.settings import PART_CORPUS, POLARITIES, Method
from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.names import DRAWN, SEED_PAIRS, languages_of
from seedbed.study import published
from seedbed.study.graph.classifier import adapted
from seedbed.study.graph.translation import StudyTranslator
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.study.variants import is_composed


def of_sources(study: Study) -> None:
    """Check that every corpus that a recipe needs has a source, and that every local file exists."""
    _check_places(study)
    folders = {of.name: _folders(study, of) for of in StudyRecipe.every(study)}
    for code in study.languages:
        _of_language(study, code, folders)
    for task, order in study.own_sets:
        _check_file(study.test(task, order), f"the {task} test set of {order}")
    _apart(study)
    _check_file(study.corpus("nli", study.pivot), "corpora.nli")
    _of_models(study)
    for by, code in product(StudyTranslator.every(study), sorted({*study.languages} - {study.pivot})):
        _check_file(by.given(code), f"translators.{by.name}.given for {code}")
    _published(study)
    if adapted(study):
        _pairs(study)
    for of in StudyRecipe.every(study):
        _training_data(study, of, folders[of.name])
        if is_composed(of.spec):
            _composition(study, of.writer)
        elif of.needs_adapters:
            _xllora(study, of.writer)


def _of_language(study: Study, code: str, folders: dict[str, set[str]]) -> None:
    """The corpora and test sets of a language are there, and something is tested or trained in it.

    Args:
        folders: recipe -> its `_folders`.
    """
    for role in ("text", "instructions", *sorted(_others(study, code, folders))):
        _check_file(study.corpus(role, code), f"{study.given_corpus(role, code)[0]}: the {role} corpus of {code}")
    for task in study.tests_by_language[code]:
        own = task in study.languages[code].tests
        key = f"languages.{code}.tests.{task}" if own else f"tasks.{study.test_set(task)}.source"
        _check_file(study.test(task, code), f"{key}: the {task} test set of {code}")
        if other := study.train_of(task, code):
            key = f"tasks.{study.test_set(task)}.train"
            _check_file(study.training_set(task, other), f"{key}: the {task} training set of {other}")
    tested = study.tests_by_language[code] or any(code in languages_of(pair) for pair in study.tests_by_pair)
    trained_on = any(task.train_language == code for task in study.tasks.values())
    if not (tested or trained_on) and not any(code in found for found in folders.values()):
        raise UserError(
            f"languages.{code}: no test set in any task, and no recipe trains an encoder of it; give a test set "
            "under `tests:` (a file, say), or a recipe such as unsupervised"
        )


def _of_models(study: Study) -> None:
    """The weights of generators and backbones are there."""
    for kind in ("generators", "backbones"):
        for name, model in getattr(study, kind).items():
            if model.source:
                _weights(study, model.source, ANY, f"{kind}.{name}.source")
    for name, backbone in study.backbones.items():
        for code, source in backbone.by_language.items():
            _weights(study, source, code, f"backbones.{name}.by_language.{code}")


def _apart(study: Study) -> None:
    """Corpora that test sets are apart from are there, each in one of the languages of the sets at least."""
    for name, task in study.tasks.items():
        orders = (order for of, order in study.own_sets if of == name)
        tested = {*study.tested_by(name), *(code for order in orders for code in languages_of(order))}
        for corpus in task.apart_from:
            found = {code: source for code in sorted(tested) if (source := study.corpus(corpus, code))}
            if tested and not found:
                raise UserError(
                    f"tasks.{name}.apart_from: no {corpus} in {', '.join(sorted(tested))}, where the task has tests; "
                    "give it a source there, or leave it out"
                )
            for code, source in found.items():
                _check_file(source, f"tasks.{name}.apart_from: the {corpus} corpus of {code}")


def _others(study: Study, code: str, folders: dict[str, set[str]]) -> set[str]:
    """The corpora of `corpora.others` that recipes or adapters train on in a language.

    Args:
        folders: recipe -> its `_folders`.
    """
    named = {generator.language_text for generator in study.generators.values()}
    for name, recipe in study.recipes.items():
        if code in folders[name]:
            named |= {recipe.data.origin, recipe.drawn or ""}
    return named & {*study.corpora.others}


def _folders(study: Study, of: StudyRecipe) -> set[str]:
    """The languages on which a recipe's encoders are trained; none for published encoders."""
    if not of.spec.made:
        return set()
    folders = {folder for folder in of.folders if not of.is_pivot(folder)}
    names = of.every_backbone
    trained = [code for code in folders if not all(published.encoder(study, name, of.name, code) for name in names)]
    return {code for folder in trained for code in of.languages(folder)}


def _training_data(study: Study, of: StudyRecipe, folders: set[str]) -> None:
    """Check that a recipe's training data have a source: NLI triplets, or text of its languages and the pivot."""
    recipe, spec = of.name, of.spec
    if folders and not study.corpora.nli and _trains_on_nli(study, of, folders):
        raise UserError(
            f"corpora.nli: no source; recipe {recipe} needs NLI triplets in {study.pivot}: give a file, say"
        )
    identified = _identified(study, spec)
    if spec.data.translated:
        _translated(study, of, folders)
    for code in sorted(folders):
        if ready := not of.is_written(code) and spec.drawn is None:
            corpus = DRAWN.get(spec.data.origin, spec.data.origin)
            if (source := study.corpus(corpus, code)) is None:
                raise UserError(f"corpora: no {corpus} in {code}, from which recipe {recipe} learns; give a source")
            _check_file(source, f"the {corpus} corpus of {code}")
        if (identified or not ready) and study.corpus(spec.drawn or "text", code) is None:
            if spec.drawn:
                raise UserError(f"corpora.others.{spec.drawn}: nothing for {code}, in which recipe {recipe} learns it")
            raise UserError(
                f"languages.{code}: no corpus; give `corpus:` (a file of its sentences, one a line: `corpus: {{file: "
                f"{code}.txt}}`), or `corpora.text` for all languages; or begin with `seedbed init {code}.txt`"
            )
        if identified and not (compared := study.corpus("text", study.pivot)):
            raise UserError(
                f"corpora.text: nothing for {study.pivot}, whose sentences language identification tells {code} from; "
                f"give some, or set {identified} to false"
            )
        if identified:
            _check_file(compared, f"the text corpus of {study.pivot}, which language identification tells {code} from")
    _one_language_each(study, recipe, folders)


def _one_language_each(study: Study, recipe: str, folders: set[str]) -> None:
    """No file of sentences, or of pairs of them, trains two languages; English that they share has other kinds."""
    if len(folders) < 2:
        return
    origin = study.recipes[recipe].data.origin
    corpus = DRAWN.get(origin, origin)
    if study.roles.get(corpus) not in ("text", "matched_pairs"):
        return
    read: dict[str, str] = {}
    for code in filter(folders.__contains__, study.languages):  # the first written, to which others were added
        source = study.corpus(corpus, code)
        if source is None or not source.is_local:
            continue
        if (other := read.setdefault(source.dump(), code)) != code:
            raise UserError(
                f"{study.given_corpus(corpus, code)[0]}: recipe {recipe} would train {other} and {code} on the same "
                f"file, {next(source.readings()).file}; write {{lang}} in its name, or give {code} its own as "
                f"languages.{code}.{'corpus' if corpus == 'text' else f'corpora.{corpus}'}, or limit the recipe by "
                f"only: {{languages: [{other}]}}"
            )


def _translated(study: Study, of: StudyRecipe, folders: set[str]) -> None:
    """There are sentences to translate, and a translator that has a code for each language."""
    corpus, name = of.spec.data.translated, of.writer
    if study.corpus(corpus, study.pivot) is None:
        raise UserError(f"corpora.others.{corpus}: nothing for {study.pivot}, which {name} translates; give a source")
    for code in sorted({*folders, study.pivot}):
        if not study.facts(code)["flores"]:
            raise UserError(
                f"languages.{code}: {name} translates by the codes of NLLB, and none is known; set "
                "`codes: {flores: ...}`, like eng_Latn"
            )
    every = [one for one in StudyRecipe.every(study) if one.spec.data.translated]
    others = {one.spec.data.translated for one in every if one.writer == name}
    if len(others) > 1:
        raise UserError(
            f"recipes.{of.name}.data.by: {name} translates {' and '.join(sorted(others))}, and a generator one corpus; "
            f"name another one that has the same settings, written out: one `like: {name}` would share its translations"
        )


def _identified(study: Study, spec: Recipe) -> str:
    """The settings by which training data are distinguished from the pivot language; empty: they are not."""
    if spec.data and spec.data.origin == SEED_PAIRS:
        return "`seed_pairs.language_id`" if study.seed_pairs.language_id else ""
    if not (spec.written or spec.drawn is not None):
        return ""
    told = study.anchors.language_id or (spec.written and study.audit.reads_pivot)
    return "`anchors.language_id` and `audit.language_id`" if told else ""


def _trains_on_nli(study: Study, of: StudyRecipe, folders: set[str]) -> bool:
    """Whether a recipe's encoders, or its generator's task adapters, train on NLI triplets in the pivot language."""
    spec = of.spec
    if not spec.written:
        return bool(spec.data and spec.data.origin == "nli")
    if not of.needs_adapters:
        return False
    built = is_composed(spec) or study.generators[of.writer].xllora.uses("synthetic")
    return built and not all(_given(study, of.writer, spec.written, code) for code in folders)


def _given(study: Study, generator: str, method: Method, code: str) -> bool:
    """Whether the study takes what others have made: the triplets of a language, or the adapters that write them."""
    adapters = [published.adapter(study, generator, method, polarity, code) for polarity in POLARITIES]
    return bool(published.triplets(study, generator, method, code) or all(adapters))


def _pairs(study: Study) -> None:
    if study.corpus("nli_pairs", study.pivot) is None:
        raise UserError(f"classifiers: they are trained on labelled pairs in {study.pivot}; give `corpora.nli_pairs`")
    asked = {code for code, tasks in study.tests_by_language.items() if {*tasks} - {*study.held_out(code)}}
    for code in sorted({*asked, study.pivot}):
        _check_file(study.corpus("nli_pairs", code), f"the nli_pairs corpus of {code}")


def _composition(study: Study, generator: str) -> None:
    if not study.generators[generator].composition.scale:
        return
    role = study.generators[generator].language_corpus
    key = "instructions" if role == "annotated" else role
    codes = dict.fromkeys([*study.languages, study.pivot])
    if lacking := [code for code in codes if study.corpus(role, code) is None]:
        raise UserError(
            f"generators.{generator}: language adapters are trained on {role}, which {', '.join(lacking)} lack; "
            f"give `corpora.{key}`, or set `language_data` to another kind"
        )


def _xllora(study: Study, generator: str) -> None:
    spec = study.generators[generator].xllora
    if spec.source == "published":
        if not (study.corpora.published_positive and study.corpora.published_negative):
            raise UserError(
                f"generators.{generator}.xllora: published examples need corpora.published_positive and "
                ".published_negative"
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
    for of in StudyRecipe.every(study):
        name, recipe = of.name, of.spec
        if of.taken:
            _all_or_none(study, of)
        for code in of.codes:
            folder = of.folder(code)
            for backbone in recipe.published:
                encoder = published.encoder(study, backbone, name, folder)
                _check_model(encoder, f"recipes.{name}.published.{backbone} for {folder}")
                if encoder is None and not recipe.made:
                    named = " and ".join(f"{{{one}}}" for one in sorted(recipe.published[backbone].placeholders))
                    raise UserError(
                        f"recipes.{name}.published.{backbone}: no value of {named} for {folder}, so it would be the "
                        f"backbone itself; set `languages.{folder}.codes`, or limit the recipe by `only: {{languages: "
                        "[...]}`"
                    )
            if not recipe.written:
                continue
            facts = of.writer, recipe.written
            where = f"of {facts[0]} by {facts[1]} for {code}"
            _check_file(published.triplets(study, *facts, code), f"the triplets {where}")
            for polarity in POLARITIES:
                _check_model(published.adapter(study, *facts, polarity, code), f"the {polarity} adapter {where}")


def _all_or_none(study: Study, recipe: StudyRecipe) -> None:
    """Published encoders have one seed, and those that were trained beside them would have no more."""
    folders = sorted({recipe.folder(code) for code in recipe.codes})
    for backbone, folder in product(recipe.every_backbone, folders):
        if published.encoder(study, backbone, recipe.name, folder) is None:
            raise UserError(
                f"recipes.{recipe.name}.published: no encoder of {backbone} in {folder}, and `start: encoders` takes "
                "those of all its backbones and languages; give it, or limit the recipe by `only` and train the others "
                "in another one"
            )


def _check_places(study: Study) -> None:
    """Folders are no files, the lock is no folder, and named folders are there."""
    for key in ("results", "downloads"):
        folder = Path(getattr(study, key))
        if (there := next(filter(Path.exists, (folder, *folder.parents)), None)) and not there.is_dir():
            raise UserError(f"{key}: {there} is a file; give a folder")
    if Path(study.lock).is_dir():
        raise UserError(f"lock: {study.lock} is a folder; give a file, like assets.lock.json")
    check_paths(study.paths)


def _check_file(source: Source | None, what: str) -> None:
    """All files that rows of a corpus are read from are there."""
    for reading in source.readings() if source else ():
        if given := [name for name in ("convert", "layers") if getattr(reading, name)]:
            raise UserError(f"{what}: {given[0]} is of a model's weights, and here are texts; leave it out")
        if empty := [ours for ours, theirs in reading.columns.items() if theirs == []]:
            raise UserError(f"{what}: columns.{empty[0]}: an empty list; name a column, or several that are joined")
        if reading.package and not reading.member:
            raise UserError(f"{what}: {', '.join(reading.package)} has many files; say which of them with `member:`")
        if not reading.file:
            continue
        if _is(Path.is_dir, reading.file) and not reading.member:
            raise UserError(f"{what}: {reading.file} is a folder; say which of its files with `member:`")
        _there(reading, what)
        if not (_is(Path.is_dir, reading.file) or _is(Path.is_file, reading.file)):
            raise UserError(f"{what}: {reading.file} is a pipe or a device, which jobs would wait for; give a file")


def _weights(study: Study, source: Source, code: str, what: str) -> None:
    """Each placeholder of a model's source has a value, and a local folder is there."""
    resolved = source.resolved(study.facts(code))
    if not resolved:
        named = " and ".join(f"{{{name}}}" for name in sorted(source.placeholders))
        raise UserError(f"{what}: no value of {named} here; name the model, or one for each language (`by_language`)")
    _check_model(resolved, what)


def _check_model(source: Source | None, what: str) -> None:
    """Check that the folder of a model exists."""
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
    """Whether a check of a path is true; false for a name that no file can have (too long, with a null byte)."""
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
