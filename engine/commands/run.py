"""``molaudit run``: make the calls of an audit that are not answered yet, and score it."""

from __future__ import annotations

import argparse

from .options import add_audit_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_audit_options(parser)
    parser.add_argument(
        "--yes",
        action="store_true",
        help="do not ask before calls that cost money; needed where nobody can be asked (a pipe, nohup, cron)",
    )
    parser.add_argument("--debug", action="store_true", help="log what the libraries say, to stderr")


def run(args: argparse.Namespace) -> int:
    """Plan, look up, call, score."""
    from ..audit.command import RunOptions, run_audit

    options = RunOptions(out=args.out, cache=args.cache, yes=args.yes, debug=args.debug)
    return run_audit(args.audit, options)
