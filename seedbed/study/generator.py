"""The generators of a study: which adapters a language model generates with, and where its weights come from."""

from dataclasses import dataclass
from typing import Any

from seedbed.generators.settings import POLARITIES, Generator, by_adapters
from seedbed.generators.writing.backends import modules_of
from seedbed.names import MAIN
from seedbed.study import paths
from seedbed.study.model import Entry
from seedbed.study.paths import at
from seedbed.study.variants import candidate

UNREAD = (
    "like",
    "adapters",
    "triplets",
    "task_adapters",
    "language_data",
    "language_text",
    "language_loss",
    "composition",
    "shard_rows",
)
"""Settings of a generator that no writing reads."""


@dataclass(frozen=True)
class StudyGenerator(Entry[Generator]):
    """A generator of the study. Variants that have the same adapters share them (`Study.makers`)."""

    group = "generators"

    @property
    def writes(self) -> bool:
        """Whether it generates anything: not if it only stands for published triplets."""
        return self.spec.backend != "published"

    @property
    def gpus(self) -> int:
        """GPUs of a job that runs it: vLLM can split a model over several; a model on a server has none here."""
        return {"transformers": 1, "vllm": self.spec.tensor_parallel}.get(self.spec.backend, 0)

    @property
    def environment(self) -> str:
        """The environment in which it generates: vLLM pins another version of torch than training does."""
        return "vllm" if self.spec.backend == "vllm" else MAIN

    @property
    def back_end(self) -> tuple[str, ...]:
        """The modules that run it, which are loaded by name."""
        return tuple(modules_of(self.spec))

    @property
    def model(self) -> str:
        """The generator under whose name its weights are fetched. Adapters of variants with the same weights can be
        composed.
        """
        return self.study.makers[self.name, "weights"]

    @property
    def weights(self) -> str:
        """Path of its weights; empty: they are on a server."""
        return at(self.study, paths.WEIGHTS, room="generators", model=self.model) if self.spec.source else ""

    def written_with(self, *unread: str) -> Generator:
        """Its settings for a job that generates; those that the job does not read (UNREAD, `unread`) have defaults."""
        return self.study.once(("written", self.name, unread), lambda: self.spec.without(*UNREAD, *unread))

    def part(self, name: str, path: str, **wildcards: Any) -> str:
        """A file of one part of it (`generators.settings.MADE_FROM`), in the folder of the generator that makes it."""
        return at(self.study, path, generator=self.study.makers[self.name, name], **wildcards)

    def language_adapter(self, lang: str) -> str:
        """Its adapter of a language."""
        return self.part("language", paths.LANGUAGE_ADAPTER, lang=lang)

    def task_adapter(self, name: str) -> str:
        """Its adapter of a task: of a polarity, or of both."""
        return self.part("task", paths.TASK_ADAPTER, polarity=name)

    def task_adapters(self) -> dict[str, str]:
        """Polarity -> the adapter that generates it: one for both polarities, or one each."""
        return {polarity: self.task_adapter(self.spec.task_adapter(polarity)) for polarity in POLARITIES}

    def composed_adapters(self, lang: str) -> dict[str, str]:
        """Polarity -> the adapter that generates it, composed for a language."""
        model = self.study.makers[self.name, by_adapters("composed")]
        facts = {"room": "generators", "model": model, "lang": lang}
        return {
            polarity: at(self.study, paths.COMPOSED, **facts, polarity=self.spec.task_adapter(polarity))
            for polarity in POLARITIES
        }

    def candidates(self) -> dict[float, tuple[str, str]]:
        """Scale -> recipe and backbone of the encoders that try it, where a development task chooses the scale."""
        names = {scale: candidate(self.name, scale) for scale in self.study.choosing[self.name].candidates}
        return {scale: (name, self.study.recipes[name].only.backbones[0]) for scale, name in names.items()}
