"""Training of an adaptor and a policy on kept states, and encoders of two texts, on tiny real models."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from torch.nn.functional import adaptive_avg_pool1d

from scripts import train_encoder
from seedbed import manifests
from seedbed.encoders.losses.anchoring import AnchoringLoss
from seedbed.encoders.models import inference, loading, memory
from seedbed.encoders.models.lookup import lookup
from seedbed.encoders.models.two_paths_setup import EnglishPath, add_english_path
from seedbed.encoders.objectives.anchoring import Anchoring
from seedbed.encoders.recipes import presets
from seedbed.encoders.settings import Prompts, Training
from seedbed.encoders.translations import policy
from seedbed.encoders.translations.candidates import pack_candidates, unpack_candidates
from seedbed.encoders.translations.choose import choose_translations
from seedbed.encoders.translations.policy import Actor, pooled_inputs, pooled_states, read_actor
from seedbed.encoders.translations.similarity import adaptor_similarity, given_similarity
from seedbed.io import UserError, write_table
from seedbed.trainers import mixed
from tests.trainings import train

TEXTS = [
    "Ruwan sama ya sauka.",
    "Yara suna wasa a filin makaranta.",
    "Kasuwa ta cika da mutane.",
    "Manoma sun fara girbi.",
]
GOOD = [
    "The rain came down.",
    "Children play in the school yard.",
    "The market is full of people.",
    "Farmers began the harvest.",
]
BAD = ["The sun.", "A dog and its bone.", "Nobody knows the road.", "Yesterday evening."]


def found(judged: bool = True, texts: list[str] = TEXTS) -> pd.DataFrame:
    """Two translators of each text, the second the better one."""
    rows = []
    for place, text in enumerate(texts):
        for name, english, score in (("one", BAD[place], 2.0), ("two", GOOD[place], 9.0)):
            row = {"id": str(place), "text": text, "translator": name, "english": english, "usable": True}
            rows.append(row | (dict.fromkeys(("semantic", "emotional", "pragmatic"), score) if judged else {}))
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def sides(make_weights: Callable[..., Path]) -> dict[str, Path]:
    return {"source": make_weights("xlm-roberta"), "english": make_weights("bert")}


def trained(sides: dict[str, Path], output: Path, *, minutes: float = 60, **changes: object) -> Path:
    objective = Anchoring.model_validate({"pool_size": 3, "hidden": 16, **changes})
    settings = {"pooling": "mean", "part": "head", "batch_size": 2, "epochs": 4, "precision": "float32"}
    options = {"prefix": "query: ", "seed": 1, "state": output.with_suffix(".state"), "minutes": minutes}
    folders = {"english": sides["english"]}
    table = pack_candidates(found())
    train(sides["source"], table, Training(**settings), objective=objective, folders=folders, output=output, **options)
    return output


@pytest.fixture(scope="module")
def anchored(sides: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(sides, tmp_path_factory.mktemp("anchored") / "encoder")


def test_an_anchored_encoder_is_the_mean_of_adapted_states(anchored: Path) -> None:
    encoder = loading.open_encoder(anchored)
    text = "query: " + TEXTS[1]
    states = encoder[0](encoder.preprocess([text]))["token_embeddings"]
    pooled = adaptive_avg_pool1d(states.transpose(1, 2), 3).transpose(1, 2)
    expected = encoder[1].adaptor(pooled).mean(dim=1)[0].detach().numpy()
    np.testing.assert_allclose(encoder.encode(TEXTS)[1], expected, atol=1e-5)
    elsewhere = SentenceTransformer(str(anchored), trust_remote_code=True, device="cpu", local_files_only=True)
    np.testing.assert_array_equal(elsewhere.encode(TEXTS), encoder.encode(TEXTS))
    np.testing.assert_allclose(encoder.encode(TEXTS, batch_size=1), encoder.encode(TEXTS), atol=1e-6)


def outcome(
    encoder: SentenceTransformer, english: SentenceTransformer, adaptor: torch.nn.Module, actor: Actor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Chances and rewards (texts, 2) and g (texts, d), one text at a time and as the paper writes them."""

    def resized(states: torch.Tensor) -> torch.Tensor:
        return adaptive_avg_pool1d(states.transpose(1, 2), 3).transpose(1, 2)[0]

    chances, rewards, gs = [], [], []
    look_up = english[0].auto_model.get_input_embeddings()
    for text, *pair in zip(TEXTS, BAD, GOOD, strict=True):
        states = encoder[0](encoder.preprocess([f"query: {text}"]))["token_embeddings"]
        feature = adaptor(resized(states))
        values = [resized(look_up(english.preprocess([one])["input_ids"])) for one in pair]
        sims = torch.stack([torch.cosine_similarity(feature.flatten(), one.flatten(), dim=0) for one in values])
        shown = torch.cat([torch.tensor([[0.2] * 3, [0.9] * 3]), sims[:, None]], dim=1)
        chances.append(actor(shown).softmax(dim=0))
        rewards.append(torch.tensor([0.2, 0.9]) + sims)
        gs.append(feature.mean(dim=0))
    return torch.stack(chances), torch.stack(rewards), torch.stack(gs)


