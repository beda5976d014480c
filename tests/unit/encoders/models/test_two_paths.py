"""Encoders of a text and its English: the vector by hand, elsewhere, in training, and kept by both texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sentence_transformers import SentenceTransformer
from torch.nn.functional import normalize

from seedbed.encoders.compression.compress import compress
from seedbed.encoders.compression.settings import Copies
from seedbed.encoders.export.save import save
from seedbed.encoders.losses.token_cutoff import cut_texts
from seedbed.encoders.models import loading
from seedbed.encoders.models.inference import opened
from seedbed.encoders.models.two_paths import TwoPaths
from seedbed.encoders.models.two_paths_setup import EnglishPath, add_english_path
from seedbed.encoders.objectives.anchoring import Anchoring
from seedbed.encoders.objectives.correlation import Correlation
from seedbed.encoders.settings import Prompts, Training
from seedbed.encoders.translations.files import read_english
from seedbed.io import UserError
from tests.trainings import train

TEXTS = [
    "Ruwan sama ya sauka.",
    "Yara suna wasa a filin makaranta.",
    "Kasuwa ta cika da mutane.",
    "Manoma sun fara girbi.",
]
ENGLISH = [
    "The rain came down.",
    "Children play in the school yard.",
    "The market is full.",
    "Farmers began the harvest.",
]
CHOSEN = dict(zip(TEXTS, ENGLISH, strict=True))


@pytest.fixture(scope="module")
def sides(make_weights: Callable[..., Path]) -> dict[str, Path]:
    return {"source": make_weights("xlm-roberta"), "english": make_weights("bert")}


def anchored(sides: dict[str, Path]) -> SentenceTransformer:
    source = loading.load(sides["source"], pooling="mean", prefix="query: ")
    return Anchoring(pool_size=3, hidden=16).prepare(source, sides, 1)


def made(sides: dict[str, Path], output: Path, fusion: str, start: Path | None = None) -> Path:
    training = Training(pooling="own" if start else "mean")
    options = {"objective": None, "prefix": "query: ", "seed": 1, "state": output.with_suffix(".state"), "minutes": 60}
    folders, english_path = {"english": sides["english"]}, EnglishPath(fusion, {})
    train(
        start or sides["source"], None, training, folders=folders, english_path=english_path, output=output, **options
    )
    return output


@pytest.mark.parametrize("fusion", ["none", "concat", "english"])
def test_a_vector_is_that_of_both_paths(sides: dict[str, Path], tmp_path: Path, fusion: str) -> None:
    folder = made(sides, tmp_path / "encoder", fusion)
    encoder = loading.open_encoder(folder)
    found = encoder.encode([*CHOSEN.items()])
    g = loading.load(sides["source"], pooling="mean", prefix="query: ").encode(TEXTS, normalize_embeddings=True)
    h = loading.load(sides["english"], pooling="mean").encode(ENGLISH, normalize_embeddings=True)
    expected = h if fusion == "english" else np.concatenate([g, h], axis=1) / (1 if fusion == "concat" else np.sqrt(2))
    unit = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found / np.linalg.norm(found, axis=1, keepdims=True), unit, atol=1e-6)
    assert encoder.get_embedding_dimension() == found.shape[1]
    elsewhere = SentenceTransformer(str(folder), trust_remote_code=True, device="cpu", local_files_only=True)
    np.testing.assert_array_equal(elsewhere.encode([*CHOSEN.items()]), found)
    one_by_one = np.concatenate([encoder.encode([pair]) for pair in reversed(CHOSEN.items())])[::-1]
    np.testing.assert_allclose(one_by_one, found, atol=1e-6)


def test_each_path_leaves_its_prompt_out_where_its_encoder_does(sides: dict[str, Path]) -> None:
    encoders = {name: loading.load(folder, pooling="mean", prefix=f"{name}: ") for name, folder in sides.items()}
    for encoder in encoders.values():
        encoder[1].include_prompt = False
    apart = [encoders["source"].encode(TEXTS), encoders["english"].encode(ENGLISH)]
    both = SentenceTransformer(modules=[TwoPaths(**encoders)]).encode([*CHOSEN.items()])
    expected = np.concatenate([part / np.linalg.norm(part, axis=1, keepdims=True) for part in apart], axis=1)
    np.testing.assert_allclose(both, expected / np.sqrt(2), atol=1e-6)
    for encoder in encoders.values():
        encoder[1].include_prompt = True
    assert abs(SentenceTransformer(modules=[TwoPaths(**encoders)]).encode([*CHOSEN.items()]) - both).max() > 1e-3


def test_an_empty_prompt_is_none_though_other_texts_have_one(sides: dict[str, Path]) -> None:
    prompts = Prompts(query="", document="passage: ", text="text: ")
    english = loading.load(sides["english"], pooling="mean", prefix=prompts)
    source = loading.load(sides["source"], pooling="mean")
    both = add_english_path(source, sides["english"], EnglishPath("english", CHOSEN, prompts))
    for name in ("encode", "encode_query", "encode_document"):
        found = getattr(both, name)([*CHOSEN.items()])
        expected = getattr(english, name)(ENGLISH, normalize_embeddings=True)
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=name)
    assert np.abs(both.encode_query([*CHOSEN.items()]) - both.encode([*CHOSEN.items()])).max() > 1e-3


@pytest.mark.parametrize("fusion", ["none", "prefix"])
def test_a_cutoff_masks_tokens_of_a_text_and_of_its_english(sides: dict[str, Path], fusion: str) -> None:
    encoder = add_english_path(anchored(sides), sides["english"], EnglishPath(fusion, CHOSEN))
    whole = encoder.preprocess([*CHOSEN.items()] * 50)
    torch.manual_seed(0)
    cut = cut_texts(encoder, whole, 0.5)
    for name, ending in (("source", ".source"), ("english", "")):
        ids, mask = whole[f"input_ids{ending}"], whole[f"attention_mask{ending}"] == 1
        special = torch.isin(ids, torch.tensor(encoder[0].sides[name].tokenizer.all_special_ids))
        lost = mask & (cut[f"attention_mask{ending}"] == 0)
        assert not lost[special].any(), name
        prompt = int(whole.get(f"prompt_length{ending}", 0))
        share = lost[:, prompt:][(mask & ~special)[:, prompt:]].float().mean().item()
        assert abs(share - 0.5) < 0.06, name


def test_a_truncated_text_that_lost_tokens_still_ends_as_it_did(sides: dict[str, Path]) -> None:
    encoder = add_english_path(anchored(sides), sides["english"], EnglishPath("prefix", CHOSEN)).eval()
    features = encoder.preprocess([(TEXTS[0], f"{ENGLISH[0]} {ENGLISH[1]}")])
    side = encoder[0].sides["english"][0]
    side.max_seq_length = encoder[0].sides["source"][-1].size + 6
    mask = features["attention_mask"].clone()
    mask[0, [2, 5, 6, 9]] = 0
    with torch.inference_mode():
        found = encoder(features | {"attention_mask": mask})["sentence_embedding"]
        ids = features["input_ids"]
        ids = torch.cat([ids[:, :5], ids[:, -1:]], dim=1)
        side.max_seq_length = 512
        short = {**features, "input_ids": ids, "attention_mask": torch.tensor([[1, 1, 0, 1, 1, 1]])}
        expected = encoder(short)["sentence_embedding"]
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("pooling", ["first_last_average", "cls_mlp"])
def test_the_source_may_have_a_pooling_of_ours(sides: dict[str, Path], tmp_path: Path, pooling: str) -> None:
    source = loading.load(sides["source"], pooling=pooling, seed=1)
    one = source.encode(TEXTS, normalize_embeddings=True)
    encoder = add_english_path(source, sides["english"], EnglishPath("none", CHOSEN))
    save(encoder, tmp_path / "encoder", {}, {})
    again = loading.open_encoder(tmp_path / "encoder")
    again[0].english = CHOSEN
    np.testing.assert_allclose(again.encode(TEXTS)[:, : one.shape[1]] * 2**0.5, one, atol=1e-5)


def test_features_stand_before_the_tokens_of_the_english(sides: dict[str, Path]) -> None:
    source = anchored(sides)
    encoder = add_english_path(source, sides["english"], EnglishPath("prefix", CHOSEN))
    found = encoder.encode(TEXTS)
    english = loading.load(sides["english"], pooling="mean")
    for text, vector in zip(TEXTS, found, strict=True):
        prefix = source(source.preprocess([text], prompt="query: "))["prefix"]
        ids = torch.tensor([english.tokenizer(CHOSEN[text])["input_ids"]])
        given = torch.cat([prefix, english[0].auto_model.get_input_embeddings()(ids)], dim=1)
        states = english[0].auto_model(inputs_embeds=given).last_hidden_state
        expected = normalize(states.mean(dim=1), dim=1)[0].detach().numpy()
        np.testing.assert_allclose(vector, expected, atol=1e-5)
    with pytest.raises(UserError, match=r"fusion prefix:.*features.*32"):
        add_english_path(loading.load(sides["source"], pooling="mean"), sides["english"], EnglishPath("prefix", {}))


def test_a_text_that_is_cut_after_features_ends_as_it_would(sides: dict[str, Path]) -> None:
    encoder = add_english_path(anchored(sides), sides["english"], EnglishPath("prefix", CHOSEN))
    transformer, long = encoder[0].sides["english"][0], f"{ENGLISH[0]} {ENGLISH[1]}"
    ids, size = transformer.tokenizer(long)["input_ids"], encoder[0].sides["source"][-1].size
    transformer.max_seq_length = size + 5
    given: list[torch.Tensor] = []
    look_up = transformer.auto_model.get_input_embeddings()
    look_up.register_forward_pre_hook(lambda module, read: given.append(read[0]))
    encoder.encode([(TEXTS[0], long), (TEXTS[1], "Yes.")], batch_size=2)
    read = {tuple(row) for row in given[-1].tolist()}
    assert (*ids[:4], ids[-1]) in read and ids[-1] == transformer.tokenizer.sep_token_id
    transformer.max_seq_length = size
    with pytest.raises(UserError, match=f"{size} features leave none of {size} tokens"):
        TwoPaths(anchored(sides), encoder[0].sides["english"], "prefix")


@pytest.mark.parametrize("wrong", [[("one",)], [("a text", "its English", "more")]])
def test_what_is_no_pair_is_told(sides: dict[str, Path], wrong: list) -> None:
    encoder = add_english_path(anchored(sides), sides["english"], EnglishPath("none", CHOSEN))
    with pytest.raises(UserError, match=r"texts instead of two; give.*\(text, English\)"):
        encoder.encode(wrong)


def test_a_text_without_english_is_told(sides: dict[str, Path], tmp_path: Path) -> None:
    folder = made(sides, tmp_path / "encoder", "none")
    encode = opened(folder, 8, tmp_path / "state", english={TEXTS[0]: ENGLISH[0], TEXTS[1]: " "}).encode
    for text in TEXTS[1:3]:
        with pytest.raises(UserError, match=f"no English of '{text}'; give a list of pairs .text, English."):
            encode([TEXTS[0], text])
    assert not [*(tmp_path / "state").rglob("*.npz")], "nothing half-written"
    with pytest.raises(UserError, match="is empty"):
        loading.open_encoder(folder).encode([(TEXTS[0], "")])


def test_vectors_are_kept_by_both_texts(sides: dict[str, Path], tmp_path: Path) -> None:
    folder, calls = made(sides, tmp_path / "encoder", "none"), []
    other = {TEXTS[0]: ENGLISH[3]}
    first = opened(folder, 8, tmp_path / "state", english=CHOSEN).encode([TEXTS[0]])
    second = opened(folder, 8, tmp_path / "state", english=other).encode([TEXTS[0]])
    assert not np.allclose(first, second)
    np.testing.assert_array_equal(opened(folder, 8, tmp_path / "state", english=CHOSEN).encode([TEXTS[0]]), first)
    assert len([*(tmp_path / "state").rglob("*.npz")]) == 2
    del calls


@pytest.mark.parametrize("fusion", ["concat", "prefix"])
def test_a_trained_fusion_learns_what_stands_after_the_backbones(
    sides: dict[str, Path], tmp_path: Path, fusion: str
) -> None:
    start, source = tmp_path / "start", anchored(sides)
    source.save_pretrained(str(start), create_model_card=False)
    rows = {"id": ["1", "2", "3"], "sentence1": TEXTS[:3], "sentence2": TEXTS[1:], "score": ["1", "4", "2"]}
    folders = {"english": sides["english"]}

    def run(output: Path, minutes: float) -> Path:
        training = Training(pooling="own", part="head", batch_size=2, epochs=3, learning_rate=1e-2, precision="float32")
        options = {"prefix": "query: ", "seed": 1, "state": tmp_path / "state", "minutes": minutes}
        english_path = EnglishPath(fusion, CHOSEN)
        objective = Correlation(queue_size=8, warm_up=2)
        train(
            start,
            pd.DataFrame(rows),
            training,
            objective=objective,
            folders=folders,
            english_path=english_path,
            output=output,
            **options,
        )
        return output

    made_at_once, again = run(tmp_path / "one", 60), run(tmp_path / "two", 0)
    weights = sorted(str(path.relative_to(made_at_once)) for path in made_at_once.rglob("*.safetensors"))
    assert all((made_at_once / name).read_bytes() == (again / name).read_bytes() for name in weights)
    learnt = loading.open_encoder(made_at_once)
    untouched = loading.load(sides["english"], pooling="mean")
    for name, weight in untouched[0].auto_model.state_dict().items():
        torch.testing.assert_close(learnt[0].auto_model.state_dict()[name], weight, rtol=0, atol=0)
    moved = (learnt[0].sides["source"][1].adaptor.layers[3].weight - source[1].adaptor.layers[3].weight).abs().max()
    assert moved > 1e-4, "the adaptor learns"
    if fusion == "concat":
        assert (learnt[1].linear.weight - torch.eye(64)).abs().max() > 1e-4


def test_an_encoder_of_two_texts_goes_on_from_another(sides: dict[str, Path], tmp_path: Path) -> None:
    """As LiRA's does, which learns graded pairs after queries: without a step it is what it starts from."""
    first = made(sides, tmp_path / "first", "concat")
    again = made(sides, tmp_path / "again", "concat", first)
    one, two = (loading.open_encoder(folder) for folder in (first, again))
    pairs = list(CHOSEN.items())
    np.testing.assert_array_equal(two.encode(pairs), one.encode(pairs))
    assert two.prompts == one.prompts, "its sides have theirs"
    rows = {"id": ["1", "2", "3"], "sentence1": TEXTS[:3], "sentence2": TEXTS[1:], "score": ["1", "4", "2"]}
    training = Training(pooling="own", part="head", batch_size=2, epochs=3, learning_rate=1e-2, precision="float32")
    options = {"prefix": "query: ", "seed": 1, "state": tmp_path / "state", "minutes": 60}
    told = {"folders": {"english": sides["english"]}, "english_path": EnglishPath("concat", CHOSEN)}
    objective = Correlation(queue_size=8, warm_up=2)
    train(first, pd.DataFrame(rows), training, objective=objective, output=tmp_path / "learnt", **told, **options)
    learnt = loading.open_encoder(tmp_path / "learnt")
    assert (learnt[1].linear.weight - one[1].linear.weight).abs().max() > 1e-4
    for name, weight in one[0].state_dict().items():
        torch.testing.assert_close(learnt[0].state_dict()[name], weight, rtol=0, atol=0)
    with pytest.raises(UserError, match=r"fusion none:.*concat"):
        made(sides, tmp_path / "other", "none", first)


