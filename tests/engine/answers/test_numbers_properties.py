"""Laws of the reply parser: what is formatted comes back, no text crashes it, time grows with length only."""

from __future__ import annotations

import sys
import time
import unicodedata
from collections.abc import Callable
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molaudit.engine.answers import _places
from molaudit.engine.answers._characters import normalise
from molaudit.engine.answers._columns import SCHEMA
from molaudit.engine.answers.numbers import NumberAnswer, parse_column, parse_number

SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
FULLWIDTH = str.maketrans("0123456789.-", "".join(map(chr, range(0xFF10, 0xFF1A))) + "\uff0e\uff0d")
ARABIC = str.maketrans("0123456789.", "".join(map(chr, range(0x660, 0x66A))) + "\u066b")


# Decimal text in normal form: no leading zeros, trailing zeros free.
whole = st.one_of(st.just("0"), st.from_regex(r"[1-9][0-9]{0,6}", fullmatch=True))
fraction = st.one_of(st.just(""), st.from_regex(r"\.[0-9]{1,8}", fullmatch=True))
sign = st.sampled_from(["", "-"])
plain_digits = st.builds(lambda s, w, f: s + w + f, sign, whole, fraction)
exponents = st.integers(-30, 30).filter(bool)


def _grouped(separator: str) -> Callable[[str], str]:
    def spell(digits: str) -> str:
        whole_part, point, rest = digits.partition(".")
        return (
            f"{int(whole_part):,}".replace(",", separator) + point + rest
            if whole_part not in ("-0",)
            else digits
        )

    return spell


PLAIN_SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda d: d,
    "plus": lambda d: d if d.startswith("-") else "+" + d,
    "unicode minus": lambda d: d.replace("-", "\u2212"),
    "en dash": lambda d: d.replace("-", "\u2013"),
    "small hyphen": lambda d: d.replace("-", "\ufe63"),
    "fullwidth": lambda d: d.translate(FULLWIDTH),
    "arabic-indic": lambda d: d.translate(ARABIC),
    "no leading zero": lambda d: d.replace("0.", ".", 1) if d.lstrip("-").startswith("0.") else d,
    "comma groups": _grouped(","),
    "thin-space groups": _grouped("\u2009"),
    "no-break groups": _grouped("\u202f"),
    "apostrophe groups": _grouped("'"),
    "underscore groups": _grouped("_"),
    "latex groups": _grouped("{,}"),
}

SCIENTIFIC_SPELLINGS: dict[str, Callable[[str, int], str]] = {
    "e": lambda m, e: f"{m}e{e}",
    "E with two digits": lambda m, e: f"{m}E{e:+03d}",
    "unicode minus": lambda m, e: f"{m}e{e}".replace("-", "\u2212"),
    "x caret": lambda m, e: f"{m} x 10^{e}",
    "x tight": lambda m, e: f"{m}x10^{e}",
    "times superscript": lambda m, e: f"{m} × 10{str(e).translate(SUPERSCRIPT)}",
    "times tight": lambda m, e: f"{m}×10{str(e).translate(SUPERSCRIPT)}",
    "dot braces": lambda m, e: f"{m}·10^{{{e}}}",
    "cdot operator": lambda m, e: f"{m} \u22c5 10^({e})",
    "latex": lambda m, e: f"${m} \\times 10^{{{e}}}$",
    "latex cdot": lambda m, e: f"\\({m} \\cdot 10^{{{e}}}\\)",
    "python": lambda m, e: f"{m}*10**{e}",
    "html": lambda m, e: f"{m} &times; 10<sup>{e}</sup>",
}

