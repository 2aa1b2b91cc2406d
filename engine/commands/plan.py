"""``molaudit plan``: what an audit would take; no call is made."""

from __future__ import annotations

import argparse

from .options import add_audit_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_audit_options(parser, out=None)


def run(args: argparse.Namespace) -> int:
    """Plan, look up, show."""
    from ..audit.command import show_plan

    return show_plan(args.audit, args.cache)
