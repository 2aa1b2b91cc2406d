"""Replies without a number: refusals and values that are not finite."""

from __future__ import annotations

import re

from ._search import Anchored, lowered

_REFUSAL = Anchored(
    re.compile(
        r"\b(?:can(?:not|'t)|could(?:n't| not)|won't|unable to|not able to|am not able|decline to|refuse to)\b"
        r"|\b(?:do(?:es)? not|don't|doesn't) (?:have|know|exist|possess)\b"
        r"|\bnot (?:available|known|possible|provided|found|determinable)\b"
        r"|\b(?:unknown|unavailable|insufficient|undetermined)\b"
        r"|\bI(?:'m| am) (?:sorry|afraid)\b|\bapologi[sz]e\b|\bas an ai\b"
        r"|\bno (?:reliable |experimental )?(?:data|value|answer)\b"
        r"|(?<!\w)(?:n/a|n\.a\.|null|none|not applicable)(?!\w)|无法|不能|抱歉",
        re.I,
    ),
    (
        *(
            "can",
            "could",
            "won't",
            "unable to",
            "not ",
            "am not able",
            "decline to",
            "refuse to",
            "do",
            "unknown",
        ),
        *(
            "unavailable",
            "insufficient",
            "undetermined",
            "i'm ",
            "i am ",
            "apologi",
            "as an ai",
            "no ",
            "n/a",
            "n.a.",
        ),
        *("null", "none", "无法", "不能", "抱歉"),
    ),
)

# A decline in the first person, of the very thing that was asked. "I can't be exact" and "can't give an exact value"
# are none.
_DECLINE = Anchored(
    re.compile(
        r"\b(?:I|we)(?:'m| am| are|'d| would| will|'ll| must| have to)?\s(?:[a-z]{1,12}\s){0,3}?"
        r"(?:can(?:not|'t|\snot)|could(?:n't|\snot)|won't|will\snot|(?:not|n't)\s(?:going|able|willing"
        r"|comfortable|in a position)(?:\sto)?|unable\sto"
        r"|declin(?:e|ing)(?:\sto)?|refuse\sto|rather\snot|(?:do\snot|don't)\s(?:want|wish|intend)\sto"
        r"|would\snot|wouldn't)\s"
        r"(?:[a-z]{1,14}\s){0,2}?(?:giv(?:e|ing)|provid(?:e|ing)|estimat(?:e|ing)|predict(?:ing)?|guess(?:ing)?"
        r"|determin(?:e|ing)|answer(?:ing)?|extrapolat(?:e|ing)"
        r"|calculat(?:e|ing)|comput(?:e|ing)|offer(?:ing)?|stat(?:e|ing)|assign(?:ing)?|supply(?:ing)?"
        r"|suppl(?:y|ies)|speculat(?:e|ing)|commit|quot(?:e|ing)|name)\b"
        r"(?!\s(?:[a-z]{1,12}\s){0,2}(?:exact|precise|certain|definitive|measured|experimental|accurate))",
        re.I,
    ),
    ("can", "could", "won't", "will not", "n't", "not ", "unable", "declin", "refuse", "would not"),
    60,
    90,
)

# What stands before a number that only shows a form or a case.
_EXAMPLE = re.compile(
    r"\b(?:looks?\slike|look\slike|such\sas|e\.g\.|for\s(?:example|instance)|(?:valid|sample|typical"
    r"|possible|correct)\s(?:reply|answer|response|output)"
    r"|in\sthe\s(?:form|format|style)(?:\sof)?|of\sthe\sform|formatted\s(?:as|like)|the\sformat|placeholder"
    r"|template)\b[^.\n]{0,40}\Z",
    re.I,
)

_NOT_FINITE = re.compile(
    r"[\s\"'(\[{=:~≈]*+[-+]?\s?(?:nan|inf(?:inity)?|∞|1\.#inf|1\.#qnan)[\s\"')\]}.!;,]*+", re.I
)


def is_refusal(text: str, low: str | None = None) -> bool:
    """Whether a text without a final number declines. A rule on words: weak evidence, hence only the last resort."""
    return _REFUSAL.search(text, lowered(text) if low is None else low) is not None


def is_declined(text: str, low: str) -> bool:
    """Whether a text refuses, in the first person, to give what was asked."""
    return _DECLINE.search(text, low) is not None


def is_example(before: str) -> bool:
    """Whether what stands before a statement says that it is only an example."""
    return _EXAMPLE.search(before) is not None


def is_not_finite(text: str) -> bool:
    """Whether a text is nothing but NaN or infinity, in any of the usual spellings."""
    return _NOT_FINITE.fullmatch(text) is not None
