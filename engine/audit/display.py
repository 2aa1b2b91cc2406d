"""What a person sees while calls are made: one line a pool, live on a terminal, every 30 s elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import anyio
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..report.terminal import inert
from ..scheduling.progress import Notice, PoolSnapshot, Progress, Snapshot
from .live import Display

LIVE_EVERY_S = 0.5
PLAIN_EVERY_S = 30.0
_ROOM_FOR_COLUMNS = 70
"""Columns of a terminal that the table needs; in a narrower one each pool is a line of text."""


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
        # A file gets whole lines, a terminal whole words.
        console.print(Text(inert(text), style="yellow"), soft_wrap=not console.is_terminal)

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
                        live.update(live_view(snapshot, total, hits, console.width), refresh=True)

                try:
                    while True:
                        show()
                        await anyio.sleep(LIVE_EVERY_S)
                finally:
                    show()  # the last picture stays on the screen
        while True:
            await anyio.sleep(PLAIN_EVERY_S)
            snapshot = progress.snapshot()
            for line in [] if snapshot is None else plain_lines(snapshot, total, hits):
                console.print(Text(line), soft_wrap=True)

    return Display(watch, announce, notify, Progress(_Counted(notify)))


def quiet_display(notify: Callable[[str], None]) -> Display:
    """What a program is told: the notices of a run, as `display_for` shows them, and no picture."""

    async def watch(_progress: Progress) -> None:
        return

    return Display(watch, lambda _times: None, notify, Progress(_Counted(notify)))


class _Counted:
    """Show the first notices of a kind and then every tenth: 5,000 timeouts are one line, not 5,000.

    Words that have been said of a wider or narrower part of the plan are not said again: one wrong name of a model
    stops a cell, an effort and the model, in the same words.
    """

    FIRST = 3

    def __init__(self, notify: Callable[[str], None]) -> None:
        self._notify = notify
        self._seen: dict[str, int] = {}
        self._said: set[tuple[str, str]] = set()

    def __call__(self, notice: Notice) -> None:
        if notice.kind == "stopped":
            words = (notice.pool, notice.text.partition(": ")[2])
            if words in self._said:
                return
            self._said.add(words)
        count = self._seen[notice.kind] = self._seen.get(notice.kind, 0) + 1
        if count <= self.FIRST or count % 10 ** (len(str(count)) - 1) == 0:
            more = "" if count <= self.FIRST else f" ({count} such notices)"
            self._notify(f"{notice.kind}: {notice.text}{more}")


def live_view(snapshot: Snapshot, total: Mapping[str, int], hits: int, width: int) -> Group:
    """A bar, a row of numbers for each pool, and below a line for each that is in trouble."""
    calls = hits + sum(total.values())
    ended = hits + sum(map(_ended, snapshot.pools))
    bar = Table.grid(padding=(0, 1), expand=True)
    bar.add_row(ProgressBar(total=max(calls, 1), completed=ended, width=None), Text(_share(ended, calls)))
    bar.columns[1].no_wrap = True
    bar.columns[1].justify = "right"
    parts: list[RenderableType] = [Text(_title(snapshot, total, hits)), bar]
    if width >= _ROOM_FOR_COLUMNS:
        parts.append(_pool_table(snapshot, total))
    else:
        parts += [Text(_pool_line(pool, total)) for pool in snapshot.pools]
    troubles = [(pool.pool, _state(pool)) for pool in snapshot.pools]
    lines = [Text(f"{inert(name)}: {state}", style="yellow") for name, state in troubles if state]
    return Group(*parts, *lines)


def _pool_table(snapshot: Snapshot, total: Mapping[str, int]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("pool", overflow="fold", min_width=6)
    for name in ("done", "in flight", "left", "calls/s", "tokens", "USD"):
        table.add_column(name, justify="right", no_wrap=True)
    for pool in snapshot.pools:
        table.add_row(
            Text(inert(pool.pool)),
            f"{pool.done}/{total.get(pool.pool, 0)}",
            f"{pool.running}/{pool.in_flight_limit}",
            str(_left(pool, total)),
            f"{pool.per_second:.1f}",
            _short(pool.input_tokens + pool.output_tokens),
            f"{pool.cost_usd:.2f}",
        )
    return table


def plain_lines(snapshot: Snapshot, total: Mapping[str, int], hits: int) -> list[str]:
    """The same for a file: a line for the run and one for each pool, whatever their lengths."""
    lines = [_title(snapshot, total, hits)]
    for pool in snapshot.pools:
        state = _state(pool)
        lines.append(f"  {_pool_line(pool, total)}{'; ' if state else ''}{state}")
    return lines


def _pool_line(pool: PoolSnapshot, total: Mapping[str, int]) -> str:
    return (
        f"{inert(pool.pool)}: {pool.done}/{total.get(pool.pool, 0)} done, {pool.running} in flight, "
        f"{pool.per_second:.1f} calls/s, {_short(pool.input_tokens + pool.output_tokens)} tokens, "
        f"{pool.cost_usd:.2f} USD"
    )


def _ended(pool: PoolSnapshot) -> int:
    """The pool's calls of which nothing more comes in this run; with those left they are all."""
    return pool.done + pool.failed + pool.skipped


def _left(pool: PoolSnapshot, total: Mapping[str, int]) -> int:
    return max(0, total.get(pool.pool, 0) - _ended(pool))


def _title(snapshot: Snapshot, total: Mapping[str, int], hits: int) -> str:
    """The run in one line, whose numbers add up to all calls."""
    # A pool that the run has not reached yet is in no snapshot.
    left = {**total, **{pool.pool: _left(pool, total) for pool in snapshot.pools}}
    done = sum(pool.done for pool in snapshot.pools)
    failed = sum(pool.failed for pool in snapshot.pools)
    skipped = sum(pool.skipped for pool in snapshot.pools)
    eta = snapshot.eta_s(left)
    lag = "" if snapshot.lag_p99_s is None else f", loop lag p99 {snapshot.lag_p99_s * 1e3:.0f} ms"
    ahead = "not known yet" if eta is None else _span(eta)
    parts = [f"{hits} cached", f"{done} done"]
    parts += [f"{count} {name}" for count, name in ((failed, "failed"), (skipped, "given up")) if count]
    parts.append(f"{sum(left.values())} left")
    whole = hits + sum(total.values())
    return f"{_span(snapshot.elapsed_s)}: {whole} calls = {' + '.join(parts)}; ends in {ahead}{lag}"


def _share(ended: int, calls: int) -> str:
    """Never 100 % before the end."""
    return f"{100 * ended // max(calls, 1)} %"


def _state(pool: PoolSnapshot) -> str:
    parts = []
    if pool.waiting:
        parts.append(f"{pool.waiting} waiting for the limits")
    if pool.retrying:
        parts.append(f"{pool.retrying} retrying")
    if pool.failed + pool.skipped:
        parts.append(f"{pool.failed + pool.skipped} failed or given up")
    if pool.parked is not None:
        parts.append(f"parked: {inert(pool.parked)}")
    if pool.gate_closed_s > 0:
        parts.append(f"gate closed {max(1.0, pool.gate_closed_s):.0f} s: {inert(pool.gate_reason)}")
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
