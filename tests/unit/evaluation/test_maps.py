"""Maps of texts: what is drawn, that it can be drawn again, and what cannot."""

import numpy as np
import pandas as pd
import pytest

from seedbed.evaluation.maps import POINTS, read, sample, sample_pairs, to_plane, write
from seedbed.evaluation.settings import TextMap
from seedbed.io import UserError


def texts(language, ids):
    rows = {"id": [str(number) for number in ids], "text": [f"{language} {number}" for number in ids], "label": "good"}
    return pd.DataFrame(rows)


SETS = {"hau": texts("hau", range(40)), "swh": texts("swh", range(49, 9, -1)), "eng": texts("eng", range(5, 60))}
SHARED = [str(number) for number in range(10, 40)]


def test_whole_ids_that_all_languages_share_are_drawn():
    each = TextMap(task="t", texts=20).of_each(len(SETS))  # 7 ids in 3 languages come nearest to 20
    drawn = sample(SETS, each, seed=3)
    assert len(drawn) == 21
    assert list(drawn["language"]) == ["hau", "swh", "eng"] * 7
    ids = list(drawn["id"][::3])
    assert set(ids) <= set(SHARED) and ids == sorted(ids, key=int) and len(set(ids)) == 7
    assert (drawn["text"] == drawn["language"] + " " + drawn["id"]).all()


