"""Labels sorted by prefix and continuation: each continuation is then a range of bits of its prefix.

A random half of a prefix's labels is a mask, and how often a continuation was learned is a population count
under that continuation's range. The plan holds those ranges, cut at the borders of 64-bit words.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..figures import codes_all

WORD: Final = 64


class Plan(NamedTuple):
    """Prefixes of at least two labels (G), their continuations (C), and those cut at word borders (S)."""

    size: NDArray[np.int64]  # [G] labels
    half: NDArray[np.int64]  # [G] labels to learn on, floor(size / 2)
    draw: NDArray[np.int64]  # [G] number of the first random word
    first_continuation: NDArray[np.int64]  # [G + 1]
    label_count: NDArray[np.int64]  # [C]
    first_segment: NDArray[np.int64]  # [C + 1]
    word: NDArray[np.int64]  # [S] word within the prefix
    mask: NDArray[np.uint64]  # [S] bits within that word

    @property
    def trials(self) -> int:
        """Labels scored per repeat."""
        return int((self.size - self.half).sum())


class Runs(NamedTuple):
    """Sorted labels as runs of equal (prefix, continuation)."""

    order: NDArray[np.int64]  # [n] labels in sorted order
    start: NDArray[np.int64]  # [C + 1] first label of each continuation
    prefix: NDArray[np.int64]  # [C] number of its prefix
    prefix_start: NDArray[np.int64]  # [G + 1] first label of each prefix


def runs(labels: NDArray[np.float64], rung: int) -> Runs:
    """Sort labels by their codes at k = rung // 10 and at k + 1 figures, each taken from the value.

    Parameters
    ----------
    labels : float64[n]
    rung : {12, 23}
    """
    codes = codes_all(labels)
    prefixes, continuations = codes[rung // 10 - 1], codes[rung // 10]
    order = np.lexsort((continuations, prefixes))
    prefixes, continuations = prefixes[order], continuations[order]
    new_prefix = np.append(True, prefixes[1:] != prefixes[:-1])
    new = new_prefix | np.append(True, continuations[1:] != continuations[:-1])
    start = np.flatnonzero(new)
    return Runs(
        order,
        np.append(start, labels.size),
        np.cumsum(new_prefix)[start] - 1,
        np.append(np.flatnonzero(new_prefix), labels.size),
    )


def plan(labels: NDArray[np.float64], rung: int) -> Plan:
    """Return the plan of one rung; prefixes of a single label, which cannot be halved, are left out."""
    sorted_labels = runs(labels, rung)
    size = np.diff(sorted_labels.prefix_start)
    kept = (size >= 2)[sorted_labels.prefix]
    prefix = sorted_labels.prefix[kept]
    count = np.diff(sorted_labels.start)[kept]
    start = sorted_labels.start[:-1][kept] - sorted_labels.prefix_start[prefix]
    words = (start + count - 1) // WORD - start // WORD + 1
    first_segment = _offsets(words)
    owner = np.repeat(np.arange(count.size), words)
    word = np.arange(owner.size) - first_segment[owner] + start[owner] // WORD
    low = np.maximum(start[owner] - word * WORD, 0)
    width = np.minimum(start[owner] + count[owner] - word * WORD, WORD) - low
    ones = np.uint64(2**WORD - 1) >> (WORD - width).astype(np.uint64)
    sizes = size[size >= 2]
    return Plan(
        size=sizes,
        half=sizes // 2,
        # One word more than the mask needs: it is the key of the words that even out the half.
        draw=_offsets((sizes + WORD - 1) // WORD + 1)[:-1],
        first_continuation=_offsets(np.bincount(prefix, minlength=size.size)[size >= 2]),
        label_count=count,
        first_segment=first_segment,
        word=word,
        mask=ones << low.astype(np.uint64),
    )


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])
