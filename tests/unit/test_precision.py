"""The number format of a machine, and where a study says which."""

import pytest
import torch

from seedbed import yamls
from seedbed.encoders.settings import Training
from seedbed.generators.settings import Generator
from seedbed.precision import precision
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe


def test_what_nobody_chose_is_what_the_machine_is_fast_in():
    assert Training().precision == "auto"
    assert Generator(source={"file": "x"}).dtype == "auto"


def test_the_papers_study_states_its_format():
    study = Study.model_validate(yamls.read("config.yaml"))
    assert {StudyRecipe.get(study, recipe).training.precision for recipe in study.recipes} == {"bfloat16"}
    writing = {
        name: generator.dtype for name, generator in study.generators.items() if generator.backend != "published"
    }
    assert {*writing.values()} == {"bfloat16"}


@pytest.mark.parametrize(("multiplies", "chosen"), [(True, "bfloat16"), (False, "float32")])
def test_a_gpu_that_emulates_bfloat16_computes_in_float32(monkeypatch, multiplies, chosen):
    """Before compute capability 8.0, PyTorch says that it is supported, and emulates it."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation or multiplies
    )
    assert precision("auto") == chosen and precision("bfloat16") == "bfloat16"


@pytest.mark.parametrize(
    ("amx", "able", "chosen"),
    [
        (True, {"cpu_name": "Intel(R) Xeon(R)", "avx512_bf16": True}, "bfloat16"),
        (False, {"cpu_name": "Intel(R) Xeon(R)", "avx512_bf16": True}, "float32"),
        (False, {"cpu_name": "AMD EPYC", "avx512_bf16": True}, "bfloat16"),
        (False, {"cpu_name": "AMD EPYC", "avx512_bf16": False}, "float32"),
        (False, {"cpu_name": "Neoverse"}, "float32"),
        (False, {}, "float32"),
    ],
)
def test_a_cpu_computes_in_what_was_measured_to_be_faster_there(monkeypatch, amx, able, chosen):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    assert precision("auto") == chosen
