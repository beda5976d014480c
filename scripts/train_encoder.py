"""Train one encoder, of one recipe, language and seed; save it with its card."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from scripts import cli
from seedbed.checkpoints import Run
from seedbed.encoders import objectives
from seedbed.encoders.settings import BEFORE, EndpointSettings, Mining, Prompts
from seedbed.manifests import Tell

if TYPE_CHECKING:
    import pandas as pd

    from seedbed.encoders.training.batches import LanguageTables


class Job(cli.Encoder, cli.Resumable):
    weights: Path | None = None
    """the backbone, as save_pretrained writes it"""
    endpoint: EndpointSettings | None = None
    """a server that makes the vectors, instead of weights; it is not trained"""
    objective: objectives.Named | None = None
    """{name: settings}, see encoders.objectives; left out, it is not trained"""
    texts: Path | None = None
    """TSV: id and the columns that the objective reads"""
    each: dict[str, Path] = {}
    """language -> such a TSV, instead of `texts`"""
    pivot: Path | None = None
    """TSV: id and the columns of `texts` in the pivot language"""
    mining: Mining | None = None
    """how neighbours among the texts were mined"""
    miner: Path | None = None
    """folder of the backbone with which neighbours were mined, if it is not `weights`"""
    rows: int = Field(0, ge=0)
    """number of texts to train on, see corpora.select.subset; 0: all"""
    refer: dict[str, Path] = {}
    """name in the objective -> the encoder that it means"""
    translations: list[dict[str, Path]] = []
    """candidates to choose from, instead of texts: of each set of texts, translator -> TSV"""
    judgements: list[Path] = []
    """TSV of a judge's scores, for each set of `translations`"""
    fusion: Literal["none", "concat", "prefix", "english"] | None = None
    """how a text and its English are fused, see encoders.models.two_paths"""
    english: list[Path] = []
    """TSVs: text, and the English of it"""
    english_prompts: Prompts | None = None
    """prompts before English texts; left out, what the English encoder's own file says"""
    endpoints: cli.Endpoints = []

    @model_validator(mode="after")
    def _one_start(self) -> Self:
        if bool(self.weights) == bool(self.endpoint):
            raise ValueError("give `weights` or `endpoint`")
        if self.endpoint and self.objective:
            raise ValueError("objective: what is behind an endpoint is not trained; leave it out, or give `weights`")
        if self.objective and self.objective.rule != "train_encoder":
            raise ValueError(f"objective: {objectives.name_of(self.objective)} is trained by {self.objective.rule}")
        return self

    def spans(self) -> bool:
        """Whether the program can use several GPUs: it can if it trains."""
        return bool(self.objective)


def main(job: Job) -> None:
    from seedbed.encoders.export import card
    from seedbed.servers import named

    with named(job.endpoints):
        make(job, card.write, cli.resumable(job))


def make(job: Job, tell: Tell, resumed: AbstractContextManager[Run]) -> None:
    """Make the encoder; `tell` writes its card, and it is trained within `resumed`, see `cli.resumable`."""
    from seedbed.encoders.export.save import save
    from seedbed.encoders.models.loading import remote
    from seedbed.encoders.models.two_paths_setup import EnglishPath
    from seedbed.encoders.training.start import Start
    from seedbed.encoders.training.train import train
    from seedbed.encoders.translations.files import read_english

    prefix = job.put_before()
    if job.endpoint:
        about = {"endpoint": job.endpoint.url, "model": job.endpoint.model, "seed": job.seed}
        save(remote(job.endpoint, prefix=prefix), job.output, job.about | about, {}, tell=tell)
        return
    english_path = EnglishPath(job.fusion, read_english(job.english), job.english_prompts) if job.fusion else None
    languages = {"": job.language} | job.languages
    start = Start(job.weights, prefix, languages, english_path=english_path, folders=job.refer)
    with resumed as run:
        described = run.described(job.about, tell)
        train(start, read_rows(job), job.training, objective=job.objective, seed=job.seed, run=described)


def read_rows(job: Job) -> "pd.DataFrame | LanguageTables | None":
    """The training data, joined with the rows in the pivot language; neighbours must be mined by the backbone."""
    import pandas as pd

    from seedbed.corpora.select.subset import subset
    from seedbed.encoders.mining import require_mined
    from seedbed.encoders.objectives.alignment import with_pivot
    from seedbed.encoders.prompts import plain_prompt
    from seedbed.encoders.training.batches import LanguageTables
    from seedbed.encoders.translations.candidates import read_candidates
    from seedbed.io import has_rows, read_table

    if job.translations:
        table = read_candidates(job.translations, job.judgements)
        before = {BEFORE + "candidates": job.english_prompts.text} if job.english_prompts else {}
        return subset(table.assign(**before), job.rows)
    if job.each:
        return LanguageTables(job.each, job.rows)
    if not job.texts:
        return None
    if job.training.allow_untrained and not has_rows(job.texts):
        return pd.DataFrame({"id": []})
    table = read_table(job.texts, ["id"])
    if job.pivot:
        table = with_pivot(table, read_table(job.pivot, ["id"]))
    if job.mining or "neighbour_1" in table.columns:
        miner, before = job.miner or job.weights, job.prompts.text if job.prompts else job.prefix
        require_mined(job.texts, miner, prefix=plain_prompt(before, miner), mining=job.mining)
    return subset(table, job.rows)


if __name__ == "__main__":
    cli.run(Job, main)
