"""From stored attempts to scores: answers are read from the raw replies each time, for parsing is code, not data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from molaudit.storage import results
from molaudit.storage.cache.store import Cache

from ..api import Scores
from ..errors import InputError
from ..models.records import Outcome
from ..processes import compiling
from ..report.files import remove_scored, write_scores
from ..studies.retrieval import score_frames
from .attempt_columns import ABOUT, COLUMNS
from .inputs import Audit
from .stored_replies import StoredReplies, last_outcomes, read_replies
from .table import asked_of_cache, calls_of
from .waiting import WAITING

_REHEARSED = 60


def attempts_table(table: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Return every stored attempt of the plan's calls: what it was about, how it ended, tokens and times."""
    about = calls_of(table).select(pl.col(column.name).cast(column.type) for column in ABOUT)
    joined = about.join(attempts.drop("model", "effort", "repeat"), on="key", how="inner")
    joined = joined.with_columns(tokens=pl.col("input_tokens") + pl.col("output_tokens"))
    return joined.select(column.name for column in COLUMNS).sort("started_at", "key", "attempt")


def score_audit(
    audit: Audit, table: pl.DataFrame, cache: Cache, replies: StoredReplies | None = None
) -> Scores:
    """Score what is stored by now; calls without a final answer are counted, never scored.

    Raises
    ------
    InputError
        Nothing has been answered yet.
    """
    met = _met(table, cache, replies)
    settings = audit.settings.scoring
    scored = None
    if audit.recall is not None:
        asked = pl.col("task").cast(pl.String) == ""
        scored = audit.recall.study(audit.recall.read(_replies(met.filter(asked))), settings)
    tables, notes = _study_tasks(audit, met)
    after = (*notes, *_mixtures(met), *_truncations(met))
    return Scores.of(scored, settings, before=audit.notes, after=after, tables=tables)


def _study_tasks(audit: Audit, met: pl.DataFrame) -> tuple[dict[str, pl.DataFrame], tuple[str, ...]]:
    """What the tasks make of their replies: the tables of all, those of one name as one, and the notes."""
    tables: dict[str, list[pl.DataFrame]] = {}
    notes: list[str] = []
    for name, task in audit.tasks.items():
        replies = _replies(met.filter(pl.col("task").cast(pl.String) == name))
        study = task.study(task.read(replies))
        notes += [f"task {name!r}: {note}" for note in study.notes]
        for file, one in study.tables.items():
            tables.setdefault(file, []).append(one)
    return {file: pl.concat(parts, how="diagonal_relaxed") for file, parts in tables.items()}, tuple(notes)


def _met(table: pl.DataFrame, cache: Cache, replies: StoredReplies | None) -> pl.DataFrame:
    """The plan's rows with the answers that are stored, and how the others ended."""
    stored = read_replies(table, cache) if replies is None else replies
    read = stored.answers
    if read.is_empty():
        raise InputError("no call of this audit has been answered yet; nothing can be scored")
    compiling.prepare()
    lost = _last_outcomes(table, cache, stored)
    met = table.join(read, on="key", how="left", maintain_order="left")
    return met.join(lost, on="key", how="left", maintain_order="left")


def rehearse(audit: Audit, table: pl.DataFrame) -> None:
    """Score a few made-up answers (the labels themselves), so that all that scores is loaded when it is needed."""
    if audit.recall is None:
        return
    place = ("benchmark", "molecule")
    asked = table.filter(pl.col("task").cast(pl.String) == "").head(_REHEARSED).with_columns(_as_text(*place))
    labels = audit.recall.labels.join(asked, on=place, how="semi", maintain_order="left")
    answers = labels.unique(place, keep="first", maintain_order=True).select(*place, answer="label")
    met = asked.join(answers, on=place, how="left", maintain_order="left").with_columns(
        reasoning_tokens=pl.lit(None, pl.Int64),
        outcome=pl.lit(Outcome.ANSWERED.value),
        lost=pl.lit(None, pl.String),
    )
    score_frames(audit.recall.read(_replies(met)), labels, audit.settings.scoring)


