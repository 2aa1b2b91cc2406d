"""Null runs: the same bits in one go, in shards, after an interruption and on a cluster."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import molaudit
from molaudit.engine.errors import InputError, SettingsError
from molaudit.engine.nulls import cluster as cluster_module
from molaudit.engine.nulls import command as command_module
from molaudit.engine.nulls.command import merge, run_null
from molaudit.engine.nulls.jobs import compute_chunk, load_jobs
from molaudit.engine.nulls.store import NullSettings
from molaudit.kernels import floors


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    rows = [f"m{i},{1.01 + 0.0137 * (i * i % 97):.3f}" for i in range(60)]
    path.write_text("molecule,label\n" + "\n".join(rows) + "\n")
    return path


def run(
    source: Path, out: Path, *, shard: tuple[int, int] = (1, 1), seed: int = 3, cluster: str | None = None
) -> int:
    return run_null(source, out, repeats=250, chunk=40, seed=seed, shard=shard, cluster=cluster)


def test_distribution_is_that_of_the_kernel(labels: Path, tmp_path: Path) -> None:
    assert run(labels, tmp_path / "out") == 0
    (job, _) = load_jobs(labels)
    drawn = floors.mode_repeats(job.arrays["label"], 12, 250, 3)
    found = pl.read_parquet(tmp_path / "out/null.parquet").filter(pl.col("statistic") == "mode12")
    values, counts = np.unique(drawn, return_counts=True)
    assert found["value"].to_list() == values.tolist()
    assert found["count"].to_list() == counts.tolist()
    summary = pl.read_csv(tmp_path / "out/null.csv").row(0, named=True)
    assert summary["mean"] == pytest.approx(drawn.mean())
    assert summary["sd"] == pytest.approx(drawn.std(ddof=1))


def test_shards_merge_to_the_bits_of_one_run(labels: Path, tmp_path: Path) -> None:
    assert run(labels, tmp_path / "whole") == 0
    parts = [tmp_path / f"part{i}" for i in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        assert run(labels, part, shard=(number, 3)) == 0  # its share is done; the others' is theirs
        assert not (part / "null.parquet").exists()
    assert merge(parts[:2], tmp_path / "partial") == 3
    assert merge(parts, tmp_path / "merged") == 0
    assert (tmp_path / "merged/null.parquet").read_bytes() == (tmp_path / "whole/null.parquet").read_bytes()


def test_interrupted_run_computes_only_what_is_missing(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(labels, out) == 0
    before = (out / "null.parquet").read_bytes()
    chunks = sorted((out / "chunks").iterdir())
    kept = {path: path.stat().st_mtime_ns for path in chunks[1:]}
    chunks[0].unlink()
    assert run(labels, out) == 0
    assert (out / "null.parquet").read_bytes() == before
    assert {path: path.stat().st_mtime_ns for path in chunks[1:]} == kept


def test_damaged_chunk_is_named(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(labels, out) == 0
    (out / "chunks/00001-000003.parquet").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"00001-000003.parquet: cannot be read"):
        run(labels, out)


def test_folder_of_other_settings_or_data_is_refused(labels: Path, tmp_path: Path) -> None:
    run(labels, tmp_path / "out")
    with pytest.raises(InputError, match="holds a null run of"):
        run(labels, tmp_path / "out", seed=4)
    other = tmp_path / "other.csv"
    other.write_text(labels.read_text().replace("1.010", "1.020"))
    with pytest.raises(InputError, match="holds a null run of"):
        run(other, tmp_path / "out")


@pytest.mark.parametrize("first", [200, 230])
def test_more_repeats_of_the_same_are_added_to_what_is_there(
    first: int, labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings: dict[str, Any] = {"chunk": 40, "seed": 3, "shard": (1, 1), "cluster": None}
    assert run_null(labels, tmp_path / "grown", repeats=first, **settings) == 0
    capsys.readouterr()
    assert run_null(labels, tmp_path / "grown", repeats=300, **settings) == 0
    # Full chunks stay as they are: five of 40 (and with 230 a sixth of 30, which is made again).
    assert "6 chunks to compute" in capsys.readouterr().out
    assert run_null(labels, tmp_path / "once", repeats=300, **settings) == 0
    for name in ("null.csv", "null.json"):
        assert (tmp_path / "grown" / name).read_bytes() == (tmp_path / "once" / name).read_bytes()
    with pytest.raises(InputError, match=r"holds a null run of .*repeats=300.*; asked for .*repeats=200"):
        run_null(labels, tmp_path / "grown", repeats=200, **settings)
    with pytest.raises(InputError, match="Only more repeats of the same can be added"):
        run_null(labels, tmp_path / "grown", repeats=400, **{**settings, "seed": 4})


def test_shards_of_different_runs_are_not_merged(labels: Path, tmp_path: Path) -> None:
    run(labels, tmp_path / "one", shard=(1, 2))
    run(labels, tmp_path / "two", shard=(2, 2), seed=4)
    with pytest.raises(InputError, match=r"two: holds a null run"):
        merge([tmp_path / "one", tmp_path / "two"], tmp_path / "out")
    with pytest.raises(InputError, match="is not the header of a null run"):
        merge([tmp_path], tmp_path / "out")


def test_cells_of_a_scored_run_get_a_p_value(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    y = np.round(rng.uniform(1, 9, 300), 2)
    labels = pl.DataFrame({"molecule": [f"m{i}" for i in range(300)], "label": [f"{v:.2f}" for v in y]})
    recited = np.where(rng.uniform(size=300) < 0.5, y, np.round(y * rng.uniform(0.97, 1.03, 300), 2))
    answers = pl.DataFrame({"model": "m", "molecule": labels["molecule"], "prediction": recited})
    scores = molaudit.score(answers, labels, repeats=50, resamples=50)
    scores.write(tmp_path / "scored")
    assert run(tmp_path / "scored", tmp_path / "out") == 0
    rows = {row["statistic"]: row for row in pl.read_csv(tmp_path / "out/null.csv").iter_rows(named=True)}
    cell = scores.cells.row(0, named=True)
    assert (rows["R12"]["trials"], rows["R12"]["observed"]) == (cell["m1"], cell["m2"])
    assert (rows["R23"]["trials"], rows["R23"]["observed"]) == (cell["m2"], cell["m3"])
    assert (rows["hit3"]["trials"], rows["hit3"]["observed"]) == (cell["n_usable"], cell["h3"])
    # No permutation reaches half of all molecules recited: (1 + 0) / (1 + 250).
    assert rows["R12"]["p"] == rows["hit3"]["p"] == pytest.approx(1 / 251)


def test_folder_that_is_no_scored_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no pairs\.parquet"):
        run(tmp_path, tmp_path / "out")


@pytest.mark.parametrize("address", ["local:0", "local:x", "somewhere"])
def test_wrong_cluster_address_is_named(address: str, labels: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(SettingsError, match=r"allowed: .*local:N"):
        run(labels, tmp_path / "out", cluster=address)


@pytest.mark.slow
def test_two_workers_give_the_bits_of_one_thread(labels: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    assert run(labels, tmp_path / "whole") == 0
    assert run(labels, tmp_path / "cluster", cluster="local:2") == 0
    assert (tmp_path / "cluster/null.parquet").read_bytes() == (tmp_path / "whole/null.parquet").read_bytes()


@pytest.mark.slow
def test_killed_worker_changes_nothing(labels: Path) -> None:
    pytest.importorskip("distributed")
    jobs = load_jobs(labels)
    settings = NullSettings(seed=3, repeats=400, chunk=10, input="")
    todo = [(job, chunk) for job in range(len(jobs)) for chunk in range(settings.chunks)]
    found = {}
    with cluster_module.connect("local:2") as client:
        victim = next(iter(client.run(os.getpid).values()))
        for job, chunk, values, counts in cluster_module.compute_on(client, jobs, todo, settings):
            found[job, chunk] = (values.tolist(), counts.tolist())
            if len(found) == 5:
                os.kill(victim, signal.SIGKILL)
    expected = {}
    for job, chunk in todo:
        values, counts = compute_chunk(jobs[job].facts.statistic, jobs[job].arrays, *settings.span(chunk), 3)
        expected[job, chunk] = (values.tolist(), counts.tolist())
    assert found == expected


def _scored_at_two_efforts(folder: Path, chances: dict[str, float]) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    y = np.round(rng.uniform(1, 9, 200), 2)
    molecules = [f"m{i}" for i in range(200)]
    labels = pl.DataFrame({"molecule": molecules, "label": [f"{v:.2f}" for v in y]})
    answers = pl.concat(
        pl.DataFrame(
            {
                "model": "m",
                "effort": effort,
                "molecule": molecules,
                "prediction": np.where(rng.uniform(size=200) < chance, y, np.round(y * 1.07, 2)),
            }
        )
        for effort, chance in chances.items()
    )
    scores = molaudit.score(answers, labels, repeats=50, resamples=50)
    scores.write(folder)
    return scores.cells


def test_two_efforts_are_compared_molecule_by_molecule(tmp_path: Path) -> None:
    cells = _scored_at_two_efforts(tmp_path / "scored", {"low": 0.2, "high": 0.3})
    assert (
        run_null(
            tmp_path / "scored",
            tmp_path / "out",
            repeats=40_000,
            chunk=15_000,
            seed=3,
            shard=(1, 1),
            cluster=None,
        )
        == 0
    )
    summary = pl.read_csv(tmp_path / "out/null.csv").filter(pl.col("statistic") == "hit3 difference")
    (row,) = summary.rows(named=True)
    assert row["effort"] in ("high - low", "low - high")
    rate = dict(cells.select("effort", "hit3").iter_rows())
    after, before = row["effort"].split(" - ")
    assert row["observed"] == pytest.approx(rate[after] - rate[before])
    # The null of exchanged molecules is that of McNemar: the discordant ones are a fair coin each.
    pairs = pl.read_parquet(tmp_path / "scored/pairs.parquet").filter("scorable")
    hit = {
        e: dict(p.select("molecule", pl.col("depth") == 3).iter_rows())
        for (e,), p in pairs.group_by("effort")
    }
    both = set(hit["low"]) & set(hit["high"])
    up = sum(hit["high"][m] and not hit["low"][m] for m in both)
    down = sum(hit["low"][m] and not hit["high"][m] for m in both)
    assert row["trials"] == len(both)
    expected = stats.binomtest(up, up + down).pvalue
    assert row["p"] == pytest.approx(expected, abs=5 * row["p_error"])
    null = pl.read_parquet(tmp_path / "out/null.parquet").filter(pl.col("statistic") == "hit3 difference")
    assert null["count"].sum() == 40_000
    assert null.height <= up + down + 1


def test_settings_that_differ_in_condition_and_effort_are_not_compared(tmp_path: Path) -> None:
    _scored_at_two_efforts(tmp_path / "scored", {"low": 0.2, "high": 0.3, "highest": 0.5})
    path = tmp_path / "scored/pairs.parquet"
    pairs = pl.read_parquet(path).with_columns(
        condition=pl.when(pl.col("effort") == "highest").then(pl.lit("blinded"))
    )
    pairs.write_parquet(path)
    efforts = [job.facts.about["effort"] for job in load_jobs(tmp_path / "scored") if job.facts.two_sided]
    assert len(efforts) == 1
    assert "highest" not in str(efforts)


def test_a_pipe_gets_a_line_now_and_then(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "SECONDS_A_LINE", 0.0)
    assert run(labels, tmp_path / "out") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " chunks, about " in line]
    assert len(lines) == 2 * 7 - 1
    assert lines[0].startswith("1 of 14 chunks, about ")


def test_a_scheduler_that_is_gone_is_one_line(labels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")

    class Cancelled:
        def result(self) -> object:
            raise distributed.client.FutureCancelledError("chunk", "scheduler-connection-lost")

    class Client:
        def nthreads(self) -> dict[str, int]:
            return {"worker": 1}

        def submit(self, *_arguments: object, **_named: object) -> Cancelled:
            return Cancelled()

    monkeypatch.setattr(distributed, "as_completed", iter)
    settings = NullSettings(seed=3, repeats=400, chunk=10, input="")
    with pytest.raises(SettingsError, match="scheduler is gone; the chunks that are done are kept"):
        list(cluster_module.compute_on(Client(), load_jobs(labels), [(0, 0)], settings))  # type: ignore[arg-type]
