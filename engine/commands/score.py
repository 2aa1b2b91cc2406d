"""``molaudit score``: audit answers that already exist."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..studies.settings import MOST_KEPT
from .options import fraction, named_value, whole_number


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "answers",
        nargs="+",
        metavar="ANSWERS",
        help="CSV, TSV, Parquet or JSONL with model, molecule and answer (text) or prediction (number); "
        "or samples_*.jsonl of lm-evaluation-harness; or an Inspect log (.eval, .json)",
    )
    parser.add_argument(
        "--labels", required=True, help="table with molecule, label; optional benchmark, smiles, ..."
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder for the results")
    parser.add_argument(
        "--protocol", choices=["recall", "blinding"], default="recall", help="default: recall"
    )
    parser.add_argument(
        "--figures",
        choices=["stripped", "written"],
        default="stripped",
        help="whether a label's trailing zeros count as figures; default: stripped, they never do",
    )
    parser.add_argument(
        "--samples",
        choices=["first", "pool"],
        help="several answers to a molecule: the first parsed one counts (default of recall), or all (of blinding)",
    )
    parser.add_argument(
        "--answer-figures",
        choices=["padded", "required"],
        default="padded",
        help="answers with fewer than three figures: read as padded with zeros (default), or left out",
    )
    parser.add_argument(
        "--match",
        choices=["nested", "prefix"],
        default="nested",
        help="compare at 1, 2 and 3 figures each rounded (default), or prefixes of the three-figure codes",
    )
    parser.add_argument(
        "--correction",
        choices=["rung", "cell"],
        default="rung",
        help="Benjamini-Hochberg over both rungs of all cells (default), or over cells",
    )
    parser.add_argument(
        "--approximate",
        choices=["count", "leave-out"],
        default="count",
        help='what becomes of "about 3.14" and "3.18 ± 0.05": they count (default), or are left out as uncertain',
    )
    parser.add_argument(
        "--decimal-comma", action="store_true", help='replies write decimal commas: "3,18" is 3.18'
    )
    parser.add_argument(
        "--source-unit",
        type=named_value,
        action="append",
        default=[],
        metavar="BENCHMARK=UNIT",
        help="the unit that a benchmark's labels were converted from, such as ld50=mg/kg",
    )
    parser.add_argument(
        "--several-values",
        action="append",
        default=[],
        metavar="BENCHMARK",
        help="a benchmark that publishes several values of a molecule: an answer may agree with any of them",
    )
    parser.add_argument("--alpha", type=fraction, default=0.05, help="false discovery rate; default: 0.05")
    parser.add_argument("--seed", type=whole_number(0), default=0, help="seed of all resampling; default: 0")
    parser.add_argument(
        "--repeats",
        type=whole_number(1, MOST_KEPT),
        default=10_000,
        help="halves of the mode floor; default: 10000",
    )
    parser.add_argument(
        "--resamples",
        type=whole_number(1, MOST_KEPT),
        default=2_000,
        help="bootstrap resamples; default: 2000",
    )


def run(args: argparse.Namespace) -> int:
    """Score, write, show."""
    from rich.console import Console

    from ..api import score
    from ..output import prepare_folder
    from ..terminal import counted, show_scores, tell

    prepare_folder(args.out)
    answers = args.answers[0] if len(args.answers) == 1 else args.answers
    scores = score(
        answers,
        args.labels,
        protocol=args.protocol,
        figures=args.figures,
        samples=args.samples,
        answer_figures=args.answer_figures,
        match=args.match,
        correction=args.correction,
        approximate=args.approximate,
        decimal_comma=args.decimal_comma,
        source_units=dict(args.source_unit),
        several_values=args.several_values,
        alpha=args.alpha,
        seed=args.seed,
        repeats=args.repeats,
        resamples=args.resamples,
    )
    scores.write(args.out)
    console = Console()
    show_scores(console, scores.cells, scores.notes)
    tell(console, f"{counted(scores.cells.height, 'cell')} written to {args.out}")
    return 0
