"""``molaudit pairs``: source-target pairs of the identity-blinded diagnostic, from tables alone."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "audit", type=Path, metavar="AUDIT.TOML", help="a file with [[task]] sections; they alone are enough"
    )
    parser.add_argument(
        "--task", action="append", metavar="NAME", help="only this task; may be given several times"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder for the results")
    parser.add_argument(
        "--paraphrases",
        type=Path,
        metavar="TABLE",
        help="a model's own words for the edits (sample, text): kept where the edit reads back from them",
    )
    parser.add_argument(
        "--no-drawings", action="store_true", help="write no drawings of source, edit and target"
    )


def run(args: argparse.Namespace) -> int:
    """Build, write, show."""
    import platform
    from dataclasses import replace
    from importlib.metadata import version

    from rich.console import Console

    from molaudit.storage import results

    from ..diagnostic import making
    from ..diagnostic import settings as task_settings
    from ..diagnostic.columns import COLUMNS
    from ..diagnostic.paraphrases import paraphrase
    from ..errors import SettingsError
    from ..report.files import STATED_VERSIONS, prepare_folder
    from ..report.terminal import counted, plain_table, say, tell

    found = task_settings.load(args.audit)
    names = [one.name for one in found.tasks]
    for name in args.task or ():
        if name not in names:
            raise SettingsError(f"--task: found {name!r}; {args.audit} has {', '.join(map(repr, names))}")
    chosen = [one for one in found.tasks if not args.task or one.name in args.task]
    prepare_folder(args.out)
    console = Console()
    made = making.make(
        chosen, found.seed, lambda name, rows: tell(console, f"{name}: {counted(rows, 'sample')}")
    )
    if args.paraphrases is not None:
        worded, said = paraphrase(made.pairs, args.paraphrases)
        made = replace(made, pairs=worded, notes=(*made.notes, *said))
    results.write_parquet(made.pairs, args.out / "pairs.parquet")
    results.write_csv(made.pairs, args.out / "pairs.csv")
    results.write_csv(made.funnel, args.out / "funnel.csv")
    results.write_json(
        {
            "seed": found.seed,
            "tasks": [
                one.model_dump(mode="json", exclude_none=True)
                | {"thresholds": dict(one.order(found.seed).thresholds), "seed": one.order(found.seed).seed}
                for one in chosen
            ],
            "inputs": made.digests,
            "notes": list(made.notes),
            "columns": {name: meaning for name, (_, meaning) in COLUMNS.items()},
            "versions": {
                "python": platform.python_version(), **{name: version(name) for name in STATED_VERSIONS},
            },
        },
        args.out / "pairs.json",
    )  # fmt: skip
    if not args.no_drawings:
        from ..diagnostic.drawings import drawings

        for task, name, picture in drawings(made.pairs):
            results.write_text(picture, args.out / "drawings" / task / name)
    console.print(plain_table(made.funnel, "Funnel"))
    for note in made.notes:
        say(console, note)
    tell(console, f"{counted(made.pairs.height, 'pair')} written to {args.out}")
    return 0
