"""Settings of translators, who put texts into the pivot language, and of judges of what they wrote (LiRA, 4.1)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seedbed.corpora.settings import Source
from seedbed.settings import Once, Settings

ASPECTS = ("semantic", "emotional", "pragmatic")
"""What a judge scores of a translation: fidelity to the meaning, to the emotion, to tone and use (LiRA, 4.1.2)."""
SCALE = tuple(range(1, 11))
"""The scores that a judge can give."""


class Translator(Settings):
    """Who puts texts into the pivot language, one candidate a text: a generator, which writes greedily, or files."""

    generator: str = ""
    """A name under `generators`: a chat model, a base model, or an encoder-decoder."""
    given: Source | None = None
    """Translations that are there: columns `text` and `english`, as a template over the registry."""
    reads: Literal["prompt", "codes", "text"] = "prompt"
    """prompt: the words of resources/prompts/translation.yaml around the text. codes: the text after its language's
    token, and what is written begins with the pivot's (NLLB, M2M100). text: the text alone (OPUS-MT)."""
    code: str = Field("{flores}", min_length=1)
    """What a language's token is called under `reads: codes`, as a template over the registry: `{flores}` of NLLB,
    `__{iso1}__` of M2M100."""
    adapter: bool = False
    """Write with the generator's language adapter of the text's language, which has learnt to translate: the generator
    has `language_data: translations`."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.generator) == bool(self.given):
            raise ValueError("give one of generator and given: who writes the translations, or where they are")
        if self.adapter and (self.given or self.reads != "prompt"):
            raise ValueError("adapter: of a generator that reads a prompt alone; leave it out")
        return self


class Judge(Settings):
    """Who scores translations from 1 to 10 on each aspect: a generator."""

    generator: str = Field(min_length=1)
    """A name under `generators`."""
    answer: Literal["likelihood", "numbers"] = "likelihood"
    """likelihood: the expectation over 1 to 10 by the model's own probabilities; backend transformers alone. numbers:
    whole numbers that it writes."""
    translators: Annotated[Once[str], Field(min_length=1)] | None = None
    """Whose candidates it judges; left out, those of all translators."""
