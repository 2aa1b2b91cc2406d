"""Characters and markup: many spellings of one sign become one, before any grammar looks at the text.

Two steps, kept apart because the answer's text is reported as it was written:

- `strip_markup` removes what only decorates (emphasis, LaTeX, HTML, zero-width characters).
- `normalise` replaces characters one for one, so a span found in its result is a span of its argument.
"""

from __future__ import annotations

import re
import unicodedata

from ._search import substituted

GROUP_SPACE = "\u202f"
"""The one space that may stand between groups of three digits, after `normalise`."""

EM_DASH = "\u2014"
"""Kept apart from the minus: before a number it is as often punctuation."""

EN_DASH = "\u2013"

MINUS_LIKE = (
    "\u2212\u2013\u2010\u2011\u2012\ufe63\uff0d\u207b\u208b\u2796"
    "\u02d7\u00af\u02c9\u203e\uffe3\u2500\u2501\u2574\u2578"
)
"""What models write for a minus: dashes, raised, lowered and modifier minus, macrons and overlines, box lines."""

_STROKES = frozenset(
    "\u00ad\u00ac\uffe2\u2017\u2043\u2052\u2053\u2213\u2216\u2238\u2242\u2296\u229d\u229f\u2310\u2319\u23af\u2504\u2505\u2508\u2509"
    "\u254c\u254d\u2550\u2576\u257a\u257c\u257e\u2e43\ufe49\ufe4a\ufe4b\ufe4c\u2448\u4e00\u30fc\uff70\u3161\U000e002d\U0001fb97"
) | frozenset(
    map(chr, (*range(0x23BA, 0x23BE), *range(0x2A29, 0x2A2D), 0x2A3A, 0x2A41, 0x2A6C, 0x268A, 0x1FBAF))
)
_STROKE_KINDS = ("Pd", "Sk", "Mn", "Me", "Pc")


def is_stroke(char: str, *, attached: bool) -> bool:
    """Whether a character may have been meant for a minus: a number behind one is doubted, never read as plus.

    A mark that stands over or under its neighbour may have been meant so only right before the digits (``attached``).
    """
    if char.isascii():
        return False
    return char in _STROKES or unicodedata.category(char) in (_STROKE_KINDS if attached else ("Pd",))


_NO_DIGITS_FROM = 0x20000
"""The planes above the first two hold ideographs, tags and private use; to look there took 80 ms at each start."""


_RAISED_SIGNS = "\u207b\u208b\u207a"


def _one_for_one() -> dict[int, str]:
    table = {
        ord(digit): str(unicodedata.decimal(digit))
        for digit in filter(str.isdecimal, map(chr, range(0x80, _NO_DIGITS_FROM)))
    }
    for target, sources in {
        "-": MINUS_LIKE,
        EM_DASH: "\u2015\u2e3a",
        "+": "\uff0b\ufe62\u2795\u207a",
        ".": "\uff0e\u066b",
        ",": "\u066c",
        ";": "\uff0c\u3002\u3001\uff1b",
        ":": "\uff1a\u2236",
        "(": "\uff08",
        ")": "\uff09",
        "%": "\uff05\u066a",
        "=": "\uff1d",
        "~": "\uff5e\u301c\u223c",
        "≈": "\u2243\u2245\u2252\u2248",
        "≤": "\u2a7d\u2266",
        "≥": "\u2a7e\u2267",
        "<": "\uff1c\u2272",
        ">": "\uff1e\u2273",
        "×": "\u2715\u2a2f\u2716\u2a09",
        "·": "\u22c5\u2219\u2022\u2027\u30fb",
        "*": "\u2217",
        "°": "\u00ba\u02da",
        "µ": "\u03bc",
        '"': "\u201c\u201d\u201e\u00ab\u00bb",
        "'": "\u2018\u2019\u02bc\u2032",
        "^": "\u02c6",
        "/": "\u2215\u2044\uff0f",
        GROUP_SPACE: "\u00a0\u2007\u2008\u2009",
        # U+2581 is the space of a tokenizer that leaked.
        " ": "\u2002\u2003\u2004\u2005\u2006\u200a\u3000\u2581\u1680\u205f\t\r\v\f\x1c\x1d\x1e\x1f",
        "\n": "\x85\u2028\u2029",
    }.items():
        table |= dict.fromkeys(map(ord, sources), target)
    # Superscript signs are read with the superscript digits, which are an exponent and no digits of the number.
    for sign in _RAISED_SIGNS:
        del table[ord(sign)]
    return table


_TABLE = _one_for_one()
_ASCII_CONTROLS = str.maketrans("\t\r\v\f\x1c\x1d\x1e\x1f", "        ")


_PLAIN_BEHIND_RAISED = re.compile(r"[\u207b\u208b](?=\.?\d)")


_TO_TRANSLATE = re.compile("[^\\x00-\\x7f]|[\t\r\v\f\x1c-\x1f]")


def _translated(match: re.Match[str]) -> str:
    # In prose few characters are not ASCII: to look up these alone is ten times as fast as ``translate``.
    found = _TABLE.get(ord(match[0]))
    return match[0] if found is None else found


