"""Settings of in-context classification. A module of its own: what a generator writes depends on none of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seedbed.settings import Settings


class Answering(Settings):
    """How a language model is asked for a label, and how it answers (MINERS, section 2.2 and appendix A.5)."""

    answer: Literal["likelihood", "generation"] = "likelihood"
    """likelihood: the label with the greatest mean log-probability of its tokens; backend transformers alone.
    generation: what the model writes, with the labels named in the prompt."""
    instruct: bool = False
    """Ask for the label alone, as MINERS does of all models but BLOOMZ and Aya-23."""
    bos: bool = False
    """Begin a prompt of `prompts: plain` with BOS. MINERS' have none; a Gemma needs it."""
    label_prefix: str = ""
    """likelihood: what stands between prompt and label. MINERS has nothing; " " is what most tokenizers expect."""
    case: Literal["fold", "exact"] = "fold"
    """generation: whether an answer must have the label's upper and lower case."""
    max_new_tokens: int = Field(10, gt=0)
    """generation: length limit of an answer."""
