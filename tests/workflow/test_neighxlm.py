"""NeighXLM on tiny models: from parallel text to layers in a table, and what another number of neighbours runs."""

import re
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml

from seedbed.io import read_json, read_table
from tests.refusals import tells
from tests.workflow.conftest import STUDY, Project, copy_project

SMALL = {"training": {"layers": 2, "epochs": 2, "batch_size": 4}}
NEIGHXLM = STUDY | {
    "results": "results/neighxlm",
    "seeds": [1, 2],
    "seed_pairs": {"count": 12, "language_id": False},
    "mining": {"layer9": {"layer": 2, "count": 3}, "chance": {"layer": 2, "count": 2, "near": "chance"}},
    "recipes": {
        "base": {},
        "vanilla": SMALL,
        "neighxlm-k2": SMALL,
        "by-chance": {"like": "neighxlm-k2", "data": {"neighbours": "chance"}} | SMALL,
        "further": {"from": "unsupervised", "like": "vanilla"} | SMALL,
        "unsupervised": {"on_request": True, "data": {"rows": 16}},
        "base-last": {"like": "base", "on_request": True, "training": {"pooling": "last_average", "layers": 2}},
    },
    "tasks": {
        "bitext": {"protocol": "bitext", "on_request": True, "source": {"file": "own/{lang}.bitext.tsv"}},
        "layers": {"protocol": "layers", "set_of": "bitext"},
    },
    "tables": ["layers"],
    "figures": ["layers", "translations"],
}

MAP = {
    "kind": "map", "title": "Pairs", "map": {"task": "bitext", "pairs": 7, "perplexity": 3}, "palette": ["#7A7A7A"],
    "recipes": {"base": "Mean of the last", "base-last": "Mean of the last two"},
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Project:
    """The study after its table and figure are made."""
    project = copy_project(tmp_path_factory.mktemp("neighxlm"), NEIGHXLM)
    sides = (pd.read_csv(project.root / f"own/{name}.tsv", sep="\t")["text"] for name in ("hau", "eng"))
    apart = pd.DataFrame(dict(zip(("text", "pivot"), sides, strict=True))).iloc[40:].reset_index(names="id")
    apart.to_csv(project.root / "own/hau.bitext.tsv", sep="\t", index=False)
    (project.root / "resources/figures/translations.yaml").write_text(yaml.safe_dump(MAP))
    done = project.snakemake()
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def planned(study: Project, changes: dict) -> set[str]:
    """The rules that run after an edit."""
    done = study.snakemake("--dry-run", "--quiet", "rules", config=study.edit(changes, target="edited.yaml"))
    assert done.returncode == 0, done.stderr
    return {*re.findall(r"^(\w+) +\d+$", done.stdout, flags=re.M)} - {"all", "total", "report"}


def test_neighbours_are_of_the_pool_and_no_pair_is_its_own(study):
    folder = study.root / "results/neighxlm"
    mined = read_table(folder / "encoders/tiny-bert/neighbours/layer9/hau.tsv", ["id", "text", "neighbour_3"])
    pool = read_table(folder / "corpora/hau/anchors.tsv", ["id", "text"])
    assert len(mined) == 12
    for rank in (1, 2, 3):
        assert {*mined[f"neighbour_{rank}"]} <= {*pool["text"]} - {*mined["text"]}
        texts = dict(zip(pool["id"], pool["text"], strict=True))
        assert list(mined[f"pool_id_{rank}"].map(texts)) == list(mined[f"neighbour_{rank}"])
    assert (mined["cosine_1"].astype(float) >= mined["cosine_3"].astype(float)).all()


def test_every_layer_of_every_recipe_stands_in_the_table(study):
    table = pd.read_csv(study.root / "results/neighxlm/tables/layers.csv")
    hau = table[table["language"] == "hau"].pivot(index="recipe", columns="column", values="value")
    assert sorted(hau.columns) == ["L1", "L2"], "the backbone has no more of the table's 24 blocks"
    assert hau.notna().all(axis=None)
    assert {*hau.index} == {"base", "vanilla", "neighxlm-k2", "by-chance", "further", "unsupervised"}
    assert (study.root / "results/neighxlm/figures/layers.png").stat().st_size > 5000


def test_a_map_has_both_sides_of_the_same_pairs_by_every_recipe(study):
    folder = study.root / "results/neighxlm"
    maps = [pd.read_csv(folder / f"maps/translations/tiny-bert/{name}.tsv", sep="\t") for name in MAP["recipes"]]
    for points in maps:
        assert list(points["language"]) == ["hau", "eng"] * 7 and {*points["label"]} == {"hau"}
    assert (maps[0]["id"] == maps[1]["id"]).all() and not maps[0]["x"].equals(maps[1]["x"])
    assert (folder / "figures/translations.png").stat().st_size > 5000


def test_the_saved_encoders_have_no_head_and_their_cards_name_the_pool(study):
    folder = study.root / "results/neighxlm/encoders/tiny-bert/neighxlm-k2/hau/1"
    record = read_json(folder / "seedbed.json")
    assert record["training"]["layers"] == 2 and len(record["training"]["layer_weights"]) == 2
    assert not [path for path in folder.rglob("*") if "Dense" in path.name]
    card = (folder / "README.md").read_text()
    assert "own/hau-eng.tsv" in card and "own/hau.tsv" in card


def test_the_report_shows_neighbours_of_each_way_of_mining(study):
    with zipfile.ZipFile(study.root / "results/neighxlm/report.zip") as archive:
        page = archive.read("index.html").decode()
        ways = {f"neighbours/{way}/hau{ending}" for way in ("chance", "layer9") for ending in (".tsv", ".audit.json")}
        assert ways <= {*archive.namelist()}
    mined = read_table(
        study.root / "results/neighxlm/encoders/tiny-bert/neighbours/layer9/hau.tsv", ["id", "neighbour_1"]
    )
    assert mined["neighbour_1"].iloc[0] in page and f"cosine {mined['cosine_3'].iloc[-1]}" in page


def test_another_number_of_neighbours_mines_nothing(study):
    three = {"recipes/k3": {"like": "neighxlm-k2", "objective": {"neighbours": {"neighbours": 3}}} | SMALL}
    assert planned(study, {}) == set()
    rules = planned(study, three)
    assert {"train_encoder", "score"} <= rules and not rules & {"mine_neighbours", "select_pairs", "select_anchors"}
    assert "mine_neighbours" in planned(study, {"mining/layer9/layer": 1})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"mining/layer9/count": 1},
            "recipes.neighxlm-k2.objective: 2 neighbours, but mining.layer9.count is 1",
        ),
        ({"recipes/vanilla": SMALL | {"data": {"neighbours": "layer9"}}}, "recipes.vanilla.objective: it takes no nei"),
        (
            {"recipes/neighxlm-k2": SMALL | {"data": {"neighbours": "layer8"}}},
            "no way of mining 'layer8'; did you mean",
        ),
        ({"recipes/neighxlm-k2": SMALL | {"data": {"corpus": "seed_pairs"}}}, "data.corpus has text, pivot; neigh"),
        ({"mining/layer9/layer": 0}, "mining.layer9.layer: ... greater ... 0"),
    ],
)
def test_what_does_not_fit_is_one_line(study, changes, message):
    assert tells(study.refusal(study.edit(changes, target="bad.yaml")), message)


