"""Translations of a corpus from one loaded model, by a job that may be killed at any time."""

from pathlib import Path

import pandas as pd
from tqdm import tqdm

from seedbed.corpora.settings import COLUMNS
from seedbed.corpora.shape.clean import clean
from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Backend, Completion, Request, fits
from seedbed.generators.writing.journal import journal_name, open_journal
from seedbed.io import fingerprint

SIDES = COLUMNS["paraphrases"]


def translate(
    backend: Backend, rows: pd.DataFrame, languages: tuple[str, str], *, generator: Generator, weights: str, state: Path
) -> pd.DataFrame:
    """Translate each text of each row with a loaded translator; completed texts are cached in a journal, see
    `triplets.complete`, which has the further arguments.

    Rows have `id`, `anchor`, `positive` and `negative`. Texts are cleaned, so that a line break in a text does not
    split its row. Empty texts are not translated. A text of more than `max_prompt_tokens` tokens is neither sent nor
    truncated: its translation is empty and not finished. `languages` are source and target, in the translator's codes
    (NLLB: `eng_Latn`).

    Returns:
        The same columns in the other language, `anchor_finished`, `positive_finished`, `negative_finished` ("true" or
        "false") and `prompt` (a hash of the source texts), in the same order.

    Raises:
        UserError: as `Backend.between`, or the back end stops.
    """
    backend.between(*languages)
    texts = {(side, row): text for side in SIDES for row, text in zip(rows["id"], rows[side], strict=True) if text}
    tokens = {f"{side}/{row}": backend.encode(text) for (side, row), text in texts.items()}
    named = [((name, *languages), read) for name, read in tokens.items()]
    short = [name for name, read in tokens.items() if fits(read, generator.sampling.max_prompt_tokens)]
    with (
        open_journal(state / f"{journal_name(named, generator, weights)}.jsonl") as journal,
        tqdm(total=len(short), initial=len(journal.done), unit="text", mininterval=5) as progress,
    ):
        requests = [Request(name, tokens[name]) for name in short if name not in journal.done]
        journal.keep(backend.write(requests, None) if requests else (), progress.update)
    return _table(rows, journal.done)


def _table(rows: pd.DataFrame, done: dict[str, Completion]) -> pd.DataFrame:
    columns = {"id": rows["id"].to_list()}
    for side in SIDES:
        # An empty text counts as finished, a text that was too long to be sent does not.
        made = [
            done.get(f"{side}/{row}", Completion("", "", finished=not text))
            for row, text in zip(rows["id"], rows[side], strict=True)
        ]
        columns[side] = [clean(one.text) for one in made]
        columns[f"{side}_finished"] = [str(one.finished).lower() for one in made]
    columns["prompt"] = [fingerprint(list(texts))[:16] for texts in rows[[*SIDES]].itertuples(index=False)]
    return pd.DataFrame(columns)
