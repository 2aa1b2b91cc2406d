"""What error replies mean, beyond the recorded ones: one body for each rule, and for each trap."""

from __future__ import annotations

import json
from typing import Any

import pytest

from molaudit.engine.models import outcomes
from molaudit.engine.models.dialects.registry import DIALECTS, dialect
from molaudit.engine.models.records import Decoded, Outcome, Response


def classify(status: int, body: Any, headers: dict[str, str] | None = None) -> Decoded:
    return outcomes.classify(status, headers or {}, body)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Too Many Requests"}},
        {"error": {"message": "Overloaded"}},
        "",
        {"error": "请求过多"},
    ],
)
def test_a_429_is_throttling_whatever_its_words(body: Any) -> None:
    assert classify(429, body).outcome is Outcome.THROTTLED


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"type": "insufficient_quota", "code": None, "message": "You exceeded your quota"}}),
        (429, {"error": {"details": [{"violations": [{"quotaId": "RequestsPerDayPerProject"}]}]}}),
        (403, {"code": "x", "error": "Your team has used all available credits"}),
        (400, {"error": {"message": "Your credit balance is too low to access the API."}}),
        (402, {"error": {"message": "Insufficient Balance"}}),
        (402, "<html>Payment required</html>"),
        (200, {"error": {"code": "insufficient_quota", "message": "none left"}}),
    ],
)
def test_a_used_up_balance_is_a_quota_under_any_status(status: int, body: Any) -> None:
    verdict = classify(status, body)
    assert (verdict.outcome, verdict.retryable) == (Outcome.QUOTA, False)


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (429, {"error": {"message": "Limit: 0.5 requests"}}, {}),
        (429, {"error": {"message": "limit: 0.75 per s"}}, {}),
        (429, {"error": {"details": [{"violations": [{"quotaId": "PerMinute", "quotaValue": "05"}]}]}}, {}),
        (429, {}, {"x-ratelimit-limit-req-minute": "15"}),
        (402, {"error": {"code": 402, "metadata": {"error_type": "in_flight_budget_exhausted"}}}, {}),
    ],
)
def test_a_limit_that_refills_is_not_a_quota(status: int, body: Any, headers: dict[str, str]) -> None:
    verdict = classify(status, body, headers)
    assert (verdict.outcome, verdict.retryable) == (Outcome.THROTTLED, True)


