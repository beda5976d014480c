"""Fine-tune one encoder on one training set, and label every test set that shares it; only the labels are saved."""

from scripts import cli
from seedbed.encoders.tuning_settings import FineTuning


class Job(cli.Tuning):
    fine_tuning: FineTuning = FineTuning()


def main(job: Job) -> None:
    from seedbed.classifiers.manifest import write_answers
    from seedbed.classifiers.tuning import train
    from seedbed.corpora.shape.labels import require_labels
    from seedbed.io import read_table

    rows = read_table(job.train, ["id", "text", "label"])
    require_labels(rows, str(job.train))
    tests = {name: read_table(file, ["id", "text"]) for name, file in job.tests.items()}
    with cli.tuning(job) as how:
        tuned = train(job.base, rows, job.fine_tuning, how)
        write_answers(job.output, job.about, tuned, tests)


if __name__ == "__main__":
    cli.run(Job, main)
