"""``molaudit null``: null distributions of floors and cells, to disk, in chunks that any machine may compute."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..studies.settings import MOST_KEPT
from .options import MOST, whole_number

MOST_WORKERS = 1024
"""Each is a process of this machine."""

MOST_CHUNKS = 10**6
"""What the six digits of a chunk's file name number; each is a file."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "source",
        nargs="+",
        metavar="INPUT",
        help="a table of labels (their mode floors), or the folder of a scored run (its cells); or: "
        "merge FOLDER [FOLDER ...] to bring shards together",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for chunks and results"
    )
    parser.add_argument("--repeats", type=whole_number(1), default=1_000_000, help="default: 1000000")
    parser.add_argument(
        "--chunk", type=whole_number(1, MOST_KEPT), default=100_000, help="repeats a chunk; default: 100000"
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, help="default: 0")
    parser.add_argument(
        "--shard", type=_shard, default=(1, 1), metavar="I/N", help="compute the I-th of N shares"
    )
    parser.add_argument(
        "--cluster",
        type=_cluster,
        metavar="ADDRESS",
        help="a Dask scheduler, tcp://HOST:PORT, or local:N workers on this machine",
    )


def _cluster(text: str) -> str:
    """Check the number of ``local:N``; an address is checked by calling it."""
    if text.startswith("local:"):
        try:
            whole_number(1, MOST_WORKERS)(text.removeprefix("local:"))
        except argparse.ArgumentTypeError:
            raise argparse.ArgumentTypeError(
                f"found {text!r}; allowed: local:N with N from 1 to {MOST_WORKERS}, or tcp://HOST:PORT"
            ) from None
    return text


def _shard(text: str) -> tuple[int, int]:
    number, _, total = text.partition("/")
    try:
        found = int(number), int(total)
    except ValueError:
        found = 0, 0
    if not 1 <= found[0] <= found[1] <= MOST:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: I/N with 1 <= I <= N, such as 2/8")
    return found


def run(args: argparse.Namespace) -> int:
    """Compute or merge."""
    from ..errors import SettingsError
    from ..nulls.command import merge, run_null

    if args.source[0] == "merge":
        if len(args.source) < 2:
            raise SettingsError("null merge: allowed: molaudit null merge FOLDER [FOLDER ...] --out DIR")
        return merge([Path(folder) for folder in args.source[1:]], args.out)
    if len(args.source) > 1:
        raise SettingsError(
            f"null: found {len(args.source)} inputs; allowed: one, or merge FOLDER [FOLDER ...]"
        )
    if args.repeats > MOST_CHUNKS * args.chunk:
        raise SettingsError(
            f"--repeats {args.repeats} in chunks of {args.chunk}: found {-(-args.repeats // args.chunk)} chunks; "
            f"allowed: {MOST_CHUNKS}. Give a larger --chunk or fewer --repeats"
        )
    return run_null(
        Path(args.source[0]),
        args.out,
        repeats=args.repeats,
        chunk=args.chunk,
        seed=args.seed,
        shard=args.shard,
        cluster=args.cluster,
    )