def test_a_manifest_has_what_the_policy_did(sides: dict[str, Path], anchored: Path) -> None:
    """Recomputed from what is saved, and from a start of the same seed; the transformer stayed as it was."""
    learnt = manifests.of(anchored)["training"]
    encoder, english = loading.open_encoder(anchored), loading.load(sides["english"], pooling="own")
    objective = Anchoring(pool_size=3, hidden=16)
    fresh = objective.prepare(loading.load(sides["source"], pooling="mean"), sides, 1)
    torch.manual_seed(mixed(1))
    first = objective.loss(fresh, pack_candidates(found()), Training(part="head"), sides).actor
    with torch.no_grad():
        before, start, g0 = outcome(encoder, english, fresh[1].adaptor, first)
        after, end, g1 = outcome(encoder, english, encoder[1].adaptor, read_actor(anchored))
    liked = after.argmax(dim=1).tolist()
    h = torch.tensor(english.encode([[BAD, GOOD][k][row] for row, k in enumerate(liked)], normalize_embeddings=True))
    assert learnt["policy_distance"] == pytest.approx((after - before).abs().sum(dim=1).mean().item() / 2, abs=1e-5)
    assert learnt["mean_reward"] == pytest.approx((after * end).sum(dim=1).mean().item(), abs=1e-5)
    assert learnt["start_reward"] == pytest.approx((before * start).sum(dim=1).mean().item(), abs=1e-5)
    norms = {"before": g0 - h, "after": g1 - h, "zero": h}
    assert learnt["epsilon1"] == pytest.approx(
        {name: rows.norm(dim=1).mean().item() for name, rows in norms.items()}, abs=1e-5
    )
    assert learnt["policy_distance"] > 1e-3 and learnt["mean_reward"] > learnt["start_reward"]
    assert learnt["epsilon1"]["zero"] == pytest.approx(1, abs=1e-5), "h has length one"
    assert learnt["epsilon1"]["after"] < learnt["epsilon1"]["before"]
    assert learnt["translators"] == ["one", "two"]


def test_the_papers_preset_has_the_numbers_of_its_tables() -> None:
    """Paper 002, row LazRetrieval of tables 12 (pool size, batch, steps) and 13 (rates and weights)."""
    preset = presets()["arca-paper"]
    objective = Anchoring.model_validate(preset["objective"]["anchoring"])
    training = Training.model_validate(preset["training"])
    assert (objective.pool_size, training.batch_size, training.steps) == (4, 1, 120)
    assert (objective.actor_rate, training.learning_rate, objective.adaptor_rate) == (1e-4, 5e-5, 1e-4)
    assert (*objective.weights, objective.similarity_weight) == (0.4, 0.3, 0.3, 1.0)
    assert (objective.alignment_weight, objective.anchor_weight, objective.form) == (1, 1, "squared")
    assert (objective.baseline, objective.actions, objective.similarity) == ("none", "drawn", "adaptor")
    assert (training.part, training.schedule, training.epochs) == ("all", "constant", 3), "the encoder learns too"


