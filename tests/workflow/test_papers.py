"""Every table and figure of a paper by the shipped configuration, made for real: its recipes, generators and specs on tiny models.

Opt-in (`make test-papers`): hundreds of jobs, most of them Python's imports.
"""

import itertools
from pathlib import Path

import pandas as pd
import pytest
import yaml

from seedbed.io import read_table
from seedbed.triplets.overlap import overlaps
from tests import tiny

pytestmark = pytest.mark.papers
LANGUAGES = ("hin", "tel", "eng")
RETRIEVAL = ("miracl-retrieval", "indicqa-retrieval", "belebele-retrieval")
LORA = {"examples": 8, "epochs": 1, "batch_size": 4, "micro_batch_size": 4, "max_length": 200, "quantization": "none"}
GENERATOR = {
    "source": {"file": "own/generator"}, "backend": "transformers", "prompts": "plain", "dtype": "float32",
    "adapters": {}, "triplets": {}, "shard_rows": 24,
    "sampling": {"max_new_tokens": 6, "max_prompt_tokens": 2000},
    "xllora": {"source": "build", "languages": ["fra"]},
}  # fmt: skip


def write(data: Path) -> None:
    """Corpora and test sets of every kind that the configuration names."""
    data.mkdir(exist_ok=True)
    tiny.generator(data / "generator")
    tiny.backbone(data / "backbone")
    ids = range(24)
    english = [tiny.sentences("eng", 24, seed) for seed in range(6)]
    nli = {"id": ids, "anchor": english[3], "positive": english[4], "negative": english[5]}
    pd.DataFrame(nli).to_csv(data / "nli.tsv", sep="\t", index=False)
    for lang in (*LANGUAGES, "fra"):
        texts = [tiny.sentences(lang, 24, seed) for seed in range(3)]
        tables = {
            f"{lang}.tsv": {"text": tiny.sentences(lang, 60, 7)},
            f"{lang}.instructions.tsv": {"prompt": texts[0], "response": texts[1]},
            f"{lang}-eng.tsv": {"text": texts[1], "pivot": english[1]},
            f"{lang}.nli.tsv": {"anchor": texts[2], "positive": english[4], "negative": english[5]},
            f"{lang}.dev.tsv": {"sentence1": texts[1], "sentence2": texts[2], "score": [n / 23 for n in ids]},
            f"{lang}.sts.tsv": {"sentence1": texts[0], "sentence2": texts[2], "score": [n / 23 for n in ids]},
            f"{lang}.retrieval.tsv": {"query": texts[0], "document": texts[1]},
        }
        for part, seed in (("train", 0), ("test", 1)):
            labelled = pd.DataFrame(tiny.pairs(lang, 48, seed))
            labelled.to_csv(data / f"{lang}.pairs.{part}.tsv", sep="\t", index=False)
        for name, columns in tables.items():
            pd.DataFrame({"id": range(len(next(iter(columns.values())))), **columns}).to_csv(
                data / name, sep="\t", index=False
            )