WRAPPERS: dict[str, str] = {
    "bare": "{}",
    "spaces": "  {} \n",
    "full stop": "{}.",
    "parentheses": "({})",
    "quotes": '"{}"',
    "backticks": "`{}`",
    "fence": "```\n{}\n```",
    "bold": "**{}**",
    "underscored bold": "__{}__",
    "html bold": "<b>{}</b>",
    "answer line": "Answer: {}",
    "bold marker": "**Answer:** {}",
    "bold answer line": "**Final answer: {}**",
    "answer sentence": "The answer is {}.",
    "label": "logS = {}",
    "tight label": "logS={}",
    "conclusion": "Therefore, the predicted value is {}.",
    "square tag": "[ANSWER]{}[/ANSWER]",
    "lower tag": "I think so. [answer] {} [/answer]",
    "angle tag": "It has 3.5 of those.\n<answer>{}</answer>",
    "box": "\\boxed{{{}}}",
    "box in tag": "<answer>\\boxed{{{}}}</answer>",
    "fbox": "Thus $\\fbox{{{}}}$",
    "json text": '{{"answer": "{}"}}',
    "reasoning": "<think>maybe 1.5 or 2.5</think>\n{}",
    "unit": "{} kcal/mol",
    "unit in words": "The hydration free energy is {} kcal/mol at 298.15 K.",
    "after smiles": "For C1=CC=CC=C1 the value is {}",
    "own line": "The logP is 2.1 and there are 3.5 of them.\n\n{}",
    "run-on": "Answer: {}\n\nQuestion: and 7?\nAnswer: 7",
}


def _check(reply: str, digits: str) -> None:
    answer = parse_number(reply)
    assert (answer.kind, answer.digits) == ("point", digits), (reply, answer)
    assert answer.value == Decimal(digits)


@settings(deadline=None, max_examples=250)
@given(plain_digits, st.sampled_from(sorted(PLAIN_SPELLINGS)), st.sampled_from(sorted(WRAPPERS)))
def test_decimals_come_back_with_their_zeros(digits: str, spelling: str, wrapper: str) -> None:
    _check(WRAPPERS[wrapper].format(PLAIN_SPELLINGS[spelling](digits)), digits)


@settings(deadline=None, max_examples=250)
@given(
    st.builds(lambda s, w, f: s + w + f, sign, st.from_regex(r"[1-9]", fullmatch=True), fraction),
    exponents,
    st.sampled_from(sorted(SCIENTIFIC_SPELLINGS)),
    st.sampled_from(sorted(WRAPPERS)),
)
def test_scientific_notation_comes_back_with_its_zeros(
    mantissa: str, exponent: int, spelling: str, wrapper: str
) -> None:
    _check(
        WRAPPERS[wrapper].format(SCIENTIFIC_SPELLINGS[spelling](mantissa, exponent)), f"{mantissa}e{exponent}"
    )


@settings(deadline=None, max_examples=100)
@given(plain_digits)
def test_figures_are_those_of_decimal_arithmetic(digits: str) -> None:
    answer = parse_number(f"<answer>{digits}</answer>")
    exact = Decimal(digits)
    if exact == 0:
        assert (answer.figures, answer.stripped) == (0, 0)
        return
    assert answer.stripped == len(exact.normalize().as_tuple().digits)
    assert answer.figures == (len(exact.as_tuple().digits) if "." in digits else answer.stripped)


# Text made of what the grammar looks at is likelier to reach its corners than random characters.
pieces = st.sampled_from(
    [
        *"0123456789.,-+−–—eE×·*^~<>≤±%()[]{}\\$_`'\"/:;=#|° \n\t",
        "10", "10^", "⁻⁵", "**", "__", "<think>", "</think>", "[ANSWER]", "[/ANSWER]", "<answer>", "</answer>",
        "\\boxed{", "\\fbox{", "\\text{", "\\times", "{,}", '{"answer": ', "Answer:", "Question:",
        "I estimate ",
        "logS", " to ", " or ", "between ", "kcal/mol", " °C", "NaN", "inf", "about ", "C1=CC", "-d",
        "\u2009",
        "\u0663",
        "\x00", "\ud800", "½", "pH ", "wait, ", "not ",
    ]
)  # fmt: skip
hostile = st.one_of(st.text(max_size=60), st.lists(pieces, max_size=25).map("".join))


