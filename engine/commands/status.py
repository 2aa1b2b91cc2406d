"""``molaudit status``: how far an audit is, also while it runs elsewhere."""

from __future__ import annotations

import argparse

from .options import add_audit_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_audit_options(parser, out=None)


def run(args: argparse.Namespace) -> int:
    """Look up, show."""
    from ..audit.command import show_status

    return show_status(args.audit, args.cache)
