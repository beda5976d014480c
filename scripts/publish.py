"""Prepare an encoder, an adapter or a set of triplets for the Hugging Face hub, check and upload it if requested."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from scripts import cli

if TYPE_CHECKING:
    from seedbed.publish.options import Options


class Job(cli.Job):
    what: Path
    """folder of an encoder or an adapter; or TSV of audited triplets"""
    name: str = ""
    """owner/name on the hub"""
    output: Path | None = None
    """folder to lay it out in"""
    dry_run: bool = False
    """print what would be uploaded; write and send nothing"""
    licence: str = ""
    """identifier of the hub, if the study states none or another"""
    licence_name: str = ""
    """with `--licence other`"""
    licence_link: str = ""
    """with `--licence other`"""
    base: str = ""
    """owner/name of the model it was made from, if not known"""
    scores: Path | None = None
    """folder of an encoder's scores, if it is not in the study's results"""
    pivot: str = "eng"
    """of triplets by xllora: the study's pivot language"""
    upload: bool = False
    """send it to the hub"""
    public: bool = False
    """everybody may see it; left out, its owners alone"""
    replace: bool = False
    """overwrite a repository that has other content, and delete its other files"""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.dry_run and self.upload:
            raise ValueError("--dry-run sends nothing; leave out --upload")
        if not (self.dry_run or (self.name and self.output)):
            raise ValueError("--name and --output are required; --dry-run needs neither")
        return self


def main(job: Job) -> None:
    from seedbed.publish.repositories import REPOSITORY, lay_out
    from seedbed.publish.upload import upload

    if job.dry_run:
        with TemporaryDirectory() as folder:
            name, output = job.name or f"owner/{job.what.resolve().stem}", Path(folder, "output")
            kind = lay_out(job.what, options(job, name), output)
            print(f"{kind} {name}, {shown(output / REPOSITORY)}")
        if job.replace:
            print(f"All other files of {name} on the hub would be deleted.")
        return
    kind = lay_out(job.what, options(job, job.name), job.output)
    print(f"{job.output / REPOSITORY}: as the hub takes it; edits of its README.md stay")
    if job.upload:
        done = upload(job.output, job.name, kind, public=job.public, replace=job.replace)
        print(
            f"{job.name}: uploaded at {done.commit}; {'everybody' if done.public else 'nobody but its owners'} sees it"
        )
        if done.deleted:
            print(f"Deleted there, because this upload does not have them: {', '.join(done.deleted)}")
    else:
        print("Nothing was sent. To send it: python -m scripts.publish ... --upload (hf auth login comes first)")


def options(job: Job, name: str) -> "Options":
    """The options of the publication, checked."""
    from seedbed import licences
    from seedbed.publish.checks import require_repository
    from seedbed.publish.options import Options

    named = (job.licence_name, job.licence_link)
    return Options(
        require_repository(name, "--name"),
        licences.chosen(job.licence, *named) if job.licence or any(named) else None,
        require_repository(job.base, "--base") if job.base else "",
        job.scores,
        job.pivot,
    )


def shown(repository: Path) -> str:
    """What would be uploaded: the files with their sizes, and the card."""
    from seedbed.publish.repositories import CARD

    files = sorted(path for path in repository.rglob("*") if path.is_file())
    listed = [f"{path.stat().st_size:>13,} {path.relative_to(repository)}" for path in files]
    card = (repository / CARD).read_text(encoding="utf-8")
    return "\n".join([f"{len(files)} files (bytes, name):", *listed, "", f"{CARD}:", "", card])


if __name__ == "__main__":
    cli.run(Job, main)
