"""Weights are those of the file or the model is refused, and what cannot be opened is told in one line."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers.sentence_transformer.modules import Dense
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    BartModel,
    BertConfig,
    BertModel,
    ModernBertConfig,
    PreTrainedConfig,
    PreTrainedModel,
    XLMRobertaConfig,
)

from scripts import train_task_adapter
from seedbed.classifiers import adapters, heads
from seedbed.classifiers.likelihood import label_scores
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.encoders.models import loading
from seedbed.generators.settings import Generator, Lora
from seedbed.generators.weights.fetch import fetch
from seedbed.generators.weights.models import open_adapter, open_language_model
from seedbed.generators.writing.backends import open_backend
from seedbed.io import UserError
from tests import tiny
from tests.programs import call

Edit = Callable[[Path], object]
GENERATOR = Generator.model_validate({"source": {"file": "x"}, "prompts": "plain", "dtype": "float32"})
PAIR = [{"premise": "yara", "hypothesis": "mata"}]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backbone, an encoder of it with a dense layer, and a generator."""
    folder = tmp_path_factory.mktemp("models")
    encoder = loading.load(tiny.backbone(folder / "backbone"), pooling="mean")
    encoder.append(Dense(32, 8))
    encoder.save_pretrained(str(folder / "encoder"), create_model_card=False)
    tiny.generator(folder / "generator")
    return folder


