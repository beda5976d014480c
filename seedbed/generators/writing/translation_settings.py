"""Settings of translators, who put texts into the pivot language, and of judges of what they wrote (LiRA, 4.1)."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seedbed.corpora.settings import Source
from seedbed.settings import Once, Settings, written

ASPECTS = ("semantic", "emotional", "pragmatic")
"""What a judge scores of a translation: fidelity to the meaning, to the emotion, to tone and use (LiRA, 4.1.2)."""
SCALE = tuple(range(1, 11))
"""The scores that a judge can give."""

Reads = Literal["prompt", "codes", "text"]
Answer = Literal["likelihood", "numbers"]


class Translator(Settings):
    """What translates texts into the pivot language: a generator, greedily, or files."""

    generator: str = ""
    """A name under `generators`: a chat model, a base model, or an encoder-decoder."""
    given: Source | None = None
    """Existing translations: columns `text` and `english`."""
    reads: Reads = "prompt"
    """Input. prompt: resources/prompts/translation.yaml around the text. codes: language tokens before text and output
    (NLLB, M2M100). text: only the text (OPUS-MT)."""
    code: Annotated[str, written(r"([^{}]|\{\w+\})+", "text with {columns} of the registry, like __{iso1}__")] = Field(
        "{flores}", min_length=1
    )
    """A language's token under `reads: codes`: `{flores}` of NLLB, `__{iso1}__` of M2M100."""
    adapter: bool = False
    """Use the generator's language adapter, trained with `language_data: translations`."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.generator) == bool(self.given):
            raise ValueError("give one of generator and given: who writes the translations, or where they are")
        if self.adapter and (self.given or self.reads != "prompt"):
            raise ValueError("adapter: of a generator that reads a prompt alone; leave it out")
        return self


class Judge(Settings):
    """A generator that scores translations from 1 to 10 on each aspect."""

    generator: str = Field(min_length=1)
    """A name under `generators`."""
    answer: Answer = "likelihood"
    """likelihood: the expectation over 1 to 10 by the model's probabilities (transformers, vllm). numbers: integers
    that it generates."""
    translators: Annotated[Once[str], Field(min_length=1)] | None = None
    """Whose translations it scores; left out, all translators'."""
