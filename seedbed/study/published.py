"""Published adapters, triplets and encoders that a study downloads instead of training or generating them."""

from seedbed.corpora.settings import Source
from seedbed.study.generator import StudyGenerator
from seedbed.study.model import Study
from seedbed.study.settings import Start, is_taken


def begins(study: Study, step: Start) -> bool:
    """Whether the study takes the published work of a step of the reproduction ladder."""
    return is_taken(study.start, step)


def adapter(study: Study, generator: str, method: str, polarity: str, code: str) -> Source | None:
    """The published adapter that generates one polarity for a language, if the study uses one."""
    source = study.generators[generator].adapters.get(method, {}).get(polarity)
    return source.resolved(study.facts(code)) if source and begins(study, "adapters") else None


def triplets(study: Study, generator: str, method: str, code: str) -> Source | None:
    """The published triplets of a language, if the study takes them."""
    source = study.generators[generator].triplets.get(method)
    taken = begins(study, "triplets") or not StudyGenerator.get(study, generator).writes
    return source.resolved(study.facts(code)) if source and taken else None


def encoder(study: Study, backbone: str, recipe: str, code: str) -> Source | None:
    """The published encoder of a recipe for a language, if the study takes it."""
    spec = study.recipes[recipe]
    source, taken = spec.published.get(backbone), begins(study, "encoders") or not spec.made
    return source.resolved(study.facts(code)) if source and taken else None
