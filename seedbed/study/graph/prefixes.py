"""What stands before texts: the same before all, or by their languages (`seedbed.encoders.prompts`)."""

from typing import Any

from seedbed.generators.settings import POLARITIES, WRITING
from seedbed.io import UserError
from seedbed.languages import filled, placeholders, registry
from seedbed.study.graph import encoders
from seedbed.study.model import Study


def arguments(study: Study, wildcards: Any) -> list[str]:
    """The language of an encoder whose prefix is by language, and of columns in another, as arguments; else none.

    What the prefix is in a language the registry says, so that a language more changes no encoder of another; where the
    study says otherwise, that is told too.
    """
    prefix = encoders.prefix(study, wildcards)
    if not placeholders(prefix):
        return []
    columns = [] if encoders.untrained(study, wildcards) else in_pivot(study, wildcards)
    others = [f"{name}={study.pivot}" for name in columns]
    own = [f"{code}={prompt}" for code in study.codes if (prompt := _own(study, prefix, code))]
    told = {"--language": [wildcards.lang], "--languages": others, "--own-prefixes": own}
    return [word for name, words in told.items() if words for word in (name, *words)]


def in_pivot(study: Study, wildcards: Any) -> list[str]:
    """The columns that an encoder learns from which are in the pivot language, whatever its own."""
    spec = study.recipes[wildcards.recipe]
    written = spec.written and WRITING[spec.written].output == "pivot"
    return [name for name in spec.data.columns if name == "pivot" or (written and name in POLARITIES)]


def _own(study: Study, prefix: str, code: str) -> str:
    """The prefix of a language for which the study says otherwise than the registry; empty: it does not, or none."""
    facts, known, columns = study.facts(code), registry().get(code, {}), placeholders(prefix)
    if not all(facts.get(name) for name in columns) or all(facts[name] == known.get(name) for name in columns):
        return ""
    return filled(prefix, facts)


def alone(study: Study, wildcards: Any) -> str:
    """The prefix of an encoder for what reads all texts alike, such as fine-tuning."""
    return same(encoders.prefix(study, wildcards), wildcards.backbone)


def of_backbone(study: Study, wildcards: Any) -> str:
    """The prefix of a backbone, likewise."""
    return same(study.backbones[wildcards.backbone].prefix, wildcards.backbone)


def same(prefix: str, backbone: str) -> str:
    """A prefix that is the same for all languages.

    Raises:
        UserError: it is by language.
    """
    if placeholders(prefix):
        raise UserError(
            f"backbones.{backbone}.prefix: {prefix!r} is another in each language, which only encoders know that "
            "recipes train or use as they are; take another backbone to mine with or to fine-tune"
        )
    return prefix
