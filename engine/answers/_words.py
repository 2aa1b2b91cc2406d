"""Replies without a number: refusals and values that are not finite."""

from __future__ import annotations

import re

_REFUSAL = re.compile(
    r"\b(?:can(?:not|'t)|could(?:n't| not)|won't|unable to|not able to|am not able|decline to|refuse to)\b"
    r"|\b(?:do(?:es)? not|don't|doesn't) (?:have|know|exist|possess)\b"
    r"|\bnot (?:available|known|possible|provided|found|determinable)\b"
    r"|\b(?:unknown|unavailable|insufficient|undetermined)\b"
    r"|\bI(?:'m| am) (?:sorry|afraid)\b|\bapologi[sz]e\b|\bas an ai\b"
    r"|\bno (?:reliable |experimental )?(?:data|value|answer)\b"
    r"|(?<!\w)(?:n/a|n\.a\.|null|none|not applicable)(?!\w)|无法|不能|抱歉",
    re.I,
)

_NOT_FINITE = re.compile(
    r"[\s\"'(\[{=:~≈]*+[-+]?\s?(?:nan|inf(?:inity)?|∞|1\.#inf|1\.#qnan)[\s\"')\]}.!;,]*+", re.I
)


def is_refusal(text: str) -> bool:
    """Whether a text without a final number declines. A rule on words: weak evidence, hence only the last resort."""
    return _REFUSAL.search(text) is not None


def is_not_finite(text: str) -> bool:
    """Whether a text is nothing but NaN or infinity, in any of the usual spellings."""
    return _NOT_FINITE.fullmatch(text) is not None
