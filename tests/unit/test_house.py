"""The rules of the house: directions of imports, names, directives, pins, shipped configurations."""

import ast
import graphlib
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

from seedbed.io import UserError
from seedbed.study.graph import classifiers, plans
from seedbed.study.loading import load
from seedbed.study.loads import LOADS
from seedbed.study.model import Study
from seedbed.study.reach import reached
from seedbed.tables.figure_specs import FigureSpec
from seedbed.tables.specs import TableSpec
from tests import warm

GROUND = ["vectors"]
ROOMS = ["corpora", "generators", "triplets", "encoders", "classifiers", "evaluation", "tables"]
FLOORS = [*GROUND, *ROOMS, "operations", "study"]
"""From the ground to the roof: none imports one that comes after it."""
RULES = {
    "corpora": ["fetch_corpus", "sample_text", "select_anchors", "select_pairs"],
    "generators": ["fetch_model", "train_task_adapter", "train_language_adapter", "compose_adapters",
                   "choose_scale", "build_xllora_examples", "train_xllora_adapter", "translate", "judge"],
    "triplets": ["synthesise", "join_triplets", "audit_triplets"],
    "encoders": ["choose_prefix", "train_encoder", "choose_translations", "mine_neighbours", "train_vocabulary", "adapt_backbone", "embed_pivot", "align_encoders"],
    "classifiers": ["train_classifier", "fine_tune", "tune_encoder", "describe_classifier"],
    "evaluation": ["fuse_encoders", "score", "map_texts", "measure_compute"],
    "tables": ["plan_table", "tabulate", "plot", "choose_best", "report"],
    "operations": ["forecast", "verify"],
}  # fmt: skip
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


def test_the_ground_knows_nothing_of_the_rooms():
    for path in Path("seedbed").glob("*.py"):
        assert not floors_of(path), path


@pytest.mark.parametrize("floor", FLOORS)
def test_no_room_imports_one_to_its_right(floor):
    right = FLOORS[FLOORS.index(floor) + 1 :]
    for path in Path("seedbed", floor).rglob("*.py"):
        assert not floors_of(path) & {*right}, path


@pytest.mark.parametrize("room", RULES)
def test_no_program_of_a_room_imports_one_to_its_right(room):
    right = FLOORS[FLOORS.index(room) + 1 :]
    for rule in RULES[room]:
        assert not floors_of(Path(f"scripts/{rule}.py")) & {*right}, rule


