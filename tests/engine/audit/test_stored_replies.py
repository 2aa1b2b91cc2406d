"""Which stored reply answers a call: the latest that is one, and an empty reply only for want of others."""

import json
from pathlib import Path

import polars as pl
import pytest
from stored_attempts import IDENTITY, attempt, make, store

from molaudit.engine.audit.stored_replies import StoredReplies, read_replies
from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.attempts import StoredAttempt

CALL = pl.DataFrame(
    {
        "key": ["k"],
        "identity": [IDENTITY],
        "wire_model": ["m"],
        "dialect": ["openai-chat"],
        "max_output_tokens": [64],
    }
)


def said(
    text: str | None, started_at: float, finish: str = "stop", outcome: str = "answered"
) -> StoredAttempt:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    body = json.dumps({"object": "chat.completion", "model": "m", "choices": [choice]}).encode()
    return attempt(started_at=started_at, body=body, outcome=outcome)


def failed(status: int, started_at: float) -> StoredAttempt:
    body = b'{"error": {"message": "no"}}'
    return attempt(started_at=started_at, body=body, http_status=status, outcome="answered")


def read(cache: Cache) -> StoredReplies:
    return read_replies(CALL, cache)


def answers(cache: Cache) -> list[tuple[str, str | None]]:
    return read(cache).answers.select("outcome", "answer").rows()


def test_the_latest_by_start_answers_whatever_the_order_of_storage(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, said("late", 9.0))
    store(cache, said("early", 5.0), failed(500, 12.0), fold=False)
    assert answers(cache) == [("answered", "late")]


@pytest.mark.parametrize("fold", [True, False])
def test_an_answer_outlives_later_empties(tmp_path: Path, fold: bool) -> None:
    cache, _ = make(tmp_path)
    store(cache, said("paid", 1.0), fold=fold)
    store(cache, said("", 2.0, outcome="empty"), said("", 3.0, outcome="empty"), fold=fold)
    assert answers(cache) == [("answered", "paid")]


def test_the_second_empty_is_an_answer_and_a_later_one_wins(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, said("", 1.0, outcome="empty"))
    assert answers(cache) == []
    assert read(cache).others.rows() == [("k", "empty")]
    store(cache, said("", 2.0, outcome="empty"), fold=False)  # one at rest, one in the tail
    assert [outcome for outcome, _ in answers(cache)] == ["empty"]
    store(cache, said("0.41", 3.0))
    assert answers(cache) == [("answered", "0.41")]


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_a_failure_is_asked_again_whatever_it_was_taken_for(tmp_path: Path, status: int) -> None:
    cache, _ = make(tmp_path)
    store(cache, failed(status, 1.0))
    assert read(cache).keys == frozenset()


@pytest.mark.parametrize(("finish", "outcome"), [("length", "truncated"), ("content_filter", "filtered")])
def test_a_final_reply_without_an_answer_is_not_asked_again(
    tmp_path: Path, finish: str, outcome: str
) -> None:
    cache, _ = make(tmp_path)
    store(cache, said("0.4", 1.0, finish, outcome="failed"))
    assert [found for found, _ in answers(cache)] == [outcome]
