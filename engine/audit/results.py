"""From stored attempts to scores: answers are read from the raw replies each time, for parsing is code, not data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from molaudit.storage import results
from molaudit.storage.attempts import body_bytes
from molaudit.storage.cache import Cache

from ..api import Scores
from ..errors import InputError
from ..models.dialects.registry import dialect
from ..models.records import Outcome, Response
from ..output import SCORED, write_scores
from ..studies.retrieval import score_frames
from ..studies.settings import ScoreSettings
from .inputs import Audit
from .table import asked_of_cache
from .waiting import living, waiting_keys

ANSWER_SCHEMA: dict[str, pl.DataType] = {
    "key": pl.String(),
    "outcome": pl.String(),
    "answer": pl.String(),
    "reasoning_tokens": pl.Int64(),
    "returned_model": pl.String(),
    "provider": pl.String(),
}
_BATCH = 4_000
_REHEARSED = 60


def read_answers(table: pl.DataFrame, cache: Cache) -> pl.DataFrame:
    """Return one row a stored answer, decoded from its reply; see `ANSWER_SCHEMA`."""
    how = table.select("key", pl.col("dialect").cast(pl.String), "max_output_tokens")
    how = how.unique("key", maintain_order=True)
    parts = [pl.DataFrame(schema=ANSWER_SCHEMA)]
    for frame in cache.answers(asked_of_cache(table)):
        for batch in frame.iter_slices(_BATCH):
            rows = list(_decoded(batch.join(how, on="key", how="left", maintain_order="left")))
            parts.append(pl.DataFrame(rows, schema=ANSWER_SCHEMA, orient="row"))
    return pl.concat(parts)


def _decoded(batch: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    columns = (
        "key",
        "dialect",
        "max_output_tokens",
        "http_status",
        "body",
        "body_base64",
        "reasoning_tokens",
    )
    for key, name, limit, status, body, coded, tokens in batch.select(columns).iter_rows():
        response = Response(status or 0, {}, body_bytes(body, coded) or b"")
        decoded = dialect(name).decode(response, max_output_tokens=limit)
        yield key, decoded.outcome.value, decoded.text, tokens, decoded.returned_model, decoded.provider


def attempts_table(table: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Return every stored attempt of the plan's calls: what it was about, how it ended, tokens and times."""
    about = table.select("key", *_as_text("model", "benchmark", "molecule", "condition", "effort"), "repeat")
    joined = about.join(attempts.drop("model", "effort", "repeat"), on="key", how="inner")
    return joined.select(
        *("key", "model", "benchmark", "molecule", "condition", "effort", "repeat"),
        *("session", "attempt", "outcome", "http_status", "reason"),
        (pl.col("input_tokens") + pl.col("output_tokens")).alias("tokens"),
        *("input_tokens", "output_tokens", "reasoning_tokens", "cost_usd"),
        *("latency_s", "started_at", "returned_model", "provider"),
    ).sort("started_at", "key", "attempt")


def score_audit(audit: Audit, table: pl.DataFrame, cache: Cache) -> Scores:
    """Score what is stored by now; calls without a final answer are counted, never scored.

    Raises
    ------
    InputError
        Nothing has been answered yet.
    """
    read = read_answers(table, cache)
    if read.is_empty():
        raise InputError("no call of this audit has been answered yet; nothing can be scored")
    lost = _last_outcomes(table, cache, read)
    met = table.join(read, on="key", how="left", maintain_order="left")
    met = met.join(lost, on="key", how="left", maintain_order="left")
    settings = ScoreSettings(seed=audit.settings.run.seed)
    scored = score_frames(_answers(met), audit.labels, settings)
    return Scores(
        cells=scored.cells,
        pairs=scored.pairs,
        floors=scored.floors,
        notes=(*audit.notes, *scored.notes, *_mixtures(met), *_truncations(met)),
        settings=settings,
        operating_level=scored.operating_level,
    )


def rehearse(audit: Audit, table: pl.DataFrame) -> None:
    """Score a few made-up answers (the labels themselves), so that all that scores is loaded when it is needed."""
    place = ("benchmark", "molecule")
    asked = table.head(_REHEARSED).with_columns(_as_text(*place))
    labels = audit.labels.join(asked, on=place, how="semi", maintain_order="left")
    answers = labels.unique(place, keep="first", maintain_order=True).select(*place, answer="label")
    met = asked.join(answers, on=place, how="left", maintain_order="left").with_columns(
        reasoning_tokens=pl.lit(None, pl.Int64),
        outcome=pl.lit(Outcome.ANSWERED.value),
        lost=pl.lit(None, pl.String),
    )
    score_frames(_answers(met), labels, ScoreSettings(seed=audit.settings.run.seed))


def write_audit(
    audit: Audit, table: pl.DataFrame, cache: Cache, folder: Path, run: Mapping[str, Any]
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
        scores = score_audit(audit, table, cache)
    except InputError:
        for name in SCORED:
            (folder / name).unlink(missing_ok=True)
        results.write_json(facts, folder / "run.json")
        raise
    write_scores(scores, folder, facts)
    return scores


def _answers(met: pl.DataFrame) -> pl.DataFrame:
    """Calls that have met their answers, as `studies.retrieval` takes them."""
    return met.select(
        *_as_text("model", "benchmark", "molecule", "condition", "effort"),
        file=pl.lit("the run"),
        row=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
        smiles=pl.lit(None, pl.String),
        answer="answer",
        prediction=pl.lit(None, pl.String),
        sample="repeat",
        reasoning_tokens="reasoning_tokens",
        outcome=pl.coalesce("outcome", "lost", pl.lit("not_asked")),
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


def _last_outcomes(table: pl.DataFrame, cache: Cache, read: pl.DataFrame) -> pl.DataFrame:
    """How the calls ended that have no usable answer."""
    missing = table.join(read.select("key"), on="key", how="anti")
    if missing.is_empty():
        return pl.DataFrame(schema={"key": pl.String, "lost": pl.String})
    alive = living(cache)
    attempts = cache.attempts(asked_of_cache(missing)).sort("started_at")
    last = attempts.group_by("key", maintain_order=True).agg(lost=pl.col("outcome").last())
    # A call that waits for its next attempt has not been asked to the end, whatever became of the one before.
    waits = pl.col("key").is_in(waiting_keys(attempts, alive))
    return last.select("key", lost=pl.when(waits).then(pl.lit("not_asked")).otherwise("lost"))


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
