"""Translations into the pivot language: which texts are translated, by whom, and who judges them.

A set of texts has the name of what holds them: a task, of its test set; `TASK_train`, of its training set; or a corpus.
"""

from collections.abc import Iterable

from seedbed.study import paths
from seedbed.study.model import Study
from seedbed.study.paths import at


def translations_of(study: Study, translators: Iterable[str], corpus: str, lang: str) -> dict[str, str]:
    """Translator -> its translations of a set of texts."""
    return {name: at(study, paths.TRANSLATIONS, translator=name, lang=lang, corpus=corpus) for name in translators}
