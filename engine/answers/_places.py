"""Where replies put their answer: tags, boxes, JSON fields, answer lines, conclusions, names, lines of its own.

Each finder returns contents or spans in the order of the text; the reader takes the last that holds an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ._characters import GROUP_SPACE
from ._search import Anchored, lowered, starting
from ._sentences import Sentences, Span


@dataclass(frozen=True, slots=True)
class Place:
    """The content of a tag, box or JSON field; ``flags`` tell how it was closed, ``before`` what stood before it."""

    content: str
    flags: tuple[str, ...] = ()
    unit: str | None = None
    before: str = ""


# tags: [ANSWER]..[/ANSWER], <answer>..</answer>, <final_answer>, in any case
_TAG_NAMES = r"(?:final[ _-]?)?(?:answer|ans|prediction|result|value|number|estimate)"
_LOOK_BACK = 80
_WRAPPED = r"(?:\\(?:text|mathrm|mathbf|textbf)\s?\{\s?)?"
_TAG = re.compile(
    rf"<\s?(?P<close>/)?\s?(?P<name>{_TAG_NAMES})\s?>"
    rf"|\\?\[\s?{_WRAPPED}(?P<close2>/)?\s?{_WRAPPED}(?P<name2>{_TAG_NAMES})\s?\}}?\s?\\?\]"
    rf"|<\|(?P<begin>begin|end)_of_answer\|>",
    re.I,
)


def find_tags(text: str) -> list[Place]:
    """Contents of answer tags, in the order in which they close; one never closed runs to the end."""
    found: list[Place] = []
    opened: list[re.Match[str]] = []
    for match in starting(_TAG, text, "<[\\"):
        if not (match["close"] or match["close2"] or (match["begin"] or "").lower() == "end"):
            opened.append(match)
        elif opened:
            last = opened.pop()
            content = _TAG.sub(" ", text[last.end() : match.start()])
            found.append(Place(content, before=_before(text, last)))
            # An outer tag repeats what its inner one holds.
            opened.clear()
    if opened:
        # Generation often stops at the closing tag and leaves it out.
        found.append(Place(text[opened[-1].end() :], ("unclosed",), before=_before(text, opened[-1])))
    return found


def _before(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - _LOOK_BACK) : match.start()]


# boxes: \boxed{..}, \fbox{..}; a backslash b that was read as an escape is a backspace
_BOX = re.compile(r"(?:(?<!\\)\\++(?:boxed\*?|fbox|framebox)|\x08oxed)\s{0,2}\{")
_BRACE = re.compile(r"[{}]")
_LONGEST_BOX = 2000


def find_boxes(text: str) -> list[Place]:
    """Contents of LaTeX boxes, braces balanced, in order; inner boxes come before their outer one's end."""
    found: list[Place] = []
    if "box" not in text and "\x08oxed" not in text:
        return found
    for match in _BOX.finditer(text):
        content, closed = _balanced(text, match.end())
        flags = () if closed else ("unclosed",)
        found.append(Place(_BOX.sub("{", content), flags, before=_before(text, match)))
    return found


def _balanced(text: str, start: int) -> tuple[str, bool]:
    depth = 1
    stop = min(len(text), start + _LONGEST_BOX)
    for brace in _BRACE.finditer(text, start, stop):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start : brace.start()], True
    return text[start:stop], False


# JSON fields; keys in quotes of either kind, with or without a property's name
_KEYS = r"(?:final[ _-]?)?(?:answer|prediction|value|result|estimate|predicted(?:[ _-]?\w{1,20})?)"
_SCALAR = r"""\s*+(?:"((?:[^"\\\n]|\\.){0,300})"|'([^'\n]{0,300})'|([^\s,}\]"'{\[][^,}\]\n"]{0,60}))"""
_UNIT_KEY = re.compile(r"""["']units?["']\s*+:\s*+["']([^"'\n]{1,40})["']""", re.I)


