"""What a person sees while calls are made: one line a pool, live on a terminal, every 30 s elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import anyio
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..scheduling.progress import Notice, PoolSnapshot, Progress, Snapshot
from ..terminal import inert
from .live import Display

LIVE_EVERY_S = 0.5
PLAIN_EVERY_S = 30.0


def display_for(console: Console, total: Mapping[str, int], hits: int) -> Display:
    """Return the display of a run.

    Parameters
    ----------
    total
        Calls still to be made, by pool.
    hits
        Calls that the cache has answered; they enter no speed and no estimate.
    """

    def notify(text: str) -> None:
        console.print(Text(inert(text), style="yellow"))

    def announce(times: int) -> None:
        if times == 1:
            notify("stopping: calls in flight have 10 s to end; once more to leave at once")
        elif times == 2:
            notify("leaving at once")

    async def watch(progress: Progress) -> None:
        if console.is_terminal and not console.is_dumb_terminal:
            with Live(console=console, refresh_per_second=1 / LIVE_EVERY_S, auto_refresh=False) as live:
                while True:
                    snapshot = progress.snapshot()
                    if snapshot is not None:
                        live.update(_table(snapshot, total, hits), refresh=True)
                    await anyio.sleep(LIVE_EVERY_S)
        while True:
            await anyio.sleep(PLAIN_EVERY_S)
            snapshot = progress.snapshot()
            for line in [] if snapshot is None else _lines(snapshot, total, hits):
                console.print(Text(line))

    return Display(watch, announce, notify, Progress(_Counted(notify)))


class _Counted:
    """Show the first notices of a kind and then every tenth: 5,000 timeouts are one line, not 5,000."""

    FIRST = 3

    def __init__(self, notify: Callable[[str], None]) -> None:
        self._notify = notify
        self._seen: dict[str, int] = {}

    def __call__(self, notice: Notice) -> None:
        count = self._seen[notice.kind] = self._seen.get(notice.kind, 0) + 1
        if count <= self.FIRST or count % 10 ** (len(str(count)) - 1) == 0:
            more = "" if count <= self.FIRST else f" ({count} such notices)"
            self._notify(f"{notice.kind}: {notice.text}{more}")


def _table(snapshot: Snapshot, total: Mapping[str, int], hits: int) -> Table:
    table = Table(title=_title(snapshot, total, hits), title_justify="left")
    for name in (
        "pool",
        "done",
        "in flight",
        "waiting",
        "retrying",
        "failed",
        "calls/s",
        "tokens",
        "USD",
        "state",
    ):
        table.add_column(name, justify="left" if name in ("pool", "state") else "right")
    for pool in snapshot.pools:
        table.add_row(
            Text(inert(pool.pool)),
            f"{pool.done} / {total.get(pool.pool, 0)}",
            f"{pool.running} / {pool.in_flight_limit}",
            str(pool.waiting),
            str(pool.retrying),
            str(pool.failed + pool.skipped),
            f"{pool.per_second:.1f}",
            str(pool.input_tokens + pool.output_tokens),
            f"{pool.cost_usd:.2f}",
            Text(_state(pool)),
        )
    return table


def _lines(snapshot: Snapshot, total: Mapping[str, int], hits: int) -> list[str]:
    lines = [_title(snapshot, total, hits)]
    for pool in snapshot.pools:
        lines.append(
            f"  {inert(pool.pool)}: {pool.done}/{total.get(pool.pool, 0)} done, {pool.running} in flight, "
            f"{pool.waiting} waiting, {pool.retrying} retrying, {pool.failed + pool.skipped} failed, "
            f"{pool.per_second:.1f} calls/s, {pool.input_tokens + pool.output_tokens} tokens, "
            f"{pool.cost_usd:.2f} USD{'; ' if _state(pool) else ''}{_state(pool)}"
        )
    return lines


def _title(snapshot: Snapshot, total: Mapping[str, int], hits: int) -> str:
    left = {
        pool.pool: max(0, total.get(pool.pool, 0) - pool.done - pool.failed - pool.skipped)
        for pool in snapshot.pools
    }
    eta = snapshot.eta_s(left)
    lag = "" if snapshot.lag_p99_s is None else f", loop lag p99 {snapshot.lag_p99_s * 1e3:.0f} ms"
    ahead = "not known yet" if eta is None else f"{eta:.0f} s"
    return (
        f"{snapshot.elapsed_s:.0f} s, {hits} from the cache, {sum(left.values())} left, ends in {ahead}{lag}"
    )


def _state(pool: PoolSnapshot) -> str:
    parts = []
    if pool.parked is not None:
        parts.append(f"parked: {inert(pool.parked)}")
    if pool.gate_closed_s > 0:
        parts.append(f"gate closed {pool.gate_closed_s:.0f} s: {inert(pool.gate_reason)}")
    parts += [f"slow: {one.model} {one.oldest_s:.0f} s" for one in pool.stragglers[:2]]
    return "; ".join(parts)