@pytest.mark.parametrize(
    ("status", "body", "outcome", "reason"),
    [
        (401, "", Outcome.REJECTED, "auth"),
        (400, {"error": {"message": "Incorrect API key provided"}}, Outcome.REJECTED, "auth"),
        (403, {"error": {"message": "no access"}}, Outcome.REJECTED, "permission"),
        (404, "<html>", Outcome.REJECTED, "not_found"),
        (405, {}, Outcome.REJECTED, "bad_request"),
        (409, {"error": {"type": "conflict_error"}}, Outcome.FAILED, "conflict_error"),
        (413, {"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}, Outcome.REJECTED, "context_length"),
        (413, {}, Outcome.REJECTED, "too_large"),
        (422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs"}]}, Outcome.REJECTED, "bad_request"),
        (302, "", Outcome.REJECTED, "redirect"),
        (408, {}, Outcome.TIMED_OUT, "http_408"),
        (504, {"error": {"type": "timeout_error"}}, Outcome.TIMED_OUT, "timeout_error"),
        (524, "<html>", Outcome.TIMED_OUT, "http_524"),
        (500, {"error": {"type": "api_error", "message": "x"}}, Outcome.FAILED, "api_error"),
        (502, "", Outcome.FAILED, "http_502"),
        (599, None, Outcome.FAILED, "http_599"),
        (529, {"error": {"type": "overloaded_error"}}, Outcome.OVERLOADED, "overloaded_error"),
        (400, {"error": {"code": "content_filter"}}, Outcome.FILTERED, "content_filter"),
        (403, {"error": {"metadata": {"reasons": ["x"]}}}, Outcome.FILTERED, "http_403"),
        (200, {"error": "Unexpected endpoint"}, Outcome.REJECTED, "not_found"),
        (200, {"error": {"code": 502}}, Outcome.FAILED, "http_200"),
        (200, {"error": {"code": "429"}}, Outcome.THROTTLED, "http_200"),
        (200, {"error": {"status": "RESOURCE_EXHAUSTED"}}, Outcome.THROTTLED, "RESOURCE_EXHAUSTED"),
        (200, {"error": {"code": "invalid_api_key"}}, Outcome.REJECTED, "auth"),
        (200, {"error": {"code": "context_length_exceeded"}}, Outcome.REJECTED, "context_length"),
    ],
)  # fmt: skip
def test_each_status_has_its_outcome(status: int, body: Any, outcome: Outcome, reason: str) -> None:
    verdict = classify(status, body)
    assert (verdict.outcome, verdict.reason) == (outcome, reason)
    assert verdict.retryable is (outcome in outcomes.RETRIED)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"code": "data_inspection_failed", "message": "The input may hold something."}}),
        (400, {"error": {"code": "1301", "message": "\u7cfb\u7edf"}}),
        (403, {"code": "permission-denied", "error": "Content violates usage guidelines."}),
        (403, {"object": "error", "type": "guardrail_violation", "message": "Input blocked."}),
        (422, {"object": "error", "type": "moderation_error", "message": "Rejected."}),
        (500, {"type": "error", "error": {"type": "api_error", "message": "input new_sensitive (1026)"}}),
        (400, {"error": {"message": "The response was filtered due to our content management policy."}}),
        (403, {"error": {"message": "Input was flagged by moderation."}}),
        (200, {"base_resp": {"status_code": 1027, "status_msg": "output new_sensitive"}}),
    ],
)  # fmt: skip
def test_a_block_is_final_under_any_status(status: int, body: Any) -> None:
    for headers in ({}, {"x-should-retry": "true"}):
        verdict = classify(status, body, headers)
        assert (verdict.outcome, verdict.retryable) == (Outcome.FILTERED, False)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (503, "The moderation service is unavailable"),
        (429, "Too many requests to the content filter"),
        (500, "The content filter timed out"),
        (400, "temperature is not allowed with safety settings"),
        (403, "Your key has no access to this model"),
    ],
)
def test_an_error_that_mentions_a_filter_is_no_block(status: int, message: str) -> None:
    assert classify(status, {"error": {"message": message}}).outcome is not Outcome.FILTERED


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"message": "Budget exceeded for key k: spent 10.02", "type": "budget_exceeded"}}),
        (400, {"error": {"message": "Budget has been exceeded! Current cost: 1.2, Max budget: 1"}}),
        (429, {"error": {"code": "1113", "message": "\u4f59\u989d"}}),
        (400, {"error": {"code": "Arrearage", "message": "Access denied."}}),
        (403, {"error": {"code": "AccountOverdueError", "message": "Account is overdue."}}),
        (412, {"error": {"message": "Account x is suspended: unpaid invoice"}}),
        (403, {"code": 30001, "message": "Sorry, your account balance is insufficient"}),
        (429, {"error": {"type": "exceeded_current_quota_error", "message": "Your account is not active"}}),
        (403, {"error": {"code": "insufficient_user_quota", "message": "x"}}),
        (
            429,
            {"error": {"message": "tokens per min (TPM): Limit 0, Used 0, Requested 5.", "type": "tokens"}},
        ),
        (200, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
    ],
)
def test_spent_money_is_a_quota_whatever_it_is_called(status: int, body: Any) -> None:
    verdict = classify(status, body)
    assert (verdict.outcome, verdict.retryable) == (Outcome.QUOTA, False)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [(1002, Outcome.THROTTLED), (1004, Outcome.REJECTED), (1000, Outcome.FAILED), (1001, Outcome.TIMED_OUT)],
)
@pytest.mark.parametrize("name", list(DIALECTS))
def test_a_code_of_base_resp_in_a_success_is_an_error(code: int, outcome: Outcome, name: str) -> None:
    body = {"choices": None, "base_resp": {"status_code": code, "status_msg": "x"}}
    verdict = dialect(name).decode(Response(200, {}, json.dumps(body).encode()), max_output_tokens=64)
    assert (verdict.outcome, verdict.message) == (outcome, f"base_resp {code}: x" if code == 1004 else "x")


