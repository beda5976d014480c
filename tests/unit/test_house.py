"""What holds for the whole project: imports go one way, rules record what their results hang on, shipped files are valid."""

import ast
import graphlib
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.utils import canonicalize_name
from snakemake.utils import update_config

from scripts import cli
from seedbed import yamls
from seedbed.io import UserError
from seedbed.study.graph import PRODUCTS
from seedbed.study.graph.available import Available
from seedbed.study.graph.classifier import variants
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.study.needs import MODELS
from seedbed.study.reachable import reached
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.specs import TableSpec
from tests import warm

GROUND = ["vectors"]
ROOMS = ["corpora", "generators", "triplets", "encoders", "classifiers", "evaluation", "tables"]
"""The stages of docs/contributing.md, from left to right."""
FLOORS = [*GROUND, *ROOMS, "publish", "operations", "study", "init"]
"""From the ground to the roof: none imports one that comes after it."""
RULES = {
    room: re.findall(r"^rule (\w+):", Path(f"rules/{room}.smk").read_text(), flags=re.M)
    for room in [*ROOMS, "operations"]
}
"""Room -> its rules, in the order of their file; the program of each has its name."""
ALL_RULES = [rule for rules in RULES.values() for rule in rules]
LOCK = {
    canonicalize_name(name): version
    for name, _, version in (
        line.strip().partition("==") for line in Path("requirements.lock").read_text().splitlines()
    )
    if version
}


def files_of(program):
    """File -> names, of what a program can reach."""
    return reached((program,)).definitions


