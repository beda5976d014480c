from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from seedbed.generators.composition import compose, compose_directories, residuals
from seedbed.generators.settings import Composition
from seedbed.io import UserError, sha256

RANK, SCALE = 4, 0.7
MODULES = {"m.q_proj": (6, 10), "m.up_proj": (16, 10)}
ROLES = ("task", "target", "source")


def random_state(seed: int, rank: int = RANK) -> dict[str, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return {
        f"{module}.lora_{factor}.weight": torch.randn(*shape, generator=draw)
        for module, (out, into) in MODULES.items()
        for factor, shape in {"A": (rank, into), "B": (out, rank)}.items()
    }


def products(state: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    numpy = {name: value.double().numpy() for name, value in state.items()}
    return {module: numpy[f"{module}.lora_B.weight"] @ numpy[f"{module}.lora_A.weight"] for module in MODULES}


def norm(values: dict[str, np.ndarray]) -> float:
    return float(np.sqrt(sum((value**2).sum() for value in values.values())))


@pytest.fixture
def states() -> list[dict[str, torch.Tensor]]:
    return [random_state(seed) for seed in range(3)]


@given(st.floats(-3, 3), st.integers(0, 50))
def test_product_is_exact_on_b_a(scale: float, seed: int) -> None:
    states = [random_state(3 * seed + role) for role in range(3)]
    found = products(compose(*states, scale=scale, space="product"))
    task, target, source = map(products, states)
    for module in MODULES:
        wanted = task[module] + scale * (target[module] - source[module])
        assert np.linalg.norm(found[module] - wanted) <= 1e-6 * np.linalg.norm(wanted) + 1e-6


def test_product_has_rank_3r(states: list[dict[str, torch.Tensor]]) -> None:
    composed = compose(*states, scale=SCALE, space="product")
    for module, (out, into) in MODULES.items():
        assert composed[f"{module}.lora_A.weight"].shape == (3 * RANK, into)
        assert composed[f"{module}.lora_B.weight"].shape == (out, 3 * RANK)


def test_factors_are_element_wise(states: list[dict[str, torch.Tensor]]) -> None:
    composed = compose(*states, scale=SCALE, space="factors")
    task, target, source = states
    assert composed.keys() == task.keys()
    for name in task:
        torch.testing.assert_close(composed[name], task[name] + SCALE * (target[name] - source[name]))


def test_scale_0_is_the_task_adapter(states: list[dict[str, torch.Tensor]]) -> None:
    composed = compose(*states, scale=0, space="factors")
    assert all(torch.equal(composed[name], states[0][name]) for name in states[0])
    exact, task = products(compose(*states, scale=0, space="product")), products(states[0])
    for module in MODULES:
        np.testing.assert_allclose(exact[module], task[module], atol=1e-6)


def test_residuals_against_dense_matrices(states: list[dict[str, torch.Tensor]]) -> None:
    task, exact, element = (
        products(state)
        for state in (
            states[0],
            compose(*states, scale=SCALE, space="product"),
            compose(*states, scale=SCALE, space="factors"),
        )
    )
    tail = sum((np.linalg.svd(value)[1][RANK:] ** 2).sum() for value in exact.values())
    found = residuals(*states, scale=SCALE)
    assert found["factors"] == pytest.approx(norm({m: element[m] - exact[m] for m in MODULES}) / norm(exact), rel=1e-5)
    assert found["rank"] == pytest.approx(np.sqrt(tail) / norm(exact), rel=1e-5)
    assert found["shift"] == pytest.approx(norm({m: exact[m] - task[m] for m in MODULES}) / norm(task), rel=1e-5)


def test_nothing_is_lost_at_scale_0_or_where_target_is_source(states: list[dict[str, torch.Tensor]]) -> None:
    task, target, _ = states
    nothing = {"factors": 0, "rank": 0, "shift": 0}
    assert residuals(*states, scale=0) == nothing
    assert residuals(task, target, target, scale=SCALE) == nothing
    zero = dict.fromkeys(task, torch.zeros(10, 10))
    assert residuals(zero, zero, zero, scale=1) == nothing


def test_states_that_do_not_match_are_refused(states: list[dict[str, torch.Tensor]]) -> None:
    task, target, source = states
    with pytest.raises(UserError, match=r"m\.q_proj\.lora_A\.weight.*\(4, 10\), \(3, 10\)"):
        compose(task, random_state(1, rank=3), source, scale=1, space="product")
    with pytest.raises(UserError, match=r"m\.q_proj\.lora_A\.weight.*only one of"):
        compose(task, target, dict(list(source.items())[1:]), scale=1, space="factors")
    odd = {"m.embed.lora_embedding_A": torch.zeros(2, 2)}
    with pytest.raises(UserError, match=r"factor.*plain LoRA"):
        compose(odd, odd, odd, scale=1, space="product")


@pytest.fixture
def directories(tiny_generator: Path, tmp_path: Path) -> list[Path]:
    """Three random adapters as peft saves them, with a manifest that tells the seed."""
    for role in ROLES:
        base = AutoModelForCausalLM.from_pretrained(tiny_generator)
        model = get_peft_model(base, LoraConfig(r=RANK, lora_alpha=8, lora_dropout=0.1, target_modules="all-linear"))
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(parameter)
        model.save_pretrained(tmp_path / role)
        (tmp_path / role / "seedbed.json").write_text(json.dumps({"lora": {"seed": 42}, "language": role}))
    return [tmp_path / role for role in ROLES]


def deltas(model: PeftModel, adapter: str) -> dict[str, torch.Tensor]:
    layers = {name: module for name, module in model.named_modules() if hasattr(module, "get_delta_weight")}
    return {name: layer.get_delta_weight(adapter).detach() for name, layer in layers.items()}


def load_all(base: Path, directories: list[Path], composed: Path) -> PeftModel:
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), directories[0], adapter_name="task")
    for name, path in {"target": directories[1], "source": directories[2], "composed": composed}.items():
        model.load_adapter(path, adapter_name=name)
    return model


