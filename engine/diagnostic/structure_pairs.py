"""Pairs of structures within a window of similarity that differ by one verified edit, for the tasks that share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from molaudit.kernels import tanimoto

from ..molecules.edits import Edit
from .building import Funnel

if TYPE_CHECKING:
    from collections import Counter


@dataclass(frozen=True, slots=True)
class Window:
    """Pairs of positions in a sweep's window, and their similarity."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    def pairs(self) -> list[tuple[int, int]]:
        """Positions, first before second."""
        return list(zip(self.first.tolist(), self.second.tolist(), strict=True))

    def where(self, kept: NDArray[np.bool_]) -> Window:
        """Some of the pairs."""
        return Window(self.first[kept], self.second[kept], self.similarity[kept])


def window(
    bits: NDArray[np.uint64],
    heavy: NDArray[np.int64] | None = None,
    *,
    low: float,
    high: float = 1.0,
    heavy_atoms: int | None = None,
) -> Window:
    """Find all pairs with low <= T <= high whose heavy atoms differ by at most ``heavy_atoms``."""
    return Window(*tanimoto.similar_pairs(bits, heavy, low=low, high=high, size_difference=heavy_atoms))


@dataclass(frozen=True, slots=True)
class Directed:
    """An edit from one position to another."""

    source: int
    target: int
    edit: Edit
    similarity: float


def single_site_edits(
    smiles: Sequence[str], pairs: Window, most_heavy: int, funnel: Funnel, notes: list[str]
) -> list[Directed]:
    """Return verified single-site edits in both directions; the funnel counts pairs (``single_site``)."""
    from ..molecules.single_site import single_sites

    sites = single_sites(smiles, pairs.pairs(), most_heavy=most_heavy)
    funnel.count("single_site", len(sites.found))
    say_refused(sites.refused, notes)
    similarity = dict(zip(pairs.pairs(), pairs.similarity.tolist(), strict=True))
    found = []
    for site in sites.found:
        t = similarity[site.first, site.second]
        found.append(Directed(site.first, site.second, site.forth, t))
        found.append(Directed(site.second, site.first, site.back, t))
    return found


def say_refused(refused: Counter[str], notes: list[str]) -> None:
    """Note why pairs were refused."""
    if refused:
        reasons = ", ".join(
            f"{number} {reason.replace('_', ' ')}" for reason, number in refused.most_common()
        )
        notes.append(f"pairs of the window without an edit: {reasons}")


def say_invalid(why: dict[str, int], notes: list[str]) -> None:
    """Note what RDKit objects to."""
    if why:
        notes.append(f"invalid structures: {', '.join(f'{n} {reason}' for reason, n in why.items())}")