def rule_blocks(room):
    """Rule name -> its text."""
    parts = re.split(r"^rule (\w+):\n", Path(f"rules/{room}.smk").read_text(), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def imported_modules(path):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def floors_of(path):
    """The floors that a file imports anything of."""
    parts = (module.split(".") for module in imported_modules(path))
    return {part[1] for part in parts if part[0] == "seedbed" and part[1:2] and part[1] in FLOORS}


def test_imports_go_one_way():
    """From the ground to the roof; a program stands in the room of its rule. Only one module asks Snakemake."""
    floors = {path: FLOORS.index(floor) for floor in FLOORS for path in Path("seedbed", floor).rglob("*.py")}
    floors |= dict.fromkeys(Path("seedbed").glob("*.py"), -1)
    floors |= {Path(f"scripts/{rule}.py"): FLOORS.index(room) for room in RULES for rule in RULES[room]}
    for path, floor in floors.items():
        assert not floors_of(path) & {*FLOORS[floor + 1 :]}, f"{path} imports from a room to its right"
        outside = {module.split(".")[0] for module in imported_modules(path)} & {"snakemake", "scripts"}
        allowed = path.parts[0] == "scripts" or path == Path("seedbed/operations/jobs.py")
        assert allowed or not outside, f"{path} imports {outside}"


INSIDE = {
    "corpora": ["changes", "settings", "shape", "select", "read"],
    "generators": ["settings", "composition", "weights", "writing", "lora"],
    "encoders": [
        *("settings", "tuning_settings", "pooling", "endpoint", "prompts", "models", "export", "mining"),
        *("translations", "losses", "objectives", "vocabulary", "compression", "training", "recipes"),
    ],
    "evaluation": [
        *("significance", "aggregation", "geometry", "bitext", "metrics", "protocols", "settings", "orders", "maps"),
        *(
            "scores",
            "shots",
            "classification",
            "protocols/",
            "scoring",
            "files",
            "fusion",
            "mteb_check",
            "compute",
            "systems",
        ),
    ],
    "tables": [
        *(
            "settings",
            "quotes",
            "specs",
            "published",
            "cells",
            "plan",
            "measures",
            "tabulate",
            "best",
            "claims",
        ),
        *("figures", "pages", "report"),
    ],
}
"""Room -> what lies in it, files and rooms, from the ground up: none imports one that comes after it.

With a stroke it is what a folder holds, without one its own `__init__`, where these stand apart.
"""


def part_of(module):
    """What lies directly in a room that a module is, or is in; empty: it is of no room that has an order."""
    room, part, file = [*module.split("."), "", "", ""][1:4]
    return f"{part}/" if file and f"{part}/" in INSIDE.get(room, ()) else part if room in INSIDE else ""


def modules_in(tree, names):
    """The modules among some names that code imports, in functions and for types too, or names as a whole string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            found = {f"{node.module}.{alias.name}" for alias in node.names} & names
            yield from found or {node.module} & names
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from {node.value, node.value.rpartition(".")[0]} & (names - {"seedbed"})


def imports():
    """Module -> those that it imports."""
    files = {
        str(path.with_suffix("")).replace("/", ".").removesuffix(".__init__"): path
        for path in Path("seedbed").rglob("*.py")
    }
    return {name: {*modules_in(ast.parse(path.read_text()), {*files})} - {name} for name, path in files.items()}


def test_no_module_imports_itself_through_others():
    graph = imports()
    assert graph["seedbed.study.loading"] >= {"seedbed.study.model", "seedbed.study.checks"}
    assert graph["seedbed.study.paths"] >= {"seedbed.study.model"}, "whose study it is of"
    assert graph["seedbed.encoders.objectives.contrast"] >= {"seedbed.encoders.losses.mlm"}, "in a function"
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_imports_inside_a_room_go_one_way():
    for module, found in imports().items():
        room, part = module.split(".")[1:2], part_of(module)
        if not part:
            continue
        order = INSIDE[room[0]]
        assert part in order, f"{module}: say in INSIDE where it stands"
        later = {other for other in found if other.split(".")[1:2] == room and part_of(other)}
        above = {other for other in later if order.index(part_of(other)) > order.index(part)}
        assert not above, f"{module} imports what comes after it: {above}"


def test_every_rule_has_a_product_and_asks_for_its_own_needs():
    """A copied rule that keeps another's name would be told of another's product, or run with wrong needs."""
    assert {*PRODUCTS} == {*ALL_RULES}
    for name, block in (rule for room in RULES for rule in rule_blocks(room).items()):
        assert f'threads: NEEDS.threads("{name}")' in block and f'**NEEDS.of("{name}"),' in block, name
        assert re.search("^    benchmark:", block, flags=re.M), f"{name}: forecasts learn from what its jobs took"
        assert re.search(rf'\*\*job\(\s*"{name}"', block), f"{name}: its program is told nothing"
        shell = re.search(r"shell:\n +(\w+)$", block, flags=re.M)[1]
        asks = shell in ("ON_GPU", "IN_GENERATOR_ENV")
        opens = name in MODELS - {"fetch_model"}
        assert asks == opens, f"{name}: a job says how many GPUs it asks for, see seedbed/devices.py"


def test_a_product_names_the_prompts_that_its_program_reads():
    """Which of them hangs on settings; an edit of one must not go unnoticed."""
    for name, product in PRODUCTS.items():
        kinds = tuple(map(str, Path("seedbed/evaluation/systems").glob("*.py"))) if name == "score" else ()
        found = reached((f"scripts/{name}.py", *kinds)).definitions
        reads = "_read" in found.get("seedbed/generators/writing/prompts.py", ())
        assert reads == ("prompts" in inspect.getsource(product.code)), name


def test_what_no_run_should_be_without_is_in_every_profile():
    """Snakemake reads profiles/default by itself beside the Snakefile, but not where the workflow is a module."""
    always, *others = (yamls.read(f"profiles/{name}/profile.yaml") for name in ("default", "demo", "gpu", "slurm"))
    assert always and all(always.items() <= other.items() for other in others)


def test_profiles_leave_threads_and_memory_to_the_rules():
    for file in Path("profiles").rglob("*.yaml"):
        assert not {"set-threads", "set-resources"} & {*yamls.read(file)}, f"{file}: see forecast.yaml"


def test_the_slurm_profile_leaves_to_rules_what_they_say_and_to_a_site_what_it_would_replace():
    """A second profile replaces these keys as wholes: entries here would be lost there."""
    text = Path("profiles/slurm/profile.yaml").read_text()
    assert "default-resources" not in yaml.safe_load(text)
    block = text.split("# ---- Your site.")[1].splitlines()[1:]
    offered = yaml.safe_load("\n".join(line.removeprefix("# ") for line in block if not line.startswith("# ----")))
    assert set(offered["set-resources"]) == MODELS - {"fetch_model"}


LAID_OVER = {"config/demo-six.yaml": "config/demo.yaml", "config/demo-combined.yaml": "config/demo.yaml",
             "studies/hausa-controls.yaml": "studies/bootstrap.yaml",
             "studies/ten-languages.yaml": "studies/bootstrap.yaml",
             "studies/hausa-mixtures.yaml": "studies/running-text.yaml",
             "studies/public-models.yaml": "studies/running-text.yaml"}  # fmt: skip
"""A file -> the one that it changes; both are given to Snakemake."""


def shipped(file):
    """The configuration that a file says, merged as Snakemake does with several."""
    merged = {}
    for each in filter(None, [LAID_OVER.get(file), file]):
        update_config(merged, yamls.read(each))
    return merged


SHIPPED = ["config.yaml", ".test/config/config.yaml", *sorted(map(str, Path("config").glob("*.yaml")))]


@pytest.mark.parametrize("file", SHIPPED)
def test_every_shipped_configuration_is_valid(file):
    load(shipped(file))


def test_what_needs_a_server_is_only_in_tables_that_name_it():
    study = load(yamls.read("config/miners.yaml"))
    asked = {block.backbone for table in study.tables for block in TablePlan.get(study, table).blocks}
    servers = {name for name, spec in study.backbones.items() if spec.endpoint}
    for name, spec in study.classifiers.items():
        generator = study.generators.get(spec.generator)
        servers |= {name} if generator and generator.endpoint else set()
    assert servers and not asked & servers


@pytest.mark.parametrize("file", ["config/miners.yaml", "studies/miners.yaml"])
def test_every_table_and_figure_of_a_miners_study_can_be_planned(file):
    study = Study.model_validate(yamls.read(file))
    figures = {name: FigureSpec.load(f"seedbed/resources/figures/{name}.yaml") for name in study.figures}
    for figure in figures.values():
        if figure.kind == "map":
            assert Available.get(study).mapped(figure).backbones
        else:
            assert TablePlan.get(study, figure.table).blocks
    for table in study.tables:
        assert TablePlan.get(study, table).blocks
        # A partial table drops recipes that its study lacks: one that the paper's own study lacks too is misspelt, or
        # said to be absent.
        spec = TableSpec.load(f"seedbed/resources/tables/{table}.yaml")
        recipes = {recipe for recipe, label in spec.recipes.items() if label not in spec.absent}
        if file.startswith("config/") and not spec.of_classifiers:
            assert recipes <= {*study.recipes}
        elif file.startswith("config/"):
            assert recipes <= {*variants(study)}


@pytest.mark.parametrize("file", sorted(map(str, Path("studies").glob("*.yaml"))))
def test_every_study_is_valid_and_says_which_data_it_lacks(file, tmp_path):
    """A fresh machine has none of a study's data: all but the files is checked, then that the first fault is its folder."""
    study = shipped(file)
    study["paths"] = {name: str(tmp_path / name) for name in study.get("paths", {})}
    Study.model_validate(study)
    with pytest.raises(UserError, match=f"^paths.{next(iter(study['paths']))}: no such folder"):
        load(study)


def test_schema_and_reference_are_in_step():
    subprocess.run([sys.executable, "docs/generate.py", "--check"], check=True, env={"PYTHONPATH": "."})


def program(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a module in a process that has imported nothing of this project."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [warm.python(), "-m", module, *words], capture_output=True, text=True, check=True, env=environment
    )


@pytest.mark.parametrize("rule", ALL_RULES)
def test_the_code_of_a_rule_is_what_its_program_imports(rule):
    """Nothing that importing the program runs is missing from what the value of its code is made of."""
    done = program("tests.imports", f"scripts.{rule}")
    loaded = {str(Path(file).relative_to(Path.cwd())) for file in json.loads(done.stdout.splitlines()[-1])}
    assert f"scripts/{rule}.py" in loaded
    assert loaded - {"scripts/__init__.py", "seedbed/devices.py"} <= {*files_of(f"scripts/{rule}.py")}, (
        "but for what begins a process"
    )


def test_every_program_explains_itself(capsys):
    for rule in ALL_RULES:
        with pytest.raises(SystemExit, match="^0$"):
            cli.read(importlib.import_module(f"scripts.{rule}").Job, ["--help"])
        assert "output" in capsys.readouterr().out, rule
