"""The covering set of the papers' tables leaves out languages and nothing else. In the ordinary suite, since it is quick."""

import contextlib

import pytest
import yaml

from seedbed.encoders.recipes import presets
from seedbed.resources import resource
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.variants import spelled_out, with_parents
from tests.rehearsal import covering, cutting
from tests.rehearsal.cutting import PAPERS, read

JOBS = {"bootstrapping": 470, "lira": 130, "miners": 345, "modular": 140, "neighxlm": 0}
"""About how many the covering sets add, of 1,113, 1,186, 13,431 and 2,289: more is no longer a matter of minutes. NeighXLM's tables
are whole; what is translated, judged and chosen is not counted, nor what encoders start from."""
ASKED = ("math", "multiple_choice")
"""Protocols of which language models alone have rows."""
TABLES = {"bootstrapping": 27, "lira": 10, "miners": 10, "modular": 11, "neighxlm": 7}


@pytest.fixture(scope="module", params=PAPERS.values(), ids=list(PAPERS))
def paper(request):
    return request.param


@pytest.fixture(scope="module")
def cut(paper):
    return cutting.cut(paper)


@pytest.fixture(scope="module")
def config(paper):
    """As it is shipped, with what costs money."""
    return cutting.merged(read(paper.config), *(read(file) for file in paper.overlays))


