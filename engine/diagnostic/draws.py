"""Which candidates become samples, and which samples belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .building import CONSISTENT, INCONSISTENT, Candidate, Order


def drawn(candidates: Sequence[Candidate], order: Order, *, published: int | None = None) -> list[Candidate]:
    """Draw samples by group, in the order of the candidates.

    ``draw = "published"`` takes all inconsistent candidates and as many consistent ones as there are, at most as
    many; with ``published``, that number in all, as a number in ``draw`` would. A number is drawn half from each
    group (an odd one more from the consistent); where a group has too few, the other fills up (ours).
    """
    if order.draw == "all":
        return list(candidates)
    by_group = {
        group: [i for i, c in enumerate(candidates) if c.group == group]
        for group in (INCONSISTENT, CONSISTENT)
    }
    total = published if order.draw == "published" else order.draw
    if total is None:
        wanted = {INCONSISTENT: len(by_group[INCONSISTENT])}
        wanted[CONSISTENT] = min(wanted[INCONSISTENT], len(by_group[CONSISTENT]))
    else:
        wanted = shares(total, {group: len(members) for group, members in by_group.items()})
    chosen: list[int] = []
    for group, members in by_group.items():
        rng = order.rng(f"draw {group}")
        if group == CONSISTENT and order.balance == "label":
            chosen += _balanced(candidates, members, wanted[group], rng)
        else:
            chosen += _some(members, wanted[group], rng)
    return [candidates[i] for i in sorted(chosen)]


def capped(candidates: Sequence[Candidate], order: Order) -> list[Candidate]:
    """Keep at most ``pairs_max`` candidates, a seeded draw without regard to groups."""
    if order.pairs_max is None or len(candidates) <= order.pairs_max:
        return list(candidates)
    kept = order.rng("cap").choice(len(candidates), order.pairs_max, replace=False)
    return [candidates[i] for i in sorted(kept)]


def shares(total: int, available: dict[str, int]) -> dict[str, int]:
    """Divide a number evenly over parts of limited size; what is left over goes to the last parts."""
    found = dict.fromkeys(available, 0)
    while total > 0 and (open_parts := [part for part in found if found[part] < available[part]]):
        each, more = divmod(total, len(open_parts))
        for place, part in enumerate(open_parts):
            extra = each + (place >= len(open_parts) - more)
            taken = min(extra, available[part] - found[part], total)
            found[part] += taken
            total -= taken
    return found


def _some(members: Sequence[int], number: int, rng: np.random.Generator) -> list[int]:
    return [members[i] for i in rng.choice(len(members), min(number, len(members)), replace=False)]


def _balanced(
    candidates: Sequence[Candidate], members: Sequence[int], number: int, rng: np.random.Generator
) -> list[int]:
    by_label: dict[str, list[int]] = {}
    for i in members:
        by_label.setdefault(candidates[i].target_label, []).append(i)
    labels = sorted(by_label, key=lambda label: (-len(by_label[label]), label))
    number_of = shares(number, {label: len(by_label[label]) for label in reversed(labels)})
    return [i for label in labels for i in _some(by_label[label], number_of[label], rng)]


def clusters(samples: Sequence[Candidate], key: Callable[[str], str] = str) -> list[int]:
    """Number the samples that share a source or a target, directly or over others, from 1 in order of appearance.

    Tests and intervals go by cluster: such samples are not independent. A source of one and a target of another are
    the same structure too; directed samples of an enantiomer pair are one cluster by that.
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for sample in samples:
        parent[root(key(sample.source))] = root(key(sample.target))
    numbers: dict[str, int] = {}
    return [numbers.setdefault(root(key(sample.source)), len(numbers) + 1) for sample in samples]


def most_similar_sources(directed: Iterable[Candidate]) -> list[Candidate]:
    """Keep for every target the source of highest similarity; on a tie the one of the lowest record.

    The result is in the order of the targets' records.
    """
    best: dict[str, Candidate] = {}
    for candidate in directed:
        now = best.get(candidate.target)
        if now is None or _preference(candidate) < _preference(now):
            best[candidate.target] = candidate
    return sorted(best.values(), key=lambda c: c.target_record)


def _preference(candidate: Candidate) -> tuple[float, int]:
    return -(candidate.similarity or 0.0), candidate.source_record
