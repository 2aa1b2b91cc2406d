"""The actions of ``molaudit cache``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from molaudit.storage.cache import admin as cache_admin
from molaudit.storage.cache import explain as cache_explain
from molaudit.storage.cache.store import Cache
from molaudit.storage.errors import CacheError

from ..errors import InputError
from ..report.terminal import inert, plain_table
from .inputs import load
from .stored_replies import read_replies
from .table import plan_table


def _open(args: argparse.Namespace) -> tuple[Cache, Console]:
    console = Console()
    path: Path = args.cache
    cache = Cache(path, notify=lambda text: console.print(Text(inert(text), style="yellow")))
    if not any(place.exists() for place in (path, cache.place.journal, cache.place.parts)):
        raise CacheError(f"cache {path}: there is none; give the file with --cache")
    return cache, console


def info(args: argparse.Namespace) -> int:
    """Show what the cache holds."""
    cache, console = _open(args)
    found = cache_admin.info(cache)
    console.print(
        f"{found.attempts} attempts at {found.calls} calls; database {found.bytes_database} bytes, parts "
        f"{found.bytes_parts}, journal {found.bytes_journal}",
        highlight=False,
    )
    console.print(plain_table(found.outcomes, "Outcomes"))
    for session in found.sessions:
        console.print(Text(inert(f"session {session.name}: {session.state}, {session.bytes} bytes")))
    for path in found.set_aside:
        console.print(Text(inert(f"set aside: {path}"), style="yellow"))
    return 0


def explain(args: argparse.Namespace) -> int:
    """Show the nearest stored call and what differs."""
    cache, console = _open(args)
    if args.key:
        found = cache_explain.explain(cache, key=args.key)
    else:
        found = cache_explain.explain(cache, preimage=_preimage(args, cache))
    console.print(f"nearest stored call: {found.key}", highlight=False)
    if not found.differences:
        console.print("it is the same call")
    for path, stored, asked in found.differences:
        console.print(Text(inert(f"{path}: stored {stored}, asked {asked}")))
    columns = ("attempt", "outcome", "http_status", "model", "effort", "started_at", "latency_s")
    console.print(plain_table(found.attempts.select(columns), "Attempts"))
    return 0


def _preimage(args: argparse.Namespace, cache: Cache) -> str:
    if args.preimage is not None:
        try:
            return str(args.preimage.read_text(encoding="utf-8")).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{args.preimage}: cannot be read as UTF-8 text: {error}") from error
    audit = load(args.audit)
    stored = read_replies(plan_table(audit.plan), cache).keys
    for call in audit.plan.calls():
        if call.key not in stored:
            return audit.plan.preimage(call).decode()
    raise InputError(f"{args.audit}: every call of this audit is stored and answered")


def evict(args: argparse.Namespace) -> int:
    """Delete what satisfies a condition."""
    cache, console = _open(args)
    found = cache_admin.evict(cache, args.where, dry_run=True)
    if args.dry_run:
        console.print(f"{found} attempts would be deleted", highlight=False)
        return 0
    if found and not (args.yes or _agreed(console, found)):
        console.print("nothing was deleted")
        return 1
    count = cache_admin.evict(cache, args.where) if found else 0
    console.print(f"{count} attempts deleted", highlight=False)
    return 0


def _agreed(console: Console, count: int) -> bool:
    """Ask before what was paid for is thrown away.

    Raises
    ------
    InputError
        Nobody can answer.
    """
    if sys.stdin is None or not (console.is_terminal and sys.stdin.isatty()):
        raise InputError(
            f"evict: {count} attempts would be deleted, and nobody can be asked; say --yes to delete them, or "
            "--dry-run to count only"
        )
    try:
        answer = console.input(f"delete {count} attempts and what was paid for them? [y/N] ", markup=False)
    except EOFError:
        console.print()
        return False
    return answer.strip().lower() in ("y", "yes")


def export(args: argparse.Namespace) -> int:
    """Write all attempts to a file."""
    cache, console = _open(args)
    console.print(
        f"{cache_admin.export(cache, args.target)} attempts written to {args.target}",
        highlight=False,
        soft_wrap=True,
    )
    return 0


def merge(args: argparse.Namespace) -> int:
    """Take in another cache, or what was exported from one."""
    path: Path = args.cache
    console = Console()
    cache = Cache(path, notify=lambda text: console.print(Text(inert(text), style="yellow")))
    if args.other.suffix in (".parquet", ".jsonl"):
        taken = cache_admin.merge_export(cache, args.other)
        console.print(f"{taken} attempts taken from {args.other}", highlight=False, soft_wrap=True)
        return 0
    other = Cache(args.other)
    if not any(place.exists() for place in (other.path, other.place.journal, other.place.parts)):
        raise CacheError(f"cache {args.other}: there is none")
    console.print(
        f"{cache_admin.merge(cache, other)} attempts taken from {args.other}", highlight=False, soft_wrap=True
    )
    return 0


def rebuild(args: argparse.Namespace) -> int:
    """Make the database again."""
    cache, console = _open(args)
    console.print(f"{cache_admin.rebuild(cache)} attempts in the database made again", highlight=False)
    return 0


ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "info": info,
    "explain": explain,
    "evict": evict,
    "export": export,
    "merge": merge,
    "rebuild": rebuild,
}