def normalise(text: str) -> str:
    """Replace each character by its plainest equal; the length never changes."""
    if text.isascii():
        return text.translate(_ASCII_CONTROLS)
    text = _TO_TRANSLATE.sub(_translated, text)
    # A raised or lowered minus before plain digits is no exponent's.
    return _PLAIN_BEHIND_RAISED.sub("-", text) if "\u207b" in text or "\u208b" in text else text


# Characters that show nothing.
_INVISIBLE = re.compile(
    # A soft hyphen is shown as a hyphen at the end of a line, and by some programs everywhere.
    "[\u200b-\u200f\u2060-\u2064\u2066-\u206f\u061c\u180e\ufeff\u202a-\u202e\ue000]|\u00ad(?![\\d.])"
)

# HTML: entities and tags that models write in place of characters.
_ENTITY = re.compile(
    r"&(?:#8722|#x2212|minus|nbsp|thinsp|times|middot|lt|gt|le|ge|plusmn|deg|asymp|amp);", re.I
)
_ENTITIES = {
    "#8722": "\u2212", "#x2212": "\u2212", "minus": "\u2212", "nbsp": "\u00a0", "thinsp": "\u2009",
    "times": "×", "middot": "·", "lt": "<", "gt": ">", "le": "≤", "ge": "≥", "plusmn": "±", "deg": "°",
    "asymp": "≈", "amp": "&",
}  # fmt: skip
_HTML_SUPERSCRIPT = re.compile(r"<sup>\s*([^<>\n]{1,12}?)\s*</sup>", re.I)
_HTML_BREAK = re.compile(r"</?(?:br|p|div|li|tr|h[1-6])\s*/?>", re.I)
_HTML_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9_-]{0,20}(?:\s[^<>\n]{0,80})?/?>")

# Special tokens of a model that leaked, and bytes that its tokenizer could not join.
_TOKEN = re.compile(
    r"<[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]>|\[\|[^\[\]|\n]{1,40}\|\]|<0x[0-9A-Fa-f]{2}>|\[/?INST\]"
    r"|<[|\uff5c][\w\u2581]{2,40}[|\uff5c]?\s*+\Z"
)

# A template's brackets round its number: <178>, <178 K>, <answer: 178>. Groups: the number and its unit.
_BRACKETED = re.compile(
    r"(?<![\w<])<{1,2}\s?(?:(?:final[ _]?)?(?:answer|value|number|prediction|result|estimate)\s?[:=\s]\s?)?"
    r"(\s?[-+~≈\u2212\u2013\u2010\u2011]?\s?\.?\d[^\s<>]{0,40}(?:\s(?!(?:and|or|but"
    r"|to)\b)[^\s<>\d][^\s<>]{0,20}){0,3}\s?)"
    r"/?>{1,2}(?![\w=])",
    re.I,
)
# A quotation in Markdown behind a colon: its mark is no "greater than".
_QUOTED = re.compile(r"(:[*_ ]{0,4}\n\n?[ ]{0,3})> ?(?=\S)")

_ODD = re.compile(
    "[\u200b-\u200f\u2060-\u206f\u061c\u180e\ufeff\u202a-\u202e\ue000\u00ad\uff1c\u27e8\u3008\u2329\u2039]"
)
_ANGLES = str.maketrans("\uff1c\uff1e\u27e8\u27e9\u3008\u3009\u2329\u232a\u2039\u203a", "<><><><><>")
_ANGLE = re.compile("[\uff1c\u27e8\u3008\u2329\u2039](?=[^\n]{0,60}[\uff1e\u27e9\u3009\u232a\u203a])")

# Bold, in Markdown and HTML. `10**-5` is a power: a star pair after a letter or digit opens nothing.
BOLD = re.compile(
    r"(?<![\w*])\*\*\*(?![\s*])([^*\n]{1,300})\*\*\*"
    r"|(?<![\w*])\*\*(?![\s*])((?:[^*\n]|(?<=\d)\*\*(?=[-+({]?\d)|\*(?!\*)){1,300}?)\*\*(?!\d|[-+({]\d)"
    r"|(?<!\w)__(?![\s_])((?:[^_\n]|(?<=\d)_(?=\d)){1,300})__(?!\w)"
    r"|<(?:b|strong)>([^<>\n]{1,300})</(?:b|strong)>"
    r"|\\(?:text|math)bf\s*\{([^{}\n]{1,300})\}"
)
_ITALIC = re.compile(
    r"(?<![\w*])\*(?![\s*])([^*\n]{1,300}?)(?<!\s)\*(?![\w*])|(?<!\w)_(?![\s_])([^_\n]{1,300}?)_(?!\w)"
)
_LONE_STARS = re.compile(r"(?<![\w*)\s])\*\*(?![\w*-])|(?m:^)\s{0,3}\*\*(?=\S)|\*\*(?m:$)")
_HEADING = re.compile(r"(?m)^\s{0,3}#{1,6}\s+")

