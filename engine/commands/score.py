"""``molaudit score``: audit answers that already exist."""

from __future__ import annotations

import argparse
from pathlib import Path

from .score_options import add_score_options, score_settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "answers",
        nargs="+",
        metavar="ANSWERS",
        help="CSV, TSV, Parquet, JSON, JSONL or XLSX with model, molecule or smiles, and answer (text) or prediction "
        "(number); or samples_*.jsonl of lm-evaluation-harness; or a log of Inspect (.eval, .json), "
        "promptfoo (.json, .jsonl) or a batch (.jsonl)",
    )
    parser.add_argument(
        "--labels",
        required=True,
        help="table with label, and molecule or smiles; optional benchmark, unit, ...",
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder for the results")
    add_score_options(parser)


def run(args: argparse.Namespace) -> int:
    """Score, write, show."""
    from rich.console import Console

    from ..api import score_with
    from ..processes.compiling import compiled_ahead
    from ..report.files import prepare_folder
    from ..report.terminal import counted, show_scores, tell

    prepare_folder(args.out)
    answers = args.answers[0] if len(args.answers) == 1 else args.answers
    with compiled_ahead():
        scores = score_with(answers, args.labels, score_settings(args))
    scores.write(args.out)
    console = Console()
    show_scores(console, scores.cells, scores.notes)
    tell(console, f"{counted(scores.cells.height, 'cell')} written to {args.out}")
    return 0