def write_audit(
    audit: Audit,
    table: pl.DataFrame,
    cache: Cache,
    folder: Path,
    run: Mapping[str, Any],
    replies: StoredReplies | None = None,
) -> Scores:
    """Score and write all files of a run; ``run`` goes into ``run.json`` beside the settings.

    ``totals`` there are of all sessions that worked on these calls, each of which stands in ``sessions``.

    Raises
    ------
    InputError
        Nothing has been answered yet. ``run.json`` and ``attempts.parquet``, which say why, are written before, and
        results of other settings that stood beside them are removed.
    """
    facts = {"run": dict(run), **_write_attempts(audit, table, cache, folder)}
    try:
        scores = score_audit(audit, table, cache, replies)
    except InputError:
        remove_scored(folder)
        results.write_json(facts, folder / "run.json")
        raise
    write_scores(scores, folder, facts)
    return scores


def _replies(met: pl.DataFrame) -> pl.DataFrame:
    """Calls that have met their answers, as tasks take them (`tasks.REPLIES`)."""
    return met.select(
        *_as_text("arm", "benchmark", "model", "condition", "effort", "molecule"),
        "repeat",
        outcome=pl.coalesce("outcome", "lost", pl.lit("not_asked")),
        answer="answer",
        reasoning_tokens="reasoning_tokens",
    )


def _write_attempts(audit: Audit, table: pl.DataFrame, cache: Cache, folder: Path) -> dict[str, Any]:
    """Write ``attempts.parquet``, and return what ``run.json`` says of all attempts.

    A function of its own so that a hundred megabytes of attempts are gone before anything is scored.
    """
    account = cache.account(asked_of_cache(table))
    results.write_parquet(attempts_table(table, account.attempts), folder / "attempts.parquet")
    return {
        "totals": account.totals.row(0, named=True),
        "sessions": account.sessions.to_dicts(),
        "audit": _settings_of(audit),
    }


def _settings_of(audit: Audit) -> dict[str, Any]:
    """The settings as they were validated; they hold names of environment variables and never their values."""
    return dict(audit.settings.model_dump(mode="json", by_alias=True))


def _last_outcomes(table: pl.DataFrame, cache: Cache, stored: StoredReplies) -> pl.DataFrame:
    """How the calls ended that have no usable answer."""
    missing = table.join(stored.answers.select("key"), on="key", how="anti")
    if missing.is_empty():
        return pl.DataFrame(schema={"key": pl.String, "lost": pl.String})
    last = last_outcomes(cache, asked_of_cache(missing), stored)
    # A call that waits for its next attempt has not been asked to the end, whatever became of the one before.
    return last.select("key", pl.col("lost").replace(WAITING, "not_asked"))


def _mixtures(met: pl.DataFrame) -> list[str]:
    """Say where one model's cell mixes back ends: then it is not one model that is judged."""
    notes = []
    answered = met.filter(pl.col("outcome") == Outcome.ANSWERED.value)
    for column, what in (("provider", "providers"), ("returned_model", "model versions")):
        mixed = answered.group_by("model").agg(pl.col(column).drop_nulls().value_counts(sort=True))
        for model, counts in mixed.sort(pl.col("model").cast(pl.String)).iter_rows():
            if len(counts) > 1:
                shares = ", ".join(f"{one[column]!r} {one['count']}" for one in counts[:5])
                notes.append(f"model {model!r}: answers came from {len(counts)} {what}: {shares}")
    return notes


MOST_TRUNCATED = 0.05
"""The share of cut replies from which on a cell says so."""


def _truncations(met: pl.DataFrame) -> list[str]:
    """Say where the cap of output tokens has cut more than a few replies: those who reason longest are left out."""
    cell = ("model", "benchmark", "condition", "effort")
    received = met.filter(pl.col("outcome").is_not_null()).with_columns(_as_text(*cell))
    counted = received.group_by(*cell).agg(
        cut=(pl.col("outcome") == Outcome.TRUNCATED.value).sum(),
        replies=pl.len(),
        cap=pl.col("max_output_tokens").first(),
    )
    return [
        f"model {model!r}, benchmark {benchmark!r}, {condition}, effort {effort!r}: {cut} of {replies} replies "
        f"({cut / replies:.0%}) were cut at max_output_tokens = {cap} and are not scored; give the model a higher one"
        for model, benchmark, condition, effort, cut, replies, cap in counted.sort(*cell).iter_rows()
        if cut > MOST_TRUNCATED * replies
    ]


def _as_text(*names: str) -> list[pl.Expr]:
    return [pl.col(name).cast(pl.String) for name in names]
