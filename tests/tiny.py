"""Tiny real models and texts, built on the spot: what the tests run the whole graph on."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MT5Config,
    MT5ForConditionalGeneration,
    NllbTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.models.m2m_100.modeling_m2m_100 import M2M100Encoder

WORDS = {
    "hau": "yara mata maza dalibai malamai suna sun za su zuwa dawo karatu kasuwa gona gida makaranta yau gobe jiya safe dare ruwa abinci",
    "swh": "watoto wanawake wanaume wanafunzi walimu wanaenda walirudi watasoma sokoni shambani nyumbani shuleni leo kesho jana asubuhi usiku maji chakula",
    "hin": "bachche mahila purush chhatra shikshak gaye aaye padha bazaar khet ghar vidyalay aaj kal parson subah raat pani khana",
    "tel": "pillalu adavaallu magavaallu vidyarthulu upadhyayulu vellaru vacharu chadivaru angadi polam illu badi ivala repu ninna udayam rathri neeru",
    "fra": "les enfants femmes hommes vont reviennent lisent au marche champ maison ecole demain hier matin soir eau pain livre",
    "eng": "children women men students teachers go came back read the market farm house school today tomorrow yesterday morning night water food",
}  # fmt: skip


def sentences(lang: str, count: int, seed: int = 0) -> list[str]:
    """Distinct word salads of a language: enough for a language model of two layers."""
    draw = random.Random(f"{lang}{seed}")
    found: dict[str, None] = {}
    while len(found) < count:
        found[" ".join(draw.sample(WORDS[lang].split(), 6)).capitalize()] = None
    return list(found)


def texts() -> Iterator[str]:
    """What the tiny tokenizers are trained on: not all languages, since what a random model writes hangs on them."""
    for lang in ("hau", "swh", "fra", "eng"):
        yield from sentences(lang, 50)
    yield "Premise: Entailment (Hausa): Contradiction (English): Input: Output: 0123456789 \n"


def pairs(lang: str, count: int, seed: int = 0) -> list[dict[str, str]]:
    """Labelled pairs whose label can be learnt: a word of the hypothesis names it, in each language another."""
    draw = random.Random(f"pairs {lang}{seed}")
    words = WORDS[lang].split()
    signs = dict(zip(("entailment", "neutral", "contradiction"), words[::5], strict=False))
    others = sorted({*words} - {*signs.values()})
    labels = [draw.choice(list(signs)) for _ in range(count)]
    return [
        {
            "id": str(number),
            "premise": " ".join(draw.sample(others, 4)),
            "hypothesis": " ".join([signs[label]] * 3),
            "label": label,
        }
        for number, label in enumerate(labels)
    ]


def generator(directory: Path, **sizes: int) -> Path:
    """A Gemma 3 of two layers with random weights and a byte-level BPE tokenizer; `sizes` are of its config."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts(), trainer)
    names = {"pad_token": "<pad>", "eos_token": "<eos>", "bos_token": "<bos>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(directory)
    torch.manual_seed(0)
    usual = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
    }  # fmt: skip
    config = Gemma3TextConfig(
        vocab_size=tokenizer.get_vocab_size(), **usual | sizes, max_position_embeddings=2048, sliding_window=128,
        pad_token_id=0, eos_token_id=1, bos_token_id=2,
    )  # fmt: skip
    Gemma3ForCausalLM(config).save_pretrained(directory)
    return directory


ENDS = [f"{mark}{lines}" for mark in ".?!" for lines in ("Ċ", "ĊĊ")]
"""Tokens of byte-level vocabularies that end a sentence and its line."""