def find_fields(text: str, names: Sequence[str]) -> list[Place]:
    """Values of answer fields of JSON objects, in order. A unit field anywhere in the text comes along.

    An "answer" goes before the property by name, and that before "value" and its like; two different fields of the
    last kind are one place with two contents, which nothing can decide.
    """
    if "{" not in text:
        return []
    keys = "|".join([_KEYS, *map(re.escape, names)])
    unit = _UNIT_KEY.search(text)
    named = {name.casefold() for name in names}
    ranked: tuple[dict[int, tuple[str, str]], ...] = ({}, {}, {})
    for match in re.finditer(rf"""[{{,\s]["']({keys})["']\s*+:{_SCALAR}""", text, re.I):
        key = match[1].casefold()
        rank = 0 if "answer" in key else 1 if key in named else 2
        ranked[rank][match.start()] = key, match[2] or match[3] or match[4] or ""
    best = next((fields for fields in ranked if fields), {})
    contents = [content for _, content in best.values()]
    if best is ranked[2] and len({key for key, _ in best.values()}) > 1:
        contents = [" ; ".join(contents)]
    return [Place(content, (), unit[1] if unit else None) for content in contents]


# answer lines. What follows the marker is the answer.
_IS = r"(?:\s{0,3}(?:=>|->|→|is|was|would be|[:=])){1,3}\s{0,3}"
_LINE = r"(?:(?<![^\n])|(?<=\n )|(?<=\n {2})|(?<=\n {3}))"
_SPACES = (" ", "\n", GROUP_SPACE)
_HEADED = "|".join(
    rf"(?<={words} )(?<![^\n]{words} )"
    for words in ("the", "my", "final", "the final", "my final", "your final")
)
_ANSWER = Anchored(
    re.compile(
        r"\b(?:answer|ans|antwort|respuesta|réponse|risposta|resposta|ответ|svar|odpowiedź|cevap)"
        rf"(?:\s?\([^()\n]{{0,40}}\))?(?:{_IS}|\s(?=[-+.]?\d))"
        r"|\bfinal\s(?:\w{1,20}\s){0,3}(?:result|value|prediction|estimate|number|answer)"
        rf"(?:\s?\([^()\n]{{0,40}}\))?{_IS}"
        r"|(?:答案|回答|答え|정답|답|最终预测|预测值)\s?(?:是|为|は|은|는|[:=])+\s?"
        rf"|{_LINE}A\s?:\s{{0,3}}"
        # "Answer", "The final answer" and the like as the heading of the next line
        rf"|(?:(?<![^\n])|(?<=\n )|{_HEADED})"
        r"answer\s?:?\s?\n",
        re.I,
    ),
    (
        *("ans", "antwort", "respuesta", "réponse", "risposta", "resposta", "ответ", "svar", "odpowiedź", "cevap"),
        *("final", "答案", "回答", "答え", "정답", "답", "最终预测", "预测值", "a:"),
        *(f"a{space}:" for space in _SPACES),
    ),
)  # fmt: skip

# labelled predictions: a label and a number, "Predicted logP value: 1.39", on a line or in a sentence of their own
_PREDICTED = (
    r"(?:predict(?:ed|ion|ions)?|estimat(?:ed|e)|vorhersage|prédiction|predicción|previsão|预测|予測)\b"
    r"[^\n\d:=≈~→|]{0,60}?(?:\([^()\n]{0,40}\))?)\s{0,3}"
)
_SIGN = r"(?:=>|->|→|[≈~:=|])"
_PREDICTION = Anchored(
    re.compile(
        r"(?:(?m:^)[^\w\n]{0,8}|(?P<inline>[.!?:;]\s{1,2}))"
        r"(?P<label>(?:(?:the|my|our|so|thus|therefore|hence|in conclusion|best|overall|final|short"
        r"|model)[, ]\s?){0,3}"
        rf"{_PREDICTED}(?:{_SIGN}\s{{0,3}}(?:{_SIGN}\s{{0,3}}){{0,2}}|(?P<verb>\b(?:is|of)\b)\s{{0,3}})",
        re.I,
    ),
    ("predict", "estimat", "vorhersage", "prédiction", "predicción", "previsão", "预测", "予測"),
    90,
    220,
)
_PART = re.compile(
    r"\b(?:fragment|contribution|ring|core|group|scaffold|parent|analog(?:ue)?|unsubstituted|substituent"
    r"|effect|shift|change|correction|increment"
    r"|difference|range|error|uncertainty|slope|intercept|base|baseline|initial|first|rough|preliminary"
    r"|naive|time|confidence)s?\b",
    re.I,
)

