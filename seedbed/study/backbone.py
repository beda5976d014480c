"""Backbones as the study has them: where their weights are, what they are scored on, and what precedes their texts."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from seedbed.corpora.settings import Source
from seedbed.encoders.settings import Backbone, EndpointSettings, Prompts, text_of
from seedbed.io import UserError
from seedbed.languages import ANY, placeholders
from seedbed.study import paths
from seedbed.study.model import Entry, Study
from seedbed.study.paths import at


@dataclass(frozen=True)
class StudyBackbone(Entry[Backbone]):
    """A backbone of the study: one model, a fusion of several, two models for a text and its translation, or an API
    embedding model.
    """

    group = "backbones"

    @property
    def body(self) -> "StudyBackbone":
        """The backbone that reads texts: itself, or of a pair the multilingual one."""
        pair = self.spec.pair
        return StudyBackbone.get(self.study, pair.multilingual) if pair else self

    @property
    def members(self) -> list[str]:
        """The backbones whose vectors it gives: those of a fusion, or itself."""
        return [*self.spec.fusion.of] if self.spec.fusion else [self.name]

    @cached_property
    def remote(self) -> bool:
        """Whether it, or one that it fuses, is an API embedding model."""
        return any(self.study.backbones[name].endpoint for name in self.members)

    @cached_property
    def fetched_as(self) -> str:
        """The backbone under whose name its weights are fetched: the first with the same source, so that they are
        fetched once.
        """
        return next(name for name, other in self.study.backbones.items() if other.source == self.spec.source)

    def source(self, lang: str) -> Source | None:
        """The source of its weights for a language folder; None: it is an API embedding model."""
        spec = self.body.spec
        return spec.by_language.get(lang, spec.source)

    def weights(self, lang: str = ANY) -> str:
        """Path of its weights for a language folder; backbones of the same source share them."""
        body = self.body
        model = f"{body.name}+{lang}" if lang in body.spec.by_language else body.fetched_as
        return at(self.study, paths.WEIGHTS, room="encoders", model=model)

    @cached_property
    def scored_on(self) -> list[str] | None:
        """The tasks that its encoders can be scored on; None: all tasks of encoders.

        A fusion has distances only, and the tasks that chose its weights do not measure it. An encoder behind an API,
        or of two texts, gives vectors only: its layers cannot be read, and it cannot be fine-tuned.
        """
        fusion, declared = self.spec.fusion, self.study.declared
        if fusion:
            return [name for name, protocol in declared.items() if protocol.of_distances and name != fusion.dev]
        if not (self.spec.endpoint or self.spec.pair):
            return None
        asked = {"vectors", "distances"} | ({"paths", "choices"} if self.spec.pair else set())
        return [name for name, protocol in declared.items() if {*protocol.asks} & asked]

    @property
    def before(self) -> str | Prompts | None:
        """The prefix or prompts that the study puts before its texts; None: those in the weights' own file."""
        spec = self.body.spec
        return spec.prompts if spec.prefix is None else spec.prefix

    def plain_prefix(self) -> str | None:
        """The prefix of every text, for uses in which all texts have the same prefix, such as mining; None: what the
        model itself says.

        Raises:
            UserError: the prefix depends on the language.
        """
        if self.before is None:
            return None
        return require_plain(text_of(self.before), f"backbones.{self.body.name}.prefix")


def require_plain(prefix: str, where: str) -> str:
    """Require that a prefix is the same for all languages; it is returned.

    Args:
        prefix: the prefix, which may have placeholders of a language.
        where: the key that gives it, for the message.

    Raises:
        UserError: it depends on the language.
    """
    if placeholders(prefix):
        raise UserError(
            f"{where}: {prefix!r} is another in each language, which only encoders know that recipes train or use as "
            "they are; take another backbone or prefix to mine with or to fine-tune"
        )
    return prefix


def endpoints_of(study: Study, backbones: Iterable[str]) -> list[EndpointSettings]:
    """The API embedding models of backbones, of fusions too, each once, with their current settings; others have none.

    A job may send requests to the servers that the study names, see `seedbed.servers.named`.
    """
    known = (StudyBackbone.get(study, name) for name in backbones if name in study.backbones)
    members = dict.fromkeys(member for one in known for member in one.members)
    return [*filter(None, (study.backbones[member].endpoint for member in members))]