@pytest.mark.parametrize(
    ("settings", "frozen", "trained"),
    [
        ({"freeze_word_embeddings": True}, "embeddings.word_embeddings.weight", "attention.self.query.weight"),
        ({"part": "adapter"}, "embeddings.word_embeddings.weight", "attention.self.query.weight"),
    ],
    ids=["word embeddings", "adapters"],
)
def test_what_is_trained_of_one_encoder_is_trained_of_both(
    sides: dict[str, Path], tmp_path: Path, settings: dict[str, Any], frozen: str, trained: str
) -> None:
    rows = {"id": ["1", "2", "3"], "sentence1": TEXTS[:3], "sentence2": TEXTS[1:], "score": ["1", "4", "2"]}
    training = Training(batch_size=3, steps=3, learning_rate=1e-2, precision="float32", pooling="mean", **settings)
    train(
        sides["source"],
        pd.DataFrame(rows),
        training,
        objective=Correlation(queue_size=8, warm_up=2),
        folders={"english": sides["english"]},
        english_path=EnglishPath("none", CHOSEN),
        output=tmp_path / "learnt",
        prefix="",
        seed=1,
        state=tmp_path / "state",
        minutes=60,
    )
    learnt = loading.open_encoder(tmp_path / "learnt")
    for name, folder in sides.items():
        before = loading.load(folder, pooling="mean")[0].auto_model.state_dict()
        after = learnt[0].sides[name][0].auto_model.state_dict()
        assert before.keys() == after.keys()
        for key, weight in before.items():
            if key.endswith((frozen, trained)):
                assert torch.equal(after[key], weight) == key.endswith(frozen), (name, key)


def test_two_choices_of_one_text_are_told(tmp_path: Path) -> None:
    for name, english in (("one", "a"), ("two", "b")):
        (tmp_path / name).write_text(f"id\ttext\tenglish\n1\tx\t{english}\n")
    assert read_english([tmp_path / "one"]) == {"x": "a"}
    with pytest.raises(UserError, match="'x' has other English here"):
        read_english([tmp_path / "one", tmp_path / "two"])


def test_an_encoder_of_two_texts_is_not_copied(sides: dict[str, Path], tmp_path: Path) -> None:
    folder, table = made(sides, tmp_path / "encoder", "none"), pd.DataFrame({"id": ["1", "2"], "text": ["a", "b"]})
    options = {"seed": 1, "output": tmp_path / "copy", "about": {}}
    for pooling in ("own", "mean"):
        with pytest.raises(UserError, match=r"encoder:.*two texts.*copy one"):
            compress(loading.Original(folder, pooling), table["text"], Copies(bfloat16={}), **options)
