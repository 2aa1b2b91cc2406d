"""Waits and limits that servers state, in every spelling."""

from __future__ import annotations

import math
from email.utils import formatdate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molaudit.engine.models.hints import Limit, duration, limits, retry_after

NOW = 1_794_000_000.0  # 2026-11-06T21:20:00Z


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "5"}, None, 5.0),
        ({"retry-after": "1.5"}, None, 1.5),
        ({"retry-after": "90"}, None, 90.0),
        ({"retry-after": " 2 "}, None, 2.0),
        ({"retry-after": "1m30s"}, None, 90.0),
        ({"retry-after": "250ms"}, None, 0.25),
        ({"retry-after": formatdate(NOW + 7, usegmt=True)}, None, 7.0),
        (
            {"retry-after": formatdate(NOW + 7, usegmt=True), "date": formatdate(NOW + 4, usegmt=True)},
            None,
            3.0,
        ),
        ({"retry-after": "2026-11-06T21:20:12Z"}, None, 12.0),
        ({"retry-after": "2026-11-06T22:20:12.5+01:00"}, None, 12.5),
        ({"retry-after": "1794000030"}, None, 30.0),
        ({"retry-after": "1794000030000"}, None, 30.0),
        ({"retry-after-ms": "169", "retry-after": "1"}, None, 0.169),
        ({"x-ms-retry-after-ms": "2500"}, None, 2.5),
        ({}, {"error": {"details": [{"retryDelay": "2.75s"}]}}, 2.75),
        ({}, [{"error": {"details": [{"@type": "x"}, {"retryDelay": "12s"}]}}], 12.0),
        ({}, {"error": {"message": "Please retry in 46.27s."}}, 46.27),
        ({}, {"error": {"message": "Try again in 6m0s. Visit us."}}, 360.0),
        ({}, {"message": "Limit reached; please wait 20 seconds before the next request"}, 20.0),
        ({}, {"error": "Too many requests, retry after 3 s"}, 3.0),
        ({}, "Please try again in 169ms.", 0.169),
        ({}, {"error": {"availability": {"retry_after": 8}}}, 8.0),
        ({}, {"error": {"metadata": {"headers": {"Retry-After": "4"}}}}, 4.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "59.892s"}, None, 59.892),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1h2m3s"}, None, 3723.0),
        (
            {
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2026-11-06T21:20:09Z",
            },
            None,
            9.0,
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1794000011000"}, None, 11.0),
    ],
)
def test_a_wait_is_read_in_every_spelling(headers: dict[str, str], body: object, seconds: float) -> None:
    assert retry_after(headers, body, NOW) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize(
    "value",
    ["", "-5", "soon", "nan", "inf", "1e5", "0x10", "١٢", "5 parsecs", "ms", "2026-13-45", "9" * 400, "1 2", True,
     None, [], {}, float("nan"), float("inf"), -1, 10**400],
)  # fmt: skip
def test_garbage_and_negative_waits_are_none(value: object) -> None:
    assert duration(value, NOW) is None
    assert retry_after({"retry-after": value if isinstance(value, str) else "x"}, None, NOW) is None


def test_a_moment_that_has_passed_means_no_wait() -> None:
    assert duration(formatdate(NOW - 60, usegmt=True), NOW) == 0.0


def test_an_absolute_time_without_any_clock_is_unknown() -> None:
    assert retry_after({"retry-after": "2026-11-06T21:20:12Z"}, None, None) is None


def test_an_unreadable_header_does_not_hide_the_body() -> None:
    assert retry_after({"retry-after": "later"}, {"error": {"retry_after": 3}}, NOW) == 3.0


def test_the_reset_of_a_budget_with_something_left_is_no_wait() -> None:
    headers = {"x-ratelimit-remaining-tokens": "900", "x-ratelimit-reset-tokens": "59s"}
    assert retry_after(headers, None, NOW) is None


def test_resets_can_be_left_out_for_a_quota() -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1794096000000"}
    assert retry_after(headers, None, NOW) == pytest.approx(96_000.0)
    assert retry_after(headers, None, NOW, resets=False) is None


def test_limits_of_each_family_are_read() -> None:
    openai = limits(
        {
            "x-ratelimit-limit-requests": "10000",
            "x-ratelimit-remaining-requests": "9999",
            "x-ratelimit-reset-requests": "6ms",
            "x-ratelimit-limit-tokens": "2000000",
            "x-ratelimit-remaining-tokens": "1999850",
        }
    )
    assert openai.requests == Limit(10_000.0, 9_999.0, 0.006)
    assert openai.tokens == Limit(2_000_000.0, 1_999_850.0, None)
    claude = limits(
        {
            "anthropic-ratelimit-requests-limit": "1000",
            "anthropic-ratelimit-requests-remaining": "998",
            "anthropic-ratelimit-requests-reset": "2026-11-06T21:20:01Z",
            "anthropic-ratelimit-output-tokens-limit": "80000",
        },
        NOW,
    )
    assert claude.requests == Limit(1000.0, 998.0, 1.0)
    assert claude.output_tokens == Limit(80_000.0)
    assert limits({"x-ratelimit-limit-req-minute": "15"}).requests == Limit(15.0)
    assert not limits({"content-type": "text/html", "x-ratelimit-limit-requests": "many"}).requests


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=80) | st.from_regex(r"[0-9hms. ]{1,20}"), st.none() | st.floats(0, 4e9))
def test_any_text_gives_a_finite_wait_or_none(text: str, base: float | None) -> None:
    for value in (duration(text, base), retry_after({"retry-after": text, "date": text}, text, base)):
        assert value is None or (math.isfinite(value) and value >= 0)
