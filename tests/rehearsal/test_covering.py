"""The covering set of the papers' tables leaves out languages and nothing else; in the ordinary suite, since it is quick."""

import contextlib
import shutil
from pathlib import Path

import pytest
import yaml

from seedbed.config import load
from seedbed.inheritance import with_parents
from tests.rehearsal import covering

PAPERS = {"bootstrapping": ("config.yaml", ["table1"]), "miners": ("config/miners.yaml", [])}
JOBS = {"bootstrapping": 460, "miners": 345}
"""About how many the covering sets add, of 1,113 and 13,431: more is no longer a matter of minutes."""


def read(path):
    return yaml.safe_load(Path(path).read_text())


def configuration(file):
    """A shipped study, with what it makes on request since it costs money."""
    config = read(file)
    for kind, entries in read("tests/rehearsal/priced.yaml").items() if "miners" in file else ():
        for name, changes in entries.items():
            config[kind][name] |= changes
    return config


@pytest.fixture(scope="module", params=PAPERS)
def paper(request):
    file, whole = PAPERS[request.param]
    study = load(configuration(file))
    plans = {table: study.plan(table) for table in covering.tables(request.param)}
    return request.param, study, plans, covering.covering(study, plans, whole), whole


@pytest.fixture(scope="module")
def reduced(paper, tmp_path_factory):
    """The blocks of the tables whose specs are cut, planned by the study whose languages are."""
    group, study, _, cover, _ = paper
    folder = tmp_path_factory.mktemp(group)
    shutil.copytree("resources", folder / "resources")
    for table, columns in cover.items():
        spec = folder / f"resources/tables/{table}.yaml"
        spec.write_text(yaml.safe_dump(covering.reduced(read(spec), columns), sort_keys=False))
    config = configuration(PAPERS[group][0])
    config["languages"] = {lang: config["languages"][lang] for lang in covering.spoken(study, cover)}
    with contextlib.chdir(folder):
        smaller = load(config)
        return {table: smaller.plan(table) for table in cover}


def measured(plans):
    return {
        (table, block.column.label, block.column.metric, block.backbone, system.recipe)
        for table, blocks in plans.items()
        for block in blocks
        for system in block.systems
    }


def test_only_languages_are_left_out(paper, reduced):
    _, _, plans, _, _ = paper
    assert measured(reduced) == measured(plans)


def test_every_column_and_row_of_the_specs_is_there(paper, reduced):
    """By the files alone; what a study does not have is what its own tables leave out."""
    group, _, _, _, _ = paper
    config = read(PAPERS[group][0])
    specs = {path.stem: read(path) for path in Path("resources/tables").glob("*.yaml")}
    specs = {table: spec for table, spec in specs.items() if spec.get("group") == group}
    wanted = {
        (table, column["label"], column["metric"], recipe)
        for table, spec in specs.items()
        for column in spec["columns"]
        if {*column.get("tasks", [])} <= {*config["tasks"]}
        for recipe in column.get("recipes") or spec["recipes"]
    }
    assert len(specs) == len(reduced) == {"bootstrapping": 26, "miners": 10}[group]
    assert wanted == {(*row[:3], row[4]) for row in measured(reduced) if row[4] in specs[row[0]]["recipes"]}
    drawn = {read(path).get("table") for path in Path("resources/figures").glob(f"{group}_*.yaml")} - {None}
    assert drawn <= {*reduced}


def test_every_entry_of_the_configuration_takes_part(paper, reduced):
    """Each setting of each recipe, model and task is met with, whatever it is."""
    group, _, _, _, _ = paper
    config = configuration(PAPERS[group][0])
    cells = {cell for blocks in reduced.values() for block in blocks for cell in block.cells()}
    recipes = with_parents(config["recipes"], lambda name, recipe: recipe)
    used = {name for cell in cells for name in (cell.backbone, cell.recipe, cell.task)}
    for cell in cells:
        entry = config.get("classifiers", {}).get(cell.backbone) or {}
        used |= {entry.get("backbone", ""), entry.get("generator", ""), *retrievers(entry)}
        used |= {*config["backbones"].get(cell.backbone, {}).get("fusion", {}).get("of", {})}
        if cell.recipe in recipes:
            used.add(recipes[cell.recipe].get("generator") or next(iter(config["generators"])))
    used |= parents(config["generators"], used)
    for kind in ("recipes", "generators", "backbones", "classifiers", "tasks"):
        assert {*config[kind]} - used == set(), kind


def retrievers(classifier):
    """The encoders that find shots."""
    spec = classifier.get("in_context", {})
    found = [spec, *spec.get("variants", {}).values()]
    return {one["retriever"]["backbone"] for one in found if "retriever" in one}


def parents(entries, names):
    """Entries that those of some names are like."""
    found = {entries[name].get("like") for name in names if name in entries} - {None}
    return found | parents(entries, found) if found else found


def test_every_variant_of_a_classifier_is_there(paper, reduced):
    """Percentiles and retrievers of shots, scales of a composition."""
    group, _, _, _, _ = paper
    seen = {(row[3], row[4]) for row in measured(reduced)}
    for name, entry in configuration(PAPERS[group][0]).get("classifiers", {}).items():
        if "in_context" in entry:
            wanted = {"zero-shot", "one-shot", *entry["in_context"].get("variants", {})}
        elif "fine_tuning" in entry or "baseline" in entry:
            wanted = {entry.get("baseline", "fine-tuned")}
        else:
            wanted = {"base", "task-target", "task-pivot", "composition"}
            wanted |= {f"composition-{scale:g}" for scale in entry.get("scales", [])}
        assert {variant for classifier, variant in seen if classifier == name} == wanted, name


def test_no_language_of_a_table_can_be_spared(paper):
    _, _, plans, cover, whole = paper
    shows = covering.shown(plans)
    chosen = {
        covering.Part(table, lang) for table, columns in cover.items() for langs in columns.values() for lang in langs
    }
    everything = set().union(*shows.values())
    assert set().union(*(shows[part] for part in chosen)) == everything
    for part in chosen:
        if part.table not in whole:
            assert set().union(*(shows[other] for other in chosen - {part})) < everything, part


def test_what_is_whole_stays_whole_and_the_rest_is_small(paper):
    group, study, plans, cover, whole = paper
    for table in whole:
        full = {block.column.label: [*block.tests] for block in plans[table]}
        assert cover[table] == full and {*study.languages} == {*covering.spoken(study, cover)}
    costs = covering.needs(study, plans)
    given = set().union(*(made for part, made in costs.items() if part.table in whole))
    made = {
        file
        for table, columns in cover.items()
        for langs in columns.values()
        for lang in langs
        for file in costs[covering.Part(table, lang)]
    }
    assert len(made - given) <= JOBS[group]