# LaTeX: words become their sign, wrappers vanish, thin spaces inside numbers vanish.
_LATEX_WORD = re.compile(
    r"\\(times|cdot|approx|simeq|sim|pm|leqslant|leq|le|geqslant|geq|ge|lt|gt|circ|degree|to|Delta|mu|log"
    r"|infty|quad)"
    r"(?![A-Za-z])"
)
_LATEX_WORDS = {
    "times": "×", "cdot": "·", "approx": "≈", "simeq": "≈", "sim": "~", "pm": "±", "leqslant": "≤", "leq": "≤",
    "le": "≤", "geqslant": "≥", "geq": "≥", "ge": "≥", "lt": "<", "gt": ">", "circ": "°", "degree": "°",
    "to": "→", "Delta": "Δ", "mu": "µ", "log": "log", "infty": "∞", "quad": " ",
}  # fmt: skip
_LATEX_WRAPPER = re.compile(
    r"\\(?:text|mathrm|mathbf|mathit|textbf|textit|textrm|operatorname|mathsf|rm|bf|ensuremath|num|si|mbox)\s*"
    r"\{((?:[^{}]|\{[^{}]{0,40}\}){0,300})\}"
)
_LATEX_THOUSANDS = re.compile(r"(?<=\d)\{,\}(?=\d)")
_LATEX_THIN = re.compile(r"(?<=\d)\\[,!](?=\d)")
_LATEX_SPACE = re.compile(r" ?\\[,;:! ] ?")
_LATEX_DELIMITER = re.compile(r"\\[()\[\]]|\$+|\\left(?![A-Za-z])|\\right(?![A-Za-z])|\\displaystyle")
_LATEX_SUBSCRIPT = re.compile(r"_\{([^{}\n]{1,20})\}")
_LATEX_DEGREE = re.compile(r"\^\s*\{?\s*°\s*\}?")
_ESCAPED = re.compile(r"\\([-+.*_#~%{}])")


# Stands where markup was, until the end: digits on its two sides were never one number.
_SEAM = "\ue000"
_SEAM_IN_DIGITS = re.compile(rf"(?<=\d) ?{_SEAM}[ {_SEAM}]*+(?=\d)")


def strip_markup(text: str) -> tuple[str, list[str]]:
    """Take decoration off a reply.

    Returns
    -------
    tuple of str and list of str
        The text without markup, and the contents of its bold spans (themselves without markup), in order.
    """
    bold: list[str] = []

    def keep(match: re.Match[str]) -> str:
        bold.append(_content(match))
        return _unwrap(match)

    if not text.isascii() and _ODD.search(text):
        text = _INVISIBLE.sub("", text)
        if _ANGLE.search(text):
            text = text.translate(_ANGLES)
    if ":" in text and ">" in text:
        text = _QUOTED.sub(r"\1", text)
    if "&" in text:
        text = _ENTITY.sub(lambda m: _ENTITIES[m[0][1:-1].lower()], text)
    if "**" in text or "__" in text or "<" in text or "bf" in text:
        text = substituted(BOLD, keep, text, "*_<\\")
    return _strip_decoration(text), [_strip_decoration(inner) for inner in bold]


def _content(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _unwrap(match: re.Match[str]) -> str:
    return _SEAM + _content(match) + _SEAM


def _seam(_match: re.Match[str]) -> str:
    return _SEAM


def _strip_decoration(text: str) -> str:
    if "[|" in text and "<" not in text:
        text = _TOKEN.sub(_SEAM, text)
    if "<" in text:
        text = _HTML_SUPERSCRIPT.sub(r"^{\1}", text)
        text = substituted(_TOKEN, _seam, text, "<[")
        text = substituted(_BRACKETED, lambda match: _SEAM + match[1] + _SEAM, text, "<")
        text = _HTML_BREAK.sub("\n", text)
        text = _HTML_TAG.sub(_SEAM, text)
    if "\\" in text or "$" in text or "{,}" in text:
        text = _strip_latex(text)
    if "*" in text or "_" in text:
        text = substituted(_ITALIC, _unwrap, text, "*_")
        if "**" in text:
            text = _LONE_STARS.sub(_SEAM, text)
    if "#" in text:
        text = _HEADING.sub("", text)
    text = text.replace("`", _SEAM)
    return _SEAM_IN_DIGITS.sub("; ", text).replace(_SEAM, "") if _SEAM in text else text


def _strip_latex(text: str) -> str:
    text = _LATEX_THOUSANDS.sub(",", text)
    text = _LATEX_THIN.sub("\u2009", text)
    text = _LATEX_WORD.sub(lambda m: _LATEX_WORDS[m[1]], text)
    text = _LATEX_WRAPPER.sub(rf" \1{_SEAM}", text)
    text = _LATEX_SUBSCRIPT.sub(r"_\1", text)
    text = _LATEX_DELIMITER.sub(_SEAM, text)
    text = _LATEX_SPACE.sub(" ", text)
    text = _LATEX_DEGREE.sub("°", text)
    return _ESCAPED.sub(r"\1", text)
