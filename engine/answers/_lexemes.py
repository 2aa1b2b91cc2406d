"""The grammar of one written number. Input is what `normalise` returns.

    number    = [ sign ] run [ spread ] [ exponent ]  |  [ sign ] "10" raised
    run       = digits, with points, commas and group separators between them
    split     = digits "." spaces digits: a number torn apart, or two; nobody can tell
    exponent  = "e" [ sign ] digits  |  "d" sign digits  |  times "10" raised
    raised    = ( "^" | "**" ) [ "{" | "(" ] [ sign ] digits [ ")" | "}" ]  |  superscripts

A run is cut at its longest and then classified as a whole, so that no prefix of an irregular run ("1.234,5",
"12,34") can pass for a number. Quantifiers are possessive or bounded: one pass, linear time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ._characters import GROUP_SPACE
from ._search import is_whole
from ._signs import read_sign
from ._units import read_unit

# run
_DIGIT = re.compile("[0-9]")
_DIGITS_AND_POINT = frozenset("0123456789.")
_RUN = re.compile(rf"(?:(?<![\d.])\.(?=\d))?+\d++(?:[.,'_{GROUP_SPACE}]\d++)*+")

# a run with nothing behind it that could belong to it; "10" may be raised
_END = r"(?=[\n;)\]|]|\Z|,(?![0-9])| (?![eExX×·*^⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻. \u202f]))"
_PLAIN_RUN = re.compile(rf"(?!10\b(?!\.))[0-9]{{1,9}}(?:\.[0-9]{{1,9}}(?:{_END}|(?=\.(?:[ \n]|\Z)))|{_END})")
_NOT_PLAIN = frozenset("+- \n")
_NOT_BESIDE = frozenset("+-,. \n")
_NEGATIVE = ("minus", "negative", "neg", "neg.")

# classes of a run
_POINT = re.compile(r"\d++(?:\.\d++)?|\.\d++")
_GROUPED = re.compile(rf"[1-9]\d{{0,2}}([,'_{GROUP_SPACE}])\d{{3}}(?:\1\d{{3}})*+(?:\.\d++)?")
_ONE_COMMA = re.compile(r"\d++,\d++")

# the same where the comma is declared to be the decimal sign
_COMMA_POINT = re.compile(r"\d++(?:,\d++)?|,\d++")
_COMMA_GROUPED = re.compile(rf"[1-9]\d{{0,2}}([.'_{GROUP_SPACE}])\d{{3}}(?:\1\d{{3}})*+(?:,\d++)?")
_THOUSANDS_LIKE = re.compile(r"[-+\u2212]?[1-9]\d{0,2}\.\d{3}")
_ONE_POINT = re.compile(r"\d++\.\d++|\.\d++")

# a number torn apart: 178. 3 (a word behind it makes it two: "178. 3 rings")
_SPLIT = re.compile(rf" ?\.[ {GROUP_SPACE}]{{1,3}}\d{{1,6}}(?![\w,]|\.\d|[ ]?-?[^\W\d_]{{2,}})")

_LOOSE_SPLIT = re.compile(rf" ?\.[ {GROUP_SPACE}]{{1,3}}\d{{1,6}}(?![\w,]|\.\d)")

# spread: digits in parentheses right after the last digit, 3.05(2)
_SPREAD = re.compile(r"\((\d{1,3})\)(?![A-DF-Za-df-z\d(])")

# exponent; each pattern has the groups sign and digits. Letters may follow only as a unit.
_AFTER = r"(?:(?=(?:mol|kcal|kJ|mM|nM|µM|M|g|mg|cm|eV)(?:\b|/))|(?![\w^]|\.\d))"
_E_FORMS = (
    re.compile(rf" ?[eE]([-+])(\d++){_AFTER}"),
    re.compile(rf"[eE]()(\d++){_AFTER}"),
)
_FORTRAN = re.compile(rf"[dD]([-+])(\d{{1,3}}){_AFTER}")
_E_CUT = re.compile(r" ?[eE][-+]?(?![\w+-])")
_TIMES = re.compile(rf"[ {GROUP_SPACE}]{{0,3}}[xX×·*][ {GROUP_SPACE}]{{0,3}}10(?!\d|[.,]\d)")

# raised
_RAISED_FORMS = (
    re.compile(r" ?(?:\^|\*\*) ?\{ ?\(?([-+]?) ?(\d++) ?\)?\}"),
    re.compile(r" ?(?:\^|\*\*) ?\( ?([-+]?) ?(\d++) ?\)"),
    re.compile(r" ?(?:\^|\*\*) ?([-+]?)(\d++)(?!\.\d)"),
    re.compile(r"\^?\{?([⁺⁻]?)([⁰¹²³⁴-⁹]++)\}?"),
)
_EXPONENT_FIRSTS = frozenset("eEdDxX×·*^⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_BARE = re.compile(r" ?[-+]\d++")
_RAISED_CUT = re.compile(r"\s{0,3}(?:\^|\*\*)[ {(]{0,3}[-+]?\s*+$|⁻(?![⁰¹²³⁴-⁹])")
_RAISED_ODD = re.compile(
    r" ?(?:\^|\*\*)[ ({]{0,3}[-+]?[\d.]*+| ?[*×·]? ?(?:exp ?\(|e\^)[({]?[-+]?[\d.]*+|[⁰¹²³⁴-⁹⁺⁻]++"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

# a vulgar fraction behind the digits: 1½
_FRACTIONS = frozenset("¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞")

_NO_READING = frozenset(
    (
        "decimal-comma",
        "one-point",
        "split",
        "irregular",
        "incomplete",
        "bare-exponent",
        "raised",
        "product",
        "em-dash",
        "spaced-dash",
        "odd-sign",
        "worded-sign",
    )
)


class Numeral(NamedTuple):
    """One written number. ``digits`` is None where the writing has no single reading; ``flags`` say why."""

    start: int
    end: int
    text: str
    digits: str | None
    flags: tuple[str, ...] = ()
    spread: str | None = None
    signed: bool = False


def find_numerals(normal: str, written: str, decimal_comma: bool = False) -> list[Numeral]:
    """All numbers of a text, in order, without overlap.

    Parameters
    ----------
    normal, written : str
        The text after `normalise`, and before it: of the same length.
    decimal_comma : bool
        A comma is the decimal sign, and a point parts groups of three digits.
    """
    found: list[Numeral] = []
    position = 0
    quick = not decimal_comma and not is_whole()
    while digit := _DIGIT.search(normal, position):
        start = digit.start()
        numeral = _plain(normal, written, start, position) if quick else None
        if numeral is None:
            run = _run_at(normal, start, position)
            numeral = _read_run(normal, written, run, position, decimal_comma)
        found.append(numeral)
        position = numeral.end
    return found


def _plain(normal: str, written: str, start: int, floor: int) -> Numeral | None:
    """The same as `_read_run` for the most usual: a plain number between spaces or marks, with or without a minus."""
    if start < floor + 2:
        return None
    run = _PLAIN_RUN.match(normal, start)
    if run is None:
        return None
    text = run[0]
    before, sign = normal[start - 1], ""
    if before == " ":
        further = normal[start - 2]
        if further in _NOT_PLAIN or not further.isascii():
            return None
        if further in "sge." and normal[max(floor, start - 12) : start - 1].lower().endswith(_NEGATIVE):
            return None
    elif before == "-":
        if normal[start - 2] not in " \n" or normal[start - 3 : start - 2] == "±":
            return None
        sign = "-"
    elif (
        before in _NOT_BESIDE or before.isalnum() or not before.isascii() or "-" in normal[start - 3 : start]
    ):
        return None
    begin = start - len(sign)
    digits = join_digits(sign, text, "") if text[0] == "0" else sign + text
    return Numeral(begin, run.end(), written[begin : run.end()], digits, (), None, sign != "")


def _run_at(normal: str, start: int, floor: int) -> re.Match[str]:
    """The run of a first digit, from the point right before it where that begins the run."""
    pointed = start > floor and normal[start - 1] == "."
    if pointed and normal[start - 2 : start - 1] not in _DIGITS_AND_POINT:
        start -= 1
    run = _RUN.match(normal, start)
    assert run
    return run


def _read_run(normal: str, written: str, run: re.Match[str], floor: int, decimal_comma: bool) -> Numeral:
    start, text = run.start(), run[0]
    if (
        decimal_comma
        and normal[start - 1 : start] == ","
        and not normal[max(floor, start - 2) : start - 1].strip()
    ):
        start, text = start - 1, "," + text
    mantissa, flags = _comma_mantissa(text) if decimal_comma else _mantissa(text)
    end, spread = run.end(), None
    if mantissa and normal[end : end + 1] == "(" and (parenthesis := _SPREAD.match(normal, end)):
        spread, end = parenthesis[1], parenthesis.end()
    if run[0] == "10" and (power := _raised(normal, end)):
        mantissa, (exponent, end) = "1", power
    else:
        exponent, end, more = _exponent(normal, end)
        flags += more
    if normal[end : end + 1] in _FRACTIONS:
        flags += ("irregular",)
    if (
        end == run.end()
        and normal[end : end + 2].lstrip(" ")[:1] == "."
        and text.isdigit()
        and (torn := _torn(normal, end))
    ):
        end, flags = torn, (*flags, "split")
    begin = start
    start, sign, doubts = read_sign(normal, written, begin, floor)
    flags += doubts
    known = mantissa is not None and not _NO_READING.intersection(flags)
    digits = join_digits(sign, mantissa, exponent) if known and mantissa is not None else None
    return Numeral(start, end, written[start:end], digits, flags, spread, start < begin)


def _mantissa(run: str) -> tuple[str | None, tuple[str, ...]]:
    """Classify a whole run. One group of three behind one comma is read as thousands, and says so."""
    if _POINT.fullmatch(run):
        return run, ()
    if grouped := _GROUPED.fullmatch(run):
        one_comma = grouped[1] == "," and run.count(",") == 1 and "." not in run
        return run.replace(grouped[1], ""), ("thousands", "one-comma") if one_comma else ("thousands",)
    return None, ("decimal-comma",) if _ONE_COMMA.fullmatch(run) else ("irregular",)


def _comma_mantissa(run: str) -> tuple[str | None, tuple[str, ...]]:
    """As `_mantissa`, where the comma is the decimal sign. "1.234" may then be a thousand or written in English."""
    if _COMMA_POINT.fullmatch(run):
        return run.replace(",", "."), ()
    if grouped := _COMMA_GROUPED.fullmatch(run):
        if grouped[1] == "." and run.count(".") == 1 and "," not in run:
            return None, ("one-point",)
        return run.replace(grouped[1], "").replace(",", "."), ("thousands",)
    return (run, ()) if _ONE_POINT.fullmatch(run) else (None, ("irregular",))


def is_thousands_like(text: str) -> bool:
    """Whether a number with one point may mean thousands to somebody who writes decimal commas: 1.234."""
    return _THOUSANDS_LIKE.fullmatch(text) is not None


def _torn(normal: str, end: int) -> int | None:
    """Where a number ends that goes on behind a point and a space, or None."""
    match = _SPLIT.match(normal, end)
    if match is None and (loose := _LOOSE_SPLIT.match(normal, end)):
        # The word behind the digits is a unit: "178. 3 kcal/mol".
        match = loose if read_unit(normal, loose.end())[1] > loose.end() else None
    return None if match is None else match.end()


def _exponent(normal: str, end: int) -> tuple[str, int, tuple[str, ...]]:
    """The exponent that starts at ``end`` as text ("" if there is none), where it ends, and flags."""
    if normal[end : end + 4].lstrip(" " + GROUP_SPACE)[:1] not in _EXPONENT_FIRSTS:
        return "", end, ()
    for form in _E_FORMS:
        if match := form.match(normal, end):
            return match[1] + match[2], match.end(), ()
    if match := _FORTRAN.match(normal, end):
        return match[1] + match[2], match.end(), ("fortran",)
    if match := _E_CUT.match(normal, end):
        return "", match.end(), ("incomplete",)
    if times := _TIMES.match(normal, end):
        after = times.end()
        if power := _raised(normal, after):
            return *power, ()
        if cut := _RAISED_CUT.match(normal, after):
            return "", cut.end(), ("incomplete",)
        bare = _BARE.match(normal, after)
        return "", bare.end() if bare else after, ("bare-exponent" if bare else "product",)
    if odd := _RAISED_ODD.match(normal, end):
        return "", odd.end(), ("raised",)
    return "", end, ()


def _raised(normal: str, end: int) -> tuple[str, int] | None:
    for form in _RAISED_FORMS:
        if match := form.match(normal, end):
            return (match[1] + match[2]).translate(_SUPERSCRIPTS), match.end()
    return None


_SPACED = re.compile(r"[\s\"'(]*+[-+]?[1-9]\d{0,2}(?: \d{3})++(?:\.\d++)?(?:[ ]?[^\d\s]{1,8})?[\s\"').]*+")


def spaced_thousands(normal: str) -> str | None:
    """A text that is nothing but one number grouped by plain spaces, with group spaces in their place."""
    if not _SPACED.fullmatch(normal):
        return None
    return re.sub(r"(?<=\d) (?=\d{3})", GROUP_SPACE, normal)


def join_digits(sign: str, mantissa: str, exponent: str) -> str:
    """Plain ASCII decimal text: one leading digit at least, no plus, no leading zeros, lower-case e.

    Trailing zeros stay: they are figures.
    """
    whole, point, fraction = mantissa.partition(".")
    text = ("-" if sign == "-" else "") + (whole.lstrip("0") or "0") + point + fraction
    if not exponent:
        return text
    digits = exponent.lstrip("+-").lstrip("0") or "0"
    return f"{text}e{'-' if exponent.startswith('-') else ''}{digits}"


def count_figures(digits: str) -> tuple[int, int]:
    """Figures that decimal text carries, ``(written, stripped)``; zero carries none.

    Written: trailing zeros after a decimal point count, those of an integer do not. Stripped: none count.
    """
    mantissa = digits.lstrip("+-").partition("e")[0]
    figures = mantissa.replace(".", "").lstrip("0")
    stripped = len(figures.rstrip("0"))
    if not stripped:
        return 0, 0
    return (len(figures) if "." in mantissa else stripped), stripped
