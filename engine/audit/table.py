"""The plan as a table: one row a call and arm, what it is about and its key."""

from __future__ import annotations

import polars as pl

from ..plan.plans import Plan

_SHARED = pl.Categorical()
SCHEMA: dict[str, pl.DataType] = {
    "key": pl.String(),
    "arm": _SHARED,
    "task": _SHARED,
    "model": _SHARED,
    "benchmark": _SHARED,
    "molecule": _SHARED,
    "condition": _SHARED,
    "effort": _SHARED,
    "repeat": pl.Int64(),
    "identity": _SHARED,
    "wire_model": _SHARED,
    "endpoint": _SHARED,
    "dialect": _SHARED,
    "max_output_tokens": pl.Int64(),
}


def plan_table(plan: Plan) -> pl.DataFrame:
    """Walk the plan once and keep what joins it with stored attempts; bodies are not kept.

    ``wire_model`` and ``identity`` are what the cache verifies: the model id and the endpoint as they go out.
    ``task`` is empty for the retrieval audit. ``dialect`` and ``max_output_tokens`` are what reading a reply takes.
    """
    wire = {asked.model.name: asked.model.id for asked in plan.asked}
    columns: dict[str, list[object]] = {name: [] for name in SCHEMA}
    for block, call in plan.rows():
        columns["key"].append(call.key)
        columns["arm"].append(block.arm)
        columns["task"].append(block.task)
        columns["model"].append(call.model)
        columns["benchmark"].append(call.benchmark)
        columns["molecule"].append(call.molecule)
        columns["condition"].append(call.condition)
        columns["effort"].append(call.effort)
        columns["repeat"].append(call.repeat)
        columns["identity"].append(plan.endpoints[call.endpoint].identity)
        columns["wire_model"].append(wire[call.model])
        columns["endpoint"].append(call.endpoint)
        columns["dialect"].append(plan.endpoints[call.endpoint].dialect)
        columns["max_output_tokens"].append(call.output_tokens)
    return pl.DataFrame(columns, schema=SCHEMA)


def calls_of(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with each call once: two arms may share one."""
    return table.unique("key", keep="first", maintain_order=True)


def asked_of_cache(table: pl.DataFrame) -> pl.DataFrame:
    """Return the keys as the cache wants them, each once, with what must agree on reading."""
    return table.select(
        "key", pl.col("identity").cast(pl.String), pl.col("wire_model").cast(pl.String).alias("model")
    ).unique("key", maintain_order=True)
