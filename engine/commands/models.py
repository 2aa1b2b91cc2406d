"""``molaudit models``: what the model table knows: efforts, prices, dates."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="show one model, on every route; default: list all"
    )


def run(args: argparse.Namespace) -> int:
    """Look up, show."""
    from rich.console import Console

    from ..report.models_listing import show_all, show_one

    console = Console()
    if args.name is None:
        show_all(console)
    else:
        show_one(console, args.name)
    return 0
