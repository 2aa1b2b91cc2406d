"""Draws: how many of each group, the same for the same seed, and which samples are one cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from molaudit.engine.diagnostic.building import CONSISTENT, INCONSISTENT, Candidate, Funnel, Order
from molaudit.engine.diagnostic.draws import capped, clusters, drawn, most_similar_sources, shares
from molaudit.engine.molecules.edits import STATED, Edit


def candidates(inconsistent: int, consistent: int, actives: int = 0) -> list[Candidate]:
    edit = Edit(STATED, "", "", "words")
    made = []
    for n in range(inconsistent + consistent):
        group = INCONSISTENT if n < inconsistent else CONSISTENT
        label = "1" if n < inconsistent + actives else "0"
        made.append(Candidate(f"s{n}", f"t{n}", n, n, edit, label, label, group))
    return made


def counts(samples: list[Candidate]) -> tuple[int, int]:
    return tuple(sum(one.group == group for one in samples) for group in (INCONSISTENT, CONSISTENT))  # type: ignore[return-value]


ORDER = Order("a task", 1)


@pytest.mark.parametrize(
    ("draw", "published", "expected"),
    [
        ("published", None, (20, 20)),
        ("published", 30, (15, 15)),
        ("all", None, (20, 50)),
        (10, None, (5, 5)),
        (11, None, (5, 6)),
        (60, None, (20, 40)),
        (1000, None, (20, 50)),
        (1, None, (0, 1)),
    ],
)
def test_as_many_of_each_group_as_asked_for(
    draw: str | int, published: int | None, expected: tuple[int, int]
) -> None:
    samples = drawn(candidates(20, 50), replace(ORDER, draw=draw), published=published)
    assert counts(samples) == expected
    assert len({one.source for one in samples}) == len(samples)


def test_all_inconsistent_are_kept_where_fewer_are_consistent() -> None:
    assert counts(drawn(candidates(20, 5), ORDER)) == (20, 5)
    assert counts(drawn(candidates(0, 5), ORDER)) == (0, 0)


@pytest.mark.parametrize(("actives", "expected"), [(30, 10), (4, 4), (0, 0)])
def test_balanced_draw_has_both_labels_evenly_as_far_as_there_are(actives: int, expected: int) -> None:
    samples = drawn(candidates(20, 60, actives), replace(ORDER, balance="label"))
    labels = [one.target_label for one in samples if one.group == CONSISTENT]
    assert len(labels) == 20
    assert labels.count("1") == expected


def test_draws_keep_the_order_and_depend_on_seed_and_task_alone() -> None:
    made = candidates(20, 60)
    first = drawn(made, ORDER)
    assert first == sorted(first, key=lambda one: one.source_record)
    assert first == drawn(made, Order("a task", 1))
    assert first != drawn(made, Order("a task", 2))
    assert first != drawn(made, Order("another", 1))


def test_every_consistent_candidate_is_drawn_equally_often() -> None:
    made = candidates(5, 20)
    times = dict.fromkeys((one.source for one in made), 0)
    for seed in range(2000):
        for one in drawn(made, replace(ORDER, seed=seed)):
            times[one.source] += 1
    shares_drawn = [times[f"s{n}"] / 2000 for n in range(5, 25)]
    # Four standard errors of a share of a quarter in 2,000 draws; 20 shares, a false alarm in 800 runs.
    assert all(abs(share - 0.25) < 4 * (0.25 * 0.75 / 2000) ** 0.5 for share in shares_drawn)


def test_cap_keeps_that_many_of_either_group() -> None:
    assert len(capped(candidates(20, 50), replace(ORDER, pairs_max=30))) == 30
    assert len(capped(candidates(20, 50), replace(ORDER, pairs_max=300))) == 70


@pytest.mark.parametrize(
    ("total", "available", "expected"),
    [
        (10, {"a": 9, "b": 9}, [5, 5]),
        (11, {"a": 9, "b": 9}, [5, 6]),
        (10, {"a": 2, "b": 9}, [2, 8]),
        (50, {"a": 3, "b": 100, "c": 4, "d": 100}, [3, 21, 4, 22]),
        (99, {"a": 2, "b": 3}, [2, 3]),
        (0, {"a": 2}, [0]),
    ],
)
def test_a_number_is_shared_evenly_over_parts_of_limited_size(
    total: int, available: dict[str, int], expected: list[int]
) -> None:
    assert list(shares(total, available).values()) == expected


def pair(source: str, target: str, similarity: float = 1.0, record: int = 0) -> Candidate:
    return Candidate(source, target, record, 0, Edit(STATED, "", "", ""), "0", "0", CONSISTENT, similarity)


def test_clusters_are_what_is_connected_by_a_source_or_a_target() -> None:
    samples = [pair("a", "b"), pair("c", "d"), pair("e", "a"), pair("d", "f"), pair("g", "h"), pair("f", "b")]
    assert clusters(samples) == [1, 1, 1, 1, 2, 1]
    assert clusters(samples[:5]) == [1, 2, 1, 2, 3]


def test_most_similar_source_is_kept_and_of_equals_the_lowest_record() -> None:
    directed = [
        pair("a", "t", 0.8, 9), pair("b", "t", 0.9, 7), pair("c", "t", 0.9, 3), pair("d", "u", 0.5, 1),
    ]  # fmt: skip
    assert [(one.source, one.target) for one in most_similar_sources(directed)] == [("c", "t"), ("d", "u")]


def test_step_of_a_funnel_occurs_once() -> None:
    funnel = Funnel()
    funnel.count("records", 3)
    with pytest.raises(ValueError, match="counted twice"):
        funnel.count("records", 4)
