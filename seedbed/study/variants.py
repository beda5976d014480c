"""Entries that vary others: their settings, what generators share, and those that a choice of scale is among."""

from collections.abc import Iterator, Mapping
from typing import Any

from seedbed.encoders.recipes import DATA, English, Only, Recipe
from seedbed.encoders.settings import Backbone
from seedbed.generators.settings import MADE_FROM, WRITING, Generator, ScaleChoice
from seedbed.settings import suggest
from seedbed.study.settings import Start, is_taken
from seedbed.yamls import laid_over

OWN = ("adapters", "triplets", "published")
"""What is published of an entry is not of one like it."""
WHOLE = ("source", "objective", "copies", "batches")
"""What is replaced as a whole."""
OLD = {
    "method": "`like`",
    "text": "`data: {corpus: ...}`",
    "language": "`data: {from_languages: ...}`",
    "generator": "`data: {by: ...}`",
    "rows": "`data: {rows: ...}`",
    "encoders": "`published`",
    **{key: f"`english: {{{key}: ...}}`" for key in English.model_fields},
    **{key: f"`only: {{{key}: ...}}`" for key in Only.model_fields},
    **{
        f"data.{key}": "`data: {corpus: ...}`; a corpus under `corpora.others` says its `kind` there"
        for key in ("sentences", "triplets", "paraphrases", "pairs", "scored_pairs", "queries", "parallel")
    },
    "data.translated": "`data: {corpus: ..., by: GENERATOR}`",
    "objective.averaged": "`copies: averaged`",
    "objective.trimmed": "`copies: trimmed`",
    "objective.condensed": "`copies: static`",
    "objective.halved": "`copies: bfloat16`",
    "objective.quantized": "`copies: int8`",
}
"""A key that a recipe had once -> what it has now."""


def spelled_out(recipes: Any) -> Any:
    """Replace each entry with `over` by the recipes that it expands to; wrong entries are unchanged.

    `xllora-{}k: {like: xllora, data: {rows: "{}000"}, over: [1, 3]}` is xllora-1k and xllora-3k: each value of `over`
    replaces every {} in the texts of the entry. `over: {training.pooling: {cls: cls_mlp, mean: mean}}` also sets that
    setting. An entry with the name of one of these is merged over it, so that a configuration that is merged over this
    one can change only that recipe.

    Raises:
        ValueError: a renamed key, or an entry with `over` that cannot be expanded.
    """
    if not isinstance(recipes, Mapping):
        return recipes
    found: dict[Any, Any] = {}
    for name, recipe in recipes.items():
        for key, entry in _each(name, recipe) if isinstance(recipe, Mapping) else [(name, recipe)]:
            if key in found and key != name:
                raise ValueError(f"{key}: {name} writes this recipe too; keep one, or put what it changes below it")
            found[key] = laid_over(found.get(key), entry)
    return found


