"""Which molecules of a benchmark are asked about: the same for every model and on every machine.

The sample of a benchmark is the molecules with the smallest hashes of (seed, benchmark, molecule). It depends neither
on the order of rows nor on other benchmarks, and a larger sample contains a smaller one, so raising ``molecules``
later asks only for what is new.
"""

from __future__ import annotations

from hashlib import blake2b

import polars as pl

from . import calls


def sample(frame: pl.DataFrame, benchmark: str, seed: int, wanted: int | None) -> pl.DataFrame:
    """Return ``wanted`` molecules (all, if None) of a frame with the text column ``molecule``, in order of hash."""
    ranks = [_rank(seed, benchmark, molecule) for molecule in frame["molecule"].to_list()]
    order = sorted(range(frame.height), key=ranks.__getitem__)[:wanted]
    return frame[order]


def _rank(seed: int, benchmark: str, molecule: str) -> bytes:
    return blake2b(calls.canonical([seed, benchmark, molecule]), digest_size=16).digest()
