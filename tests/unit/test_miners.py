"""config/miners.yaml against what is publicly known of the models' repositories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seedbed import model_files, yamls
from seedbed.io import UserError
from seedbed.study.backbone import StudyBackbone
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study


@pytest.fixture(scope="module")
def study() -> Study:
    return load(yamls.read("config/miners.yaml"))


def test_what_has_pickles_alone_is_converted_and_nothing_else(study: Study) -> None:
    models = {**study.backbones, **study.generators}
    converted = {name for name, model in models.items() if model.source and model.source.convert}
    assert converted == {"labse", "minilm", "xglm-564m", "xglm-2.9b", "mt0-3b"}


def test_in_context_is_as_the_papers_code_runs_it(study: Study) -> None:
    """Its scripts give E5 no prefix, and its class of NollySenti has three labels."""
    e5, bare = study.backbones["me5-large"], study.backbones["me5-large-bare"]
    assert e5.prefix == "query: " and bare == e5.updated({"prefix": "", "paper": "", "on_request": True})
    owners = {name: StudyBackbone.get(study, name).fetched_as for name, spec in study.backbones.items() if spec.source}
    shared = {name: owner for name, owner in owners.items() if owner != name}
    assert shared == {"me5-large-bare": "me5-large"}, "fetched once"
    for classifier in study.classifiers.values():
        assert not classifier.in_context or classifier.in_context.retriever.backbone == "me5-large-bare"
    offered = {name: task.labels for name, task in study.tasks.items() if task.labels}
    assert offered == {"nollysenti-icl": ["neutral"], "nollysenti-icl-xl": ["neutral"]}
    blocks = [block for table in study.tables for block in TablePlan.get(study, table).blocks]
    assert not any(block.backbone == "me5-large-bare" for block in blocks)


def modules(*names: str) -> list[dict[str, Any]]:
    folders = ["" if number == 0 else f"{number}_{name}" for number, name in enumerate(names)]
    return [
        {"idx": number, "name": str(number), "path": folder, "type": f"sentence_transformers.models.{name}"}
        for number, (name, folder) in enumerate(zip(names, folders, strict=True))
    ]


XLM_R = {"bos_token": "<s>", "sp_model_kwargs": {}, "tokenizer_class": "XLMRobertaTokenizer", "model_max_length": 512}
VERSIONS = {"__version__": {"sentence_transformers": "2.0.0", "transformers": "4.7.0", "pytorch": "1.9.0+cu102"}}
PUBLISHED: dict[str, dict[str, Any]] = {
    "labse": {
        "modules.json": modules("Transformer", "Pooling", "Dense", "Normalize"),
        "1_Pooling/config.json": {"word_embedding_dimension": 768, "pooling_mode_cls_token": True},
        "2_Dense/config.json": {"in_features": 768, "out_features": 768, "bias": True,
                                "activation_function": "torch.nn.modules.activation.Tanh"},
        "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
        "config_sentence_transformers.json": VERSIONS,
        "config.json": {"model_type": "bert", "directionality": "bidi", "pooler_type": "first_token_transform"},
        "tokenizer_config.json": {"do_lower_case": False, "strip_accents": None, "tokenize_chinese_chars": True,
                                  "name_or_path": "old_models/LaBSE/0_Transformer", "special_tokens_map_file":
                                  "old_models/LaBSE/0_Transformer/special_tokens_map.json"},
    },
    "cmlm, e5": {
        "modules.json": modules("Transformer", "Pooling", "Normalize"),
        "1_Pooling/config.json": {"word_embedding_dimension": 768, "pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
        "config.json": {"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"]},
        "tokenizer_config.json": XLM_R | {"special_tokens_map_file": None},
        "onnx/config.json": {"model_type": "xlm-roberta", "_name_or_path": "intfloat/multilingual-e5-large"},
        "onnx/tokenizer_config.json": XLM_R,
    },
    "mpnet": {
        "modules.json": modules("Transformer", "Pooling"),
        "sentence_bert_config.json": {"max_seq_length": 128, "do_lower_case": False},
        "config_sentence_transformers.json": VERSIONS,
        "config.json": {"model_type": "xlm-roberta", "_name_or_path": "old_models/mpnet/0_Transformer"},
        "tokenizer_config.json": XLM_R | {"special_tokens_map_file": "old_models/mpnet/special_tokens_map.json"},
    },
    "minilm, glot500, xlm-r": {
        "config.json": {"model_type": "bert", "tokenizer_class": "XLMRobertaTokenizer"},
        "tokenizer_config.json": {},
    },
    "bloomz, xglm": {
        "config.json": {"model_type": "bloom", "architectures": ["BloomForCausalLM"], "slow_but_exact": False},
        "tokenizer_config.json": {"name_or_path": "bigscience/tokenizer", "special_tokens_map_file": None,
                                  "tokenizer_class": "BloomTokenizerFast", "padding_side": "left"},
        "generation_config.json": {"_from_model_config": True},
    },
    "mt0, aya-101": {
        "config.json": {"model_type": "mt5", "architectures": ["MT5ForConditionalGeneration"], "tie_word_embeddings": False},
        "pytorch_model.bin.index.json": {"metadata": {"total_size": 14970470400}, "weight_map": {
            "shared.weight": "pytorch_model-00001-of-00002.bin"}},
        "tokenizer_config.json": {"tokenizer_file": None, "sp_model_kwargs": {}, "special_tokens_map_file":
                                  "/home/patrick/.cache/torch/transformers/685ac0ca8568ec593a48b61b0a3c272b"},
    },
    "aya-23, gemma, llama, command-r": {
        "config.json": {"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8.0}, "torch_dtype": "bfloat16"},
        "model.safetensors.index.json": {"metadata": {}, "weight_map": {"a": "model-00001-of-00004.safetensors"}},
        "tokenizer_config.json": {"added_tokens_decoder": {"0": {"content": "<PAD>"}}, "clean_up_tokenization_spaces": False,
                                  "chat_template": [{"name": "default", "template": "{{ bos_token }}"}]},
        "original/params.json": {"dim": 4096},
    },
}  # fmt: skip
"""By kind, the files that say most (seen on pages of the hub, or as their libraries write them)."""


def written(folder: Path, files: dict[str, Any]) -> Path:
    for name, value in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value))
    return folder


@pytest.mark.parametrize("kind", PUBLISHED)
def test_what_the_models_say_of_themselves_is_taken(tmp_path: Path, kind: str) -> None:
    model_files.check(written(tmp_path, PUBLISHED[kind]))


def test_and_is_looked_at(tmp_path: Path) -> None:
    for name, files in PUBLISHED.items():
        folder = written(tmp_path / name, files)
        (folder / "config.json").write_text(json.dumps(files["config.json"] | {"_attn_implementation": "some/kernel"}))
        with pytest.raises(UserError, match="is code from elsewhere"):
            model_files.check(folder)