def _each(name: Any, recipe: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """The recipes that an entry expands to, by name."""
    _require_new(name, recipe)
    if "over" not in recipe:
        yield name, recipe
        return
    if "{}" not in str(name):
        raise ValueError(f"{name}.over: expands to several recipes; put {{}} into their name, like {name}-{{}}")
    shared = {key: value for key, value in recipe.items() if key != "over"}
    for key, settings in _settings(name, recipe["over"]):
        _require_new(name, settings)
        yield name.replace("{}", key), laid_over(_filled(shared, key), settings)


def _settings(name: str, over: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each value that replaces {}, with the settings that it sets."""
    if isinstance(over, list) and over:
        yield from ((_text_of(name, key), {}) for key in over)
        return
    values = next(iter(over.values())) if isinstance(over, Mapping) and len(over) == 1 else None
    if not (isinstance(values, Mapping) and values):
        raise ValueError(
            f"{name}.over: give names, like [1, 3], or one setting with its value by name, like "
            f"{{training.epochs: {{short: 1, long: 3}}}}; found {over!r}"
        )
    for key, value in values.items():
        for part in reversed(str(next(iter(over))).split(".")):
            value = {part: value}
        yield _text_of(name, key), value


def _text_of(name: str, key: Any) -> str:
    """What replaces {} in names; a ValueError where YAML read a truth value, or nothing, instead of a name."""
    if key is None or isinstance(key, bool):
        raise ValueError(f'{name}.over: {key!r}, as YAML reads on, off, yes, no and null; put the name in quotes: "on"')
    return str(key)


def _filled(value: Any, key: str) -> Any:
    """A value with a key for each {} in its texts; one that is a number then is one."""
    if isinstance(value, Mapping):
        return {name: _filled(one, key) for name, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, key) for one in value]
    if not isinstance(value, str) or "{}" not in value:
        return value
    text = value.replace("{}", key)
    return int(text) if text.isdecimal() else text


def _require_new(name: Any, recipe: Mapping[str, Any]) -> None:
    """Raise a ValueError at a key of OLD."""
    keys = [*recipe]
    for group in ("data", "objective"):
        inner = recipe.get(group)
        names = [inner] if isinstance(inner, str) else inner if isinstance(inner, Mapping) else []
        keys += [f"{group}.{key}" for key in names]
    for key in keys:
        if key in OLD:
            raise ValueError(f"{name}.{key}: is now {OLD[key]}")


def with_parents(entries: Any, presets: Mapping[str, Any] | None = None) -> Any:
    """Entries with the settings of the entry, or the preset, that each is `like`, groups of settings merged.

    An entry with the name of a preset is like that, if it is like no other. What is wrong stays so.

    Raises:
        ValueError: there is none of this name; entries are like each other; or an entry is like none, and says not
            itself what it is.
    """
    if not isinstance(entries, Mapping):
        return entries
    entries = {name: {} if entry is None else entry for name, entry in entries.items()}
    below = presets or {}

    def whole(name: Any, seen: tuple[str, ...] = ()) -> Any:
        entry = entries[name]
        if not (isinstance(entry, Mapping) and isinstance(name, str) and isinstance(entry.get("like", ""), str)):
            return entry
        if not (parent := entry.get("like")):
            if presets is not None and name not in below and not {*entry} & {"data", "objective", "copies", "english"}:
                near = suggest(name, [*below])
                raise ValueError(f"{name}: no preset of this name; give `like`, or `data` and `objective`; {near}")
            return _merged(below.get(name, {}), entry)
        if parent in below and (parent == name or parent not in entries):
            return _merged(below[parent], entry)
        if parent in (line := (*seen, name)):
            raise ValueError(f"{name}.like: {' needs '.join([*line, parent])}; take one that does not need this one")
        if not isinstance(entries.get(parent), Mapping):
            others = sorted({other for other in (*entries, *below) if isinstance(other, str)} - {*line})
            raise ValueError(f"{name}.like: no {parent!r} to start from; {suggest(parent, others)}")
        return _merged(whole(parent, line), entry)

    return {name: whole(name) for name in entries}


def with_starts(recipes: Any, presets: Mapping[str, Any]) -> Any:
    """Recipes with each preset that some of them start from and that is none of them; what is wrong stays so.

    No table shows it that does not name it, and it is made for the languages and backbones of those that start from it.
    """
    if not isinstance(recipes, Mapping):
        return recipes
    found = dict(recipes)
    for name in found.copy():
        _add_start(found, name, presets)
    return found


def _add_start(recipes: dict[Any, Any], name: Any, presets: Mapping[str, Any]) -> None:
    """Add the preset that a recipe starts from, and those that this starts from."""
    start = recipes[name].get("from") if isinstance(recipes[name], Mapping) else None
    if not isinstance(start, str) or start in recipes or start not in presets:
        return
    users = [one for one in recipes.values() if isinstance(one, Mapping) and one.get("from") == start]
    only = {}
    for key in ("languages", "backbones"):
        lists = [one["only"].get(key) if isinstance(one.get("only"), Mapping) else None for one in users]
        if all(isinstance(one, list) for one in lists):
            only[key] = [*dict.fromkeys(entry for one in lists for entry in one)]
    recipes[start] = presets[start] | {"on_request": True, "only": only}
    _add_start(recipes, start, presets)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Settings on top of those of another entry; groups are merged, but not those of WHOLE."""
    groups = {
        name: laid_over(_without_other_data(below[name], value) if name == "data" else below[name], value, WHOLE)
        for name, value in above.items()
        if name not in WHOLE and isinstance(value, Mapping) and isinstance(below.get(name), Mapping)
    }
    return {name: value for name, value in below.items() if name not in OWN} | {**above, **groups}


def _without_other_data(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe's training data, without corpus and generator if the recipe above it trains on other data."""
    given = {*above} & {*DATA}
    another = not given <= {*below} or ("corpus" in given and below["corpus"] != above["corpus"])
    return {key: value for key, value in below.items() if not (another and key in (*DATA, "by"))}


def makers(generators: Mapping[str, Generator], start: Start = "scratch") -> dict[tuple[str, str], str]:
    """Generator and part (see MADE_FROM) -> who makes it: of a family those whose parts would be equal share one.

    A family is a generator and all that are `like` it. The one nearest to its head makes the part. One for which other
    triplets or adapters are published, and taken where the study starts, has its own part.
    """
    taken = [work for work in ("adapters", "triplets") if is_taken(start, work)]
    lines = {name: _line(generators, name) for name in generators}
    ordered = sorted(generators, key=lambda name: len(lines[name]))

    def same(name: str, other: str, part: str) -> bool:
        one, two = generators[name], generators[other]
        return (
            lines[name][-1] == lines[other][-1]
            and all(getattr(one, setting) == getattr(two, setting) for setting in MADE_FROM[part])
            and all(getattr(one, work).get(part) in (None, getattr(two, work).get(part)) for work in taken)
        )

    return {
        (name, part): next(other for other in ordered if same(name, other, part))
        for name in generators
        for part in MADE_FROM
    }


def _line(generators: Mapping[str, Generator], name: str) -> list[str]:
    """A generator and those that it varies, up to the head of its family."""
    parent = generators[name].like
    return [name, *(_line(generators, parent) if parent else [])]


def candidate(generator: str, scale: float) -> str:
    """The name of a generator with one of the scales that its choice is among, and of the recipe that tries it."""
    return f"{generator}+{scale:g}"


def add_candidates(
    generators: dict[str, Generator], recipes: dict[str, Recipe], backbones: Mapping[str, Backbone], seeds: list[int]
) -> None:
    """Add a generator and a recipe for each candidate scale of a generator whose scale is chosen.

    The recipe is the study's first that trains on the outputs of composed adapters, with fewer rows, one backbone and
    one seed.
    """
    tried = next((name for name, recipe in recipes.items() if is_composed(recipe)), "")
    for name, choice in choosing(generators).items():
        generator = generators[name]
        for scale in choice.candidates if tried else ():
            other = candidate(name, scale)
            composition = generator.composition.model_copy(update={"scale": scale})
            generators[other] = generator.model_copy(
                update={"like": name, "composition": composition, "adapters": {}, "triplets": {}}
            )
            recipe = recipes[tried]
            rows = min(choice.rows, recipe.data.rows or choice.rows)
            named = (one for one in recipe.only.backbones or backbones if one in backbones and backbones[one].source)
            backbone = choice.backbone or next(named, "")
            seed = min(seeds) if choice.seed is None else choice.seed
            recipes[other] = recipe.model_copy(
                update={
                    "like": tried,
                    "on_request": True,
                    "data": recipe.data.model_copy(update={"by": other, "rows": rows}),
                    "only": recipe.only.model_copy(update={"backbones": [backbone], "seeds": [seed]}),
                    "published": {},
                }
            )


def is_composed(recipe: Recipe) -> bool:
    """Whether composed adapters generate the training data of a recipe."""
    return bool(recipe.written) and WRITING[recipe.written].adapters == "composed"


def choosing(generators: Mapping[str, Generator]) -> dict[str, ScaleChoice]:
    """The generators whose scale a development task chooses, and how."""
    given = {name: generator.composition.scale for name, generator in generators.items()}
    return {name: scale for name, scale in given.items() if isinstance(scale, ScaleChoice)}
