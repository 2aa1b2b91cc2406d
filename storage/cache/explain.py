"""Why a call is not in the cache: the nearest stored call, and the fields in which the two differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import polars as pl

from ..errors import CacheError
from .reading import read_tail
from .store import Cache
from .tables import Connection

Cost = tuple[int, int]
Differences = tuple[tuple[str, str, str], ...]


class PreimageError(CacheError):
    """The preimage that was asked for cannot be compared. The message does not say where it came from."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a call relates to what is stored: ``key`` of the nearest stored call, the fields that differ
    (path, stored value, asked value; empty for the same call), and that call's attempts."""

    key: str
    differences: Differences
    attempts: pl.DataFrame


def explain(cache: Cache, *, key: str | None = None, preimage: str | None = None) -> Explanation:
    """Find the stored call for a key, or the one nearest to a preimage, and name the fields that differ.

    Nearest is: fewest differing fields, then the least differing text.

    Raises
    ------
    PreimageError
        If the preimage given is not JSON.
    CacheError
        If nothing is stored for the key, or the cache is empty.
    """
    tail = read_tail(cache.place.journal, ["key", "preimage"], None).drop_nulls()
    if preimage is None:
        if key is None or not len(cache.attempts([key])):
            raise CacheError(
                f"cache {cache.path} holds no attempt for key {key}; give the call's preimage to compare"
            )
        return Explanation(key, (), cache.attempts([key]))
    try:
        asked = _fields(preimage)
    except CacheError as error:
        raise PreimageError(str(error)) from error

    def work(connection: Connection) -> tuple[Cost, str, Differences] | None:
        stored = connection.execute("SELECT key, preimage FROM calls")
        batches = chain(iter(lambda: stored.fetchmany(1000), []), [tail.rows()])
        return min((_compared(row[0], row[1], asked) for batch in batches for row in batch), default=None)

    best = cache.query(work)
    if best is None:
        raise CacheError(f"cache {cache.path} holds no call to compare with")
    return Explanation(best[1], best[2], cache.attempts([best[1]]))


def _compared(key: str, preimage: str, asked: dict[str, str]) -> tuple[Cost, str, Differences]:
    differences = _differences(_fields(preimage), asked)
    return (len(differences), sum(_distance(old, new) for _, old, new in differences)), key, differences


def _fields(preimage: str) -> dict[str, str]:
    try:
        return dict(_flat("", json.loads(preimage)))
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise CacheError(f"a preimage is not JSON that can be compared: {reason}") from error


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    children: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        children = [(f"{path}.{name}" if path else name, child) for name, child in value.items()]
    elif isinstance(value, list):
        children = [(f"{path}[{index}]", child) for index, child in enumerate(value)]
    if not children:
        yield path, json.dumps(value, ensure_ascii=False)
    for name, child in children:
        yield from _flat(name, child)


def _differences(stored: dict[str, str], asked: dict[str, str]) -> Differences:
    names = sorted(stored.keys() | asked.keys())
    pairs = ((name, stored.get(name, "(absent)"), asked.get(name, "(absent)")) for name in names)
    return tuple((name, old, new) for name, old, new in pairs if old != new)


def _distance(old: str, new: str) -> int:
    """Length of what remains of two texts without their common beginning and end."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    return max(len(old), len(new)) - start - end


def _common(old: str, new: str) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(old), len(new)))
