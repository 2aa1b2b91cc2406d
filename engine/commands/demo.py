"""``molaudit demo``: simulated models behind a server on this machine, audited on an embedded benchmark."""

from __future__ import annotations

import argparse
from pathlib import Path

DEFAULT_FOLDER = Path("molaudit-demo")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--out",
        type=Path,
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help=f"folder for the results; default: {DEFAULT_FOLDER} in the current one",
    )


def run(args: argparse.Namespace) -> int:
    """Serve, plan, call, score, show."""
    from ..audit.demo import run_demo

    return run_demo(args.out)
