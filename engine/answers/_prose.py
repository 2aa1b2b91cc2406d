"""Reading of text without tags: answer lines, conclusions, emphasis, lines of their own, and the lone number.

An answer line decides alone. Weaker statements must agree with each other. A number without any statement counts
only when it is the only one: the first or the last of several is never taken silently.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from . import _places as places
from ._answer import NumberAnswer
from ._characters import normalise
from ._choices import INTRODUCED, LEAD_IN, NEGATED, choose
from ._contexts import is_aside, is_of_another, property_of, stated_at
from ._masks import mask
from ._quantities import Quantity, find_quantities
from ._scan import Manner, Scan, distinct_of, names_of, scan_text
from ._sentences import Sentences, Span
from ._words import is_declined, is_example, is_not_finite, is_refusal

_MOST_STATEMENTS = 200
_LOOK_BACK = 80


def read_prose(text: str, manner: Manner, explicit: bool, long: bool) -> NumberAnswer:
    """Read text that holds no tag, box or field.

    Parameters
    ----------
    text : str
        The reply, or the content of a tag (``explicit``).
    manner : Manner
        Unit and names of the property, and what counts.
    explicit, long : bool
        The text is the content of a tag or box; the middle of the reply is missing, so that a lone number may not
        be the only one.
    """
    scan = scan_text(text, manner, explicit)
    if is_not_finite(scan.normal):
        return NumberAnswer(kind="non-finite", rule="lone", text=scan.normal.strip())
    sentences = Sentences(scan.normal, scan.low)
    return (
        _answer_lines(scan, sentences)
        or _named(scan, sentences, manner.names)
        or _predictions(scan, sentences)
        or _statements(scan, sentences)
        or _rest(scan, long)
    )


def _answer_lines(scan: Scan, sentences: Sentences) -> NumberAnswer | None:
    """The last answer line that says anything; a later "wait, actually" with another number undoes it."""
    spans = places.find_answer_lines(sentences)[-_MOST_STATEMENTS:]
    for index in range(len(spans) - 1, -1, -1):
        answer = _answer_line(scan, spans[index])
        if answer is None:
            continue
        if answer.kind == "point" and _differs(scan, spans[:index], answer):
            return replace(answer, flags=tuple(dict.fromkeys((*answer.flags, "several"))))
        return answer
    return None


def _answer_line(scan: Scan, span: Span) -> NumberAnswer | None:
    if is_example(scan.normal[max(0, span.marker - _LOOK_BACK) : span.marker]):
        return None
    said = scan.normal[span.start : span.end]
    if is_not_finite(said):
        return NumberAnswer(kind="non-finite", rule="answer-line", text=said.strip())
    found = scan.within(span)
    if not found:
        aside = [one for one in scan.circumstances if one.start == span.start]
        if aside:
            return scan.answer(aside[0], "answer-line")
        if is_refusal(said):
            return NumberAnswer(kind="refusal", rule="answer-line", candidates=names_of(scan.main))
        return None
    chosen = choose(scan, found, span.start, lead=True)
    if chosen is None or NEGATED.match(said):
        return scan.undecided("answer-line")
    later = any(one.digits != chosen.digits for one in scan.main if one.start >= span.rest)
    if later and places.is_revised(scan.normal[span.rest :]):
        return scan.undecided("answer-line", "revised")
    # "The answer is based on 2.1. It comes to ...": a number deep in the sentence is not what the marker marks.
    if later and not INTRODUCED.search(scan.normal[span.start : chosen.start][-40:]):
        return scan.undecided("answer-line")
    return scan.answer(chosen, "answer-line")


def _differs(scan: Scan, spans: Sequence[Span], answer: NumberAnswer) -> bool:
    """Whether an earlier answer line gives another number."""
    for span in spans:
        said = scan.within(span)
        if said and not is_example(scan.normal[max(0, span.marker - _LOOK_BACK) : span.marker]):
            chosen = choose(scan, said, span.start, lead=True)
            if chosen is None or chosen.digits != answer.digits:
                return True
    return False


def _predictions(scan: Scan, sentences: Sentences) -> NumberAnswer | None:
    """The last line that labels its number as the prediction, where nothing after it says otherwise.

    What was listed, emboldened or concluded on the way does not count against it. Numbers behind it (its reasons) do
    not either where it opens the reply; elsewhere it must close it.
    """
    stated: list[tuple[places.Prediction, Quantity]] = []
    for prediction in places.find_predictions(sentences)[-_MOST_STATEMENTS:]:
        span = prediction.span
        found = scan.within(span)
        chosen = choose(scan, found, span.start, lead=True) if found else None
        if chosen is not None and LEAD_IN.fullmatch(scan.normal, span.start, max(span.start, chosen.start)):
            stated.append((prediction, chosen))
    if not stated:
        return None
    prediction, chosen = stated[-1]
    different = [one for _, one in stated if one.digits != chosen.digits]
    if different and len({property_of(one.label) for one, _ in stated} - {None}) > 1:
        return None
    behind = [one for one in scan.main if one.start >= prediction.span.end and one.digits != chosen.digits]
    opens = scan.main[0].start == stated[0][1].start and prediction.heading and not different
    if behind and not opens and not (prediction.heading and "final" in prediction.label.casefold()):
        return None
    if behind and (
        places.is_revised(scan.normal[prediction.span.rest :]) or _taken_back(scan, sentences, chosen)
    ):
        return None
    return scan.answer(chosen, "answer-line", *(("several",) if different else ()))


def _taken_back(scan: Scan, sentences: Sentences, chosen: Quantity) -> bool:
    """Whether a later statement in the first person, or a later bare line, gives another number."""
    later = _each(scan, places.find_later_conclusions(sentences, chosen.end), lead=False)
    bare = [one for one in _own_lines(scan)[0] if one.start > chosen.end]
    return any(one.digits != chosen.digits for one in (*later, *bare))


def _named(scan: Scan, sentences: Sentences, names: Sequence[str]) -> NumberAnswer | None:
    """Statements of the property by name, if they all agree."""
    chosen = _each(scan, places.find_named(sentences, names), lead=True)
    if not chosen:
        return None
    return scan.answer(chosen[0], "name") if len(chosen) == 1 else scan.undecided("name")


def _statements(scan: Scan, sentences: Sentences) -> NumberAnswer | None:
    """Conclusions, bold numbers and numbers on lines of their own, if they all agree.

    Replies conclude, embolden and list intermediate values too. So only a bare number on its own line counts
    anywhere; the others must be the last number of the reply.
    """
    bare, labelled = _own_lines(scan)
    if closing := _closing_bold(scan, labelled):
        return scan.answer(closing, "bold")
    by_rule = {
        "conclusion": _each(scan, places.find_conclusions(sentences), lead=False),
        "bold": _bold(scan),
        "own-line": distinct_of((*bare, *labelled)),
    }
    everything = distinct_of(one for found in by_rule.values() for one in found)
    if not everything:
        return None
    rule = next(rule for rule, found in by_rule.items() if found)
    if not scan.explicit and not bare and not by_rule["conclusion"] and is_declined(scan.normal, scan.low):
        return NumberAnswer(kind="refusal", rule="none", candidates=names_of(scan.main))
    if len(everything) > 1:
        return scan.undecided(rule)
    chosen = everything[0]
    own = [one for one in scan.main if not is_of_another(scan.normal, one)] or scan.main
    if not bare and distinct_of((own[-1], chosen)) not in ([chosen], [own[-1]]):
        return scan.undecided(rule)
    later = any(one.digits != chosen.digits for one in scan.main if one.start > chosen.start)
    if later and places.is_revised(scan.normal[chosen.end :]):
        return scan.undecided(rule, "revised")
    if rule == "own-line" and len(distinct_of(scan.main)) == 1 and "\n" not in scan.normal.strip():
        rule = "lone"
    return scan.answer(chosen, rule)


def _closing_bold(scan: Scan, labelled: Sequence[Quantity]) -> Quantity | None:
    """The number of a last line that is all bold and labels it: "**logP ≈ -0.6**" under a table of terms."""
    if not scan.bold or not labelled or scan.explicit:
        return None
    last = scan.normal.rstrip()
    begin = last.rfind("\n") + 1
    one = labelled[-1]
    same = normalise(scan.bold[-1]).strip(" .") == last[begin:].strip(" .")
    return one if begin and same and begin <= one.start and one is scan.main[-1] else None


def _each(scan: Scan, spans: Sequence[Span], *, lead: bool) -> list[Quantity]:
    chosen = []
    for span in spans[-_MOST_STATEMENTS:]:
        found = scan.within(span)
        found = [one for one in found if not is_of_another(scan.normal, one)]
        if found and (one := choose(scan, found, span.start, lead=lead)) is not None:
            chosen.append(one)
    return distinct_of(chosen)


def _bold(scan: Scan) -> list[Quantity]:
    """Bold numbers that may be answers where they stand: the 3 of "**3** rings" may not."""
    allowed = {one.text: one for one in scan.main}
    chosen = []
    for content in scan.bold[-_MOST_STATEMENTS:]:
        normal = mask(normalise(content), explicit=False)[0]
        inside = [
            one
            for one in find_quantities(normal, content, scan.manner.decimal_comma)
            if not is_aside(normal, one) and not is_of_another(normal, one)
        ]
        if len(distinct_of(inside)) == 1 and inside[0].text in allowed:
            one = allowed[inside[0].text]
            if not is_of_another(scan.normal, one):
                chosen.append(one)
    return distinct_of(chosen)


# What may stand beside a number on its line: signs and brackets; a short label with its sign before it.
_LABEL = re.compile(
    r"[^\w\n]{0,6}[^\W\d_][^\n\d=:≈]{0,40}?(?:\([^()\n]{0,30}\))?\s?(?:[=:≈~|]|->|→)[^\w\n]{0,6}"
)
_NOTHING = re.compile(r"[^\w\n]{0,8}")
_ABOUT = re.compile(r"\b(?:about|approximately|around|roughly|at least|at most|less than|more than)\b", re.I)


def _own_lines(scan: Scan) -> tuple[list[Quantity], list[Quantity]]:
    """Numbers with a line to themselves: without a word beside them, and with a label before them."""
    by_line: dict[int, list[Quantity]] = {}
    for one in scan.main:
        by_line.setdefault(scan.normal.rfind("\n", 0, one.start) + 1, []).append(one)
    bare, labelled = [], []
    for start, found in by_line.items():
        one = found[0]
        end = scan.normal.find("\n", one.end)
        before = scan.normal[start : one.start]
        behind = scan.normal[one.end : end if end >= 0 else len(scan.normal)]
        if len(found) > 1 or len(before) > 80 or not _NOTHING.fullmatch(behind):
            continue
        words = _ABOUT.sub("", before)
        if _NOTHING.fullmatch(words):
            bare.append(one)
        elif _LABEL.fullmatch(words):
            labelled.append(one)
    return bare, labelled


def _rest(scan: Scan, long: bool) -> NumberAnswer:
    """Without any statement: the lone number, else why there is none."""
    distinct = distinct_of(scan.main)
    if not distinct:
        return _without_number(scan)
    if not scan.explicit and is_declined(scan.normal, scan.low):
        return NumberAnswer(kind="refusal", rule="none", candidates=names_of(scan.main))
    start = len(scan.normal) - len(scan.normal.lstrip())
    chosen = choose(scan, scan.main, start, lead=scan.explicit)
    if chosen is None:
        return scan.undecided("none")
    if long:
        return scan.undecided("lone")
    if is_of_another(scan.normal, chosen):
        return scan.undecided("lone", "of-another")
    if not scan.explicit and is_refusal(scan.normal, scan.low):
        return scan.undecided("lone", "refusal-words")
    return scan.answer(chosen, "lone")


def _without_number(scan: Scan) -> NumberAnswer:
    refusing = is_refusal(scan.normal, scan.low)
    for one in scan.circumstances:
        alone = not re.search(r"\w", scan.normal[: one.start] + scan.normal[one.end :])
        if alone or (scan.declared is None and not refusing and not stated_at(scan.normal, one)):
            return scan.answer(one, "lone")
    return NumberAnswer(kind="refusal" if refusing else "none", rule="none")
