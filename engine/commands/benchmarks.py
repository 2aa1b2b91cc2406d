"""``molaudit benchmarks``: the benchmarks that are shipped."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", nargs="?", choices=["list"], default="list", help="default: list")


def run(_args: argparse.Namespace) -> int:
    """Read, show."""
    from rich.console import Console

    from ..benchmarks import BENCHMARKS
    from ..report.terminal import tell

    console = Console()
    for one in BENCHMARKS:
        labels = one.load()
        unit = one.unit or "no unit"
        tell(
            console,
            f"{one.name}: {one.property}, {unit}, {one.kind}, {labels.frame.height:,} molecules",
            "bold",
        )
        tell(console, f"    {one.source}")
        tell(
            console,
            f"    {one.licence}; {labels.without_structure:,} more values left out, without a structure",
        )
    tell(
        console,
        'In audit.toml: [[benchmark]] use = "NAME". A table of your own: file, property, unit instead of use.',
    )
    return 0
