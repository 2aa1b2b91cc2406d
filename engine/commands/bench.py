"""``molaudit bench``: speed beside peers and physical limits, measured in one run."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "what",
        choices=["kernels", "engine", "cold", "score", "reading", "pairs"],
        help="kernels or the engine beside their peers; the demo from an empty cache folder and again; "
        "738,500 answers scored, by stages; replies in prose read; pairs built",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the sizes: does it run, not how fast"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("molaudit-bench"),
        metavar="DIR",
        help="folder; default: molaudit-bench",
    )


def run(args: argparse.Namespace) -> int:
    """Measure, write, show."""
    from importlib import import_module

    from rich.console import Console

    from ..report.files import prepare_folder

    prepare_folder(args.out)
    import_module(f"molaudit.bench.{args.what}").run(quick=args.quick, out=args.out, console=Console())
    return 0
