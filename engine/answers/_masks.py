"""Stretches whose digits are no numbers: structures, identifiers, references, list numbers, errors of a method.

`mask` blanks them, so that no grammar of numbers sees them. Every pattern holds a digit; it is tried where a run of
digits and what stands beside it allow a match, and nowhere else (`whole_text` tries all of them everywhere).
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator

from ._characters import GROUP_SPACE
from ._search import Anchored, is_whole
from ._structures import LONGEST_SMILES, TOKEN, without_structure
from ._surveyed import FILL, IDENTIFIED_ENDS, KNOWN_ENDS, NAMED_ENDS, NUMBERED_ENDS, RUN, Surveyed, blanked

# words that name a thing with an integer behind them, and words with a dotted number
_NAMED = (
    r"molecules?|compounds?|samples?|examples?|entry|steps?|refs?\.?|references?|options?|question|problem"
    r"|case|no\.|nr\.?"
    r"|number|chapter|page|pp?\.|rule of|part|item|method|group|position|isomer|model|line|analog(?:ue)?"
)
_NUMBERED = (
    r"tables?|fig(?:ure|\.)?|eqs?\.?|equations?|section|vol\.?|versions?|ver\.?|v\.?|gpt|claude|llama"
    r"|gemini|qwen|phi"
    r"|grok|rdkit"
)
_IDENTIFIED = r"cid|chembl|id|cas|pubchem|chebi|zinc"
# a word for a deviation, not a value
_DEVIATION = (
    r"errors?|uncertainty|rmse|mae|mue|r2|r²|r\^2|margin|confidence|standard deviation|std|s\.?d\.?"
    r"|accuracy|within"
    r"|molecular weight|molar mass|mol\.? wt\.?|mw|m\.w\.|molecular mass"
)

# list number at the start of a line with more behind it; "12. 3" alone may be a number torn apart
_LIST_NUMBER = re.compile(r"(?m)^[ ]{0,6}\(?\d{1,2}[.)][ ]+(?=\S)(?!\d{1,6}[ ]*$)")

Spans = Iterator[tuple[int, int]]
Find = Callable[[re.Pattern[str], "Surveyed"], Spans]


def _blank(text: Surveyed, pattern: re.Pattern[str], find: Find) -> None:
    """Blank the digits of every match."""
    if is_whole():
        text.normal = pattern.sub(lambda match: blanked(match[0]), text.normal)
        return
    parts: list[str] = []
    position = 0
    for start, end in find(pattern, text):
        parts += text.normal[position:start], blanked(text.normal[start:end])
        position = end
    if parts:
        text.normal = "".join((*parts, text.normal[position:]))


def _anywhere(pattern: re.Pattern[str], text: Surveyed) -> Spans:
    yield from (match.span() for match in pattern.finditer(text.normal))


def _at(pattern: re.Pattern[str], text: Surveyed, starts: list[int]) -> Spans:
    position = 0
    for start in starts:
        if start >= position and (match := pattern.match(text.normal, start)):
            yield match.span()
            position = match.end()


def _before(*chars: str) -> Find:
    """Match at the runs of digits that one of some characters follows."""

    def find(pattern: re.Pattern[str], text: Surveyed) -> Spans:
        starts = [start for char in chars if char in text.by_next for start in text.by_next[char]]
        return _at(pattern, text, sorted(starts))

    return find


def _at_every_run(pattern: re.Pattern[str], text: Surveyed) -> Spans:
    return _at(pattern, text, [run.start() for run in RUN.finditer(text.normal)])


def _at_dotted(pattern: re.Pattern[str], text: Surveyed) -> Spans:
    return _at(pattern, text, text.dotted)


def _at_brackets(pattern: re.Pattern[str], text: Surveyed) -> Spans:
    """Match at an opening bracket, or at the space before it."""
    normal, position = text.normal, 0
    at = normal.find("[")
    while at >= 0:
        begin = at - 1 if at and normal[at - 1].isspace() else at
        match = (begin >= position and pattern.match(normal, begin)) or None
        if match is None and begin < at >= position:
            match = pattern.match(normal, at)
        if match:
            yield match.span()
            position = match.end()
        at = normal.find("[", at + 1)


def _behind(*words: str) -> Find:
    """Match at the words (in lower case) before runs of digits."""
    known = frozenset(words)

    def find(pattern: re.Pattern[str], text: Surveyed) -> Spans:
        position = 0
        for word, begin, start in text.words:
            if start < position:
                continue
            if word in known:
                match = pattern.match(text.normal, begin)
            elif word in KNOWN_ENDS or not word.endswith(words):
                continue
            else:
                # Glued to a mark, behind a line end, or the second word of two.
                match = pattern.search(text.normal, max(position, start - 22), start + 80)
            if match and match.start() < start:
                yield match.span()
                position = match.end()

    return find


def _behind_deviations(pattern: re.Pattern[str], text: Surveyed) -> Spans:
    yield from (match.span() for match in Anchored(pattern, _DEVIATION_STEMS).finditer(text.normal, text.low))


def _at_lines(pattern: re.Pattern[str], text: Surveyed) -> Spans:
    """Match at the start of the line of a short run with a point or parenthesis behind."""
    normal, position = text.normal, 0
    for start in text.listed:
        begin = normal.rfind("\n", max(0, start - 8), start) + 1
        if begin >= position and (begin or start <= 7) and (match := pattern.match(normal, begin)):
            yield match.span()
            position = match.end()


_DEVIATION_STEMS = (
    "error", "uncertainty", "rmse", "mae", "mue", "r2", "r²", "r^2", "margin", "confidence",
    "standard deviation", "std", "sd", "s.d", "accuracy", "within", "molecular weight", "molar mass", "mol wt",
    "mol. wt", "mw", "m.w", "molecular mass",
)  # fmt: skip

_MASKS: tuple[tuple[str, re.Pattern[str], Find], ...] = (
    ("url", re.compile(r"https?://\S++", re.I), _anywhere),
    ("doi", re.compile(r"(?:doi:\s?)?\b10\.\d{4,9}/\S++", re.I), _anywhere),
    ("inchi", re.compile(r"\bInChI=\S++"), _anywhere),
    # CAS number, ISO date, clock time
    ("dash", re.compile(r"(?<![\w.\-])\d{2,7}-\d{2}-\d(?![\w\-]|\.\d)"), _before("-")),
    ("dash", re.compile(r"(?<![\w.])\d{4}-\d{2}-\d{2}(?![\w-])"), _before("-")),
    ("clock", re.compile(r"(?<![\w.])\d{1,2}:\d{2}(?::\d{2})?(?![\w:])"), _before(":")),
    # version: three parts or more, unless they can be groups of three
    ("dots", re.compile(r"(?<![\w.])\d{1,4}(?:\.\d{1,2}(?!\d)){2,4}(?![\w.]\d)"), _at_dotted),
    # citation behind a word; bicyclo[2.2.1]
    ("bracket", re.compile(r"(?<=[\w.,)\"'])\s?\[\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,8}\]"), _at_brackets),
    ("bracket", re.compile(r"(?<=[A-Za-z])\[[\d.,^{}()]{1,60}\]"), _at_brackets),
    # locants: 1,2-di..., 2-(4-..., 4'-, 3,3',5-
    (
        "locant",
        re.compile(r"(?<![\w.])(?<!\d,)(?<!',)\d++(?:'{0,2},\d++)*+'{0,2}[a-zA-Z]?'{0,2}-(?=[A-Za-z(\[])"),
        _before(",", "'", "-", *string.ascii_letters),
    ),
    (
        "named",
        re.compile(r"\bpH\s{0,2}(?:of|is|=|~|≈|:)?\s{0,2}\d++(?:\.\d++)?"),
        _behind("ph", "ph of", "ph is"),
    ),
    (
        "percent",
        re.compile(r"\b\d++(?:\.\d++)?\s?%\s(?:CI|confidence|conf\.)"),
        _at_every_run,
    ),
    # "to 3 significant figures"
    (
        "figures",
        re.compile(
            r"\b\d++[\s-](?:sig(?:nificant|\.)?|decimals?|digits?|d\.p\.)(?:\s(?:figures?|digits?|places?))?",
            re.I,
        ),
        _at_every_run,
    ),
    (
        "named",
        re.compile(rf"(?<![\w-])(?:{_NAMED})\s{{0,2}}[#(]?\s?\d++(?!\.\d|[eE][-+\d]|\s?[×*x])", re.I),
        _behind(*NAMED_ENDS),
    ),
    (
        "named",
        re.compile(rf"(?<![\w-])(?:{_NUMBERED})\s{{0,2}}[#(-]?\s?\d++(?:\.\d++)*+(?![eE][-+\d])", re.I),
        _behind(*NUMBERED_ENDS),
    ),
    (
        "named",
        re.compile(rf"(?<![\w-])(?:{_IDENTIFIED})\s{{0,2}}[#:=(]?\s?\d++(?!\.\d)", re.I),
        _behind(*IDENTIFIED_ENDS),
    ),
    (
        "deviation",
        re.compile(
            rf"(?<![\w-])(?:{_DEVIATION})[\"'*]{{0,2}}(?:\s(?:of|is|was|about|around|to|the|estimate|be"
            rf"|approximately))*+"
            r"\s{0,2}(?:[=:≈~±<>≤]\s{0,2})*+(?:about|approximately)?\s?[-+]?\d++(?:\.\d++)?(?:\s?%)?",
            re.I,
        ),
        _behind_deviations,
    ),
    ("list", _LIST_NUMBER, _at_lines),
)

KINDS = frozenset(kind for kind, _, _ in _MASKS)
_LETTERS = frozenset(string.ascii_letters)
_FIGURES = ("sig", "decimal", "digit", "d.p.")


def _possible(text: Surveyed) -> set[str]:
    """Which kinds of masks can match at all."""
    normal, nexts = text.normal, text.by_next
    known = {
        "deviation": True,
        "named": text.words,
        "dots": text.dotted,
        "list": text.listed,
        "dash": "-" in nexts,
        "clock": ":" in nexts,
        "locant": "," in nexts or "'" in nexts or "-" in nexts or not _LETTERS.isdisjoint(nexts),
        "percent": "%" in normal,
        "figures": any(word in text.low for word in _FIGURES),
        "bracket": "[" in normal,
        "url": "://" in normal,
        "doi": "10." in normal,
        "inchi": "InChI=" in normal,
    }
    return {kind for kind, possible in known.items() if possible}


def mask(normal: str, explicit: bool) -> tuple[str, str]:
    """Replace digits that are no numbers by letters, so the length stays; the second is `lowered` of the first.

    Parameters
    ----------
    normal : str
        Normalised text.
    explicit : bool
        The text is the content of an answer tag or box: a leading "5. " is its number, not a list's.
    """
    text = Surveyed(normal)
    if text.empty:
        return normal, text.low
    possible = KINDS if is_whole() else _possible(text)
    for kind, pattern, find in _MASKS:
        if kind in possible and not (explicit and kind == "list"):
            _blank(text, pattern, find)
    masked = _without_structures(text)
    # What is blanked is no stem of any pattern, so that the letters need not be lowered again.
    return masked, text.low


def _without_structures(text: Surveyed) -> str:
    normal = text.normal
    if is_whole():
        return TOKEN.sub(lambda match: without_structure(match[0], blanked), normal)
    parts: list[str] = []
    position = 0
    for start in text.glued:
        if start < position or normal[start] == FILL:
            continue
        reach = max(position, start - LONGEST_SMILES - 10)
        begin = max(normal.rfind(space, reach, start) for space in (" ", "\n", GROUP_SPACE)) + 1 or reach
        token = TOKEN.match(normal, begin)
        if token is None:
            continue
        parts += normal[position:begin], without_structure(token[0], blanked)
        position = token.end()
    return "".join((*parts, normal[position:])) if parts else normal
