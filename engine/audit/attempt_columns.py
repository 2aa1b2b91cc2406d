"""The columns of ``attempts.parquet``: one row an attempt, whatever became of it."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column, typed

ABOUT = (
    *typed(
        pl.String,
        key="digest of all that reached the wire: the call's name in the cache",
        model="the model, as audit.toml calls it",
        benchmark="the benchmark, or the task",
        molecule="the molecule, or the item of the task",
        condition="how the question was put",
        effort="how long the model might think",
    ),
    Column("repeat", pl.Int64, "which of several replies to one question, from 0"),
)
"""What a call was about; that of the first arm where arms share it."""

COLUMNS = (
    *ABOUT,
    Column("session", pl.String, "the process that made the attempt"),
    Column("attempt", pl.Int64, "its number among the session's attempts at the call, from 1"),
    Column(
        "outcome", pl.String, "how it ended: answered, refused, truncated, filtered, rejected, timed_out, ..."
    ),
    Column("http_status", pl.Int64, "status of the response; empty without one"),
    Column("reason", pl.String, "the provider's own word for what is no plain answer"),
    *typed(
        pl.Int64,
        tokens="input and output tokens together",
        input_tokens="tokens of the prompt, as the provider counted them; empty where it does not say",
        output_tokens="tokens of the reply, reasoning included",
        reasoning_tokens="tokens of reasoning among them; empty where the provider does not say",
    ),
    *typed(
        pl.Float64,
        cost_usd="what the attempt cost in US dollars; empty where a price is unknown",
        latency_s="seconds from sending to the last byte",
        started_at="when it was sent, in seconds since 1970",
    ),
    *typed(
        pl.String,
        returned_model="the model that answered, as the response names it",
        provider="who served it, where a broker says so",
        message="the provider's sentence about an error",
        finish="why the reply ended, in one vocabulary for all providers",
        flags="what was odd about the response, words with a space between",
    ),
)
