"""Text from outside, made harmless to a terminal. No library is loaded for it: error messages pass here too."""

from __future__ import annotations

import unicodedata

_ACTIVE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of characters that act rather than show: controls, format, halves of pairs, line ends."""


def inert(value: object) -> str:
    """Return text with control and format characters shown as escapes, so that it cannot drive a terminal."""
    return "".join(
        letter if unicodedata.category(letter) not in _ACTIVE else repr(letter)[1:-1] for letter in str(value)
    )
