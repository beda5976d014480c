"""Checks of prefixes: those that depend on the language of a text, and those that a development task chooses."""

from itertools import chain, product

from seedbed.encoders.settings import Prompts
from seedbed.languages import placeholders, registry
from seedbed.settings import require_known
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe


def of_prefixes(study: Study) -> None:
    """Check the prefixes of recipes and backbones.

    A prefix may name columns of the language registry, or `codes` of the study's languages. Each language whose texts a
    recipe's encoders encode must have values in these columns. An objective with texts of two languages in one column
    must have a prefix without columns.

    The candidates of a prefix that a development task chooses must be prefixes of untrained recipes. Recipes that need
    their prefix before the choice must have a given one: for mined neighbours, translations or alignment.

    Raises:
        ValueError: the first that is not so.
    """
    for of in StudyRecipe.every(study):
        if of.prefix_chooser:
            _chosen(study, of)
    _columns(study)
    for of in StudyRecipe.every(study):
        _of_languages(study, of)


def _columns(study: Study) -> None:
    """The columns in prefixes are those of the language registry, or `codes`."""
    groups = {"backbones": study.backbones, "recipes": study.recipes}
    given = {f"{group}.{name}.prefix": one.prefix for group, entries in groups.items() for name, one in entries.items()}
    known = {*next(iter(registry().values())), *chain.from_iterable(one.codes for one in study.languages.values())}
    for where, prefix in given.items():
        columns = placeholders(prefix) if isinstance(prefix, str) else ()
        require_known(where, "column of the language registry", columns, known)


def _of_languages(study: Study, of: StudyRecipe) -> None:
    """Prefixes that depend on the language have a value for each, and texts of one language in a column."""
    mixed = of.spec.trained and of.spec.minimises.mixed
    for backbone in of.every_backbone:
        columns = placeholders(prefix := of.prefix(backbone))
        if mixed and columns:
            objective = next(iter(of.spec.objective))
            raise ValueError(
                f"recipes.{of.name}: the prefix of {backbone} depends on the language, and {objective} reads texts "
                "of two languages in one column; name other backbones in `only.backbones`"
            )
        for column, code in product(columns, of.codes):
            if not study.facts(code).get(column):
                raise ValueError(
                    f"languages.{code}: no {column}, which the prefix {prefix!r} of {backbone} needs for its "
                    f"texts; set `codes: {{{column}: ...}}`, or leave it out of `recipes.{of.name}.only.languages`"
                )


def _chosen(study: Study, of: StudyRecipe) -> None:
    """A prefix that a development task chooses for a recipe, or for what it starts from."""
    where, candidates = f"recipes.{of.prefix_chooser}.prefix.choose", []
    if not (study.best and study.best.dev):
        raise ValueError(f"{where}: a development task chooses; give `best: {{dev: TASK}}`")
    for other in study.recipes[of.prefix_chooser].prefix_of:
        require_known(where, "recipe", [other], study.recipes)
        one = StudyRecipe.get(study, other)
        if one.spec.made or one.spec.paired:
            raise ValueError(f"{where}: {other} is trained, or has no fixed prefix; name untrained recipes")
        missing = {
            "languages": {*of.codes} - {*one.codes},
            "backbones": {*of.every_backbone} - {*one.every_backbone},
        }
        for kind, lacking in missing.items():
            if lacking:
                raise ValueError(
                    f"{where}: {other} is not there for {min(lacking)}, as {of.name} is; add it to "
                    f"`recipes.{other}.only.{kind}`"
                )
        candidates.append(one)
    for backbone in of.every_backbone:
        if any(isinstance(one.before(backbone), Prompts) for one in candidates):
            raise ValueError(f"{where}: {backbone} has `prompts`, and one prefix is chosen; give it a `prefix`")
        offered = {one.prefix(backbone) for one in candidates}
        if by_language := sorted(filter(placeholders, offered)):
            raise ValueError(f"{where}: {by_language[0]!r} is another in each language; name other recipes")
        if len(offered) < 2:
            raise ValueError(f"{where}: of {backbone} all have the prefix {min(offered)!r}; give them different ones")
    mined = of.spec.data.neighbours
    if of.spec.paired or mined or of.pivots:
        why = "neighbours were mined" if mined else "other encoders read texts"
        raise ValueError(f"{where}: {of.name} needs the prefix with which {why}; give it a `prefix`")
