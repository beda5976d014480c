"""Checks of the training data of language adapters, beyond the types of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seedbed.settings import suggest

if TYPE_CHECKING:
    from seedbed.study.model import Study


def consistent(study: Study) -> None:
    """Check that the corpora of a generator's language adapters exist and consist of sentences.

    Raises:
        ValueError: the first that does not.
    """
    kinds = {name: study.roles[name] for name in study.corpora.others}
    for name, generator in study.generators.items():
        where, text = f"generators.{name}.language_text", generator.language_text
        if not text:
            continue
        if generator.language_data not in ("text", "passages"):
            raise ValueError(
                f"{where}: language adapters are trained on {generator.language_data}; leave it out, or set "
                "`language_data` to text or passages"
            )
        if text not in kinds:
            raise ValueError(f"{where}: no corpus under `corpora.others` {text!r}; {suggest(text, sorted(kinds))}")
        if kinds[text] != "text":
            raise ValueError(f"{where}: recipes use corpora.others.{text} as {kinds[text]}; name one of sentences")
