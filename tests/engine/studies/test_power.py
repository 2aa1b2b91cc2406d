"""Power against limits known beforehand and against cells that are simulated and judged one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from molaudit.engine import cli
from molaudit.engine.errors import InputError
from molaudit.engine.studies.power import chance_of_flag, levels, power_tables
from molaudit.kernels import floors, reciters

VALUES = np.round(np.random.default_rng(5).lognormal(1.2, 0.9, 400), 3)
QUICK = {"repeats": 300, "draws": 500}


def frame(values: np.ndarray = VALUES, name: str = "b") -> pl.DataFrame:
    return pl.DataFrame({"benchmark": name, "label": values, "label_figures": 4})


def power_of(table: pl.DataFrame, **where: object) -> list[float | None]:
    return table.filter(*(pl.col(k) == v for k, v in where.items()))["power"].to_list()


def test_bounds_of_the_level() -> None:
    assert levels(0.05, 264) == {"alone": 0.05 / 528, "company": 0.05}


def test_full_recital_is_always_flagged_and_none_hardly_ever() -> None:
    table = power_tables(frame(), sizes=[30, 200], rates=[0.0, 1.0], cells=264, **QUICK).power
    assert power_of(table, rate=1.0) == [1.0] * 4
    # Two rungs, each at most at its level: 500 draws, a false alarm in 10,000 runs.
    assert max(power_of(table, rate=0.0, bound="company")) <= binom.isf(1e-4, 500, 0.10) / 500  # type: ignore[type-var, operator]
    assert power_of(table, rate=0.0, bound="alone") == [0.0, 0.0]


@pytest.mark.parametrize("base", ["window", "blind"])
def test_power_equals_that_of_cells_judged_one_by_one(base: reciters.Base) -> None:
    table = power_tables(
        frame(), sizes=[120], rates=[0.1], cells=10, base=base, draws=3000, repeats=300
    ).power
    fitted = floors.floors(VALUES, repeats=300, seed=0)
    cells = reciters.counts(VALUES, [120], 0.1, base, seed=99, draws=800)[:, 0].tolist()
    for bound, level in (("alone", 0.05 / 20), ("company", 0.05)):
        flagged = 0
        for one, two, three in cells:
            p12 = binom.sf(two - 1, one, fitted.floor12) if one >= 15 else 1.0
            p23 = binom.sf(three - 1, two, fitted.floor23) if one >= 15 and two >= 15 else 1.0
            flagged += min(p12, p23) < level
        share = flagged / len(cells)
        (row,) = table.filter(pl.col("bound") == bound).to_dicts()
        assert row["level"] == pytest.approx(level)
        assert row["power_se"] == pytest.approx(np.sqrt(row["power"] * (1 - row["power"]) / 3000))
        spread = np.hypot(row["power_se"], np.sqrt(share * (1 - share) / len(cells)))
        assert abs(row["power"] - share) < 4 * spread + 1e-9, bound


def test_smallest_n_for_eighty_per_cent_is_where_the_curve_crosses() -> None:
    tables = power_tables(frame(), rates=[0.02, 0.1, 0.3], cells=20, **QUICK)
    reached = tables.n80.filter(pl.col("n80").is_not_null())
    assert reached.height >= 4
    for row in reached.to_dicts():
        n = row["n80"]
        curve = power_tables(frame(), sizes=[n - 1, n], rates=[row["rate"]], cells=20, **QUICK).power
        below, at = power_of(curve, bound=row["bound"])
        assert below < 0.8 <= at  # type: ignore[operator]


def test_what_all_labels_cannot_reach_is_null() -> None:
    tables = power_tables(frame(VALUES[:60]), sizes=[60, 61], rates=[0.01], cells=264, **QUICK)
    assert [p is None for p in power_of(tables.power, bound="alone")] == [False, True]
    assert tables.n80["n80"].to_list() == [None, None]
    assert tables.n80["n_label"].to_list() == [60, 60]


def test_benchmark_without_floor_is_named() -> None:
    with pytest.raises(InputError, match=r"'few': found 12 labels.*needs 20"):
        power_tables(frame(VALUES[:12], "few"), **QUICK)


def test_same_seed_gives_the_same_table() -> None:
    one, two, other = (power_tables(frame(), seed=s, sizes=[50], **QUICK).power for s in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(other)


def test_command_writes_power_and_the_smallest_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.COMMANDS, "power", "the chance of a flag")
    labels = pl.DataFrame({"molecule": [f"m{i}" for i in range(400)], "label": [f"{v}" for v in VALUES]})
    labels = pl.concat([labels.with_columns(benchmark=pl.lit(name)) for name in ("one", "two")])
    labels.write_csv(tmp_path / "labels.csv")
    out = tmp_path / "power.csv"
    command = ["power", str(tmp_path / "labels.csv"), "--n", "30,50", "--rate", "0.1", "--draws", "100"]
    assert cli.main([*command, "--benchmark", "two", "--model", "blind", "--out", str(out)]) == 0
    table = pl.read_csv(out)
    assert table.columns == ["benchmark", "n", "rate", "cells", "bound", "level", "power", "power_se"]
    assert table.select("benchmark", "n", "bound").rows() == [
        ("two", 30, "alone"),
        ("two", 50, "alone"),
        ("two", 30, "company"),
        ("two", 50, "company"),
    ]
    assert pl.read_csv(tmp_path / "power-n80.csv").columns[-1] == "n80"


def test_command_names_the_benchmarks_it_could_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "power", "the chance of a flag")
    pl.DataFrame({"molecule": ["a"], "label": ["1.23"], "benchmark": ["one"]}).write_csv(tmp_path / "l.csv")
    assert (
        cli.main(["power", str(tmp_path / "l.csv"), "--benchmark", "x", "--out", str(tmp_path / "o.csv")])
        == 2
    )
    assert "--benchmark: found 'x'" in capsys.readouterr().err


@pytest.mark.parametrize("n", [80, 150, 300])
@pytest.mark.parametrize("level", [0.05, 0.001])
def test_chance_from_counts_is_near_the_power_by_simulation(n: int, level: float) -> None:
    fitted = floors.floors(VALUES, repeats=300, seed=0)
    base = reciters.counts(VALUES, [n], 0.0, "window", seed=1, draws=2000)[:, 0].mean(axis=0)
    quick = chance_of_flag(
        n,
        0.05,
        first=base[0] / n,
        second=base[1] / base[0],
        third=base[2] / base[1],
        floor12=fitted.floor12,
        floor23=fitted.floor23,
        level=level,
        seed=1,
        draws=2000,
    )
    table = power_tables(frame(), sizes=[n], rates=[0.05], cells=1, alpha=level, draws=2000, repeats=300)
    # Counts know nothing of the spread between prefixes: a few points.
    assert quick == pytest.approx(power_of(table.power, bound="company")[0], abs=0.07)
