"""Published adapters, triplets and encoders that a study downloads instead of training or generating them."""

from seedbed.corpora.settings import Source
from seedbed.study.generator import StudyGenerator
from seedbed.study.model import Study
from seedbed.study.settings import is_taken


def adapter(study: Study, generator: str, method: str, polarity: str, code: str) -> Source | None:
    """The published adapter that generates one polarity for a language, if the study uses one."""
    source = study.generators[generator].adapters.get(method, {}).get(polarity)
    return source.resolved(study.facts(code)) if source and is_taken(study.start, "adapters") else None


def triplets(study: Study, generator: str, method: str, code: str) -> Source | None:
    """The published triplets of a language, if the study takes them."""
    source = study.generators[generator].triplets.get(method)
    taken = is_taken(study.start, "triplets") or not StudyGenerator.get(study, generator).writes
    return source.resolved(study.facts(code)) if source and taken else None


def encoder(study: Study, backbone: str, recipe: str, code: str) -> Source | None:
    """The published encoder of a recipe for a language, if the study takes it."""
    spec = study.recipes[recipe]
    source, taken = spec.published.get(backbone), is_taken(study.start, "encoders") or not spec.made
    return source.resolved(study.facts(code)) if source and taken else None
