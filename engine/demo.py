"""The audit of models whose memory is known: what a reader should see first."""

from __future__ import annotations

import polars as pl

from molaudit.storage import benchmarks

from .api import Scores, score
from .models import simulated

BENCHMARK = "crc-boiling-points"
MODELS = ("reciter", "reciter-10", "skilled", "blind", "constant")
MOLECULES = 500
SEED = 1


def demo_scores() -> Scores:
    """Let `MODELS` answer a seeded sample of the embedded benchmark, and score them."""
    benchmark = benchmarks.embedded(BENCHMARK)
    labels = benchmark.frame.with_columns(
        benchmark=pl.lit(benchmark.name), kind=pl.lit(benchmark.kind), unit=pl.lit(benchmark.unit)
    )
    asked = benchmark.frame.sample(MOLECULES, seed=SEED, shuffle=True)
    answers = pl.concat(
        pl.DataFrame(
            {
                "benchmark": benchmark.name,
                "model": model,
                "molecule": asked["molecule"],
                "answer": simulated.answers(model, asked, SEED),
            }
        )
        for model in MODELS
    )
    return score(answers, labels, seed=SEED)
