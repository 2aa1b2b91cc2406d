"""What the simulated server reads and writes, dialect by dialect, without a socket."""

import json
from pathlib import Path
from typing import Any

import pytest

from molaudit.engine.conditions.zero_shot import zero_shot
from molaudit.engine.errors import SettingsError
from molaudit.engine.simulated.core import Server, ServeSettings
from molaudit.engine.simulated.labels import Book, load

USER = zero_shot("normal boiling point", "°C", "Ethanol", "CCO")[1]
CHAT = "/v1/chat/completions"
GEMINI = "/v1beta/models/reciter-100:generateContent"


@pytest.fixture(scope="module")
def book() -> Book:
    return load()


def post(server: Server, path: str, body: Any) -> tuple[int, dict[str, Any]]:
    delivery = server.respond("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode())
    server.began(delivery)
    server.ended(delivery, delivered=True)
    return delivery.status, json.loads(delivery.body)


def make(book: Book, **settings: Any) -> Server:
    return Server(ServeSettings(**settings), book, lambda: 0.0)


def chat(**more: Any) -> dict[str, Any]:
    return {"model": "reciter-100", "messages": [{"role": "user", "content": USER}], **more}


# Each dialect: its path, a body, its effort and cap fields, and where the reply's parts are (PROVIDERS.md 1.4-1.6).
SHAPES = {
    "chat": (
        CHAT,
        chat(reasoning_effort="medium", max_completion_tokens=2048),
        lambda r: (
            r["choices"][0]["message"]["content"],
            r["choices"][0]["finish_reason"],
            r["usage"]["completion_tokens"],
            r["usage"]["completion_tokens_details"]["reasoning_tokens"],
            r["model"],
        ),
        "stop",
        "length",
    ),
    "responses": (
        "/v1/responses",
        {"model": "reciter-100", "input": USER, "reasoning": {"effort": "medium"}, "max_output_tokens": 2048},
        lambda r: (
            r["output"][1]["content"][0]["text"],
            (r["incomplete_details"] or {"reason": r["status"]})["reason"],
            r["usage"]["output_tokens"],
            r["usage"]["output_tokens_details"]["reasoning_tokens"],
            r["model"],
        ),
        "completed",
        "max_output_tokens",
    ),
    "anthropic": (
        "/v1/messages",
        {
            "model": "reciter-100",
            "messages": [{"role": "user", "content": [{"type": "text", "text": USER}]}],
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "max_tokens": 2048,
        },
        lambda r: (
            "".join(part["text"] for part in r["content"]),
            r["stop_reason"],
            r["usage"]["output_tokens"],
            r["usage"]["output_tokens_details"]["thinking_tokens"],
            r["model"],
        ),
        "end_turn",
        "max_tokens",
    ),
    "gemini": (
        GEMINI,
        {
            "contents": [{"role": "user", "parts": [{"text": USER}]}],
            "generationConfig": {"thinkingConfig": {"thinkingBudget": 1024}, "maxOutputTokens": 2048},
        },
        lambda r: (
            "".join(part["text"] for part in r["candidates"][0]["content"].get("parts", [])),
            r["candidates"][0]["finishReason"],
            r["usageMetadata"]["candidatesTokenCount"] + r["usageMetadata"]["thoughtsTokenCount"],
            r["usageMetadata"]["thoughtsTokenCount"],
            r["modelVersion"],
        ),
        "STOP",
        "MAX_TOKENS",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_each_dialect_answers_with_the_published_value_and_its_tokens(book: Book, name: str) -> None:
    path, body, parts, stop, _ = SHAPES[name]
    status, reply = post(make(book), path, body)
    text, finish, output, reasoning, model = parts(reply)
    # 78.24 °C in the CRC handbook.
    assert (status, text, finish, model) == (200, "Answer: 78.2", stop, "reciter-100")
    assert 512 <= reasoning <= 1536
    assert output == reasoning + len("Answer: 78.2") // 4 + 1


@pytest.mark.parametrize("name", SHAPES)
def test_each_dialect_cuts_at_the_output_limit(book: Book, name: str) -> None:
    path, body, parts, _, length = SHAPES[name]
    small = json.loads(json.dumps(body).replace("2048", "300"))
    text, finish, output, reasoning, _ = parts(post(make(book), path, small)[1])
    assert (text, finish, output, reasoning) == ("", length, 300, 300)


@pytest.mark.parametrize(
    ("name", "fault"), [(name, fault) for name in SHAPES for fault in ("refusal", "filtered")]
)
def test_each_dialect_refuses_and_filters_in_its_own_words(book: Book, name: str, fault: str) -> None:
    path, body, _, _, _ = SHAPES[name]
    status, reply = post(make(book, faults=f"{fault}=1"), path, body)
    text = json.dumps(reply)
    words = {
        ("chat", "refusal"): '"content": null, "refusal": "I can\'t',
        ("chat", "filtered"): '"finish_reason": "content_filter"',
        ("responses", "refusal"): '"type": "refusal"',
        ("responses", "filtered"): '"incomplete_details": {"reason": "content_filter"}',
        ("anthropic", "refusal"): '"stop_reason": "refusal"',
        ("anthropic", "filtered"): '"content": [], "stop_reason": "refusal"',
        ("gemini", "refusal"): '"finishReason": "PROHIBITED_CONTENT"',
        ("gemini", "filtered"): '"content": {"role": "model"}, "finishReason": "SAFETY"',
    }
    assert status == 200
    assert words[name, fault] in text
    assert "78.2" not in text


@pytest.mark.parametrize(
    ("body", "reasons"),
    [
        (chat(), False),
        (chat(reasoning_effort="none"), False),
        (chat(reasoning_effort="LOW"), True),
        (chat(reasoning={"effort": "high"}), True),
        (chat(thinking={"type": "disabled"}, reasoning_effort="high"), False),
        (chat(thinking={"type": "enabled"}, reasoning_effort="high"), True),
        (chat(chat_template_kwargs={"enable_thinking": False}), False),
        (chat(chat_template_kwargs={"thinking": True}), True),
    ],
)
def test_the_effort_is_found_wherever_compatible_servers_take_it(
    book: Book, body: dict[str, Any], reasons: bool
) -> None:
    usage = post(make(book), CHAT, body)[1]["usage"]
    assert (usage["completion_tokens_details"]["reasoning_tokens"] > 0) is reasons


@pytest.mark.parametrize(
    ("path", "body", "status", "needle"),
    [
        (CHAT, b"{", 400, "not JSON"),
        (CHAT, b"[]", 400, "JSON object"),
        (CHAT, b"\xff", 400, "not JSON"),
        (CHAT, {"messages": []}, 400, "'model' must be a string"),
        (CHAT, {"model": "blind", "messages": []}, 400, "'messages' must hold"),
        (CHAT, {"model": "blind", "messages": [7]}, 400, "'messages' must hold"),
        (CHAT, chat(stream=True), 400, "'stream' is not supported"),
        (CHAT, chat(reasoning_effort="ultra"), 400, "'ultra' is not supported: use one of none"),
        (CHAT, {**chat(), "model": "gpt-9"}, 404, "no simulated model is called 'gpt-9'"),
        ("/v1/messages", {**chat()}, 400, "max_tokens: Field required"),
        ("/v1/embeddings", chat(), 404, "is not served here"),
    ],
)
def test_a_request_that_cannot_be_answered_says_why(
    book: Book, path: str, body: Any, status: int, needle: str
) -> None:
    server = make(book)
    assert post(server, path, body)[0] == status
    assert needle in json.dumps(post(server, path, body)[1])
    assert server.stats()["answered"] == 0


@pytest.mark.parametrize(
    ("path", "status", "expected"),
    [
        (CHAT, "429", {"type": "requests", "code": "rate_limit_exceeded"}),
        (CHAT, "quota", {"type": "insufficient_quota", "code": "insufficient_quota"}),
        (CHAT, "401", {"type": "invalid_request_error", "code": "invalid_api_key"}),
        (CHAT, "503", {"type": "service_unavailable_error", "code": "server_is_overloaded"}),
        ("/v1/messages", "429", {"type": "rate_limit_error"}),
        ("/v1/messages", "529", {"type": "overloaded_error"}),
        ("/v1/messages", "500", {"type": "api_error"}),
        (GEMINI, "429", {"code": 429, "status": "RESOURCE_EXHAUSTED"}),
        (GEMINI, "503", {"code": 503, "status": "UNAVAILABLE"}),
    ],
)
def test_errors_have_the_providers_own_shape(
    book: Book, path: str, status: str, expected: dict[str, Any]
) -> None:
    answered, body = post(make(book, faults=f"{status}=1"), path, chat(max_tokens=9))
    assert answered == (429 if status == "quota" else int(status))
    assert expected.items() <= body["error"].items()


def test_gemini_tells_the_wait_in_the_body(book: Book) -> None:
    _, body = post(make(book, faults="429=1"), GEMINI, {})
    assert body["error"]["details"][0]["retryDelay"] == "1.000s"


def test_counts_of_calls_are_of_distinct_bodies_answered_in_full(book: Book) -> None:
    server = make(book)
    for body in (chat(), chat(), chat(seed=1), chat(), {**chat(), "model": "nobody"}):
        post(server, CHAT, body)
    counts = server.stats()
    assert (counts["requests"], counts["answered"]) == (5, 4)
    assert (counts["distinct_calls"], counts["repeated_calls"]) == (2, 2)
    delivery = server.respond("POST", CHAT, json.dumps(chat(seed=2)).encode())
    server.began(delivery)
    assert server.stats()["in_flight"] == 1
    server.ended(delivery, delivered=False)
    assert server.stats()["distinct_calls"] == 2
    assert server.stats()["in_flight"] == 0


def test_the_same_seed_gives_the_same_fates_and_answers(book: Book) -> None:
    def fates(seed: int) -> list[tuple[int, float]]:
        server = make(book, seed=seed, faults="429=0.2,500=0.3", latency="uniform:1,2")
        deliveries = [server.respond("POST", CHAT, json.dumps(chat()).encode()) for _ in range(60)]
        return [(delivery.status, delivery.delay_s) for delivery in deliveries]

    assert fates(4) == fates(4)
    assert fates(4) != fates(5)
    assert {status for status, _ in fates(4)} == {200, 429, 500}
    assert all(delay == 0 if status == 429 else 1 <= delay < 2 for status, delay in fates(4))


@pytest.mark.parametrize(
    ("hints", "headers"),
    [
        ("openai", {"retry-after": "1", "x-ratelimit-limit-requests": "600", "x-ratelimit-remaining-requests": "0",
                    "x-ratelimit-reset-requests": "0.200s"}),
        ("retry-after", {"retry-after": "1"}),
        ("retry-after-ms", {"retry-after-ms": "100"}),
        ("none", {}),
    ],
)  # fmt: skip
def test_a_429_tells_what_the_hints_say(book: Book, hints: str, headers: dict[str, str]) -> None:
    server = make(book, rpm=600.0, burst=2, hints=hints)
    body = json.dumps(chat()).encode()
    replies = [server.respond("POST", CHAT, body) for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 200, 429]
    assert dict(replies[2].headers) == headers
    assert bool(replies[0].headers) is (hints == "openai")
    assert server.stats()["rejected_429"] == 1
    assert server.stats()["faults"] == 0


def test_a_seed_in_the_body_is_another_repeat(book: Book) -> None:
    texts = {
        post(make(book), CHAT, {**chat(seed=seed), "model": "skilled"})[1]["choices"][0]["message"]["content"]
        for seed in range(20)
    }
    assert len(texts) > 10


def test_the_property_chooses_the_table_and_the_name_serves_without_structure(book: Book) -> None:
    def said(property: str, molecule: str, smiles: str | None) -> str:
        user = zero_shot(property, "°C", molecule, smiles)[1]
        body = {"model": "reciter-100", "messages": [{"role": "user", "content": user}]}
        return str(post(make(book), CHAT, body)[1]["choices"][0]["message"]["content"])

    assert said("normal boiling point", "Formaldehyde", "C=O") == "Answer: -19.1"
    assert said("melting point", "Formaldehyde", "C=O") == "Answer: -92.0"
    assert said("melting point", "Formaldehyde", None) == "Answer: -92.0"
    assert said("anything else", "Formaldehyde", "C=O") == "Answer: -19.1"


def test_a_default_model_answers_for_names_that_do_not_exist(book: Book) -> None:
    status, body = post(make(book, default_model="reciter-100"), CHAT, {**chat(), "model": "gpt-9"})
    assert (status, body["model"]) == (200, "gpt-9")
    assert body["choices"][0]["message"]["content"] == "Answer: 78.2"


def test_label_files_come_first_and_say_what_is_wrong_with_them(tmp_path: Path) -> None:
    good = tmp_path / "mine.csv"
    good.write_text("\ufeffmolecule,smiles,label\nethanol,CCO,-1.23\nfoo,,4.56\n", encoding="utf-8")
    book = load([str(good), f"logS={good}"])
    for property in ("logS", "unheard of"):
        for molecule, smiles, answer in (("ethanol", "CCO", "-1.23"), ("foo", None, "4.56")):
            user = zero_shot(property, "", molecule, smiles)[1]
            body = {"model": "reciter-100", "messages": [{"role": "user", "content": user}]}
            content = post(make(book), CHAT, body)[1]["choices"][0]["message"]["content"]
            assert content == f"Answer: {answer}"
    bad = tmp_path / "bad.csv"
    bad.write_text("name,value\nx,1\n")
    with pytest.raises(SettingsError, match=r"bad\.csv: no column label and no molecule"):
        load([str(bad)])
    with pytest.raises(SettingsError, match=r"absent\.csv: cannot be read"):
        load([str(tmp_path / "absent.csv")])
