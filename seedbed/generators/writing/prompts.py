"""Prompts as text, prompts and completions as tokens, and sentences from completions.

Training and generation share these functions. Texts are untrusted: a premise may contain braces, `Premise: `, or the
name of a special token, and none of them may change the prompt around it.
"""

import functools
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from seedbed import yamls
from seedbed.generators.settings import WRITING, Method, Polarity, Style
from seedbed.io import UserError
from seedbed.resources import resource

FEW_SHOT = ("syncse", "questions")
"""Files of resources/prompts with an instruction and examples."""

QUOTES = ('""', "''", "``", "“”", "‘’", "„“", "«»", "‹›", "「」", "『』")


def prompter(
    method: Method, language: str, style: Style, seed: int, shots: int = 5
) -> Callable[[str, str, Polarity], str]:
    """A function from (row id, premise, polarity) to the prompt of a method: few-shot without adapters, else zero-shot.

    `language` is the English name of the output's language; `seed` samples instruction and `shots` examples.
    """
    if (words := WRITING[method].prompt) in FEW_SHOT:
        return lambda row, premise, polarity: few_shot(premise, polarity, language, row, seed, shots, words)
    return lambda row, premise, polarity: zero_shot(premise, polarity, language, style)


def zero_shot(premise: str, polarity: Polarity, language: str, style: Style) -> str:
    """The prompt for an entailment or a contradiction of `premise` in `language` (an English name); paper 000, table
    21.
    """
    return _fill(_styled("nli", style)[polarity], premise=premise, language=language)


def few_shot(premise: str, polarity: Polarity, language: str, row: str, seed: int, shots: int, words: str) -> str:
    """The SynCSE-partial prompt with output in `language` (an English name): one of 4 instructions, `shots` of 18
    examples; paper 000, A.3, A.4.

    They are sampled by a hash of (seed, polarity, row id): neither other rows nor a library's generator changes them.
    `words` is a file of resources/prompts; "questions" requests a question to a passage instead of a sentence.
    """
    forms = _read(words)
    key = f"{seed}/{polarity}/{row}"
    instruction = _ranked(forms[polarity]["instructions"], f"{key}/instruction")[0]
    examples = [
        _fill(forms["example"], input=example["input"], output=example[polarity])
        for example in _ranked(forms["examples"], f"{key}/examples")[:shots]
    ]
    return f"{instruction}\n\n{''.join(examples)}\n{_fill(forms['closing'], premise=premise, language=language)}"


def language_prompt(prompt: str, language: str, style: Style) -> str:
    """The prompt for an answer to `prompt` in `language` (an English name), which language adapters are trained on."""
    return _fill(_styled("nli", style)["language"], prompt=prompt, language=language)


def pair_prompt(premise: str, hypothesis: str, language: str, style: Style) -> str:
    """The prompt for the number of an NLI label of a pair in `language` (an English name); paper 000, table 21."""
    return _fill(_styled("classification", style)["pair"], premise=premise, hypothesis=hypothesis, language=language)


def translation_prompt(text: str, language: str, pivot: str, style: Style) -> str:
    """The prompt for a translation of `text` from `language` into `pivot` (English names)."""
    return _fill(_styled("translation", style)["translate"], text=text, language=language, pivot=pivot)


def judging_prompts(text: str, english: str, language: str, pivot: str, style: Style) -> dict[str, str]:
    """Prompts for scores of a translation: aspect -> prompt for one score; `numbers` -> prompt for all (LiRA, 4.1.2).

    Text and translation come first, so that the prompts of all candidates of a text have a common prefix. `language`
    and `pivot` are the English names of their languages.
    """
    forms = _styled("judging", style)
    frame = _fill(forms["beginning"], text=text, language=language, pivot=pivot)
    frame += _fill(forms["candidate"], english=english, pivot=pivot)
    return {aspect: frame + asked for aspect, asked in (forms["questions"] | {"numbers": forms["numbers"]}).items()}


def score_prefix(style: Style) -> str:
    """The text between a judge's prompt and a score."""
    return _styled("judging", style)["answer_prefix"]


def without_thoughts(text: str) -> str:
    """A model's output after its reasoning; what precedes the reasoning, usually nothing, if its end was cut.

    The mark that opens the reasoning may be missing, since a chat template may have written it into the prompt.
    """
    for opening, closing in _thinking():
        text = re.split(re.escape(closing), text, flags=re.IGNORECASE)[-1]
        text = re.split(re.escape(opening), text, flags=re.IGNORECASE)[0]
    return text.strip()


