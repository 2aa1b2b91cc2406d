"""``molaudit report``: score what is answered so far, also while a run is live; no call is made."""

from __future__ import annotations

import argparse

from .options import add_audit_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_audit_options(parser, out="folder for the results; without it they are only shown")


def run(args: argparse.Namespace) -> int:
    """Read the cache, score, write, show."""
    from ..audit.command import report_audit

    return report_audit(args.audit, args.out, args.cache)