@settings(deadline=None, max_examples=400)
@given(
    hostile, st.sampled_from([None, "kcal/mol", "degC", "", "???"]), st.sampled_from([(), ("logS", "a(b")])
)
def test_no_text_raises_and_only_points_have_a_value(
    text: str, unit: str | None, names: tuple[str, ...]
) -> None:
    answer = parse_number(text, unit, names)
    assert isinstance(answer, NumberAnswer)
    assert (answer.value is not None) == (answer.kind == "point")
    if answer.value is not None:
        assert answer.digits is not None
        assert Decimal(answer.digits) == answer.value
        assert float(answer.value) not in (float("inf"), float("-inf"))
        assert answer.stripped <= answer.figures
        assert answer.digits in answer.candidates


MARKUP = ["**", "__", "*", "`", "$", "<b>", "</b>", "<i>", "\\(", "\\)", "\\text{", "}", "\\boxed{"]


@settings(deadline=None, max_examples=200)
@given(st.integers(10, 999), st.integers(10, 999), st.lists(st.sampled_from(MARKUP), min_size=1, max_size=4))
def test_markup_never_joins_the_digits_on_its_sides(first: int, second: int, marks: list[str]) -> None:
    reply = f"{first}{''.join(marks)}{second}"
    answer = parse_number(reply)
    assert answer.digits != f"{first}{second}", reply
    assert f"{first}{second}" not in answer.candidates


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=80))
def test_normalising_keeps_every_position(text: str) -> None:
    assert len(normalise(text)) == len(text)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.sampled_from(["\\boxed{", "\\fbox{", "{", "}", "1", "\\\\boxed {", "x"]), max_size=20).map(
        "".join
    )
)
def test_whatever_box_is_found_is_unwrapped(text: str) -> None:
    for place in _places.find_boxes(text):
        assert not _places.find_boxes(place.content)