def ending(generator: Path, directory: Path) -> Path:
    """A copy of a tiny generator, of whose last merges each spells such an end: so it often writes one."""
    shutil.copytree(generator, directory)
    file = directory / "tokenizer.json"
    content = json.loads(file.read_text())
    last = sorted(content["model"]["vocab"], key=content["model"]["vocab"].get)[-10 * len(ENDS) :]
    for place, name in enumerate(last):
        number = content["model"]["vocab"].pop(name)
        content["model"]["vocab"][ENDS[place % len(ENDS)] + "Ċ" * 2 * (place // len(ENDS))] = number
    gone = {*last}
    content["model"]["merges"] = [pair for pair in content["model"]["merges"] if not {*pair, "".join(pair)} & gone]
    file.write_text(json.dumps(content))
    return directory


def backbone(directory: Path) -> Path:
    """A BERT of two layers with random weights, a head for masked words and a Unigram tokenizer."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>"}
    names["mask_token"] = "<mask>"
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, model_max_length=64)
    fast.save_pretrained(directory)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(fast), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=64, pad_token_id=1,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(directory)
    return directory


def encoder_decoder(directory: Path) -> Path:
    """An mT5 of two layers each with random weights and a Unigram tokenizer that ends texts with EOS."""
    special = ["<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    fast.save_pretrained(directory)
    torch.manual_seed(0)
    config = MT5Config(
        vocab_size=len(fast), d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, decoder_start_token_id=0,
        pad_token_id=0, eos_token_id=1, initializer_factor=2.0,
    )  # fmt: skip
    MT5ForConditionalGeneration(config).save_pretrained(directory)
    return directory


def translator(directory: Path) -> Path:
    """NLLB's architecture, two layers each with random weights, and a Unigram tokenizer with a token a language."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    codes = ["eng_Latn", "hau_Latn", "swh_Latn"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, additional_special_tokens=codes)
    fast.save_pretrained(directory)
    torch.manual_seed(0)
    config = M2M100Config(
        vocab_size=len(fast), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=256,
        decoder_start_token_id=2, init_std=0.5,
    )  # fmt: skip
    M2M100ForConditionalGeneration(config).save_pretrained(directory)
    return directory


def sentencepiece(directory: Path, *names: str) -> dict[str, int]:
    """Files of a tiny Unigram model, as older tokenizers read it, and the numbers of its pieces after <s>, <pad>, ..."""
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        with (directory / name).open("wb") as file:
            SentencePieceTrainer.train(
                sentence_iterator=texts(), model_writer=file, vocab_size=200, minloglevel=2, hard_vocab_limit=False
            )
    read = SentencePieceProcessor(model_file=str(directory / names[0]))
    pieces = [read.id_to_piece(number) for number in range(read.get_piece_size())]
    words = [piece for piece in pieces if piece not in ("<s>", "</s>", "<unk>")]
    return {piece: number for number, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", *words])}


def opus(directory: Path) -> Path:
    """OPUS-MT's architecture, two layers each with random weights, and its tokenizer of two sentencepiece models; its
    weights are a pickle."""
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    vocabulary = sentencepiece(directory, "source.spm", "target.spm")
    (directory / "vocab.json").write_text(json.dumps(vocabulary))
    MarianTokenizer(
        source_spm=str(directory / "source.spm"), target_spm=str(directory / "target.spm"),
        vocab=str(directory / "vocab.json"), source_lang="mul", target_lang="en",
    ).save_pretrained(directory)  # fmt: skip
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=len(vocabulary), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=256,
        pad_token_id=1, eos_token_id=2, decoder_start_token_id=1, forced_eos_token_id=None, init_std=0.5,
    )  # fmt: skip
    model = MarianMTModel(config)
    model.generation_config.bad_words_ids = [[1]]
    return pickled(model, directory)


def m2m(directory: Path) -> Path:
    """M2M100's architecture and its tokenizer, whose language tokens stand in no vocabulary; its weights are a pickle."""
    from transformers import M2M100Tokenizer

    vocabulary = sentencepiece(directory, "sentencepiece.bpe.model")
    (directory / "vocab.json").write_text(json.dumps(vocabulary))
    tokenizer = M2M100Tokenizer(str(directory / "vocab.json"), str(directory / "sentencepiece.bpe.model"))
    tokenizer.save_pretrained(directory)
    torch.manual_seed(0)
    config = M2M100Config(
        vocab_size=len(vocabulary) + 110, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=256,
        decoder_start_token_id=2, init_std=0.5,
    )  # fmt: skip
    return pickled(M2M100ForConditionalGeneration(config), directory)


def pickled(model: PreTrainedModel, directory: Path) -> Path:
    """The model as older ones stand on the hub: a pickle of its weights beside its configuration."""
    model.config.save_pretrained(directory)
    model.generation_config.save_pretrained(directory)
    torch.save(model.state_dict(), directory / "pytorch_model.bin")
    return directory


def nllb_tokenizer(codes: tuple[str, ...]) -> NllbTokenizer:
    """NLLB's tokenizer: letters but q, x and z, two merges, and a token a language, by its code."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *"abcdefghijklmnoprstuvwy", "▁l", "lo"]
    vocabulary = {piece: place for place, piece in enumerate(pieces)}
    return NllbTokenizer(vocab=vocabulary, merges=[("▁", "l"), ("l", "o")], additional_special_tokens=[*codes])


def sonar(directory: Path, codes: tuple[str, ...], kind: type[PreTrainedModel] = M2M100Encoder) -> Path:
    """The encoder half of a translation model, as SONAR is one, or another `kind`: random weights, no dropout."""
    tokenizer = nllb_tokenizer(codes)
    torch.manual_seed(1)
    config = M2M100Config(
        vocab_size=len(tokenizer), d_model=16, dropout=0.0, encoder_layers=2, decoder_layers=1, encoder_ffn_dim=32,
        decoder_ffn_dim=32, encoder_attention_heads=2, decoder_attention_heads=2, max_position_embeddings=64,
        pad_token_id=1,
    )  # fmt: skip
    kind(config).save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory
