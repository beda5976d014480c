"""What the audit finds of words planted in clean sentences, and what it takes from sentences left alone.

The checks are fitted on `--text` and measured on `--test`, best of another domain; without it a fifth of the text is
held out. A planted word stands in the place of a word drawn at random: a word of a sentence of a language in another
script, a word of the pivot language (lower case, four letters or more), or the sentence's own word with its letters
shuffled or with two of them replaced. "before" is what script share and language identification already find.

    python -m benchmarks.code_switching --text hau=FILE tur=FILE --test hau=FILE tur=FILE --pivot FILE --plants FILE
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import regex

from seedbed.corpora.select.language_id import LanguageId
from seedbed.corpora.shape.clean import script_share, words
from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.triplets.settings import Audit
from seedbed.triplets.switching import WordCheck, latin_share, other_script

Check = Callable[[list[str]], Sequence[bool]]
Plant = Callable[[str], str]


def lines(path: Path) -> list[str]:
    """Distinct lines that hold something."""
    return list(dict.fromkeys(filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines()))))


def by_language(values: Sequence[str]) -> dict[str, list[str]]:
    """LANG=FILE arguments, read."""
    return {language: lines(Path(path)) for language, _, path in (value.partition("=") for value in values)}


def split(sentences: list[str]) -> tuple[list[str], list[str]]:
    """Four fifths and one fifth."""
    return [text for n, text in enumerate(sentences) if n % 5], sentences[::5]


def checks(own: list[str], pivot: list[str], script: str, share: float, latin: float) -> dict[str, Check]:
    """Each check by its name: which texts does it find fault with?"""
    rules, identify = Audit(), LanguageId(own, pivot)
    words_of = WordCheck(own, pivot, script, others=share, unlikely=share)
    return {
        "before": lambda texts: [
            not in_language or script_share(text, script) < rules.script_share
            for text, in_language in zip(texts, identify.in_language(texts), strict=True)
        ],
        "other script": lambda texts: [other_script(text, script) for text in texts],
        "latin": lambda texts: [latin_share(text, script) > latin for text in texts],
        "pivot word": lambda texts: [words_of.foreign(text, "")[0] for text in texts],
        "unlikely": lambda texts: [words_of.foreign(text, "")[1] for text in texts],
    }


def plants(others: list[str], pivot: list[str], rng: random.Random) -> dict[str, Plant]:
    """What is done to the word whose place is drawn."""
    english = [word for text in pivot for word in text.split() if regex.fullmatch(r"[a-z]{4,}", word)]
    return {
        "nothing": lambda word: word,
        "another script": lambda _: rng.choice(others),
        "pivot word": lambda _: rng.choice(english),
        "shuffled": lambda word: "".join(rng.sample(word, len(word))),
        "mutated": lambda word: mutated(word, rng),
    }


def in_script(sentences: list[str], script: str) -> list[str]:
    """Words of two letters or more wholly in a script."""
    return [
        word
        for text in sentences
        for word in words(text)
        if regex.fullmatch(r"[\p{L}\p{M}]{2,}", word) and script_share(word, script) == 1
    ]


def mutated(word: str, rng: random.Random) -> str:
    """Two characters replaced by others of the same word's alphabet range."""
    letters = list(word)
    for place in rng.sample(range(len(letters)), 2):
        drawn = chr(ord(letters[place]) + rng.choice([-3, -2, -1, 1, 2, 3]))
        letters[place] = drawn if drawn.isalpha() else letters[place - 1]
    return "".join(letters)


def planted(text: str, plant: Plant, rng: random.Random) -> str | None:
    """The text with one of its longer words, in lower case, changed; None if it has none or nothing changed."""
    parts = text.split()
    places = [n for n, part in enumerate(parts) if regex.fullmatch(r"[\p{L}\p{M}]{4,}", part) and not part[0].isupper()]
    if not places:
        return None
    place = rng.choice(places)
    changed = [*parts[:place], plant(parts[place]), *parts[place + 1 :]]
    return " ".join(changed)


def measure(language: str, texts: dict[str, list[str]], tests: dict[str, list[str]], args: argparse.Namespace) -> list:
    """Rows of one language: what was planted, n, and the share that each check finds."""
    rng = random.Random(args.seed)
    known = registry()
    script = known[language]["script"]
    own, test = (texts[language], tests[language]) if language in tests else split(texts[language])
    pivot, held_out = split(lines(args.pivot))
    found = checks(own, pivot, script, args.share, args.latin)
    elsewhere = [code for code in texts if known[code]["script"] not in (script, "Latn")]
    others = [word for code in elsewhere for word in in_script(texts[code], known[code]["script"])]
    rows = []
    for name, plant in plants(others, lines(args.plants) if args.plants else held_out, rng).items():
        if name == "another script" and not others:
            continue
        changed = [planted(text, plant, rng) for text in test]
        kept = [text for text in changed if text is not None]
        shares = {check: sum(fires(kept)) / len(kept) for check, fires in found.items()}
        rows.append({"language": language, "planted": name, "n": len(kept), **shares})
    return rows


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", nargs="+", required=True, metavar="LANG=FILE", help="one sentence a line")
    parser.add_argument("--test", nargs="*", default=[], metavar="LANG=FILE", help="sentences to plant in")
    parser.add_argument("--pivot", required=True, type=Path)
    parser.add_argument("--plants", type=Path, help="pivot sentences whose words are planted; else a fifth of --pivot")
    parser.add_argument("--share", type=float, default=0.01, help="share of own sentences a word check may drop")
    parser.add_argument("--latin", type=float, default=0.25, help="greatest share of Latin words in another script")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    texts, tests = by_language(args.text), by_language(args.test)
    if unknown := sorted({*texts, *tests} - set(registry())):
        raise UserError(f"{unknown[0]}: not in the language registry")
    table = pd.DataFrame([row for language in texts for row in measure(language, texts, tests, args)])
    print(table.to_string(index=False, float_format=lambda value: f"{100 * value:.1f}"))


if __name__ == "__main__":
    main()