@pytest.fixture(scope="module")
def plans(paper, cut, tmp_path_factory):
    """What the tables show whose specs are cut, of the study whose languages are."""
    folder = tmp_path_factory.mktemp(paper.group)
    (folder / "resources/tables").mkdir(parents=True)
    for table, spec in cut.specs.items():
        (folder / f"resources/tables/{table}.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    smaller = cutting.merged(cut.config, *(read(file) for file in paper.overlays))
    with contextlib.chdir(folder):
        study = load(smaller)
        return {table: TablePlan.get(study, table).blocks for table in cut.cover}


def measured(plans):
    return {
        (table, block.column.label, block.column.metric, block.backbone, system.recipe)
        for table, blocks in plans.items()
        for block in blocks
        for system in block.systems
    }


def test_only_languages_are_left_out(cut, plans):
    assert measured(plans) == measured(cut.plans)
    shown = {table: {lang for block in blocks for lang in block.tests} for table, blocks in plans.items()}
    assert shown == {
        table: {lang for langs in columns.values() for lang in langs} for table, columns in cut.cover.items()
    }


def test_every_column_and_row_of_the_specs_is_there(paper, config, plans):
    """By the files alone; what a study does not have is what its own tables leave out."""
    specs = {path.stem: read(path) for path in resource("tables").glob("*.yaml")}
    there = {*config["tasks"]} - nowhere(config)
    specs = {table: spec for table, spec in specs.items() if spec.get("group") == paper.group or table in paper.beside}
    unmade = {
        table for table, spec in specs.items() if all({*column.get("tasks", [])} - there for column in spec["columns"])
    }
    specs = {table: spec for table, spec in specs.items() if table not in unmade}
    wanted = {
        (table, column["label"], column["metric"], recipe)
        for table, spec in specs.items()
        for column in spec["columns"]
        if {*column.get("tasks", [])} <= there
        for recipe in promised(spec, column)
    }
    assert len(specs) == len(plans) == TABLES[paper.group]
    named = {table: {*spec["recipes"], *spec.get("classifiers", ())} for table, spec in specs.items()}
    assert wanted == {(*row[:3], row[4]) for row in measured(plans) if row[4] in named[row[0]]}
    drawn = {read(path).get("table") for path in resource("figures").glob(f"{paper.group}_*.yaml")} - {None}
    assert drawn - unmade <= {*plans}


def promised(spec, column):
    """The rows of a column: recipes, or the variants of language models, where they alone answer; or both. Not those that
    the spec calls absent."""
    of_models, kinds = column["protocol"] in ASKED, [*spec.get("classifiers", ())]
    recipes = [] if of_models and kinds else column.get("recipes") or spec["recipes"]
    recipes = [recipe for recipe in recipes if spec["recipes"][recipe] not in spec.get("absent", {})]
    return [*recipes, *(kinds if of_models or column["protocol"] == "knn" else ())]


def variants(config):
    """The ways in which the study's language models are asked for answers."""
    asked = [entry["reasoning"] for entry in config.get("classifiers", {}).values() if "reasoning" in entry]
    return {"source", "translated"}.union(*(entry.get("prefixes", {}) for entry in asked)) if asked else set()


def nowhere(config):
    """The tasks whose data lie in a folder that nobody has."""
    lacking = [f"{{{name}}}" for name, place in config.get("paths", {}).items() if place == "none"]
    return {name for name, task in config["tasks"].items() if any(place in str(task) for place in lacking)}


def test_every_entry_of_the_configuration_takes_part(config, plans):
    """So each setting of each recipe, model and task is met with, whatever it is."""
    cells = {cell for blocks in plans.values() for block in blocks for cell in block.cells()}
    recipes = with_parents(spelled_out(config["recipes"]), presets())
    used = {name for cell in cells for name in (cell.backbone, cell.recipe, cell.task)}
    for cell in cells:
        entry = config.get("classifiers", {}).get(cell.backbone) or {}
        used |= {entry.get("backbone", ""), entry.get("generator", ""), *retrievers(entry)}
        backbone = config["backbones"].get(cell.backbone, {})
        used |= {*backbone.get("fusion", {}).get("of", {}), *backbone.get("pair", {}).values()}
        used |= behind(config, recipes, cell.recipe)
        for of in choosers(entry):
            used |= {of["backbone"], of["recipe"], *config["backbones"][of["backbone"]]["pair"].values()}
            used |= behind(config, recipes, of["recipe"])
        if cell.recipe in recipes and config.get("generators"):
            used.add(recipes[cell.recipe].get("data", {}).get("by") or next(iter(config["generators"])))
    for kind in ("recipes", "generators", "backbones", "classifiers", "tasks"):
        named = recipes if kind == "recipes" else config.get(kind, {})
        assert {*named} - used - parents(named, used) - nowhere(config) == set(), kind


def behind(config, recipes, name):
    """Recipes that an encoder starts from, is aligned with or has its translations chosen by, and the generators that these need."""
    recipe, found = recipes.get(name) or {}, set()
    english, objective = recipe.get("english", {}), recipe.get("objective", {})
    goal = objective.get("alignment", {}).get("pivot", {}) if isinstance(objective, dict) else {}
    for other in (recipe.get("from", ""), english.get("actor", ""), goal.get("recipe", "")):
        found |= {other} | behind(config, recipes, other) if other else set()
    who = [config["translators"][one] for one in english.get("translators", [])]
    who += [config["judges"][english["judge"]]] if english.get("judge") else []
    return found | {one["generator"] for one in who}


def retrievers(classifier):
    """The encoders that find shots."""
    spec = classifier.get("in_context", {})
    found = [spec, *spec.get("variants", {}).values()]
    return {one["retriever"]["backbone"] for one in found if "retriever" in one}


def choosers(classifier):
    """The encoders that choose the English of questions, or give the vectors before them."""
    spec = classifier.get("reasoning", {})
    return [one for one in (spec.get("english"), *spec.get("prefixes", {}).values()) if isinstance(one, dict)]


def parents(entries, names):
    """Entries that those of some names are like."""
    found = {entries[name].get("like") for name in names if name in entries} - {None}
    return found | parents(entries, found) if found else found


def test_every_variant_of_a_classifier_is_there(config, plans):
    """Percentiles and retrievers of shots, scales of a composition."""
    seen = {(row[3], row[4]) for row in measured(plans)}
    for name, entry in config.get("classifiers", {}).items():
        if "in_context" in entry:
            wanted = {"zero-shot", "one-shot", *entry["in_context"].get("variants", {})}
        elif "fine_tuning" in entry or "baseline" in entry:
            wanted = {entry.get("baseline", "fine-tuned")}
        elif "reasoning" in entry:
            wanted = variants(config)
        else:
            wanted = {"base", "task-target", "task-pivot", "composition"}
            wanted |= {f"composition-{scale:g}" for scale in entry.get("scales", [])}
        assert {variant for classifier, variant in seen if classifier == name} == wanted, name


def parts(cover):
    return {
        covering.Part(table, lang) for table, columns in cover.items() for langs in columns.values() for lang in langs
    }


def test_no_language_of_a_table_can_be_spared(paper, cut):
    shows, chosen = covering.shown(cut.plans), parts(cut.cover)
    everything = set().union(*shows.values())
    assert set().union(*(shows[part] for part in chosen)) == everything
    for part in chosen:
        if part.table not in paper.whole:
            assert set().union(*(shows[other] for other in chosen - {part})) < everything, part


def test_what_is_whole_stays_whole_and_the_rest_is_small(paper, cut):
    for table in paper.whole:
        full = {block.column.label: [*block.tests] for block in cut.plans[table]}
        assert cut.cover[table] == full and cut.config["languages"] == read(paper.config)["languages"]
    costs = covering.needs(cut.study, cut.plans)
    given = set().union(*(costs[part] for part in costs if part.table in paper.whole))
    made = set().union(*(costs[part] for part in parts(cut.cover)))
    assert len(made - given) <= JOBS[paper.group]


def test_files_are_replaced_by_what_is_cut():
    replaced = cutting.instead()
    configs = [other.config for other in PAPERS.values() if not other.whole]
    assert [file for file in replaced if not file.startswith("resources/tables/")] == configs
    whole = sum(len(paper.whole) for paper in PAPERS.values())
    assert len(replaced) == sum(TABLES.values()) - whole + len(configs)
    for config in configs:
        assert {*yaml.safe_load(replaced[config])["languages"]} < {*read(config)["languages"]}