LONG: dict[str, Callable[[int], str]] = {
    "digits": lambda n: "1" * n,
    "digits on lines": lambda n: "1234567890\n" * (n // 11),
    "groups": lambda n: "1" + ",234" * (n // 4),
    "irregular groups": lambda n: "1,23" * (n // 4),
    "points": lambda n: "1." * (n // 2),
    "parentheses": lambda n: "(" * n,
    "braces": lambda n: "{" * n,
    "open reasoning": lambda n: "<think>" * (n // 7),
    "closed reasoning": lambda n: "</think>" * (n // 8) + "5",
    "open tags": lambda n: "[ANSWER]" * (n // 8),
    "tags": lambda n: "[ANSWER]1[/ANSWER]" * (n // 18),
    "open boxes": lambda n: "\\boxed{" * (n // 7),
    "boxes": lambda n: "\\boxed{1}" * (n // 9),
    "stars": lambda n: "*" * n,
    "bold": lambda n: "**1** " * (n // 6),
    "bold opened": lambda n: " **1" * (n // 4),
    "underscores": lambda n: "_1" * (n // 2),
    "spaces": lambda n: " " * n + "5",
    "newlines": lambda n: "\n" * n + "5",
    "minus signs": lambda n: "-" * n + "5",
    "answer lines": lambda n: "Answer: " * (n // 8),
    "answer lines with numbers": lambda n: "Answer: 5, " * (n // 11),
    "estimates": lambda n: "I estimate 5 or " * (n // 16),
    "questions": lambda n: "\nQuestion: " * (n // 11),
    "json": lambda n: '{"answer": ' * (n // 11),
    "json values": lambda n: '{"answer": 1}' * (n // 13),
    "quotes": lambda n: '"' * n,
    "backslashes": lambda n: "\\" * n,
    "latex": lambda n: "\\text{" * (n // 6),
    "dollars": lambda n: "$" * n,
    "smiles": lambda n: "C1CC1" * (n // 5),
    "smiles branches": lambda n: "C(" * (n // 2),
    "brackets": lambda n: "[" * n,
    "locants": lambda n: "1,2-" * (n // 4),
    "ranges": lambda n: "1 to " * (n // 5),
    "exponents": lambda n: "1e" * (n // 2),
    "powers": lambda n: "10^" * (n // 3),
    "letters": lambda n: "a" * n,
    "words": lambda n: "word " * (n // 5),
    "html": lambda n: "<" * n,
    "entities": lambda n: "&minus;" * (n // 7),
    "log": lambda n: "log " * (n // 4),
    "percent": lambda n: "%" * n,
    "names": lambda n: "logS = " * (n // 7),
    "hashes": lambda n: "# " * (n // 2),
    "superscripts": lambda n: "10" + "⁵" * n,
    "not ascii": lambda n: "−3" * (n // 2),
}


@pytest.mark.parametrize("kind", sorted(LONG))
def test_time_grows_no_faster_than_length(kind: str) -> None:
    """Ten times the text takes about ten times the time; the constants allow for a noisy clock.

    The first step lies within what is examined of a reply, the second beyond it.
    """
    small = min(_seconds(LONG[kind](3_000)) for _ in range(2))
    middle, large = (_seconds(LONG[kind](n)) for n in (30_000, 300_000))
    assert middle < 0.2 + 20 * small, (small, middle)
    assert large < 0.5 + 8 * middle, (middle, large)


def _seconds(text: str) -> float:
    start = time.process_time()
    parse_number(text, "kcal/mol", ("logS",))
    return time.process_time() - start


@pytest.mark.parametrize("unit", ["1", "(", "<think>", "</think>"])
def test_fifty_megabytes_take_seconds(unit: str) -> None:
    assert _seconds(unit * (50_000_000 // len(unit))) < 5


def test_a_long_reply_is_read_at_both_ends_and_says_so() -> None:
    filler = "this line has no number\n" * 10_000
    assert (answer := parse_number(filler + "Answer: -3.05")).digits == "-3.05"
    assert "long" in answer.flags
    assert parse_number("Answer: 0.5\n\nQuestion: x\n" + filler + "Answer: 7").digits == "0.5"
    # A lone number may have company in the part that is not read.
    assert parse_number("It was 5.5 then\n" + filler).kind == "ambiguous"
    assert parse_number("1" * 70_000).value is None


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.one_of(
            plain_digits,
            hostile,
            st.none(),
            st.from_regex(r"[ \t\n]?[-+\u2212]?[0-9]{0,17}\.?[0-9]{0,17}[ \n]?", fullmatch=True),
        ),
        max_size=12,
    )
)
def test_a_column_says_what_single_replies_say(replies: list[str | None]) -> None:
    replies = [None if reply is None else reply.replace("\ud800", "") for reply in replies]
    frame = parse_column(replies)
    assert frame.schema == SCHEMA
    assert frame.height == len(replies)
    for reply, row in zip(replies, frame.iter_rows(named=True), strict=True):
        answer = parse_number(reply)
        for name in ("text", "digits", "figures", "stripped", "rule", "kind", "unit"):
            assert row[name] == getattr(answer, name), (reply, name)
        assert tuple(row["flags"]) == answer.flags
        assert tuple(row["candidates"]) == answer.candidates
        assert row["value"] == (None if answer.value is None else float(answer.value))


def test_a_column_keeps_order_and_repeats() -> None:
    replies = pl.Series(["-3.10", "x", None, "-3.10", "Answer: 2.0"])
    assert parse_column(replies)["digits"].to_list() == ["-3.10", None, None, "-3.10", "2.0"]
    assert parse_column([]).height == 0


def test_every_decimal_digit_of_unicode_is_read():
    digits = [
        chr(code) for code in range(0x80, sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Nd"
    ]
    assert len(digits) >= 650
    for digit in digits:
        assert normalise(digit) == str(unicodedata.decimal(digit))
