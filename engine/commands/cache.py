"""``molaudit cache``: what is stored, why a call is not, and how to throw out, take in, write out, make again."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    info = actions.add_parser("info", help="attempts, calls, outcomes, bytes, sessions")
    explain = actions.add_parser("explain", help="the nearest stored call and the fields in which it differs")
    asked = explain.add_mutually_exclusive_group(required=True)
    asked.add_argument("--key", help="a key, 32 hexadecimal digits")
    asked.add_argument("--preimage", type=Path, metavar="FILE", help="JSON of a call as it goes on the wire")
    asked.add_argument(
        "--audit", type=Path, metavar="AUDIT.TOML", help="the first call of an audit that is not stored"
    )
    evict = actions.add_parser("evict", help="delete attempts")
    evict.add_argument(
        "--where", required=True, help='such as: outcome in (empty, malformed) and model = "x"'
    )
    evict.add_argument("--dry-run", action="store_true", help="count only")
    evict.add_argument("--yes", action="store_true", help="delete without asking")
    export = actions.add_parser("export", help="write all attempts to one file")
    export.add_argument("target", type=Path, metavar="FILE", help="a .parquet or .jsonl file")
    merge = actions.add_parser("merge", help="take in all attempts of another cache, or of an export")
    merge.add_argument(
        "other", type=Path, metavar="FILE", help="the other cache, or a .parquet or .jsonl export"
    )
    rebuild = actions.add_parser("rebuild", help="make the database again from what is kept beside it")
    for action in (info, explain, evict, export, merge, rebuild):
        action.add_argument("--cache", type=Path, default=Path("molaudit-cache.duckdb"), metavar="FILE")


def run(args: argparse.Namespace) -> int:
    """Do the one action."""
    from molaudit.storage.cache.explain import PreimageError

    from ..audit.cache_actions import ACTIONS
    from ..errors import InputError

    try:
        return ACTIONS[args.action](args)
    except PreimageError as error:
        raise InputError(f"{args.preimage or args.audit}: {error}") from error
