"""``molaudit demo``: simulated models on an embedded benchmark, no key, no network."""

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
        help=f"folder for the results; default: {DEFAULT_FOLDER}",
    )


def run(args: argparse.Namespace) -> int:
    """Simulate, score, write, show."""
    from rich.console import Console

    from ..demo import demo_scores
    from ..output import prepare_folder
    from ..terminal import show_scores

    prepare_folder(args.out)
    scores = demo_scores()
    scores.write(args.out)
    console = Console()
    show_scores(console, scores.cells, scores.notes)
    console.print(f"results written to {args.out.resolve()}", highlight=False, markup=False)
    return 0