def begun_thoughts(tokenizer: Any, style: Style, template: Mapping[str, bool | str] | None = None) -> str:
    """The mark that opens the model's reasoning, if the chat template, with these variables, itself adds it to prompts
    (DeepSeek-R1); else empty.

    The model's output then lacks the mark. Prepend it, otherwise reasoning that is cut off would look like an answer.
    """
    if style == "plain":
        return ""
    # A separate text, so that no mark at the end of a user's text is mistaken for the template's.
    rendered = tokenizer.decode(encode(tokenizer, "a", style, template=template)).rstrip().lower()
    return next((opening for opening, _ in _thinking() if rendered.endswith(opening.lower())), "")


def require_visible_thoughts(tokenizer: Any) -> None:
    """Check that no mark of a model's reasoning is a special token: decoding drops those, and the reasoning would look
    like the answer.

    Raises:
        UserError: a mark is a special token.
    """
    marks = [mark for pair in _thinking() for mark in pair]
    if hidden := sorted(name for name in _special(tokenizer).values() if any(name in mark for mark in marks)):
        raise UserError(
            f"{tokenizer.name_or_path}: {hidden[0]} is a special token, so that its thoughts would look like its "
            "answers; take a model without, or a server"
        )


def with_shots(
    text: str,
    shots: Sequence[tuple[str, str]],
    instruction: str,
    *,
    options: Sequence[str] = (),
    only_label: bool = False,
) -> str:
    """The prompt for the label of `text` after in-context examples (text, label), in their order; MINERS, tables 17 and
    18.

    The prompt lists the labels `options`, if there are any. With `only_label` it requests the label alone.
    """
    forms = _read("icl")
    asked = _fill(forms["instruction"], instruction=instruction + (forms["only_label"] if only_label else ""))
    asked += "".join(_fill(forms["shot"], text=shot, label=label) for shot, label in shots)
    asked += forms["after_shots"] if shots else ""
    asked += _fill(forms["options"], labels=str(list(options))) if options else ""
    return asked + _fill(forms["query"], text=text)


def problem_prompt(question: str, style: Style) -> str:
    """The prompt for a step-by-step solution of a problem whose answer is a number.

    The plain prompt is that of MGSM (Shi et al. 2023, "Language models are multilingual chain-of-thought reasoners").
    """
    return _fill(_styled("reasoning", style)["problem"], question=question)


def options_prompt(question: str, options: Sequence[str], passage: str, style: Style) -> str:
    """A prompt for the letter of one of several options, A for the first, with a passage if there is one."""
    forms = _read("reasoning")
    named = [_fill(forms["option"], letter=chr(ord("A") + place), text=text) for place, text in enumerate(options)]
    before = _fill(forms["passage"], passage=passage) if passage else ""
    return _fill(_styled("reasoning", style)["options"], passage=before, question=question, options="\n".join(named))


def encode(
    tokenizer: Any, prompt: str, style: Style, *, bos: bool = True, template: Mapping[str, bool | str] | None = None
) -> list[int]:
    """Token ids of a prompt, ready for the completion, with one BOS if the model has one; without `bos`, a plain prompt
    has none.

    The chat template, with its variables in `template`, is rendered and tokenised in one call: rendering to text and
    tokenising that with special tokens would give two BOS (transformers#37686).

    Raises:
        UserError: style "chat" and the tokenizer has no chat template.
    """
    if style == "plain" and not bos:
        return encode_text(tokenizer, prompt)
    if style == "chat":
        turns = [("user", _inert(tokenizer, prompt))]
        ids = _conversation(tokenizer, turns, **{**(template or {}), "add_generation_prompt": True})
    else:
        ids = [tokenizer.bos_token_id, *encode_text(tokenizer, prompt)]
    while ids[:1] == [None] or (len(ids) > 1 and ids[0] == ids[1] == tokenizer.bos_token_id):
        ids = ids[1:]
    return ids


def encode_source(tokenizer: Any, prompt: str, style: Style, template: Mapping[str, bool | str]) -> list[int]:
    """Tokens of a prompt for the encoder of an encoder-decoder, with EOS or what its tokenizer adds; see `encode`."""
    if style == "chat":
        return encode(tokenizer, prompt, style, template=template)
    return tokenizer(_inert(tokenizer, prompt))["input_ids"]


