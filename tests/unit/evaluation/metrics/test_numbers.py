"""The last number of a text."""

from __future__ import annotations

import pytest

from seedbed.evaluation.metrics.answers import number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234.00", "1234"),
        ("The answer is 18.", "18"),
        ("16 - 3 - 4 = 9 eggs, so $18 a day", "18"),
        ("first 5, then 12.50 dollars", "12.5"),
        ("-7", "-7"), ("x = \u22127", "-7"), ("5-3", "3"), ("A-1", "1"), ("-0,50", "-0.5"), ("-0.0", "0"),
        ("007", "7"), ("0,125", "0.125"), ("1,5 kg", "1.5"), ("2,3,4", "4"), ("12,34", "12.34"),
        ("1,23,456", "123456"), ("10,000,000.10", "10000000.1"), ("1.234.567,80", "1234567.8"), ("1.234", "1.234"),
        ("1.234,56", "1234.56"), ("1.234,00 €", "1234"), ("-12.345,6", "-12345.6"), ("0.5,1.234,567.8", "567.8"), ("1.234, 5", "5"),
        ("１，２３４", "1234"), ("１，２３４．５０", "1234.5"), ("３．５", "3.5"), ("答案是12，345，678元", "12345678"), ("是3，4", "4"),
        ("70\u00a0000", "70000"), ("70\u202f000 €", "70000"), ("70 000 рублей", "70000"), ("CHF 1'234'000.50", "1234000.5"), ("1’000", "1000"), ("the '90 of 1", "1"), ("in 2024 300 came", "300"), ("7 of 12 345", "12345"), ("12345678901234567890123456789012", "12345678901234567890123456789012"),
        ("18。", "18"), ("答えは１８です", "18"), ("答案是18,000元", "18000"),
        ("The answer is $10{,}000$.", "10000"), (r"\boxed{10\,000}", "10000"), (r"\boxed{1{,}234{,}567.5}", "1234567.5"),
        (r"\$1\,234.50", "1234.5"), (r"10,\!000", "10000"), (r"70\ 000", "70000"), (r"\(3{,}5\)", "3.5"), (r"5\,000\,\text{m}", "5000"),
        ("الجواب ٧٠،٠٠٠", "70000"), ("٣، ٤", "4"), ("٣،٤", "4"),
        ("", ""), ("none at all", ""), ("二十", ""), ("...", ""),
        # The digits of the scripts of MGSM's eleven languages that have their own, and of four more.
        ("উত্তর হল ১,২৩৪", "1234"), ("คำตอบคือ ๑๘", "18"), ("సమాధానం ౧౮", "18"),
        ("उत्तर १८ है", "18"), ("الجواب ١٬٢٣٤٫٥٠", "1234.5"), ("جواب ۱۸ است", "18"), ("အဖြေ ၁၈", "18"),
    ],
)  # fmt: skip
def test_the_last_number_is_canonical(text: str, expected: str) -> None:
    assert number(text) == expected
    assert number(number(text)) == expected, "what is canonical stays"


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Also bleiben ihm 70.000 Dollar.", "deu", "70000"), ("1.234", "spa", "1234"), ("1.234,5", "spa", "1234.5"),
        ("1.234.567", "deu", "1234567"), ("0.125", "deu", "0.125"), ("12.5", "deu", "12.5"), ("1,234", "deu", "1234"),
        ("1.234", "eng", "1.234"), ("1.234", "tha", "1.234"), ("1.234", "xxq", "1.234"), ("1.234", "ber-Tfng", "1.234"),
    ],
)  # fmt: skip
def test_thousands_are_separated_as_the_language_does(text: str, language: str, expected: str) -> None:
    assert number(text, language) == expected


@pytest.mark.parametrize("zero", [ord("0"), 0x0660, 0x06F0, 0x0966, 0x09E6, 0x0C66, 0x0E50, 0x1040, 0xFF10])
def test_every_number_is_read_in_every_script(zero: int) -> None:
    for value in (0, 7, 10, 999, 1000, 1234567):
        shown = "".join(chr(zero + int(digit)) for digit in str(value))
        assert number(f"= {shown}.") == str(value)
        commas = "".join(chr(zero + int(c)) if c.isdigit() else c for c in f"{value:,}")
        assert number(f"3 + 4 = {commas}\n") == str(value)
