"""Types of option values, whose errors say what was found and what is allowed."""

from __future__ import annotations

import argparse
from pathlib import Path

MOST = 2**63 - 1
"""What the kernels take as a seed or a count: a signed integer of 64 bits."""

MOST_TRIALS = 2**53
"""Denominators: the tails are computed in doubles, which hold all whole numbers up to here."""

_NAMED = {MOST: "2^63 - 1", MOST_TRIALS: "2^53"}


def whole_number(minimum: int, maximum: int = MOST) -> type[int]:
    """Return a converter for whole numbers from ``minimum`` to ``maximum``."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if not minimum <= value <= maximum:
            raise argparse.ArgumentTypeError(
                f"found {text!r}; allowed: a whole number from {minimum} to {_NAMED.get(maximum, maximum)}"
            )
        return value

    return convert  # type: ignore[return-value]


def whole_numbers(text: str) -> list[int]:
    """Convert ``15,30,50`` to a list of numbers of trials."""
    return [whole_number(1, MOST_TRIALS)(part.strip()) for part in text.split(",")]


def fraction(text: str) -> float:
    """Convert a number between 0 and 1, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: a number between 0 and 1")
    return value


def rate(text: str) -> float:
    """Convert a number of events a minute, such that the time between two is a time that a server can name."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: a number from 0.001 to 1000000000")
    return value


def named_value(text: str) -> tuple[str, str]:
    """Convert ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: NAME=VALUE")
    return name, value


DEFAULT_OUT = "folder for the results; default: molaudit-NAME beside the audit"


def add_audit_options(parser: argparse.ArgumentParser, *, out: str | None = DEFAULT_OUT) -> None:
    """Declare what every command on an audit.toml takes."""
    parser.add_argument(
        "audit", type=Path, metavar="AUDIT.TOML", help="endpoints, models, efforts, benchmarks, limits"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="FILE",
        help="response cache; default: molaudit-cache.duckdb beside the audit",
    )
    if out is not None:
        parser.add_argument("--out", type=Path, metavar="DIR", help=out)