def weights(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Edit:
    def edit(model: Path) -> None:
        file = model / "model.safetensors"
        save_file(change(load_file(file)), file, metadata={"format": "pt"})

    return edit


def without(ending: str) -> Edit:
    return weights(lambda state: {key: value for key, value in state.items() if not key.endswith(ending)})


def said(file: str, **changes: object) -> Edit:
    return lambda model: (model / file).write_text(json.dumps(json.loads((model / file).read_text()) | changes))


prefixed = weights(lambda state: {f"module.{key}": value for key, value in state.items()})
UNFIT = {
    "prefix": (prefixed, r"its \*.safetensors lack \S+ \(and \d+ more\); expected weights as save_pretrained"),
    "one missing": (without("layers.1.mlp.up_proj.weight"), r"lack \S*layers.1.mlp.up_proj.weight; expected"),
    "another shape": (said("config.json", intermediate_size=48), r"has the shape \(.*64.*\).*and \(.*48.*more\)"),
}
UNREADABLE = {
    "model_type": said("config.json", model_type="nope"),
    "hidden_size": said("config.json", hidden_size="x"),
    "weights": lambda model: (model / "model.safetensors").write_bytes(b"abc"),
    "tokenizer": lambda model: (model / "tokenizer.json").write_text("{"),
}


def open_encoder(folder: Path) -> object:
    return loading.open_encoder(folder)


def load(folder: Path) -> object:
    return loading.load(folder, pooling="mean")


def write(folder: Path) -> object:
    return open_backend(GENERATOR, folder)


def judge(folder: Path) -> object:
    return label_scores(folder, PAIR, adapter=None, language="Hausa", style="plain")


def classify(folder: Path) -> object:
    return heads.load(AutoModelForSequenceClassification, folder, num_labels=3)


OPENERS = {"backbone": [load, classify], "encoder": [open_encoder, load], "generator": [write, judge, load]}
WAYS = [(kind, opener) for kind, openers in OPENERS.items() for opener in openers]


@pytest.mark.parametrize("fault", UNFIT)
@pytest.mark.parametrize(("kind", "opener"), WAYS)
def test_weights_that_do_not_fit_are_refused(models: Path, tmp_path: Path, kind: str, opener: Edit, fault: str) -> None:
    model = Path(shutil.copytree(models / kind, tmp_path / "model"))
    edit, line = UNFIT[fault]
    if fault == "one missing" and kind != "generator":
        edit, line = without("layer.1.output.dense.bias"), r"lack \S*encoder.layer.1.output.dense.bias; expected"
    edit(model)
    with pytest.raises(UserError, match=line) as caught:
        opener(model)
    assert str(caught.value).startswith(str(model)) and "\n" not in str(caught.value)


@pytest.mark.parametrize("fault", UNREADABLE)
@pytest.mark.parametrize(("kind", "opener"), [way for way in WAYS if way != ("backbone", classify)])
def test_what_cannot_be_opened_is_told_in_one_line(
    models: Path, tmp_path: Path, kind: str, opener: Edit, fault: str
) -> None:
    model = Path(shutil.copytree(models / kind, tmp_path / "model"))
    UNREADABLE[fault](model)
    with pytest.raises(UserError, match=r"model: cannot be opened.*again") as caught:
        opener(model)
    assert "\n" not in str(caught.value)


def test_a_pooling_that_does_not_exist_is_told_in_one_line(models: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(models / "encoder", tmp_path / "model"))
    said("1_Pooling/config.json", pooling_mode="nope", pooling_mode_mean_tokens=False)(model)
    with pytest.raises(UserError, match=r"^\S*model: cannot be opened \(ValueError"):
        loading.open_encoder(model)


@pytest.mark.parametrize("config", [BertConfig, XLMRobertaConfig, ModernBertConfig])
@pytest.mark.parametrize("head", [True, False])
def test_weights_that_lack_or_have_a_head_or_a_pooler_are_good(
    models: Path, tmp_path: Path, config: type[PreTrainedConfig], head: bool
) -> None:
    kind = AutoModelForMaskedLM if head else loading.MODEL_MAPPING[config]
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    settings = config(vocab_size=300, max_position_embeddings=64, pad_token_id=1, **sizes)
    model = kind.from_config(settings) if head else kind(settings)
    model.save_pretrained(tmp_path)
    for file in (models / "backbone").glob("tokenizer*"):
        shutil.copy(file, tmp_path)
    assert load(tmp_path) and classify(tmp_path)


def test_an_encoder_that_was_saved_without_its_pooler_by_others_is_good(models: Path, tmp_path: Path) -> None:
    """Its files do not say so: sentence-transformers then adds one of random numbers, which no module reads."""
    model = Path(shutil.copytree(models / "encoder", tmp_path / "model"))
    file = model / "sentence_bert_config.json"
    file.write_text(json.dumps({key: value for key, value in json.loads(file.read_text()).items() if "kw" not in key}))
    wanted = loading.open_encoder(models / "encoder").encode(["yara"])
    np.testing.assert_array_equal(loading.open_encoder(model).encode(["yara"]), wanted)


def test_an_encoder_that_has_no_pooler_is_not_said_to_lack_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """transformers would log that random numbers are in its place, and that they are to be trained."""
    loading.load(tiny.backbone(tmp_path / "tiny"), pooling="mean").save_pretrained(str(tmp_path / "saved"))
    caplog.clear()
    said = logging.getLogger("transformers.modeling_utils")
    said.addHandler(caplog.handler)
    try:
        loading.load(tmp_path / "saved", pooling="mean")
        loading.load(tmp_path / "saved", pooling="own")
    finally:
        said.removeHandler(caplog.handler)
    assert not caplog.records


def test_other_models_whose_weights_are_tied_are_good(tmp_path: Path, models: Path) -> None:
    assert load(tiny.encoder_decoder(tmp_path)) and write(tmp_path) and load(models / "generator")
    BertModel(BertConfig.from_pretrained(models / "backbone"))  # the configuration is as it was


def ends_texts(folder: Path) -> Path:
    """A copy of a tokenizer with an end of texts, as XLM-R's: without one no text could be generated."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.eos_token = "</s>"
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("config", [BertConfig, XLMRobertaConfig, ModernBertConfig])
@pytest.mark.parametrize("opener", [write, judge, open_language_model])
def test_an_encoder_generates_nothing(
    models: Path, tmp_path: Path, config: type[PreTrainedConfig], opener: Edit
) -> None:
    """transformers opens BERT and XLM-R as language models, with all of their weights."""
    model = ends_texts(Path(shutil.copytree(models / "backbone", tmp_path / "model")))
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    settings = config(vocab_size=300, pad_token_id=1, **sizes)
    AutoModelForMaskedLM.from_config(settings).save_pretrained(model)
    found = rf"^{model}: {settings.model_type} is an encoder, and generates nothing; take a language model$"
    with pytest.raises(UserError, match=found):
        opener(model)


def test_a_bert_that_is_a_decoder_generates(models: Path, tmp_path: Path) -> None:
    model = ends_texts(Path(shutil.copytree(models / "backbone", tmp_path / "model")))
    said("config.json", is_decoder=True)(model)
    assert write(model)


@pytest.mark.parametrize("kind", [BartForConditionalGeneration, BartModel])
def test_an_encoder_decoder_is_no_encoder(models: Path, tmp_path: Path, kind: type[PreTrainedModel]) -> None:
    """Vectors of BART would be its decoder's, without a word; of NLLB no name fits its encoder's."""
    bart = Path(shutil.copytree(models / "backbone", tmp_path / "bart"))
    sizes = {f"{side}_{what}": 2 for side in ("encoder", "decoder") for what in ("layers", "attention_heads")}
    kind(BartConfig(vocab_size=300, d_model=32, encoder_ffn_dim=64, decoder_ffn_dim=64, **sizes)).save_pretrained(bart)
    for model in (bart, tiny.translator(tmp_path / "translator")):
        with pytest.raises(UserError, match=r"(bart|m2m_100) is an encoder-decoder, such as translators are; take an"):
            load(model)


@pytest.mark.parametrize("pooling", ["cls", "cls_mlp", "cls_mlp_train"])
def test_the_first_token_of_a_language_model_is_no_vector_of_its_text(models: Path, pooling: str) -> None:
    with pytest.raises(UserError, match=f"generator: training.pooling {pooling}: gemma3_text reads from left to right"):
        loading.load(models / "generator", pooling=pooling)
    assert loading.load(models / "backbone", pooling=pooling)


def test_a_head_of_another_backbone_is_refused(models: Path, tmp_path: Path) -> None:
    save_file({"classifier.weight": torch.zeros(3, 32), "other.bias": torch.zeros(3)}, tmp_path / adapters.HEAD)
    with pytest.raises(UserError, match=r"head.safetensors: \S+ is in only one"):
        adapters.label_scores(models / "backbone", PAIR, head=tmp_path, adapter=None, seed=0)


def test_models_and_adapters_are_checked_again_when_they_are_opened(models: Path, tmp_path: Path) -> None:
    foreign = Path(shutil.copytree(models / "generator", tmp_path / "model"))
    said("config.json", _attn_implementation="some/kernel")(foreign)
    lora = Lora(examples=1).model_dump_json()
    (tmp_path / "triplets.tsv").write_text("id\tanchor\tpositive\tnegative\n1\ta\tb\tc\n")
    options = {"triplets": tmp_path / "triplets.tsv", "polarity": "both", "base": foreign, "lora": lora}
    options |= {"language": "English", "style": "plain", "name": "x", "dtype": "float32"}
    options |= {"output": tmp_path / "out", "state": tmp_path / "state"}
    for opener in (write, judge, open_language_model):
        with pytest.raises(UserError, match="is code from elsewhere"):
            opener(foreign)
    with pytest.raises(UserError, match="is code from elsewhere"):
        call(train_task_adapter, [part for name, value in options.items() for part in (f"--{name}", str(value))])
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter_config.json").write_text('{"peft_type": "LORA", "megatron_config": {"a": 1}}')
    with pytest.raises(UserError, match="only plain LoRA adapters"):
        open_adapter(None, tmp_path / "adapter")
    with pytest.raises(UserError, match="only plain LoRA adapters"):
        open_backend(GENERATOR, models / "generator", [tmp_path / "adapter"])


def test_weights_of_another_module_do_not_stand_for_the_transformers(models: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(models / "encoder", tmp_path / "model"))
    (model / "model.safetensors").unlink()
    assert [*model.rglob("*.safetensors")]
    with pytest.raises(UserError, match="no weights in safetensors"):
        fetch(Source(file=str(model)), Store(tmp_path / "downloads", tmp_path / "lock.json"), tmp_path / "out")
