"""Why a reply was read as it was, in words for a person."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.inert import inert
from ._answer import NumberAnswer

KINDS = {
    "point": "a number that may be scored",
    "range": "a range: no single number",
    "bound": "a bound: no single number",
    "uncertain": "an approximate value, left out as asked",
    "ambiguous": "several readings: no number is taken",
    "non-finite": "not a finite number",
    "refusal": "the question was declined",
    "truncated": "the reasoning was never closed: the reply was cut",
    "empty": "nothing visible",
    "none": "no number that could be meant",
}
RULES = {
    "tag": "the last answer tag",
    "box": "the last box",
    "json": "the answer field of JSON",
    "answer-line": "the last line or sentence that says it is the answer or the prediction",
    "name": "a statement of the property by name",
    "conclusion": "a conclusion: all that is concluded agrees",
    "bold": "a bold number: all that stands out agrees",
    "own-line": "a number on a line of its own",
    "lone": "the only number",
    "none": "no rule applies",
}
FLAGS = {
    "approximate": "said to be about this value, or the centre of a spread",
    "plus-minus": "a spread is given with it",
    "several": "several final answers: the last one is taken",
    "others": "the reply holds other numbers",
    "thousands": "groups of three digits",
    "one-comma": "one comma before three digits, read as thousands",
    "one-point": "with decimal commas, 1.234 may be a thousand or English",
    "decimal-comma": "a comma that may be a decimal sign: where it is, say --decimal-comma",
    "split": "digits, a point, a space, digits: one number torn apart, or two",
    "spaced-sign": "a sign with a space behind it",
    "spaced-dash": "a dash with a space behind it: minus or punctuation",
    "em-dash": "a long dash before it: minus or punctuation",
    "odd-sign": "a mark before it that may be a minus",
    "worded-sign": "a sign in words",
    "unit-mismatch": "its unit is not that of the property; nothing is converted",
    "log-unit": "the logarithm of the quantity is given its unit",
    "percent": "a percentage",
    "unclosed": "its tag or box is never closed",
    "reasoning": "a block of reasoning stood before it",
    "run-on": "the model went on with a question or sample of its own",
    "long": "the middle of a very long reply was not read",
    "revised": "taken back later in the reply",
    "refusal-words": "the reply also declines",
    "error-text": "an error or a notice of a service, no answer",
    "of-another": "said of another compound",
    "irregular": "digits grouped in no known way",
    "incomplete": "its exponent is cut off",
    "bare-exponent": "a power of ten without its sign of power",
    "product": "a product",
    "raised": "raised to a power",
    "fraction": "a fraction, or two numbers",
    "fortran": "an exponent written with d",
}


def explain(answer: NumberAnswer) -> Iterator[tuple[str, str]]:
    """Name and text of every line to be shown; what came from the reply cannot drive a terminal."""
    yield "kind", f"{answer.kind}: {KINDS[answer.kind]}"
    if answer.value is not None:
        yield "number", str(answer.digits)
        yield "figures", f"{answer.figures} written, {answer.stripped} without trailing zeros"
    elif answer.digits is not None:
        yield "digits", str(answer.digits)
    if answer.low is not None or answer.high is not None:
        low, high = (str(end) if end is not None else "open" for end in (answer.low, answer.high))
        yield "ends", f"{low} to {high}"
    if answer.text is not None:
        yield "written", inert(answer.text)
    yield "rule", f"{answer.rule}: {RULES[answer.rule]}"
    if answer.unit is not None:
        yield "unit", inert(answer.unit)
    others = [one for one in answer.candidates if one != answer.digits]
    yield "others", ", ".join(map(inert, others)) or "-"
    if not answer.flags:
        yield "flags", "-"
    for flag in answer.flags:
        yield "flags", f"{flag}: {FLAGS[flag]}" if flag in FLAGS else flag
