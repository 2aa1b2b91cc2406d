"""What a person sees while calls are made: one line a pool, live on a terminal, every 30 s elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import anyio
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
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

                def show() -> None:
                    snapshot = progress.snapshot()
                    if snapshot is not None:
                        live.update(live_view(snapshot, total, hits), refresh=True)

                try:
                    while True:
                        show()
                        await anyio.sleep(LIVE_EVERY_S)
                finally:
                    show()  # the last picture stays on the screen
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


def live_view(snapshot: Snapshot, total: Mapping[str, int], hits: int) -> Group:
    """A row of numbers for each pool, and below a line for each that is in trouble; fits 80 columns."""
    table = Table(title=_title(snapshot, total, hits), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("pool", overflow="fold", min_width=6)
    for name in ("done", "in flight", "waiting", "calls/s", "tokens", "USD"):
        table.add_column(name, justify="right", no_wrap=True)
    for pool in snapshot.pools:
        table.add_row(
            Text(inert(pool.pool)),
            f"{pool.done}/{total.get(pool.pool, 0)}",
            f"{pool.running}/{pool.in_flight_limit}",
            str(pool.waiting),
            f"{pool.per_second:.1f}",
            _short(pool.input_tokens + pool.output_tokens),
            f"{pool.cost_usd:.2f}",
        )
    troubles = [(pool.pool, _state(pool)) for pool in snapshot.pools]
    return Group(
        table, *(Text(f"{inert(name)}: {state}", style="yellow") for name, state in troubles if state)
    )


def _lines(snapshot: Snapshot, total: Mapping[str, int], hits: int) -> list[str]:
    lines = [_title(snapshot, total, hits)]
    for pool in snapshot.pools:
        state = _state(pool)
        lines.append(
            f"  {inert(pool.pool)}: {pool.done}/{total.get(pool.pool, 0)} done, {pool.running} in flight, "
            f"{pool.waiting} waiting, {pool.per_second:.1f} calls/s, "
            f"{_short(pool.input_tokens + pool.output_tokens)} tokens, "
            f"{pool.cost_usd:.2f} USD{'; ' if state else ''}{state}"
        )
    return lines


def _title(snapshot: Snapshot, total: Mapping[str, int], hits: int) -> str:
    left = {
        pool.pool: max(0, total.get(pool.pool, 0) - pool.done - pool.failed - pool.skipped)
        for pool in snapshot.pools
    }
    eta = snapshot.eta_s(left)
    lag = "" if snapshot.lag_p99_s is None else f", loop lag p99 {snapshot.lag_p99_s * 1e3:.0f} ms"
    ahead = "not known yet" if eta is None else _span(eta)
    return (
        f"{_span(snapshot.elapsed_s)}, {hits} from the cache, {sum(left.values())} left, ends in {ahead}{lag}"
    )


def _state(pool: PoolSnapshot) -> str:
    parts = []
    if pool.retrying:
        parts.append(f"{pool.retrying} retrying")
    if pool.failed + pool.skipped:
        parts.append(f"{pool.failed + pool.skipped} failed")
    if pool.parked is not None:
        parts.append(f"parked: {inert(pool.parked)}")
    if pool.gate_closed_s > 0:
        parts.append(f"gate closed {pool.gate_closed_s:.0f} s: {inert(pool.gate_reason)}")
    parts += [f"slow: {inert(one.model)} {one.oldest_s:.0f} s" for one in pool.stragglers[:2]]
    return "; ".join(parts)


def _span(seconds: float) -> str:
    """A time as one would say it."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _short(count: int) -> str:
    """A count to three figures or more, in at most six characters."""
    for factor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= 10 * factor:
            return f"{count / factor:.1f}{unit}"
    return str(count)
