"""Checks of names: what no other may be called, and that every name that a setting gives is that of something."""

from seedbed.corpora.settings import Source
from seedbed.languages import placeholders
from seedbed.names import RESERVED
from seedbed.resources import specs
from seedbed.settings import require_known, settings_in
from seedbed.study.model import Study


def of_reserved_names(study: Study) -> None:
    """Check that nothing has a name with a special meaning, and no corpus that of a task."""
    for kind, reserved in RESERVED.items():
        for name in sorted({*getattr(study, kind)} & {*reserved}):
            raise ValueError(f"{kind}.{name}: this name is reserved for {reserved[name]}; take another")
    for name in sorted({*study.corpora.others} & {*RESERVED["tasks"], *study.tasks}):
        stands = RESERVED["tasks"].get(name, "a task")
        raise ValueError(f"corpora.others.{name}: this name is reserved for {stands}; take another")


def of_placeholders(study: Study) -> None:
    """Check that each placeholder of a source, of a subset of mteb, or of a translator's code, is a column of the
    registry, a path, or a code of some language.
    """
    known = {*study.facts(study.pivot)}.union(*(language.codes for language in study.languages.values()))
    named = [(place, one.placeholders) for place, one in settings_in(study) if isinstance(one, Source)]
    named += [
        (f"tasks.{name}.mteb.subset", {*placeholders(task.mteb.subset)})
        for name, task in study.tasks.items()
        if task.mteb
    ]
    named += [(f"translators.{name}.code", {*placeholders(by.code)}) for name, by in study.translators.items()]
    for place, names in named:
        require_known(place, "registry column, path or code", sorted(names), known)


def of_names(study: Study) -> None:
    """Check that the study has the recipe and the backbone that differences are taken from, the languages that
    backbones have weights of, and the specs of tables and figures.
    """
    require_known("statistics.baseline", "recipe", study.statistics.baseline, study.recipes)
    known = [*study.backbones, *study.classifiers]
    require_known("statistics.baseline_backbone", "backbone or classifier", study.statistics.baseline_backbone, known)
    for name, backbone in study.backbones.items():
        require_known(f"backbones.{name}.by_language", "language", backbone.by_language, study.codes)
    for kind, names in (("tables", study.tables), ("figures", study.figures)):
        require_known(kind, f"resources/{kind}/*.yaml", names, specs(kind))
