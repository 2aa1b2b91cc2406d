"""Types of option values, whose errors say what was found and what is allowed."""

from __future__ import annotations

import argparse
from pathlib import Path


def whole_number(minimum: int) -> type[int]:
    """Return a converter for whole numbers from ``minimum``."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if value < minimum:
            raise argparse.ArgumentTypeError(f"found {text!r}; allowed: a whole number from {minimum}")
        return value

    return convert  # type: ignore[return-value]


def whole_numbers(text: str) -> list[int]:
    """Convert ``15,30,50`` to a list of whole numbers from 1."""
    return [whole_number(1)(part.strip()) for part in text.split(",")]


def fraction(text: str) -> float:
    """Convert a number between 0 and 1, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: a number between 0 and 1")
    return value


def named_value(text: str) -> tuple[str, str]:
    """Convert ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: NAME=VALUE")
    return name, value


def add_audit_options(parser: argparse.ArgumentParser, *, out: bool = True) -> None:
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
    if out:
        parser.add_argument(
            "--out",
            type=Path,
            metavar="DIR",
            help="folder for the results; default: molaudit-NAME beside the audit",
        )