def test_the_composed_directory_loads_and_is_the_formula(
    tiny_generator: Path, directories: list[Path], tmp_path: Path
) -> None:
    manifest = compose_directories(*directories, Composition(scale=SCALE, space="product"), tmp_path / "composed", None)
    model = load_all(tiny_generator, directories, tmp_path / "composed")
    model.add_weighted_adapter(list(ROLES), [1.0, SCALE, -SCALE], "peft", combination_type="cat")
    task, target, source, composed, by_peft = (deltas(model, name) for name in (*ROLES, "composed", "peft"))
    assert len(composed) == 14
    for name in composed:
        wanted = task[name] + SCALE * (target[name] - source[name])
        assert (composed[name] - wanted).norm() <= 1e-6 * wanted.norm()
        assert (composed[name] - by_peft[name]).norm() <= 1e-6 * wanted.norm()

    config = json.loads((tmp_path / "composed" / "adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"], config["lora_dropout"]) == (12, 24, 0)
    assert manifest == json.loads((tmp_path / "composed" / "seedbed.json").read_text())
    assert manifest["parts"]["target"]["language"] == "target"
    assert manifest["files"]["adapter_model.safetensors"] == sha256(tmp_path / "composed" / "adapter_model.safetensors")
    assert 0 < manifest["residuals"]["rank"] < manifest["residuals"]["factors"]


def test_factors_keep_the_rank_and_make_the_same_bytes_twice(directories: list[Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        compose_directories(*directories, Composition(scale=SCALE, space="factors"), tmp_path / name, None)
    assert sha256(tmp_path / "a") == sha256(tmp_path / "b")
    config = json.loads((tmp_path / "a" / "adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"]) == (RANK, 8)
    states = [load_file(path / "adapter_model.safetensors") for path in directories]
    found = load_file(tmp_path / "a" / "adapter_model.safetensors")
    wanted = compose(*states, scale=SCALE, space="factors")
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lora_alpha": 16}, r"lora_alpha is 16.*is 8"),
        ({"base_model_name_or_path": "other"}, "base_model_name_or_path is 'other'"),
        ({"use_rslora": True}, "use_rslora is set"),
    ],
)
def test_directories_that_do_not_match_are_refused(
    directories: list[Path], tmp_path: Path, change: dict[str, object], message: str
) -> None:
    file = directories[1] / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(UserError, match=message):
        compose_directories(*directories, Composition(), tmp_path / "composed", None)
    assert not (tmp_path / "composed").exists()


def test_factors_of_other_seeds_are_refused(directories: list[Path], tmp_path: Path) -> None:
    (directories[2] / "seedbed.json").write_text(json.dumps({"lora": {"seed": 7}}))
    with pytest.raises(UserError, match=r"lora\.seed.*task 42.*source 7; use product"):
        compose_directories(*directories, Composition(space="factors"), tmp_path / "composed", None)
    compose_directories(*directories, Composition(space="product"), tmp_path / "composed", None)


def test_what_is_no_adapter_is_refused(directories: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nothing:.*adapter_config\.json; expected.*adapter"):
        compose_directories(
            directories[0], tmp_path / "nothing", directories[2], Composition(), tmp_path / "composed", None
        )
