"""``molaudit power``: the chance that the audit flags a reciter, before money is spent."""

from __future__ import annotations

import argparse
from pathlib import Path

from .options import fraction, whole_number, whole_numbers

MOST_DRAWS = 10**7
"""A draw is kept with its counts at every n that is tried, some hundred bytes."""


def fractions(text: str) -> list[float]:
    """Convert ``0.01,0.05`` to a list of numbers between 0 and 1."""
    return [fraction(part.strip()) for part in text.split(",")]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("labels", metavar="LABELS", help="table with molecule, label; optional benchmark")
    parser.add_argument("--benchmark", metavar="NAME", help="only this benchmark of the table")
    parser.add_argument(
        "--n", type=whole_numbers, metavar="30,50,...", help="molecules asked; default: 30,50,100,200,500"
    )
    parser.add_argument(
        "--rate",
        type=fractions,
        metavar="0.01,0.05,...",
        help="shares of molecules recited; default: 0.01,0.02,0.05,0.1,0.2",
    )
    parser.add_argument(
        "--cells",
        type=whole_number(1),
        default=264,
        help="models x benchmarks of the whole run; default: 264, as in the published map",
    )
    parser.add_argument(
        "--model",
        choices=["window", "blind"],
        default="window",
        help="what answers the molecules not recited: the first figure right and no more (window), "
        "or draws from the labels (blind); default: window",
    )
    parser.add_argument("--alpha", type=fraction, default=0.05, help="false discovery rate; default: 0.05")
    parser.add_argument(
        "--draws", type=whole_number(1, MOST_DRAWS), default=2000, help="simulated cells; default: 2000"
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, help="seed of the draws; default: 0")
    parser.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="FILE",
        help="CSV or Parquet file to write; the smallest n for 80 %% go beside it, to NAME-n80",
    )


def run(args: argparse.Namespace) -> int:
    """Simulate, write, show."""
    import polars as pl
    from rich.console import Console

    from molaudit.storage import results
    from molaudit.storage.tables import imports

    from ..errors import InputError
    from ..report.terminal import plain_table
    from ..studies.pairs import label_values
    from ..studies.power import RATES, SIZES, power_tables

    write = results.table_writer(args.out)
    read = imports.load_labels(args.labels)
    values = label_values(read.frame, "stripped")
    if args.benchmark is not None:
        known = values["benchmark"].unique(maintain_order=True).to_list()
        if args.benchmark not in known:
            raise InputError(
                f"--benchmark: found {args.benchmark!r}; {args.labels} holds {', '.join(map(repr, known))}"
            )
        values = values.filter(pl.col("benchmark") == args.benchmark)
    tables = power_tables(
        values,
        sizes=args.n or SIZES,
        rates=args.rate or RATES,
        cells=args.cells,
        base=args.model,
        alpha=args.alpha,
        draws=args.draws,
        seed=args.seed,
    )
    beside = args.out.with_name(f"{args.out.stem}-n80{args.out.suffix}")
    write(tables.power, args.out)
    write(tables.n80, beside)
    console = Console()
    console.print(
        plain_table(tables.by_size(), f"Chance of a flag in a run of {args.cells} cells, and n for 80 %")
    )
    console.print(
        f"alone: p below {args.alpha / (2 * args.cells):.2g}, no other cell is called; "
        f"company: p below {args.alpha:g}, all others are; -: not with the labels there are",
        highlight=False,
    )
    for note in read.notes:
        console.print(f"note: {note}", highlight=False, markup=False)
    console.print(f"written to {args.out} and {beside}", highlight=False, markup=False)
    return 0
