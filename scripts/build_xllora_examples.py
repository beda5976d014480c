"""Build the training sets of the two XL-LoRA adapters, or draw them from published ones."""

from __future__ import annotations

import argparse
import functools
import shutil
from pathlib import Path

import pandas as pd

from scripts.cli import pair, run
from seedbed.corpora.settings import COLUMNS
from seedbed.generators import xllora
from seedbed.generators.backends import Backend, open_backend
from seedbed.generators.prompts import prompter
from seedbed.generators.settings import POLARITIES, Generator
from seedbed.io import read_table, write_table
from seedbed.triplets.synthesis import complete

KINDS = {"human": "triplets", "synthetic": "parallel", "machine": "triplets"}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, epilog="Instead of one --output, one for each polarity.")
    parser.add_argument("--base", required=True, type=Path, help="directory of the language model")
    parser.add_argument("--name", required=True, help="the generator's name")
    parser.add_argument("--generator", default="{}", help="JSON: seedbed.generators.settings.Generator")
    for polarity in POLARITIES:
        parser.add_argument(f"--{polarity}-adapter", type=Path, help="the task adapter of the pivot language")
        parser.add_argument(f"--published-{polarity}", type=Path, help="TSV: id, anchor, target; nothing is generated")
        parser.add_argument(f"--{polarity}-output", required=True, type=Path)
    parser.add_argument("--parallel", nargs="*", type=pair, default=[], help="LANG=FILE: id, text, pivot")
    for option in ("--nli", "--nli-machine"):
        parser.add_argument(option, nargs="*", type=pair, default=[], help="LANG=FILE: id, anchor, positive, negative")
    parser.add_argument("--language", default="English", help="name of the pivot language")
    parser.add_argument("--count", required=True, type=int, help="examples for each polarity")
    parser.add_argument("--state", required=True, type=Path, help="directory for what a killed job needs to go on")
    args = parser.parse_args(argv)
    generator = Generator.load(args.generator)
    seed = generator.lora.seed

    journals = []
    if args.published_positive:
        published = {"positive": args.published_positive, "negative": args.published_negative}
        tables = {polarity: read_table(path, ["id", "anchor", "target"]) for polarity, path in published.items()}
        examples = {polarity: xllora.sample(table, args.count, seed) for polarity, table in tables.items()}
    else:
        adapters = {"positive": args.positive_adapter, "negative": args.negative_adapter}
        prompt_for = prompter("xllora", args.language, generator.prompts, generator.sampling.seed)

        @functools.cache
        def backend() -> Backend:  # loaded only if there is something to write
            return open_backend(generator, args.base, list(adapters.values()))

        def write(premises: pd.DataFrame) -> pd.DataFrame:
            table, journal = complete(backend(), premises, prompt_for, adapters, generator=generator, state=args.state)
            journals.append(journal)
            return table

        files = {"human": args.nli, "synthetic": args.parallel, "machine": args.nli_machine}
        parts = {
            part: {lang: read_table(path, ["id", *COLUMNS[KINDS[part]]]) for lang, path in files[part]}
            for part in generator.xllora.parts
        }
        examples = xllora.build(parts, write, args.count, seed)
    write_table(examples["positive"], args.positive_output)
    write_table(examples["negative"], args.negative_output)
    for journal in journals:
        shutil.rmtree(journal)


if __name__ == "__main__":
    run(main)