def modules_in(node, names):
    """The modules among some names that code imports anywhere, but for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names if alias.name in names)
        elif isinstance(child, ast.ImportFrom):
            found = {f"{child.module}.{alias.name}" for alias in child.names} & names
            yield from found or {child.module} & names
        yield from modules_in(child, names)


def test_no_module_imports_itself_through_others():
    files = {
        str(path.with_suffix("")).replace("/", ".").removesuffix(".__init__"): path
        for path in Path("seedbed").rglob("*.py")
    }
    graph = {name: {*modules_in(ast.parse(path.read_text()), {*files})} for name, path in files.items()}
    assert graph["seedbed.study.loading"] >= {"seedbed.study.model", "seedbed.study.checks"}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_the_library_knows_nothing_of_snakemake_or_scripts():
    for path in Path("seedbed").rglob("*.py"):
        outside = {module.split(".")[0] for module in imported_modules(path)} & {"snakemake", "scripts"}
        assert outside <= ({"snakemake"} if path == Path("seedbed/operations/jobs.py") else set()), path


@pytest.mark.parametrize("room", RULES)
def test_each_room_has_its_rules_and_each_rule_its_script(room):
    assert list(rule_blocks(room)) == RULES[room]
    for rule in RULES[room]:
        assert Path(f"scripts/{rule}.py").is_file()


def test_parameters_made_of_inputs_hold_no_settings():
    """Snakemake re-runs no job for a parameter whose function takes `input`: a setting in it could change unnoticed."""
    for file in Path("seedbed/study/graph").glob("*.py"):
        for function in re.split(r"^(?=def )", file.read_text(), flags=re.M)[1:]:
            head, _, body = function.partition("\n")
            assert "input: Any" not in head or "study." not in body, f"{file}: {head}"


def test_the_rules_are_rules_and_nothing_else():
    """What a job needs is a function of `seedbed/study/graph`; three functions ask Snakemake itself."""
    files = [*Path("rules").iterdir()]
    assert {file.stem for file in files} == {"common", *RULES}
    defined = {name for file in files for name in re.findall(r"^def (\w+)", file.read_text(), flags=re.M)}
    assert defined == {"python_of", "claim", "recorded"}


LEANING = re.compile(r"(The same|One of them|Of|Those|Both|Their|As `\w+`|As of)\b")
"""How a docstring begins that needs the one before it, or the name that it stands under."""


def docstrings(node, name=""):
    """Name -> text of what is public: a module, its classes, functions, and values with a text after them."""
    for before, statement in zip([None, *node.body], node.body, strict=False):
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and not statement.name.startswith("_"):
            yield from docstrings(statement, f"{name}.{statement.name}")
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            bound = ast.unparse(before).partition(":")[0].partition(" = ")[0] if before else ""
            if not bound.startswith("_"):
                yield f"{name}.{bound}", str(statement.value.value).strip()


@pytest.mark.parametrize("folder", ["seedbed", "scripts"])
def test_a_public_docstring_stands_by_itself(folder):
    texts = {
        f"{path}{name}": text
        for path in Path(folder).rglob("*.py")
        for name, text in docstrings(ast.parse(path.read_text()))
    }
    assert len(texts) > 10
    assert not {name: text for name, text in texts.items() if LEANING.match(text)}


def test_there_is_no_script_without_a_rule():
    # status and clean_state look at a run, or at what it left: as rules they would need its lock. publish is asked for.
    besides = {"__init__", "cli", "status", "clean_state", "publish"}
    assert {path.stem for path in Path("scripts").glob("*.py")} == {*ALL_RULES, *besides}


@pytest.mark.parametrize("room", RULES)
def test_every_rule_has_its_directives(room):
    for name, block in rule_blocks(room).items():
        needed = ["output", "log", "benchmark", "conda", "threads", "resources", "shell"]
        for directive in needed if name.startswith(("fetch_", "plan_")) else ["input", *needed]:
            assert re.search(rf"^    {directive}:", block, flags=re.M), f"{name} has no {directive}"
        assert f'threads: NEEDS.threads("{name}")' in block and f'**NEEDS.of("{name}"),' in block, name
        assert name.startswith("fetch_") == ("local=JOBS.files(" in block), f"{name}: local files"
        assert re.search(rf'code=code\(\s*"{name}"', block), f"{name}: its code is no parameter"
        assert "> {log:q} 2>&1" in block, name
        asks = re.search(r"GPUS={resources.gpu:q} (python|{params.python:q}) -m", block) is not None
        opens = name in LOADS and name != "fetch_model"
        assert asks == opens, f"{name}: a job says how many GPUs it asks for, see seedbed/devices.py"
        assert not re.search(r"partition|account|gres", block), f"{name}: that belongs in a profile"
        environment = r'("\.\./envs/(main|forecast)\.yaml"|lambda wildcards: f"\.\./envs/{generators.+)'
        assert re.search(rf"conda:\n\s+{environment}$", block, flags=re.M), name


def test_a_rule_names_the_prompts_that_its_program_reads():
    """Which of them hangs on settings; an edit of one must not go unnoticed."""
    for room in RULES:
        for name, block in rule_blocks(room).items():
            kinds = tuple(map(str, Path("seedbed/evaluation/systems").glob("*.py"))) if name == "score" else ()
            found = reached((f"scripts/{name}.py", *kinds)).definitions
            reads = "_read" in found.get("seedbed/generators/prompts.py", ())
            assert reads == ("prompts" in re.search(r"code=code\(([^)]*)\)", block)[1].lower()), name


def test_the_snakefile_reads_like_a_table_of_contents():
    assert len(Path("Snakefile").read_text().splitlines()) <= 60
    assert not Path("profiles/default").exists()


@pytest.mark.parametrize("profile", ["demo", "gpu", "slurm"])
def test_profiles_leave_threads_and_memory_to_the_rules(profile):
    files = list(Path("profiles", profile).iterdir())
    assert len(files) == 1
    settings = yaml.safe_load(files[0].read_text())
    assert not {"set-threads", "set-resources"} & {*settings}, "seedbed/resources/forecast.yaml has them"


def test_the_profile_of_one_machine_says_how_many_gpus_jobs_share():
    """Without a number, Snakemake would start as many trainings as there are cores for."""
    settings = yaml.safe_load(Path("profiles/gpu/profile.yaml").read_text())
    assert settings["resources"] == {"gpu": 1} and settings["show-failed-logs"]


def test_the_slurm_profile_leaves_to_rules_what_they_say_and_to_a_site_what_it_would_replace():
    """A second profile replaces these keys as wholes: entries here would be lost there."""
    text = Path("profiles/slurm/profile.yaml").read_text()
    site = {"default-resources", "set-resources", "set-threads"}
    assert not set(yaml.safe_load(text)) & site
    block = text.split("# ---- Your site.")[1].splitlines()[1:]
    offered = yaml.safe_load("\n".join(line.removeprefix("# ") for line in block if not line.startswith("# ----")))
    with_gpu = {*LOADS} - {"fetch_model"}
    assert set(offered["set-resources"]) == with_gpu and len(with_gpu) == 20


def test_one_machine_shows_bars_of_a_logger_that_is_locked():
    assert "snakemake-logger-plugin-rich" in LOCK
    profiles = {path.parent.name: yaml.safe_load(path.read_text()) for path in Path("profiles").glob("*/profile.yaml")}
    # On a cluster the lines of each job are read, and what Slurm says of a failed one.
    assert {name: profile.get("logger") for name, profile in profiles.items()} == {
        "demo": "rich", "gpu": "rich", "slurm": None,
    }  # fmt: skip


def test_the_lock_is_installable_anywhere():
    assert LOCK["torch"] == "2.13.0"
    assert not [name for name, version in LOCK.items() if "+" in version]


CONFIGS = [
    ["config.yaml"], ["config/demo.yaml"], ["config/demo.yaml", "config/demo-six.yaml"],
    ["config/demo.yaml", "config/demo-combined.yaml"], ["config/miners.yaml"],
    ["config/neighxlm.yaml"], ["config/modular.yaml"], ["config/lira.yaml"],
    ["config/config.yaml"],  # the last, for snakedeploy, is the demo
]  # fmt: skip


@pytest.mark.parametrize("files", CONFIGS, ids=" ".join)
def test_every_shipped_configuration_is_valid(files):
    merged = {}
    for file in files:
        update_config(merged, yaml.safe_load(Path(file).read_text()))  # as Snakemake does with several
    load(merged)


def test_what_needs_a_server_is_only_in_tables_that_name_it():
    study = load(yaml.safe_load(Path("config/miners.yaml").read_text()))
    asked = {block.backbone for table in study.tables for block in plans.plan(study, table)}
    servers = {name for name, spec in study.backbones.items() if spec.endpoint}
    for name, spec in study.classifiers.items():
        generator = study.generators.get(spec.generator)
        servers |= {name} if generator and generator.endpoint else set()
    assert len(servers) == 5 and not asked & servers


@pytest.mark.parametrize("file", ["config/miners.yaml", "studies/miners.yaml"])
def test_every_table_and_figure_of_a_miners_study_can_be_planned(file):
    study = Study.model_validate(yaml.safe_load(Path(file).read_text()))
    figures = {name: FigureSpec.load(f"seedbed/resources/figures/{name}.yaml") for name in study.figures}
    for figure in figures.values():
        assert plans.mapped(study, figure).backbones if figure.kind == "map" else plans.plan(study, figure.table)
    for table in study.tables:
        assert plans.plan(study, table)
        # A partial table drops recipes that its study lacks: one that the paper's own study lacks too is misspelt.
        spec = TableSpec.load(f"seedbed/resources/tables/{table}.yaml")
        if file.startswith("config/") and not spec.of_classifiers:
            assert {*spec.recipes} <= {*study.recipes}
        elif file.startswith("config/"):
            assert {*spec.recipes} <= {*classifiers.variants(study)}


def test_every_shipped_configuration_is_tested():
    shipped = {str(path) for path in [Path("config.yaml"), *Path("config").glob("*.yaml")]}
    assert shipped == {file for files in CONFIGS for file in files}


LAID_OVER = {"hausa-mixtures": "running-text"}
"""A file of `studies/` -> the one that it changes; both are given to Snakemake."""


@pytest.mark.parametrize("name", sorted(file.stem for file in Path("studies").glob("*.yaml")))
def test_every_study_is_valid_and_says_which_data_it_lacks(name, tmp_path):
    """A fresh machine has none of a study's data: all but the files is checked, then that the first fault is its folder."""
    study: dict = {}
    for each in filter(None, [LAID_OVER.get(name), name]):
        update_config(study, yaml.safe_load(Path(f"studies/{each}.yaml").read_text()))
    study["paths"] = {name: str(tmp_path / name) for name in study.get("paths", {})}
    Study.model_validate(study)
    with pytest.raises(UserError, match=f"^paths.{next(iter(study['paths']))}: no such folder"):
        load(study)


def test_schema_and_reference_are_in_step():
    subprocess.run([sys.executable, "docs/generate.py", "--check"], check=True, env={"PYTHONPATH": "."})


def test_six_languages_are_a_flag_away():
    demo = yaml.safe_load(Path("config/demo.yaml").read_text())
    more = yaml.safe_load(Path("config/demo-six.yaml").read_text())
    assert sorted({**demo["languages"], **more["languages"]}) == ["hau", "hin", "ind", "kor", "mar", "tel"]


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


@pytest.mark.parametrize("rule", ALL_RULES)
def test_every_program_explains_itself(rule):
    assert "--output" in program(f"scripts.{rule}", "--help").stdout