def test_a_seed_draws_the_same_and_more_texts_hold_fewer():
    one, again, other = (sample(SETS, 10, seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, again)
    assert set(one["id"]) != set(other["id"])
    assert set(one["id"]) < set(sample(SETS, 20, 1)["id"])


def test_every_id_is_drawn_about_as_often():
    counts = pd.Series([id for seed in range(300) for id in set(sample(SETS, 10, seed)["id"])]).value_counts()
    assert set(counts.index) == set(SHARED)
    assert abs(counts - 100).max() < 5 * np.sqrt(300 * 1 / 3 * 2 / 3)


@pytest.mark.parametrize(("count", "ids"), [(1, 1), (4, 1), (90, 30), (10_000, 30)])
def test_at_least_one_id_and_at_most_all(count, ids):
    each = TextMap(task="t", texts=count).of_each(len(SETS))
    assert sample(SETS, each, 0)["id"].nunique() == ids


def test_languages_without_an_id_in_common_are_told():
    with pytest.raises(UserError, match=r"hau, xho.*id in common") as error:
        sample({"hau": SETS["hau"], "xho": texts("xho", range(90, 99))}, 10, 0)
    assert "\n" not in str(error.value)


def pairs(language, count):
    ids = [str(number) for number in range(count)]
    return pd.DataFrame(
        {"id": ids, "text": [f"{language} {id}" for id in ids], "pivot": [f"{id} by {language}" for id in ids]}
    )


def test_both_sides_of_a_pair_are_drawn_one_after_the_other():
    drawn = sample_pairs({"swh": pairs("swh", 40), "fra": pairs("fra", 6)}, 10, 3, "eng")
    assert len(drawn) == 2 * (10 + 6)  # all of the language that has fewer
    assert list(drawn["language"]) == ["swh", "eng"] * 10 + ["fra", "eng"] * 6
    assert list(drawn["label"]) == ["swh"] * 20 + ["fra"] * 12
    text, pivot = drawn.iloc[::2], drawn.iloc[1::2]
    assert list(text["id"]) == list(pivot["id"]) and text[["label", "id"]].duplicated().sum() == 0
    assert list(text["text"]) == list(text["label"] + " " + text["id"])
    assert list(pivot["text"]) == list(pivot["id"] + " by " + pivot["label"])


def test_more_pairs_hold_fewer_and_no_language_depends_on_another():
    swh = {"swh": pairs("swh", 40)}
    few, more, other = (sample_pairs(swh, count, seed, "eng") for count, seed in ((10, 1), (20, 1), (10, 2)))
    assert set(few["id"]) < set(more["id"]) and set(few["id"]) != set(other["id"])
    both = sample_pairs({"fra": pairs("fra", 70)} | swh, 10, 1, "eng")
    pd.testing.assert_frame_equal(both[both["label"] == "swh"].reset_index(drop=True), few)
    assert set(both.loc[both["label"] == "fra", "id"]) - set(map(str, range(40)))


def clusters():
    """Three clouds (20 points each) far apart in ten dimensions."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(20, 10)) + 30 * np.eye(10)[place] for place in range(3)]).astype(np.float32)


BY = {"tsne": {"perplexity": 10}, "umap": {"method": "umap", "neighbours": 10}}


@pytest.fixture(scope="module", params=BY)
def places(request):
    """The clouds in the plane by each method, twice."""
    return [to_plane(clusters(), TextMap(task="t", seed=5, **BY[request.param])) for _ in range(2)]


def test_the_same_embeddings_lie_in_the_same_places(places):
    one, again = places
    assert one.shape == (60, 2) and one.dtype == np.float64 and np.array_equal(one, again)


def test_repeated_embeddings_lie_in_the_same_places():
    rng = np.random.default_rng(0)
    clouds = np.repeat(10 * rng.normal(size=(6, 16)), 10, axis=0) + rng.normal(size=(60, 16)) / 3
    how = TextMap(task="t", method="umap", neighbours=5)
    one, *again = (to_plane(np.repeat(clouds, 2, axis=0).astype(np.float32), how) for _ in range(3))
    assert all(np.array_equal(one, other) for other in again)


def test_neighbours_stay_neighbours(places):
    distances = np.linalg.norm(places[0][:, None] - places[0][None], axis=2) + np.diag(np.full(60, np.inf))
    assert (distances.argmin(axis=1) // 20 == np.arange(60) // 20).all()


def test_a_place_that_is_no_number_is_told(tmp_path):
    write(sample(SETS, 2, 0), np.zeros((6, 2)), "b", "r", tmp_path / "points.tsv")
    broken = (tmp_path / "points.tsv").read_text().replace("0.000", "zero", 1)
    (tmp_path / "points.tsv").write_text(broken)
    with pytest.raises(UserError, match=r"points\.tsv: .*'zero'; expected a table made by map_texts") as error:
        read([tmp_path / "points.tsv"])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rows", "how", "told"),
    [
        (20, {"perplexity": 20}, r"perplexity 20.*raise `texts`"),
        (2, {}, "lower `perplexity`"),
        (15, {"method": "umap", "pairs": 4}, r"neighbours 15.*raise `pairs`"),
    ],
)
def test_fewer_texts_than_neighbours_are_told(rows, how, told):
    with pytest.raises(UserError, match=told) as error:
        to_plane(clusters()[:rows], TextMap(task="t", **how))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("how", [{"perplexity": 10}, {"method": "umap"}])
def test_vectors_of_one_number_are_told(how):
    with pytest.raises(UserError, match="one number.*longer"):
        to_plane(clusters()[:, :1], TextMap(task="t", **how))


def test_a_text_has_two_neighbours_besides_itself_at_least():
    """With one alone each run of UMAP places the texts elsewhere, and three texts end it."""
    with pytest.raises(ValueError, match=r"neighbours\n.*greater than or equal to 3"):
        TextMap(task="t", method="umap", neighbours=2)


def test_an_encoder_whose_vectors_are_all_alike_is_told():
    with pytest.raises(UserError, match="the same vector.*collapsed"):
        to_plane(np.ones((40, 8)), TextMap(task="t", perplexity=10))


def test_an_encoder_that_diverged_is_told():
    broken = clusters()
    broken[7, 0] = np.nan
    with pytest.raises(UserError, match="row 7 holds NaN"):
        to_plane(broken, TextMap(task="t", perplexity=10))


def test_points_survive_the_disk_in_order(tmp_path):
    drawn = sample({"nan": SETS["hau"], "swh": SETS["swh"]}, 2, 0)  # a language, not a number that is missing
    places = np.arange(8.0).reshape(4, 2) / 7
    for name in ("a", "b"):
        write(drawn, places, name, "published", tmp_path / f"{name}.tsv")
    points = read([tmp_path / "a.tsv", tmp_path / "b.tsv"])
    assert list(points.columns) == POINTS and list(points["backbone"]) == ["a"] * 4 + ["b"] * 4
    assert list(points["language"][:4]) == ["nan", "swh"] * 2
    assert np.allclose(points.loc[4:, ["x", "y"]], places, atol=5e-4)


def test_settings_are_in_range():
    assert TextMap(task="t") == TextMap(task="t", texts=200, seed=0, method="tsne", perplexity=30, neighbours=15)
    for wrong in ({"texts": 0}, {"pairs": 0}, {"perplexity": 0.5}, {"seed": -1}, {"text": 3}, {"method": "pca"}):
        with pytest.raises(ValueError):
            TextMap(task="t", **wrong)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"method": "umap", "perplexity": 5}, r"perplexity: UMAP.*leave it out"),
        ({"neighbours": 5}, "neighbours: t-SNE does not read it"),
        ({"pairs": 5, "texts": 100}, r"texts:.*`pairs`.*read"),
    ],
)
def test_a_setting_that_nothing_reads_is_told(given, told):
    with pytest.raises(ValueError, match=told):
        TextMap(task="t", **given)
