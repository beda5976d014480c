"""What stands before a text because of its language: a prefix with columns of the language registry.

SONAR's encoder reads `kaz_Cyrl` before every Kazakh text; the backbone's prefix is `{flores}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import NllbTokenizer, PreTrainedTokenizerFast

from seedbed.io import UserError
from seedbed.languages import filled, placeholders, registry

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from sentence_transformers import SentenceTransformer

Prefix = str | Mapping[str, str]
"""What stands before a text: the same before each, or by language."""
QUERY, DOCUMENT = "query", "document"
"""The prompts that sentence-transformers and mteb look for; any other of an encoder is a language's."""
BEFORE = "before "
"""What the columns begin with that say what stands before each text of another column."""


def by_language(prefix: str, own: Mapping[str, str] | None = None) -> Prefix:
    """A prefix as it is, or for each language, if it has placeholders: columns of the registry, like `{flores}`.

    Args:
        own: language -> prefix, where it is another than the registry's columns make.

    Returns:
        Language -> prefix, of those that have all columns, in the order of the registry.
    """
    if not (columns := placeholders(prefix)):
        return prefix
    known = {code: filled(prefix, row) for code, row in registry().items() if all(row.get(name) for name in columns)}
    return known | dict(own or {})


def prompted(
    table: pd.DataFrame, names: Sequence[str], prefix: Prefix, languages: Mapping[str, str]
) -> tuple[pd.DataFrame, str]:
    """The rows as an encoder reads them, where what stands before a text hangs on its language; and what is still to be
    put before all of them.

    Args:
        table: columns of texts, maybe each with one of BEFORE (`batches.lay_out`); an empty text stays empty.
        names: what columns of texts can be called.
        prefix: if it is the same for all, nothing is done: the encoder puts it there.
        languages: of columns, whatever BEFORE says; under `""` of those that neither knows, and of the encoder.

    Raises:
        UserError: there is no prefix for a column's language.
    """
    if isinstance(prefix, str):
        return table, prefix
    told = {}
    for name in [name for name in names if name in table.columns]:
        if name not in languages and BEFORE + name in table.columns:
            before = table[BEFORE + name]
        else:
            before = prompt_of(prefix, languages.get(name, languages.get("", "")))
        told[name] = (before + table[name]).where(table[name] != "", "")
    return table.assign(**told), ""


def prompt_of(prompts: Mapping[str, str], language: str, where: str = "prefix") -> str:
    """The prompt of a language; UserError: there is none."""
    if language not in prompts:
        lacking = f"no prompt for {language}" if language else "whose texts it reads is not told"
        raise UserError(
            f"{where}: {lacking}, and what stands before a text hangs on its language; it has {len(prompts)} prompts, "
            f"like that of {next(iter(prompts), 'none')}"
        )
    return prompts[language]


def put(encoder: SentenceTransformer, prefix: Prefix, language: str = "") -> SentenceTransformer:
    """The encoder, which puts a prefix before every text; any prompts of its own are gone.

    By language it has a prompt of each, `encode(texts, prompt_name="kaz")`, and the tokenizer puts no language of its
    own before a text; languages whose token a tokenizer of NLLB lacks have no prompt.

    Args:
        language: whose prompt is taken where none is named; empty, or one that has none: nothing stands there then.
    """
    each = {} if isinstance(prefix, str) else _known(encoder, prefix)
    own = prefix if isinstance(prefix, str) else each.get(language, "")
    encoder.prompts = {**each, QUERY: own, DOCUMENT: own}
    encoder.default_prompt_name = DOCUMENT if own else None
    return encoder


def _known(encoder: SentenceTransformer, prompts: Mapping[str, str]) -> Mapping[str, str]:
    tokenizer = encoder.tokenizer
    if not isinstance(tokenizer, NllbTokenizer):
        return prompts
    tokens = tokenizer.get_vocab()
    encoder[0].processor = without_language(tokenizer)
    return {code: prompt for code, prompt in prompts.items() if prompt.strip() in tokens}


def without_language(tokenizer: NllbTokenizer) -> PreTrainedTokenizerFast:
    """The tokenizer, which ends a text and puts no language before it: a code that the text begins with is its token.

    So its tokens of `kaz_Cyrl` and a text are those of the text where `src_lang` is `kaz_Cyrl`. It is of a class
    without a language, since that of NLLB takes English wherever it is opened.
    """
    bare, end = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()), tokenizer.eos_token
    special = [(end, tokenizer.eos_token_id)]
    bare.post_processor = TemplateProcessing(single=f"$A {end}", pair=f"$A $B {end}", special_tokens=special)
    limits = {"model_max_length": tokenizer.model_max_length, "padding_side": tokenizer.padding_side}
    return PreTrainedTokenizerFast(tokenizer_object=bare, **tokenizer.special_tokens_map, **limits)


def speak(encoder: SentenceTransformer, language: str, folder: Path) -> str:
    """Have an encoder read one language: the prompt that stands before every text from now on.

    Args:
        language: of the texts; empty: the one that it takes where none is named.
        folder: of the encoder, for what is said.

    Returns:
        The prompt; empty where what stands before a text does not hang on its language, and nothing is done.

    Raises:
        UserError: it has no prompt for that language.
    """
    each = {name: prompt for name, prompt in encoder.prompts.items() if name not in (QUERY, DOCUMENT)}
    if not each:
        return ""
    prompt = "" if language else encoder.prompts[DOCUMENT]
    prompt = prompt or prompt_of(each, language, str(folder))
    put(encoder, prompt)
    return prompt
