"""Choose one of several translations of each text."""

from pathlib import Path

from scripts import cli
from seedbed.encoders.translations.settings import Chosen
from seedbed.settings import Seed


class Job(cli.Job):
    translations: dict[str, Path]
    """translator -> TSV of its translations"""
    judgements: Path | None = None
    """TSV of a judge's scores of the translations"""
    how: Chosen
    actor: Path | None = None
    """an anchored encoder, with its policy"""
    weights: Path | None = None
    """folder of the English encoder that `actor` was anchored to"""
    similarity: Path | None = None
    """an encoder of both languages that measures similarity, instead of the features of `actor`"""
    seed: Seed
    """seed of a random choice"""
    endpoints: cli.Endpoints = []
    state: cli.Embeddings = None
    output: Path


def main(job: Job) -> None:
    from seedbed.encoders.translations.candidates import pack_candidates, unpack_candidates
    from seedbed.encoders.translations.choose import choose_translations
    from seedbed.encoders.translations.similarity import adaptor_similarity, given_similarity
    from seedbed.generators.writing.translations import candidates
    from seedbed.io import write_table
    from seedbed.servers import named

    how = job.how
    table = pack_candidates(candidates(job.translations, job.judgements))
    found = None
    if job.actor and job.weights:
        found = adaptor_similarity(unpack_candidates(table), job.actor, job.weights)
    elif job.similarity or (job.actor and not how.similarity):
        with named(job.endpoints):
            found = given_similarity(unpack_candidates(table), job.similarity, job.state)
    options = {"similarity": found, "actor": job.actor, "seed": job.seed, "weights": how.weights}
    write_table(choose_translations(table, how.choose, **options), job.output)


if __name__ == "__main__":
    cli.run(Job, main)
