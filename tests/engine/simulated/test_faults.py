"""Latency, limits and faults of the simulated server, without a socket and on a clock set by hand."""

import math
from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from scipy import stats

from molaudit.engine.errors import SettingsError
from molaudit.engine.simulated.core import ServeSettings
from molaudit.engine.simulated.faults import (
    FAULTS,
    Latency,
    RateLimit,
    draw,
    parse_faults,
    parse_latency,
    pick,
)

ALPHA = 1e-9  # The chance that a correct program fails one of the bounds below.
GOLDEN_DRAW = 0.42321144819582723  # A change here changes the fate of every request of every seed.


class Clock:
    """A clock that shows what it is set to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("text", "latency"),
    [
        ("0", Latency("fixed", 0.0)),
        ("1.0", Latency("fixed", 1.0)),
        ("lognormal:1.0,0.5", Latency("lognormal", 1.0, 0.5)),
        ("uniform:1,3", Latency("uniform", 1.0, 3.0)),
    ],
)
def test_latencies_are_read(text: str, latency: Latency) -> None:
    assert parse_latency(text) == latency


@pytest.mark.parametrize(
    "text",
    ["", "fast", "-1", "nan", "inf", "1,2", "uniform:3,1", "uniform:1", "lognormal:1", "lognormal:-1,2", "normal:1,2",
     ":1", "uniform:1,2,3", "1.0s"],
)  # fmt: skip
def test_a_latency_that_is_not_understood_shows_the_forms_that_are(text: str) -> None:
    with pytest.raises(SettingsError, match=r"--latency .*lognormal:1\.0,0\.5.*uniform:1,3"):
        parse_latency(text)


def test_latencies_follow_their_distributions() -> None:
    """Kolmogorov-Smirnov against scipy's, false alarm 1e-9 each."""
    draws = [draw(3, n, 2) for n in range(4000)]
    lognormal = [parse_latency("lognormal:2.0,0.5").seconds(u) for u in draws]
    uniform = [parse_latency("uniform:1,3").seconds(u) for u in draws]
    assert stats.kstest(draws, "uniform").pvalue > ALPHA
    assert stats.kstest(lognormal, stats.lognorm(s=0.5, scale=2.0).cdf).pvalue > ALPHA
    assert stats.kstest(uniform, stats.uniform(1, 2).cdf).pvalue > ALPHA
    assert {parse_latency("0.25").seconds(u) for u in draws} == {0.25}
    for spread in ("1,1", "1,1000", "1e300,1e300"):
        assert all(
            math.isfinite(parse_latency(f"lognormal:{spread}").seconds(u)) for u in (0.0, 1 - 2.0**-53)
        )


def test_draws_differ_by_seed_number_and_purpose_and_are_golden() -> None:
    values = {
        draw(seed, number, purpose) for seed in range(3) for number in range(50) for purpose in range(3)
    }
    assert len(values) == 450
    assert draw(1, 0, 1) == GOLDEN_DRAW
    assert stats.pearsonr(*zip(*pairwise(draw(1, n, 1) for n in range(2000)), strict=True)).pvalue > ALPHA


def test_faults_are_read_in_order() -> None:
    assert parse_faults("429=0.05, 500=0.02,reset=0.01") == (("429", 0.05), ("500", 0.02), ("reset", 0.01))
    assert parse_faults("") == ()
    assert parse_faults(",".join(f"{name}={1 / len(FAULTS)}" for name in FAULTS))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("501=0.1", r"'501' is not a fault; choose from .*429.*half-json.*nul"),
        ("reset", r"'reset' needs a probability from 0 to 1, as in reset=0\.05"),
        ("reset=2", r"'reset=2' needs a probability"),
        ("reset=nan", "needs a probability"),
        ("reset=-0.1", "needs a probability"),
        ("reset=0.1,reset=0.1", "'reset' is given twice"),
        ("reset=0.7,hang=0.7", r"sum to 1\.4"),
    ],
)
def test_faults_that_are_not_understood_say_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        parse_faults(text)


def test_each_fault_comes_as_often_as_it_was_asked_for() -> None:
    faults = parse_faults("429=0.05,500=0.02,hang=0.3")
    met = [pick(faults, draw(11, number, 1)) for number in range(20_000)]
    for name, probability in (*faults, (None, 0.63)):
        low, high = stats.binom.interval(1 - 2 * ALPHA, len(met), probability)
        assert low <= met.count(name) <= high
    assert met == [pick(faults, draw(11, number, 1)) for number in range(20_000)]
    assert pick(parse_faults("hang=1"), 1 - 2.0**-53) == "hang"
    assert pick(parse_faults("hang=0"), 0.0) is None


def test_a_bucket_admits_its_burst_and_then_its_rate() -> None:
    clock = Clock()
    bucket = RateLimit(rpm=600, burst=20, clock=clock)
    assert [bucket.take() for _ in range(20)] == [0.0] * 20
    assert bucket.take() == pytest.approx(0.1)
    assert bucket.remaining == 0
    assert bucket.full_in == pytest.approx(2.0)
    clock.now += 0.04
    assert bucket.take() == pytest.approx(0.06)
    for _ in range(300):
        clock.now += 0.1
        assert bucket.take() == 0.0
    clock.now += 3600
    assert sum(bucket.take() == 0.0 for _ in range(100)) == 20


@given(
    st.lists(st.floats(0, 3), min_size=1, max_size=150),
    st.floats(1, 6000),
    st.integers(1, 30),
)
@settings(deadline=None, max_examples=100)
def test_no_window_admits_more_than_its_rate_and_one_burst(gaps: list[float], rpm: float, burst: int) -> None:
    clock = Clock()
    bucket = RateLimit(rpm, burst, clock)
    admitted = []
    for gap in gaps:
        clock.now += gap
        wait = bucket.take()
        if wait == 0:
            admitted.append(clock.now)
        else:
            assert 0 < wait <= 60 / rpm + 1e-6
    for first, start in enumerate(admitted):
        for last in range(first, len(admitted)):
            allowed = burst + (admitted[last] - start) * rpm / 60
            assert last - first + 1 <= allowed + 1e-3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"port": 70_000}, "--port 70000"),
        ({"rpm": 0.0}, "--rpm"),
        ({"rpm": math.nan}, "--rpm"),
        ({"burst": 0}, "--burst"),
        ({"hints": "maybe"}, "openai, retry-after, retry-after-ms, none"),
        ({"latency": "x"}, "--latency"),
        ({"faults": "x=1"}, "--faults"),
        ({"default_model": "gpt"}, "--default-model: no simulated model is called 'gpt'"),
    ],
)
def test_settings_that_are_not_allowed_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        ServeSettings(**change)  # type: ignore[arg-type]
