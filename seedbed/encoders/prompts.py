"""Prompts before texts: the same for all; different ones for queries and documents; or one for each language.

SONAR's encoder reads `kaz_Cyrl` before every Kazakh text; the backbone's prefix is `{flores}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import NllbTokenizer, PreTrainedTokenizerFast

from seedbed.corpora.settings import DOCUMENT, QUERY, READ_AS, TEXT
from seedbed.encoders.settings import BEFORE, Prompts
from seedbed.io import UserError, read_json
from seedbed.languages import filled, placeholders, registry

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from sentence_transformers import SentenceTransformer

Prefix = str | Prompts | Mapping[str, str]
"""The prompt before a text: the same for all, by what the text is read as, or by language."""
ROLES = (QUERY, DOCUMENT, TEXT)
"""Names of an encoder's prompts: the first two are those that sentence-transformers and mteb look for; any other is a
language's."""
NAMES = {QUERY: (QUERY,), DOCUMENT: (DOCUMENT, "passage", "corpus")}
"""What models call their prompts, as sentence-transformers' `encode_query` and `encode_document` look for them."""
CONFIG = "config_sentence_transformers.json"
"""The file of a model that has its prompts."""


class _Config(BaseModel):
    """What of a model's file is read."""

    prompts: dict[str, str | None] | None = None
    default_prompt_name: str | None = None


def saved_prompts(model: Path) -> tuple[dict[str, str | None], str | None]:
    """The prompts in a model's own file, by their names, and the name of the default.

    Raises:
        UserError: no such file, or its prompts are not in the form of sentence-transformers.
    """
    file = model / CONFIG
    try:
        config = _Config.model_validate(read_json(file))
    except ValidationError:
        expected = "prompts: expected a mapping of names to texts, as sentence-transformers writes it"
        raise UserError(f"{file}: {expected}") from None
    return config.prompts or {}, config.default_prompt_name


def read_prompts(model: Path) -> Prompts:
    """The prompts in a model's own file; empty where the file has none.

    Prompts with other names, such as those of a task, are not used; `text` is the model's default prompt.

    Raises:
        UserError: the file's prompts are not in the form of sentence-transformers.
    """
    prompts, default = saved_prompts(model) if (model / CONFIG).is_file() else ({}, None)
    found = {role: next((prompts[name] for name in names if name in prompts), "") for role, names in NAMES.items()}
    found[TEXT] = prompts.get(default or "")
    # As they are: braces in them name no column of the registry.
    return Prompts.model_construct(**{role: prompt or "" for role, prompt in found.items()})


def plain_prompt(prefix: str | None, model: Path, read_as: str = TEXT) -> str:
    """The one prompt before all texts of a use: `prefix`, or if that is None, the prompt in the model's own file for
    texts that are read as `read_as` ("query", "document" or "text").

    Raises:
        UserError: as `read_prompts`.
    """
    return getattr(read_prompts(model), read_as) if prefix is None else prefix


def by_language(prefix: str, own: Mapping[str, str] | None = None) -> str | Mapping[str, str]:
    """Fill in the placeholders of a prefix, columns of the registry like `{flores}`, for each language.

    Args:
        own: language -> prefix, which replaces the one by the registry.

    Returns:
        Language -> prefix, of the languages that have all these columns, in the order of the registry, and of those in
        `own`. A prefix without placeholders is returned unchanged.
    """
    if not (columns := placeholders(prefix)):
        return prefix
    known = {code: filled(prefix, row) for code, row in registry().items() if all(row.get(name) for name in columns)}
    return known | dict(own or {})


def prompted(
    table: pd.DataFrame, names: Sequence[str], prefix: Mapping[str, str], languages: Mapping[str, str]
) -> pd.DataFrame:
    """The rows with the prompts before their texts, for an encoder whose prompt depends on the language.

    Args:
        table: columns of texts, maybe each with a column BEFORE of prompts (`batches.lay_out`); empty texts stay empty.
        names: possible names of columns of texts.
        prefix: language -> prompt.
        languages: column -> language, which has priority over BEFORE; `""`: the language of all other columns.

    Raises:
        UserError: there is no prefix for a column's language.
    """
    texts = {}
    for name in [name for name in names if name in table.columns]:
        if name not in languages and BEFORE + name in table.columns:
            before = table[BEFORE + name]
        else:
            before = prompt_of(prefix, languages.get(name, languages.get("", "")))
        texts[name] = (before + table[name]).where(table[name] != "", "")
    return table.assign(**texts)


