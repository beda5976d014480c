"""The rules of the house: directions of imports, names, directives, pins, shipped configurations."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.utils import canonicalize_name

from seedbed.code import closure
from seedbed.config import Study, load
from seedbed.io import UserError
from seedbed.tables.specs import FigureSpec, TableSpec
from tests import warm

ROOMS = ["corpora", "generators", "triplets", "encoders", "evaluation", "tables"]
RULES = {
    "corpora": ["fetch_corpus", "sample_text", "select_anchors"],
    "generators": ["fetch_model", "train_task_adapter", "train_language_adapter", "compose_adapters",
                   "choose_scale", "build_xllora_examples", "train_xllora_adapter"],
    "triplets": ["synthesise", "join_triplets", "audit_triplets"],
    "encoders": ["train_encoder", "fuse_encoders", "train_classifier", "fine_tune"],
    "evaluation": ["score_encoder", "score_classifier", "map_texts", "score_baseline", "measure_compute"],
    "tables": ["tabulate", "plot", "report", "forecast"],
}  # fmt: skip
ALL_RULES = [rule for rules in RULES.values() for rule in rules]
LOCK = {
    canonicalize_name(name): version
    for name, _, version in (
        line.strip().partition("==") for line in Path("requirements.lock").read_text().splitlines()
    )
    if version
}


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


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_imports_one_to_its_right(room):
    right = ROOMS[ROOMS.index(room) + 1 :]
    for path in Path("seedbed", room).rglob("*.py"):
        for module in imported_modules(path):
            assert module.split(".")[:2] not in [["seedbed", name] for name in right], f"{path} imports {module}"


def test_the_library_knows_nothing_of_snakemake_or_scripts():
    for path in Path("seedbed").rglob("*.py"):
        assert not {module.split(".")[0] for module in imported_modules(path)} & {"snakemake", "scripts"}, path


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_has_its_rules_and_each_rule_its_script(room):
    assert list(rule_blocks(room)) == RULES[room]
    for rule in RULES[room]:
        assert Path(f"scripts/{rule}.py").is_file()


def test_parameters_made_of_inputs_hold_no_settings():
    """Snakemake re-runs no job for a parameter whose function takes `input`: a setting in it could change unnoticed."""
    for file in Path("rules/common").glob("*.smk"):
        for function in re.split(r"^(?=def )", file.read_text(), flags=re.M)[1:]:
            head, _, body = function.partition("\n")
            assert "input" not in head or "STUDY" not in body, f"{file}: {head}"


def test_there_is_no_script_without_a_rule():
    # status and clean_state look at a run, or at what it left: as rules they would need its lock.
    besides = {"__init__", "cli", "scoring", "workflow", "status", "clean_state"}
    assert {path.stem for path in Path("scripts").glob("*.py")} == {*ALL_RULES, *besides}


@pytest.mark.parametrize("room", ROOMS)
def test_every_rule_has_its_directives(room):
    for name, block in rule_blocks(room).items():
        needed = ["output", "log", "benchmark", "conda", "threads", "resources", "shell"]
        for directive in needed if name.startswith("fetch_") else ["input", *needed]:
            assert re.search(rf"^    {directive}:", block, flags=re.M), f"{name} has no {directive}"
        for resource in ("gpu=", "mem_mb=more(", "runtime=more("):
            assert resource in block, f"{name} has no {resource}"
        assert name.startswith("fetch_") == ("local=lambda wildcards: digests_of(" in block), f"{name}: local files"
        assert f'code=code("{name}"' in block, f"{name}: its code is no parameter"
        assert "> {log:q} 2>&1" in block, name
        asks = re.search(r"GPUS={resources.gpu:q} (python|{params.python:q}) -m", block) is not None
        assert asks == ("gpu=0," not in block), f"{name}: a job says how many GPUs it asks for, see seedbed/devices.py"
        assert not re.search(r"partition|account|gres", block), f"{name}: that belongs in a profile"
        assert re.search(r'conda:\n\s+("\.\./envs/(main|forecast)\.yaml"|writing_environment)$', block, flags=re.M), (
            name
        )
        assert ("on_a_gpu(" in block) == asks, f"{name}: a job says how much of a GPU's memory it needs"


def test_a_rule_names_the_prompts_that_its_program_may_read():
    """Which of them a program asks for hangs on its settings; an edit of one must not go unnoticed."""
    for room in ROOMS:
        for name, block in rule_blocks(room).items():
            reads = "seedbed/generators/prompts.py" in closure(f"scripts/{name}.py")
            assert reads == ("*PROMPTS" in block), name


def test_the_snakefile_reads_like_a_table_of_contents():
    assert len(Path("Snakefile").read_text().splitlines()) <= 60
    assert not Path("profiles/default").exists()


@pytest.mark.parametrize("profile", ["demo", "gpu", "slurm"])
def test_profiles_name_rules_that_exist(profile):
    files = list(Path("profiles", profile).iterdir())
    assert len(files) == 1
    settings = yaml.safe_load(files[0].read_text())
    for key in ("set-threads", "set-resources"):
        assert set(settings.get(key, {})) <= set(ALL_RULES)


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
    with_gpu = {rule for room in ROOMS for rule, body in rule_blocks(room).items() if "gpu=0," not in body}
    assert set(offered["set-resources"]) == with_gpu and len(with_gpu) == 13


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


CONFIGS = [["config.yaml"], ["config/demo.yaml"], ["config/demo.yaml", "config/demo-six.yaml"], ["config/miners.yaml"]]


@pytest.mark.parametrize("files", CONFIGS, ids=" ".join)
def test_every_shipped_configuration_is_valid(files):
    merged = {}
    for file in files:
        layer = yaml.safe_load(Path(file).read_text())
        merged = {**layer, **merged, "languages": {**merged.get("languages", {}), **layer["languages"]}}
    load(merged)


def test_what_needs_a_server_is_only_in_tables_that_name_it():
    study = load(yaml.safe_load(Path("config/miners.yaml").read_text()))
    asked = {block.backbone for table in study.tables for block in study.plan(table)}
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
        assert study.mapped(figure).backbones if figure.kind == "map" else study.plan(figure.table)
    for table in study.tables:
        assert study.plan(table)
        # A partial table drops recipes that its study lacks: one that the paper's own study lacks too is misspelt.
        spec = TableSpec.load(f"seedbed/resources/tables/{table}.yaml")
        if file.startswith("config/") and not spec.of_classifiers:
            assert {*spec.recipes} <= {*study.recipes}
        elif file.startswith("config/"):
            assert {*spec.recipes} <= {*study.variants()}


def test_every_shipped_configuration_is_tested():
    shipped = {str(path) for path in [Path("config.yaml"), *Path("config").glob("*.yaml")]}
    assert shipped == {file for files in CONFIGS for file in files}


@pytest.mark.parametrize("file", sorted(Path("studies").glob("*.yaml")), ids=str)
def test_every_study_is_valid_and_says_which_data_it_lacks(file, tmp_path):
    """A fresh machine has none of a study's data: all but the files is checked, then that the first fault is its folder."""
    study = yaml.safe_load(file.read_text())
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
    """Nothing that importing the program runs is missing from the closure that Snakemake watches."""
    done = program("tests.imports", f"scripts.{rule}")
    loaded = {str(Path(file).relative_to(Path.cwd())) for file in json.loads(done.stdout.splitlines()[-1])}
    assert f"scripts/{rule}.py" in loaded
    assert loaded <= set(closure(f"scripts/{rule}.py"))


@pytest.mark.parametrize("rule", ALL_RULES)
def test_every_program_explains_itself(rule):
    assert "--output" in program(f"scripts.{rule}", "--help").stdout