def test_a_request_above_the_limit_per_minute_is_final_with_both_numbers() -> None:
    text = "Request too large for m on tokens per minute (TPM): Limit 30,000, Requested 42000."
    for status in (429, 413):
        verdict = classify(status, {"error": {"message": text}}, {"x-should-retry": "true"})
        assert (verdict.outcome, verdict.reason, verdict.retryable) == (Outcome.REJECTED, "too_large", False)
        assert "42,000 of a limit of 30,000: lower max_output_tokens" in (verdict.message or "")


@pytest.mark.parametrize(
    "text",
    [
        "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
        "Limit 3 / min. Requested later.",
    ],
)
def test_a_limit_that_has_room_for_the_request_passes(text: str) -> None:
    assert classify(429, {"error": {"message": text}}).outcome is Outcome.THROTTLED


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (425, {}, Outcome.FAILED),
        (424, {"error": "Generation failed", "error_type": "generation"}, Outcome.FAILED),
        (498, {"error": {"type": "capacity_exceeded"}}, Outcome.OVERLOADED),
        (499, {"error": {"status": "CANCELLED"}}, Outcome.FAILED),
        (
            400,
            {"error": "The model has crashed without additional information. (Exit code: 6)"},
            Outcome.FAILED,
        ),
        (500, {"error": "llama runner process has terminated: exit status 2"}, Outcome.FAILED),
    ],
)
def test_passing_faults_are_retried_whatever_their_status(status: int, body: Any, outcome: Outcome) -> None:
    verdict = classify(status, body)
    assert (verdict.outcome, verdict.retryable) == (outcome, True)


@pytest.mark.parametrize(
    ("status", "body", "wait"),
    [
        (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, None),
        (503, {"error": "Model org/m is currently loading", "estimated_time": 20.5}, 20.5),
        (500, {"error": "llm server loading model"}, None),
    ],
)
def test_a_server_that_loads_its_model_says_so(status: int, body: Any, wait: float | None) -> None:
    verdict = classify(status, body)
    assert (verdict.outcome, verdict.reason, verdict.retry_after_s) == (Outcome.OVERLOADED, "loading", wait)


def test_the_server_decides_whether_to_retry_except_for_a_quota() -> None:
    no = {"x-should-retry": "false"}
    assert not classify(500, {}, no).retryable
    assert classify(409, {}, {"x-should-retry": "true"}).retryable
    assert not classify(429, {"error": {"code": "insufficient_quota"}}, {"x-should-retry": "true"}).retryable
    assert not classify(503, {"error": {"availability": {"retryable": False}}}).retryable


def test_the_words_of_a_rejection_name_the_refused_parameter() -> None:
    body = {"error": {"message": "'temperature' is not supported.", "code": "unsupported_value"}}
    assert classify(400, body).message == "unsupported_value: 'temperature' is not supported."


@pytest.mark.parametrize(
    "leak",
    [
        "sk-test-SECRET123",
        "xai-AAAABBBBCCCC",
        "AIzaSyA1234567890abc",
        "https://x/y?key=SECRET123&b=1",
        "Bearer SECRET123",
    ],
)
def test_a_key_quoted_by_the_provider_is_masked(leak: str) -> None:
    message = classify(401, {"error": {"message": f"Incorrect API key provided: {leak}."}}).message
    assert message is not None
    assert "SECRET" not in message
    assert leak not in message


def test_messages_are_short_and_encodable() -> None:
    message = classify(500, {"error": {"message": "\ud800" + "x" * 10_000}}).message
    assert message is not None
    assert len(message) <= 500
    message.encode()


@pytest.mark.parametrize("name", list(DIALECTS))
def test_an_error_inside_200_never_becomes_an_answer(name: str) -> None:
    body = {
        "error": {"code": 429, "message": "slow"},
        "choices": [{"message": {"content": "4.2"}, "finish_reason": "stop"}],
    }
    verdict = dialect(name).decode(Response(200, {}, json.dumps(body).encode()), max_output_tokens=64)
    assert (verdict.outcome, verdict.text) == (Outcome.THROTTLED, None)