def require_pooled(encoder: SentenceTransformer, prompts: Iterable[str]) -> None:
    """Check that an encoder pools prompts like texts, for a training that puts them into the texts.

    Raises:
        UserError: its pooling leaves out the prompts that `encode` puts before texts, and there are some.
    """
    if any(prompts) and not all(getattr(module, "include_prompt", True) for module in encoder):
        raise UserError(
            "prefix: the encoder's pooling leaves prompts out (include_prompt: false), and this training reads them as "
            "parts of texts; give an empty prefix, or another pooling than own"
        )


def prompt_of(prompts: Mapping[str, str], language: str, where: str = "prefix") -> str:
    """The prompt of a language; UserError: there is none."""
    if language not in prompts:
        lacking = f"no prompt for {language}" if language else "whose texts it reads is not given"
        raise UserError(
            f"{where}: {lacking}, and the prompt depends on the language; it has {len(prompts)} prompts, "
            f"such as that of {next(iter(prompts), 'none')}"
        )
    return prompts[language]


def set_prompts(encoder: SentenceTransformer, prefix: Prefix, language: str = "") -> SentenceTransformer:
    """Set the prompts of an encoder, which replace all that it has, in place; the encoder is returned.

    With `Prompts`, `encode_query` and `encode_document` put those of queries and documents before texts, and `encode`
    that of all other texts.

    With a prompt for each language, `encode(texts, prompt_name="kaz")` selects one, and NLLB's tokenizer puts no
    language token before a text; languages whose token it lacks have no prompt.

    Args:
        language: the language whose prompt is the default; empty, or a language without a prompt: no default prompt.
    """
    if isinstance(prefix, Prompts):
        if prefix.differ:
            encoder.prompts = {name: prompt for name, prompt in prefix if name != TEXT or prompt}
            encoder.default_prompt_name = TEXT if prefix.text else None
            return encoder
        prefix = prefix.text
    each = {} if isinstance(prefix, str) else _known(encoder, prefix)
    own = prefix if isinstance(prefix, str) else each.get(language, "")
    encoder.prompts = {**each, QUERY: own, DOCUMENT: own}
    encoder.default_prompt_name = DOCUMENT if own else None
    return encoder


def prompts_of(encoder: SentenceTransformer, columns: Sequence[str]) -> dict[str, str]:
    """Column of texts -> the encoder's prompt before them: by what they are read as (`READ_AS`), or the default one."""
    default = encoder.prompts.get(encoder.default_prompt_name) or ""
    return {name: encoder.prompts.get(READ_AS.get(name, ""), default) for name in columns}


def _known(encoder: SentenceTransformer, prompts: Mapping[str, str]) -> Mapping[str, str]:
    tokenizer = encoder.tokenizer
    if not isinstance(tokenizer, NllbTokenizer):
        return prompts
    tokens = tokenizer.get_vocab()
    encoder[0].processor = without_language(tokenizer)
    return {code: prompt for code, prompt in prompts.items() if prompt.strip() in tokens}


def without_language(tokenizer: NllbTokenizer) -> PreTrainedTokenizerFast:
    """NLLB's tokenizer without the language token that it puts before a text; it only adds the token of the end.

    A language code at the start of a text becomes the token of this language. So `kaz_Cyrl` and a text have the same
    tokens as the text alone has with `src_lang="kaz_Cyrl"`. The class is another, because NLLB's sets the language to
    English whenever it is loaded.
    """
    bare, end = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()), tokenizer.eos_token
    special = [(end, tokenizer.eos_token_id)]
    bare.post_processor = TemplateProcessing(single=f"$A {end}", pair=f"$A $B {end}", special_tokens=special)
    limits = {"model_max_length": tokenizer.model_max_length, "padding_side": tokenizer.padding_side}
    return PreTrainedTokenizerFast(tokenizer_object=bare, **tokenizer.special_tokens_map, **limits)


def set_language(encoder: SentenceTransformer, language: str, folder: Path) -> str:
    """Set the prompt of one language as the encoder's prompt of every text, and return it.

    If `language` is empty, it is the encoder's default prompt. `folder`, the encoder's, is for messages.

    Returns:
        The prompt; empty, with the encoder unchanged, if its prompts do not depend on the language.

    Raises:
        UserError: the encoder has no prompt for that language, or no default prompt if `language` is empty.
    """
    each = {name: prompt for name, prompt in encoder.prompts.items() if name not in ROLES}
    if not each:
        return ""
    prompt = "" if language else encoder.prompts[DOCUMENT]
    prompt = prompt or prompt_of(each, language, str(folder))
    set_prompts(encoder, prompt)
    return prompt