def shrunk(config: dict) -> dict:
    """The shipped study on the files above: same recipes, variants, tables and statistics."""
    for name, generator in config["generators"].items():
        if "like" not in generator:
            config["generators"][name] = {**generator, **GENERATOR, "lora": {**generator.get("lora", {}), **LORA}}
        elif "source" in generator:
            generator["source"] = GENERATOR["source"]
    config["generators"]["gemma-3-27b-20k"]["lora"]["examples"] = 12
    config["generators"]["gpt-3.5"] |= {"backend": "published", "triplets": {"prompting": {"file": "own/nli.tsv"}}}
    for recipe in config["recipes"].values():
        (recipe or {}).pop("encoders", None)
        if "rows" in (recipe or {}):
            recipe["rows"] = min(recipe["rows"], 24)
        if "languages" in (recipe or {}):
            recipe["languages"] = [code for code in recipe["languages"] if code in LANGUAGES]
    for classifier in config["classifiers"].values():
        if "lora" in classifier:
            classifier["lora"] |= {
                "examples": 48,
                "epochs": 1,
                "batch_size": 8,
                "micro_batch_size": 8,
                "learning_rate": 0.01,
            }
    kinds = {"sts": "own/{lang}.sts.tsv", "bitext": "own/{lang}-eng.tsv", "retrieval": "own/{lang}.retrieval.tsv"}
    kinds["classification"] = "own/{lang}.pairs.test.tsv"
    for name, task in config["tasks"].items():
        if "source" in task:
            config["tasks"][name] = {key: task[key] for key in ("protocol", "on_request", "languages") if key in task}
            config["tasks"][name]["source"] = {"file": kinds[task["protocol"]]}
            if name == "semrel-sts-dev":
                config["tasks"][name]["source"] = {"file": "own/{lang}.dev.tsv"}
            config["tasks"][name]["languages"] = ["eng"] if name == "stsb-sts" else ["hin"]
    config["tasks"]["sts17-sts"]["languages"] = ["kor"]
    # Figure 12 is of Telugu alone, and nothing else here is: it would double the jobs.
    config["tasks"]["semrel-geometry"] |= {"set_of": "", "source": {"file": kinds["sts"]}, "languages": ["hin", "tel"]}
    return config | {
        "results": "results/papers",
        "seeds": [1],
        "languages": {"hin": {}, "tel": {}, "eng": {"on_request": True}},
        "anchors": {"count": 24, "language_id": False},
        "corpora": {
            "text": {"file": "own/{lang}.tsv"},
            "instructions": {"file": "own/{lang}.instructions.tsv"},
            "nli": {"file": "own/nli.tsv"},
            "nli_translations": {"file": "own/{lang}.nli.tsv"},
            "nli_machine": {"file": "own/{lang}.nli.tsv"},
            "nli_pairs": {"file": "own/{lang}.pairs.train.tsv"},
            "parallel": {"file": "own/{lang}-eng.tsv"},
            "others": {"wikipedia": {"file": "own/{lang}.tsv"}},
        },
        "audit": {
            "finished": False, "language_id": False, "script_share": 0, "length_ratio": 1000, "max_repetition": 1,
            "other_script": False, "refusals": ["\u0001"], "min_rows": 2, "max_lost": 1,
        },
        "backbones": {
            name: {**backbone, "source": {"file": "own/backbone"}} for name, backbone in config["backbones"].items()
        },
        "training": {"epochs": 1, "batch_size": 8, "precision": "float32"},
        "statistics": {"resamples": 100},
    }  # fmt: skip


def made(project):
    """The shrunken study and its files, in the project."""
    write(project.root / "own")
    config = yaml.safe_load((project.root / "config.yaml").read_text())
    (project.root / "papers.yaml").write_text(yaml.safe_dump(shrunk(config), sort_keys=False))
    return project


def test_classifiers_of_table_7(project):
    """A table of classifiers alone: 26 jobs, of which none is an encoder's."""
    done = made(project).snakemake("results/papers/tables/bootstrapping_table7.csv", config="papers.yaml")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    table = pd.read_csv(project.root / "results/papers/tables/bootstrapping_table7.csv")
    of_hindi = table[table["language"] == "hin"]
    assert len(of_hindi) == 8 and (of_hindi["n"] == 48).all() and of_hindi["value"].between(0, 100).all()
    assert of_hindi["low"].notna().all() and of_hindi["paper"].notna().all()
    others = of_hindi[of_hindi["recipe"] != "task-pivot"]
    assert others["p"].notna().all() and others["p_items"].notna().all()
    assert not (project.root / "results/papers/encoders/xlm-r/base").exists()


def test_every_table_and_figure_of_paper_000(project):
    done = made(project).snakemake("all_bootstrapping", config="papers.yaml")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    specs = [
        path for path in Path("seedbed/resources/tables").glob("*.yaml") if "group: bootstrapping" in path.read_text()
    ]
    for spec in specs:
        table = pd.read_csv(project.root / f"results/papers/tables/{spec.stem}.csv")
        recipes = set(yaml.safe_load(spec.read_text())["recipes"])
        assert set(table["recipe"]) == recipes and table["value"].notna().all(), spec.stem
    assert_figure_5_measures_its_files(project.root / "results/papers")


def assert_figure_5_measures_its_files(results: Path) -> None:
    """Each number is the mean that the audit's own measure gives of the file; all languages but the pivot stand right."""
    table = pd.read_csv(results / "tables/bootstrapping_figure5.csv")
    files = {
        ("english-nli", "eng"): "corpora/eng/nli.tsv",
        ("english-prompting", "eng"): "triplets/gemma-3-27b/prompting/eng.tsv",
        ("english-ta", "eng"): "triplets/gemma-3-27b-ta/composition/eng.tsv",
    }
    for method, lang in itertools.product(("prompting", "composition"), ("hin", "tel")):
        files[method, lang] = f"triplets/gemma-3-27b/{method}/{lang}.tsv"
    own = table[table["language"] != "avg"]
    assert set(zip(own["recipe"], own["language"], strict=True)) == set(files)
    for side in ("anchor-positive", "anchor-negative"):
        for row in own[own["metric"] == side].to_dict("records"):
            found = overlaps(read_table(results / files[row["recipe"], row["language"]], ["anchor"]))[side]
            assert (row["value"], row["n"]) == (pytest.approx(100 * found["mean"], abs=6e-3), found["n"])
    assert (results / "figures/bootstrapping_figure5.png").is_file()