def test_the_papers_steps_leave_its_policy_near_its_start(sides: dict[str, Path], tmp_path: Path) -> None:
    """Why `arca` has more steps, at ten times the rates. Nobody judged, as in docs/papers/lira.md, so that rewards are near."""
    moved = {}
    for name, steps in (("arca-paper", 120), ("arca", 240)):
        preset = presets()[name]
        training = Training.model_validate(preset["training"] | {"steps": steps, "precision": "float32"})
        objective = Anchoring.model_validate(preset["objective"]["anchoring"])
        options = {"prefix": "", "seed": 1, "state": tmp_path / "state", "minutes": 60, "output": tmp_path / name}
        learnt = train(
            sides["source"], pack_candidates(found(False)), training, objective=objective, folders=sides, **options
        )
        moved[name] = learnt["policy_distance"]
    # The paper's moved by 0.007 to 0.022 with five seeds, arca's by 0.49 with the first.
    assert moved["arca-paper"] < 0.05 and moved["arca"] > 10 * moved["arca-paper"]


def test_a_killed_training_goes_on_to_the_same_bytes(
    sides: dict[str, Path], anchored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward, calls = AnchoringLoss.forward, []

    def killed(self: AnchoringLoss, *given: object) -> torch.Tensor:
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return forward(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(AnchoringLoss, "forward", killed)
        with pytest.raises(KeyboardInterrupt):
            trained(sides, tmp_path / "encoder", minutes=0)
    assert not (tmp_path / "encoder").exists()
    again = trained(sides, tmp_path / "encoder", minutes=0)
    for name in ("actor.safetensors", "1_FeaturePath/model.safetensors", "seedbed.json"):
        assert (again / name).read_bytes() == (anchored / name).read_bytes(), name


def loss_of(sides: dict[str, Path], *, kept: bool, judged: bool = True, **changes: object) -> AnchoringLoss:
    settings = Anchoring.model_validate({"pool_size": 3, "hidden": 16, **changes})
    source, english = (loading.load(sides[name], pooling="mean") for name in ("source", "english"))
    encoder = settings.prepare(source, sides, 1)
    torch.manual_seed(0)
    return AnchoringLoss(
        encoder, unpack_candidates(pack_candidates(found(judged))), english, kept=kept, **settings.options
    )


def test_kept_states_give_the_loss_of_reading_again(sides: dict[str, Path]) -> None:
    rows, losses = torch.tensor([2, 0, 3]), []
    for kept in (True, False):
        loss = loss_of(sides, kept=kept)
        loss.eval()
        torch.manual_seed(3)
        losses.append(loss([loss.model.preprocess([TEXTS[row] for row in rows])], rows).item())
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_a_loss_is_equation_12(sides: dict[str, Path]) -> None:
    loss = loss_of(sides, kept=True, baseline="none", alignment_weight=0.5, anchor_weight=0.25, actions="expected")
    rows = torch.arange(4)
    torch.manual_seed(3)
    value = loss([{}], rows).item()
    english = loading.load(sides["english"], pooling="mean")
    source = loading.load(sides["source"], pooling="mean")
    prefix = loss.path.adaptor(pooled_states(source, TEXTS, 3))
    total = 0.0
    torch.manual_seed(3)
    logits, sims = [], []
    for row in range(4):
        values = pooled_inputs(english, [BAD[row], GOOD[row]], 3)
        cosines = [torch.cosine_similarity(prefix[row].flatten(), each.flatten(), dim=0) for each in values]
        shown = torch.tensor([[0.2, 0.2, 0.2, cosines[0]], [0.9, 0.9, 0.9, cosines[1]]])
        logits.append(loss.actor(shown))
        sims.append(torch.stack(cosines))
    chances = torch.stack(logits).softmax(dim=1)
    actions = chances.multinomial(1)[:, 0]
    for row, action in enumerate(actions.tolist()):
        rewards = torch.tensor([0.2, 0.9]) + sims[row]
        h = torch.nn.functional.normalize(torch.tensor(english.encode([[BAD, GOOD][action][row]])), dim=1)[0]
        anchor = (prefix[row].mean(dim=0) - h).square().sum()
        total += (-(chances[row] * rewards).sum() - 0.5 * sims[row][action] + 0.25 * anchor).item()
    assert value == pytest.approx(total / 4, abs=1e-4)


def test_translations_are_read_as_by_the_encoder_that_starts_from_it(sides: dict[str, Path], tmp_path: Path) -> None:
    """h is the vector of a translation on the English path; input embeddings (A.4) are those of its words alone."""
    english = tmp_path / "english"
    loading.load(sides["english"], pooling="mean", prefix="Theirs: ").save_pretrained(str(english))
    for name, row in (("one", BAD), ("two", GOOD)):
        rows = {"id": list("0123"), "text": TEXTS, "english": row, "finish": "stop"}
        write_table(pd.DataFrame(rows), tmp_path / f"{name}.tsv")
    studys = Prompts(query="Find: ", text="Same: ")
    for prompts, prompt in ((studys, "Same: "), (None, "Theirs: ")):
        table = train_encoder.read_rows(
            train_encoder.Job(
                weights=sides["source"], translations=[{name: tmp_path / f"{name}.tsv" for name in ("one", "two")}],
                english_prompts=prompts, seed=1, output=tmp_path, state=tmp_path,
            )
        )  # fmt: skip
        objective = Anchoring(pool_size=3, hidden=16)
        encoder = objective.prepare(loading.load(sides["source"], pooling="mean"), sides, 1)
        loss = objective.loss(encoder, table, Training(part="head"), {"english": english})
        both = add_english_path(
            loading.load(sides["source"], pooling="mean"), english, EnglishPath("none", {}, prompts)
        )[0].sides["english"]
        for k, row in enumerate((BAD, GOOD)):
            h = both.encode(row, normalize_embeddings=True)
            np.testing.assert_allclose(loss.documents[loss.places[:, k]], h, atol=1e-5)
            bare = loading.load(sides["english"], pooling="mean", prefix="")
            assert np.abs(bare.encode([prompt + text for text in row], normalize_embeddings=True) - h).max() < 1e-5
            for one in (bare, lookup(english)):
                torch.testing.assert_close(loss.values[loss.places[:, k]], pooled_inputs(one, row, 3))


def test_states_that_cannot_be_kept_are_refused(sides: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "machine_bytes", lambda: 4000)
    arithmetic = r"4 bytes x 3 states x \(4 texts x 32 \+ 8 translations x 32\).* give 1 or less"
    settings = Anchoring(pool_size=3, hidden=16)
    encoder = settings.prepare(loading.load(sides["source"], pooling="mean"), sides, 1)
    with pytest.raises(UserError, match=arithmetic):
        settings.loss(encoder, pack_candidates(found(True)), Training(), sides)


def test_states_are_there_once(sides: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are let go as they are made, and the states of a text do not hang on the others."""
    encoder, alive = loading.load(sides["source"], pooling="mean"), []
    pool = policy.pool_time

    def counted(*given: object) -> torch.Tensor:
        assert sum(made() is not None for made in alive) <= 1, "the last one alone"
        alive.append(weakref.ref(states := pool(*given)))
        return states

    alone = [pooled_states(encoder, [text], 3)[0] for text in TEXTS]
    monkeypatch.setattr(policy, "pool_time", counted)
    monkeypatch.setattr(policy, "BATCH", 1)
    assert torch.equal(pooled_states(encoder, TEXTS, 3), torch.stack(alone)) and len(alive) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[rows["translator"] == "one"], r"by one alone.*two"),
        (lambda rows: rows.assign(english=""), r"all 8 translations.*nothing"),
        (lambda rows: rows.assign(usable=False), "all 8 translations"),
        (
            lambda rows: rows.assign(semantic=11.0),
            r"'0'.*\[11.0, 2.0, 2.0\].*1.*10",
        ),
        (lambda rows: rows.assign(semantic=np.nan), r"judge.*none of 8"),
        (lambda rows: rows.drop(index=7), r"text '3'.*by one, two"),
    ],
)
def test_bad_candidates_are_told(
    sides: dict[str, Path], change: Callable[[pd.DataFrame], pd.DataFrame], message: str
) -> None:
    objective = Anchoring(pool_size=3, hidden=16)
    encoder = objective.prepare(loading.load(sides["source"], pooling="mean"), sides, 1)
    with pytest.raises(UserError, match=message):
        objective.loss(encoder, pack_candidates(change(found())), Training(part="head"), sides)


def test_nothing_that_tells_candidates_apart_is_told(sides: dict[str, Path]) -> None:
    objective = Anchoring(pool_size=3, hidden=16, similarity="none")
    encoder = objective.prepare(loading.load(sides["source"], pooling="mean"), sides, 1)
    with pytest.raises(UserError, match="neither a judge nor a similarity"):
        objective.loss(encoder, pack_candidates(found(judged=False)), Training(part="head"), sides)


def test_choices(sides: dict[str, Path], anchored: Path) -> None:
    table = pack_candidates(found())
    similarity = adaptor_similarity(unpack_candidates(table), anchored, sides["english"])
    encoder, english = loading.open_encoder(anchored), loading.load(sides["english"], pooling="mean")
    prefix = encoder[1].adaptor(pooled_states(encoder, TEXTS, 3))
    value = pooled_inputs(english, [GOOD[2]], 3)
    assert similarity[2, 1].item() == pytest.approx(
        torch.cosine_similarity(prefix[2].flatten(), value.flatten(), dim=0).item(), abs=1e-5
    )
    assert choose_translations(table, "first")["english"].tolist() == BAD
    assert choose_translations(table, "judge")["english"].tolist() == GOOD
    critic = choose_translations(table, "critic", similarity=similarity)
    assert critic["translator"].tolist() == [["one", "two"][k] for k in similarity.argmax(dim=1)]
    actor = choose_translations(table, "actor", similarity=similarity, actor=anchored)
    logits = read_actor(anchored)(torch.tensor([[[0.2] * 3 + [similarity[0, 0]], [0.9] * 3 + [similarity[0, 1]]]]))
    assert float(actor["probability"][0]) == pytest.approx(logits.softmax(dim=1).max().item(), abs=1e-5)
    uniform = choose_translations(table, "uniform", seed=1)
    assert (
        uniform.iloc[::-1]["english"].tolist()
        == choose_translations(table[::-1], "uniform", seed=1)["english"].tolist()
    )
    assert {float(p) for p in uniform["probability"]} == {0.5}
    with pytest.raises(UserError, match="oracle takes what translator 'human' wrote"):
        choose_translations(table, "oracle")
    human = found().replace({"translator": {"two": "human"}})
    assert choose_translations(pack_candidates(human), "oracle")["english"].tolist() == GOOD
    human.loc[0:1, ["english", "usable"]] = [[human["text"][0], True], ["", False]]  # English, of the first translator
    assert choose_translations(pack_candidates(human), "oracle")["english"].tolist() == [human["text"][0], *GOOD[1:]]
    human.loc[0, "english"] = BAD[0]
    with pytest.raises(UserError, match="oracle, and 1 texts have no English of 'human'"):
        choose_translations(pack_candidates(human), "oracle")
    half = found().assign(usable=[True] * 6 + [False] * 2)
    with pytest.raises(UserError, match=r"1 of 4 texts.*3 'Manoma.*translation"):
        choose_translations(pack_candidates(half), "first")
    untrained = given_similarity(unpack_candidates(table), anchored)
    texts, candidates = (encoder.encode(side, normalize_embeddings=True) for side in (TEXTS, GOOD))
    np.testing.assert_allclose(untrained[:, 1], (texts * candidates).sum(axis=1), atol=1e-5)


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_a_similarity_or_a_policy_that_is_not_finite_chooses_nothing(
    anchored: Path, tmp_path: Path, number: float
) -> None:
    """NaN would count as 0, which is more than a negative cosine, or be the greatest of a softmax."""
    table, similarity = pack_candidates(found()), torch.full((4, 2), -0.5)
    similarity[2, 1] = number
    for how, options in (("critic", {}), ("actor", {"actor": anchored})):
        with pytest.raises(UserError, match="choose: a similarity is not finite"):
            choose_translations(table, how, similarity=similarity, **options)
    masked = pack_candidates(found().assign(usable=[True] * 5 + [False] + [True] * 2))
    assert choose_translations(masked, "critic", similarity=similarity)["translator"].tolist() == ["one"] * 4
    state = {name: torch.full_like(tensor, number) for name, tensor in load_file(anchored / policy.ACTOR).items()}
    save_file(state, tmp_path / policy.ACTOR)
    with pytest.raises(UserError, match=f"{tmp_path}: the policy gives chances that are not finite"):
        choose_translations(table, "actor", similarity=torch.zeros(4, 2), actor=tmp_path)


def test_a_policy_that_is_missing_or_cut_short_is_told(anchored: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"^{tmp_path}: no policy in {policy.ACTOR}"):
        read_actor(tmp_path)
    (tmp_path / policy.ACTOR).write_bytes((anchored / policy.ACTOR).read_bytes()[:-1])
    with pytest.raises(UserError, match=f"^{tmp_path}: no policy in {policy.ACTOR}"):
        read_actor(tmp_path)


def test_choices_encode_a_text_once(anchored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = unpack_candidates(pack_candidates(found()))
    first = given_similarity(candidates, anchored, tmp_path)
    monkeypatch.setattr(inference, "batched", lambda encoder, rows: lambda texts: pytest.fail(f"{texts} again"))
    np.testing.assert_allclose(given_similarity(candidates, anchored, tmp_path), first, atol=1e-6)


def test_an_unusable_candidate_is_never_chosen(sides: dict[str, Path]) -> None:
    rows = found().assign(usable=[True, False] * 4)
    for how in ("first", "judge", "uniform"):
        assert choose_translations(pack_candidates(rows), how)["translator"].tolist() == ["one"] * 4
    rows = found().assign(semantic=[2.0, np.nan] * 4)
    assert choose_translations(pack_candidates(rows), "judge")["translator"].tolist() == ["one"] * 4, (
        "nobody could score it"
    )


@pytest.mark.parametrize(
    ("scores", "taken"), [((7.0, 6.0, 6.0), "two"), ((6.0, 7.0, 6.0), "one"), ((6.0, 6.0, 7.0), "one")]
)
def test_a_judges_scores_count_as_table_13_says(scores: tuple[float, ...], taken: str) -> None:
    """0.4 of meaning, 0.3 of feeling, 0.3 of use: a point more of meaning alone outweighs 0.3 of feeling and 0.9 of use."""
    rows = found()
    for place, name in enumerate(("semantic", "emotional", "pragmatic")):
        rows[name] = np.where(rows["translator"] == "two", scores[place], (6.0, 6.3, 6.9)[place])
    assert {*choose_translations(pack_candidates(rows), "judge")["translator"]} == {taken}