# conclusions: what is estimated, predicted, concluded, in the rest of the sentence
_CONCLUSION = Anchored(
    re.compile(
        r"\bI(?:'d|\swould|\swill|'ll)?\s(?:therefore\s)?"
        r"(?:estimate|predict|guess|say|go with|propose|report|settle on|conclude)\b"
        r"|\bmy\s(?:best\s|final\s|own\s)?(?:estimate|prediction|guess|value)\b"
        r"|\b(?:best|final|overall)\s(?:estimate|guess|prediction)\b"
        r"|\b(?:predicted|estimated|predict|estimate|prediction)\b(?=[^.\n]{0,60}(?:[:=≈~]|\bis\b|\bof\b"
        r"|\bat\b))"
        r"|\bthe\s(?:final\s|numerical\s)?(?:value|result)\s(?:is|would be|=)"
        rf"|{_LINE}(?:value|result|prediction|estimate|output)\s?[:=]"
        r"|\b(?:therefore|thus|hence|in conclusion|in summary|overall)\b",
        re.I,
    ),
    (
        *("i'd", "i'll", "predict", "estimat", "value", "result", "output"),
        *("therefore", "thus", "hence", "in conclusion", "in summary", "overall"),
        *(word + space for word in ("i", "my", "best", "final", "the") for space in _SPACES),
    ),
)

# a property's name before its value
_AFTER_NAME = (
    r"(?:\s?\([^()\n]{0,40}\))?\s{0,3}"
    r"(?=[-+.]?\d|[=:≈~<>≤≥]|(?:is|was|of|value|would|about|around|approx(?:imately)?)\b)"
)

_LATER = Anchored(
    re.compile(
        r"\bI(?:'d|\swould|\swill|'ll)?\s(?:therefore\s)?"
        r"(?:estimate|predict|guess|say|go with|propose|report|settle on|conclude)\b"
        r"|\bmy\s(?:best\s|final\s|own\s)?(?:estimate|prediction|guess|value)\b"
        r"|\b(?:best|final|overall)\s(?:estimate|guess|prediction)\b"
        r"|\bthe\s(?:final\s|numerical\s)?(?:value|result)\s(?:is|would be|=)",
        re.I,
    ),
    (
        *("i'd", "i'll"),
        *(word + space for word in ("i", "my", "best", "final", "overall", "the") for space in _SPACES),
    ),
)

_REVISION = Anchored(
    re.compile(
        r"\b(?:wait|actually|correction|scratch that|on second thought|i mean|rather|let me re)", re.I
    ),
    ("wait", "actually", "correction", "scratch that", "on second thought", "i mean", "rather", "let me re"),
)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A labelled prediction; ``heading``: it has a line of its own and a colon or the like behind its label."""

    label: str
    span: Span
    heading: bool


def find_answer_lines(sentences: Sentences) -> list[Span]:
    """What stands behind "Answer:" and its like, in order."""
    return [
        sentences.after(match.end(), match.start())
        for match in _ANSWER.finditer(sentences.normal, sentences.low)
    ]


def find_conclusions(sentences: Sentences) -> list[Span]:
    """What stands behind "I estimate", "therefore" and their like, in order."""
    return [sentences.after(match.end()) for match in _CONCLUSION.finditer(sentences.normal, sentences.low)]


def find_later_conclusions(sentences: Sentences, start: int) -> list[Span]:
    """What stands behind "I estimate" and its like beyond a position; "therefore" alone takes nothing back."""
    found = _LATER.finditer(sentences.normal, sentences.low, start)
    return [sentences.after(match.end()) for match in found]


def find_predictions(sentences: Sentences) -> list[Prediction]:
    """Labels that say "predicted" or "estimated", and what stands behind each. Labels of a part do not count."""
    return [
        Prediction(match["label"], sentences.after(match.end()), not match["inline"] and not match["verb"])
        for match in _PREDICTION.finditer(sentences.normal, sentences.low)
        if not _PART.search(match["label"])
    ]


def find_named(sentences: Sentences, names: Sequence[str]) -> list[Span]:
    """What stands behind a name of the property."""
    if not names:
        return []
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    found = re.finditer(rf"(?<!\w)(?:{pattern}){_AFTER_NAME}", sentences.normal, re.I)
    return [sentences.after(match.end()) for match in found]


def is_revised(text: str) -> bool:
    """Whether a text takes back what was said before it."""
    return _REVISION.search(text, lowered(text)) is not None
