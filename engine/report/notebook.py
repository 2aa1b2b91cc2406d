"""The contamination map in a notebook, as HTML; every text from outside is escaped."""

from __future__ import annotations

import html

import polars as pl

from .inert import inert
from .terminal import maps, percent, standing

COLOURS = {"flagged": "#f4b6b0", "clean": "#cfe8cf", "no-signal": "#f3e6b3", "untestable": "#e6e6e6"}


def map_html(cells: pl.DataFrame) -> str:
    """Return the map as an HTML table; every text from outside is escaped."""
    parts = []
    for title, part in maps(cells):
        benchmarks = part["benchmark"].unique(maintain_order=True).to_list()
        rows = {(row["model"], row["benchmark"]): row for row in part.iter_rows(named=True)}
        head = "".join(f"<th>{_html(name)}</th>" for name in benchmarks)
        body = []
        for model in part["model"].unique(maintain_order=True).to_list():
            tds = [_td(rows.get((model, name))) for name in benchmarks]
            body.append(f"<tr><th>{_html(model)}</th>{''.join(tds)}</tr>")
        parts.append(
            f"<table><caption>{_html(title)}</caption><thead><tr><th>model</th>{head}</tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table>"
        )
    return "".join(parts)


def _td(row: dict[str, object] | None) -> str:
    if row is None:
        return "<td>-</td>"
    verdict = str(row["verdict"])
    colour = COLOURS.get(verdict, "none")
    caution = f' title="{_html(row["cautions"])}"' if row["cautions"] else ""
    text = " ".join(part for part in (verdict, standing(row), percent(row["hit3"])) if part)
    core = f"{row['exact']} exact, {row['off_by_one']} off by one"
    return f'<td style="background:{colour};color:#111"{caution}>{_html(text)}<br><small>{_html(core)}</small></td>'


def _html(value: object) -> str:
    return html.escape(inert(value))