def encode_completion(tokenizer: Any, text: str, style: Style) -> list[int]:
    """Tokens of a completion as training sees it, with the token that ends it."""
    if style == "chat":
        return [*encode_text(tokenizer, text), _end_of_turn(tokenizer)]
    return [*encode_text(tokenizer, _read("nli")["answer_prefix"] + text), tokenizer.eos_token_id]


def encode_text(tokenizer: Any, text: str) -> list[int]:
    """Tokens of a text alone: nothing begins or ends it, and no part of it is a special token."""
    return tokenizer(_inert(tokenizer, text), add_special_tokens=False)["input_ids"]


def stop_ids(tokenizer: Any, style: Style) -> list[int]:
    """Token ids that end a completion, ascending; plain completions also end at a line break, since base models seldom
    generate EOS.
    """
    endings = {_end_of_turn(tokenizer)} if style == "chat" else set(_newlines(tokenizer))
    return sorted(endings | {tokenizer.eos_token_id})


def parse(text: str) -> str:
    """The sentence in a completion's new tokens: the first line after the model's thoughts that is not empty, without
    quotes around it.
    """
    return unquoted(next((line.strip() for line in without_thoughts(text).splitlines() if line.strip()), ""))


def unquoted(line: str) -> str:
    """A line without quotes around it; quotes of which there are more inside remain."""
    for opening, closing in QUOTES:
        inner = line[1:-1]
        if line[:1] == opening and line[-1:] == closing and len(line) > 1 and not {opening, closing} & set(inner):
            return inner.strip()
    return line


@functools.cache
def _read(name: str) -> dict[str, Any]:
    return yamls.read(resource(f"prompts/{name}.yaml"))


def _thinking() -> list[list[str]]:
    return _read("translation")["thinking"]


def _styled(name: str, style: Style) -> dict[str, str]:
    return _read(name)["plain"] if style == "plain" else _read(name)


def _fill(template: str, **values: str) -> str:
    """Put values in a template's {places}, in one pass: braces inside a value are left alone, unlike in str.format."""
    return re.sub(r"\{(\w+)\}", lambda place: values[place[1]], template)


def _ranked(items: list[Any], key: str) -> list[Any]:
    """All items in an order that is a hash of the key."""
    ranks = [hashlib.sha256(f"{key}/{number}".encode()).digest() for number in range(len(items))]
    return [items[number] for number in sorted(range(len(items)), key=ranks.__getitem__)]


def _conversation(tokenizer: Any, turns: list[tuple[str, str]], **options: bool | str) -> list[int]:
    if not tokenizer.chat_template:
        raise UserError(f"{tokenizer.name_or_path}: no chat template; set `prompts: plain` in the generator")
    messages = [{"role": role, "content": content} for role, content in turns]
    return list(tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False, **options))


def _inert(tokenizer: Any, text: str) -> str:
    """The text with a blank inside each special token's name, so that it is read as ordinary text."""
    return _special_names(tokenizer).sub(lambda name: f"{name[0][0]} {name[0][1:]}", text)


@functools.lru_cache(maxsize=4)
def _special_names(tokenizer: Any) -> re.Pattern[str]:
    names = sorted(_special(tokenizer).values(), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, names)) or r"(?!)")


@functools.lru_cache(maxsize=4)
def _special(tokenizer: Any) -> dict[int, str]:
    return {index: token.content for index, token in tokenizer.added_tokens_decoder.items() if token.special}


@functools.lru_cache(maxsize=4)
def _end_of_turn(tokenizer: Any) -> int:
    """The last special token of a conversation that ends with the model's turn; EOS if there is none."""
    ids = _conversation(tokenizer, [("user", "a"), ("assistant", "b")])
    return next((index for index in reversed(ids) if index in _special(tokenizer)), tokenizer.eos_token_id)


@functools.lru_cache(maxsize=4)
def _newlines(tokenizer: Any) -> list[int]:
    """Tokens that write a newline. Byte-level vocabularies spell it Ċ, which elsewhere is a Maltese letter: decode."""
    spelled = [index for token, index in tokenizer.get_vocab().items() if re.search(r"\n|Ċ|<0x0A>", token)]
    return [index for index in spelled if "\n" in tokenizer.decode([index])]