def test_a_layer_that_the_backbone_lacks_is_told_before_anything_is_written(study):
    output = Path("results/neighxlm/encoders/tiny-bert/neighbours/layer9/hau.tsv")
    done = study.snakemake(str(output), config=study.edit({"mining/layer9/layer": 5}, target="deep.yaml"))
    log = (study.root / "results/neighxlm/logs/mine_neighbours/tiny-bert/layer9/hau.log").read_text()
    assert done.returncode == 1 and tells(log, "error: layer 5: ... blocks 1 to 2")


def counts(done) -> dict[str, int]:
    """Rule -> jobs that a dry-run plans."""
    assert done.returncode == 0, done.stderr
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", done.stdout, flags=re.M)}


def test_the_papers_scale_is_planned_as_computed_by_hand(study):
    config = "config/neighxlm.yaml"
    first = counts(study.snakemake("all_neighxlm", "--dry-run", "--quiet", "rules", config=config))
    recipes, seeds, tables, figures, elsewhere = 5, 4, 7, 4, 9
    assert first == {
        # Text and parallel text; Tatoeba and FLORES in all languages; MasakhaNEWS in two, and its training set; two
        # sets of questions, and SQuAD for each.
        "fetch_corpus": 2 + 2 * elsewhere + 3 + 4,
        "fetch_model": 1, "select_anchors": 1, "select_pairs": 1, "mine_neighbours": 1,
        # Four recipes with every seed, the backbone; of figure 6 that with another pooling and two with one seed.
        "train_encoder": (recipes - 1) * seeds + 1 + 3,
        "tune_encoder": 2 * recipes * seeds,  # news and questions; an untrained encoder has heads of every seed
        "score": 4 * recipes + 3 * elsewhere,  # layers, news and two sets of questions; figure 6
        "map_texts": 2,  # figure 5: the backbone and k = 2
        "plan_table": tables, "tabulate": tables, "plot": figures, "all_neighxlm": 1,
        "total": 159,
    }  # fmt: skip
    more = study.edit({"languages/hau": {}}, source=config, target="more.yaml")
    second = counts(study.snakemake("all_neighxlm", "--dry-run", "--quiet", "rules", config=more))
    added = {rule: second[rule] - first[rule] for rule in first if second[rule] != first[rule]}
    assert added == {
        # No test of questions, and no set in Tatoeba; its own news, FLORES and text.
        "fetch_corpus": 4, "select_anchors": 1, "select_pairs": 1, "mine_neighbours": 1,
        "train_encoder": 4 * seeds, "tune_encoder": 4 * seeds, "score": 2 * recipes, "total": 49,
    }  # fmt: skip
