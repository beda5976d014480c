"""Code switching within a text: words of another script, of another language, or of none (paper 000, figure 4).

`script_share` and language identification judge whole texts, so that one foreign word passes both. Here words are
judged, by statistics of the study's own two corpora.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache

import numpy as np
import regex

from seedbed.corpora.shape.clean import characters_of, words
from seedbed.io import UserError

ORDER = 5
"""Characters of the longest n-gram of spelling."""
SAMPLE = 20_000
"""Sentences whose words spelling is fitted on."""
HELD_OUT = 2000
"""Maximum number of sentences that thresholds are calibrated on; a fifth of a small corpus."""
START, END = "\x02", "\x03"

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_LATIN = regex.compile(r"\p{Script=Latin}{2,}")


@cache
def _foreign(script: str) -> regex.Pattern[str]:
    """Two or more letters or vowel signs in a row of scripts neither `script` nor Latin."""
    known = rf"{characters_of(script)}\p{{Script=Common}}\p{{Script=Inherited}}\p{{Script=Latin}}"
    return regex.compile(rf"[[\p{{L}}\p{{M}}]--[{known}]]{{2,}}", regex.V1)


def other_script(text: str, script: str) -> bool:
    """Whether two consecutive letters of a text are in scripts other than `script` (ISO 15924) and Latin.

    Single letters (a variable, a unit), digits, punctuation and emoji do not count; Korean may contain Han, and
    Japanese its three scripts. For Latin words, which are common as names and brands, see `latin_share`.

    Raises:
        UserError: no such script.
    """
    return _foreign(script).search(unicodedata.normalize("NFKC", text)) is not None


def latin_share(text: str, script: str) -> float:
    """Latin words as a share of the words of a text in another script; 0 if the script is Latin."""
    if script == "Latn" or not (found := len(_LATIN.findall(unicodedata.normalize("NFKC", text)))):
        return 0.0
    return min(1.0, found / max(1, len(words(text))))


class Spelling:
    """A character n-gram model of a language's words, interpolated by Witten and Bell's (1991) rule.

    Each distinct word counts once, because rare words say most about unseen ones.
    """

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self.grams: Counter[str] = Counter()
        for word in vocabulary:
            marked = f"{START}{word}{END}"
            self.grams.update(
                marked[place - length : place + 1]
                for place in range(1, len(marked))
                for length in range(min(place, ORDER - 1) + 1)
            )
        self.totals: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        for gram, count in self.grams.items():
            self.totals[gram[:-1]] += count
            self.kinds[gram[:-1]] += 1

    def log_probability(self, word: str) -> float:
        """Natural logarithm of the probability of a word, including its end."""
        marked = f"{START}{word}{END}"
        return sum(math.log(self._next(marked, place)) for place in range(1, len(marked)))

    def _next(self, marked: str, place: int) -> float:
        probability = 1 / (self.kinds[""] + 1)  # one more for every character that was never seen
        for length in range(min(place, ORDER - 1) + 1):
            context = marked[place - length : place]
            if not (total := self.totals[context]):
                break
            kinds = self.kinds[context]
            probability = (self.grams[marked[place - length : place + 1]] + kinds * probability) / (total + kinds)
        return probability


class Lexicon:
    """A unigram model of a corpus's words, smoothed by their spelling."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self.counts = Counter(word.casefold() for sentence in sentences for word in _common(sentence))
        self.total = self.counts.total()
        self.spelling = Spelling({word.casefold() for sentence in sentences[:SAMPLE] for word in _common(sentence)})

    def log_probability(self, word: str) -> float:
        """Log-probability of a case-folded word: its frequency, smoothed by its spelling (Witten and Bell)."""
        kinds = len(self.counts)
        unseen = math.exp(max(self.spelling.log_probability(word), -700))
        return math.log((self.counts[word] + kinds * unseen) / (self.total + kinds))


class WordCheck:
    """Checks texts for words of another language, and for words that are unlikely in their own.

    Thresholds are quantiles over held-out sentences of the language itself: `others` and `unlikely` are the shares of
    its own sentences that each check may reject; 0: it rejects none. Words that are not judged: capitalised ones
    (names, and so the first word of a sentence), those that the anchor has too, and those with a digit or in another
    script.

    Args:
        own: sentences in the language of the texts, ten or more.
        other: sentences in the language that they might fall into.
        script: ISO 15924 code of the language.

    Raises:
        UserError: too few sentences.
    """

    def __init__(
        self, own: Sequence[str], other: Sequence[str], script: str, *, others: float, unlikely: float
    ) -> None:
        if len(own) < 10 or not len(other):
            raise UserError(
                "word check: fewer than ten sentences in the language or none in the other; give more text"
                " or set `audit.foreign_words` and `audit.unlikely_words` to 0"
            )
        scripts = rf"{characters_of(script)}\p{{Script=Common}}\p{{Script=Inherited}}"
        self._in_script = regex.compile(rf"[{scripts}]+", regex.V1)
        step = max(5, len(own) // HELD_OUT)
        self.other, self.own = Lexicon(other), Lexicon([text for n, text in enumerate(own) if n % step])
        self._scores: dict[str, tuple[float, float]] = {}
        held_out = np.array([self.scores(text) for text in own[::step]])
        as_other, as_none = (
            float(np.quantile(scores, 1 - share, method="higher")) if share else math.inf
            for scores, share in zip(held_out.T, (others, unlikely), strict=True)
        )
        self.limits = (max(as_other, 0.0), as_none)
        self.own, self._scores = Lexicon(own), {}

    def scores(self, text: str, anchor: str = "") -> tuple[float, float]:
        """The highest score of a word as one of the other language, and as an unlikely one; -inf if no word is judged.

        The first is the natural logarithm of the ratio of its probabilities in the other and in the own language; the
        second, of a word that neither corpus has, is its negative log-probability in nats for each character, its end
        among them.

        Args:
            anchor: the text that `text` was generated for, whose words are not judged.
        """
        known = {word.casefold() for word in _tokens(anchor)}
        judged = [self._score(word) for word in self._judged(text) if word not in known]
        as_other, as_none = zip(*judged, strict=True) if judged else ((-math.inf,), (-math.inf,))
        return max(as_other), max(as_none)

    def foreign(self, text: str, anchor: str) -> tuple[bool, bool]:
        """Whether the text has a word of the other language, and whether it has an unlikely word."""
        as_other, as_none = self.scores(text, anchor)
        return as_other > self.limits[0], as_none > self.limits[1]

    def _judged(self, text: str) -> Collection[str]:
        return {
            word.casefold()
            for word in _tokens(text)
            if len(word) > 1 and not word[0].isupper() and self._in_script.fullmatch(word)
        }

    def _score(self, word: str) -> tuple[float, float]:
        if word not in self._scores:
            own = self.own.log_probability(word)
            surprise = -self.own.spelling.log_probability(word) / (len(word) + 1)
            known = word in self.own.counts or word in self.other.counts
            self._scores[word] = (self.other.log_probability(word) - own, -math.inf if known else surprise)
        return self._scores[word]


def _common(text: str) -> list[str]:
    """The first word and all that are not capitalised: titles and names in another language are no part of this one."""
    return [word for n, word in enumerate(_tokens(text)) if n == 0 or not word[0].isupper()]


def _tokens(text: str) -> list[str]:
    """Words as written, without those that hold a digit."""
    found = _WORD.findall(unicodedata.normalize("NFKC", text))
    return [word for word in found if not any(character.isdigit() for character in word)]
