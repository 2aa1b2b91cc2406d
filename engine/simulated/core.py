"""The simulated server without its socket: settings, the decision on each request, and the counts.

The fate of a request (fault, latency) is drawn from (seed, number of arrival); the text of an answer from
(seed, body) alone. A call is one request body: the digests of those answered in full are kept, 16 bytes each,
so that what was paid for twice can be counted.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from ..conditions.zero_shot import fields
from ..errors import SettingsError
from ..models.records import question
from ..models.simulated import EFFORT_TOKENS, Draws, Simulated, effort_tokens
from ..models.simulated import names as model_names
from ..tasks import TASKS
from . import replies as wire
from .errors import render_error, render_quota
from .faults import HINTS, STATUSES, WHOLE, RateLimit, draw, parse_faults, parse_latency, pick
from .http import Connection, Delivery
from .labels import Book

_FATE, _LATENCY = 1, 2
_HTML = b"<!doctype html><html><head><title>Sign in</title></head><body>Please sign in</body></html>"
_HUGE = "This is not the number: 12.5. " * 280_000
_FINISH = {"truncated": "length", "refusal": "refusal", "filtered": "filter"}
_MANNERS = frozenset({"reset", "reset-body", "reset-after", "hang", "drip"})


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How to serve.

    ``port`` 0 takes any free one. ``latency`` and ``faults`` are written as on the command line. With ``rpm``
    requests over it are refused with 429; ``hints`` says what a 429 tells of the wait: ``openai``
    (retry-after in whole seconds and the x-ratelimit headers, these on every reply), ``retry-after``,
    ``retry-after-ms``, ``none``. ``labels`` are files of further labels, each ``PATH`` or ``PROPERTY=PATH``.
    ``default_model`` answers for names that no simulated model has, otherwise those get 404.

    Raises
    ------
    SettingsError
        A value is not allowed; the message names the option and what is.
    """

    host: str = "127.0.0.1"
    port: int = 0
    latency: str = "0"
    rpm: float | None = None
    burst: int = 1
    faults: str = ""
    seed: int = 0
    hints: str = "openai"
    labels: tuple[str, ...] = ()
    default_model: str | None = None

    def __post_init__(self) -> None:
        parse_latency(self.latency)
        parse_faults(self.faults)
        if not 0 <= self.port <= 65535:
            raise SettingsError(f"--port {self.port} is not a port: give 0 (any free one) to 65535")
        if self.rpm is not None and not 0 < self.rpm < float("inf"):
            raise SettingsError(f"--rpm {self.rpm} is not a rate: give requests per minute, more than 0")
        if self.burst < 1:
            raise SettingsError(f"--burst {self.burst} admits nothing: give 1 or more")
        if self.hints not in HINTS:
            raise SettingsError(f"--hints {self.hints!r} is unknown: choose one of {', '.join(HINTS)}")
        if self.default_model is not None:
            try:
                Simulated(self.default_model, {}, self.seed)
            except ValueError as error:
                raise SettingsError(f"--default-model: {error}") from error


@dataclass(slots=True)
class Stats:
    """What the server counts; `Server.stats` adds what it derives."""

    requests: int = 0
    answered: int = 0
    repeated_calls: int = 0
    rejected_429: int = 0
    output_tokens: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


class Server:
    """Decides replies and keeps count. Knows no socket; ``clock`` times the token bucket."""

    def __init__(self, settings: ServeSettings, book: Book, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._book = book
        self._latency = parse_latency(settings.latency)
        self._faults = parse_faults(settings.faults)
        self._bucket = RateLimit(settings.rpm, settings.burst, clock) if settings.rpm is not None else None
        self._answered: set[bytes] = set()
        self._counts = Stats()
        self._models: dict[tuple[str, str], Simulated] = {}
        self._simulations = [task.simulate for task in TASKS if task.simulate is not None]
        self.connections: set[Connection] = set()

    def stats(self) -> dict[str, Any]:
        """Return the counts, as `GET /stats` shows them."""
        counts = self._counts
        return {
            "requests": counts.requests,
            "answered": counts.answered,
            "rejected_429": counts.rejected_429,
            "faults": counts.faults.total(),
            "max_in_flight": counts.max_in_flight,
            "distinct_calls": len(self._answered),
            "repeated_calls": counts.repeated_calls,
            "in_flight": counts.in_flight,
            "connections": len(self.connections),
            "output_tokens": counts.output_tokens,
            "faults_by_kind": dict(sorted(counts.faults.items())),
            "refused_by_code": dict(sorted(counts.refused.items())),
            "identity": "simulated",
            "seed": self._settings.seed,
        }

    def respond(self, method: str, path: str, body: bytes) -> Delivery:
        """Decide the reply to a request."""
        if method == "GET" and path == "/stats":
            return Delivery(200, json.dumps(self.stats()).encode())
        if method == "GET" and path.endswith("/models"):
            return Delivery(200, wire.render_models(list(model_names())))
        dialect = wire.dialect_of(path)
        if dialect is None or method != "POST":
            status = 404 if dialect is None else 405
            return Delivery(status, render_error(wire.CHAT, status, f"{method} {path} is not served here"))
        number = self._counts.requests
        self._counts.requests += 1
        delivery = self._limited(dialect) or self._decide(number, dialect, path, body)
        delivery.counted = True
        if delivery.status == 429:
            self._counts.rejected_429 += 1
        if self._bucket is not None and self._settings.hints == "openai":
            delivery.headers += self._state(self._bucket)
        return delivery

    def _limited(self, dialect: str) -> Delivery | None:
        """Take a token of the rate limit, or refuse."""
        wait_s = 0.0 if self._bucket is None else self._bucket.take()
        if wait_s <= 0:
            return None
        return self._throttle(dialect, wait_s)

    def _throttle(self, dialect: str, wait_s: float) -> Delivery:
        hints = self._settings.hints
        headers: tuple[tuple[str, str], ...] = ()
        if hints in {"openai", "retry-after"}:
            headers = (("retry-after", str(math.ceil(wait_s))),)
        elif hints == "retry-after-ms":
            headers = (("retry-after-ms", str(math.ceil(wait_s * 1000))),)
        body = render_error(
            dialect, 429, "Rate limit reached for requests", wait_s=None if hints == "none" else wait_s
        )
        return Delivery(429, body, headers)

    def _state(self, bucket: RateLimit) -> tuple[tuple[str, str], ...]:
        return (
            ("x-ratelimit-limit-requests", f"{bucket.rpm:g}"),
            ("x-ratelimit-remaining-requests", str(bucket.remaining)),
            ("x-ratelimit-reset-requests", f"{bucket.full_in:.3f}s"),
        )

    def _decide(self, number: int, dialect: str, path: str, body: bytes) -> Delivery:
        """Answer, or meet the fault that the draw for this request stands for."""
        fault = pick(self._faults, draw(self._settings.seed, number, _FATE)) if self._faults else None
        delay_s = self._latency.first
        if self._latency.kind != "fixed":
            delay_s = self._latency.seconds(draw(self._settings.seed, number, _LATENCY))
        if fault is not None:
            self._counts.faults[fault] += 1
            broken = self._broken(fault, dialect)
            if broken is not None:
                # A gateway turns a request away at once; a server that fails has tried first.
                broken.delay_s = delay_s if broken.status in {200, 408} or broken.status >= 500 else 0.0
                return broken
        try:
            asked = wire.read(dialect, path, body)
            reply = self._reply(asked)
        except wire.BadRequest as error:
            self._counts.refused[error.code] += 1
            return Delivery(error.status, render_error(dialect, error.status, str(error), error.code))
        return self._send(fault, dialect, reply, path.encode() + b"\0" + body, delay_s)

    def _broken(self, fault: str, dialect: str) -> Delivery | None:
        """Make the reply of a fault that does not depend on what was asked."""
        if fault == "429":
            return self._throttle(dialect, 1.0)
        if fault == "quota":
            status, body = render_quota(dialect)
            return Delivery(status, body)
        if fault.isdigit() and int(fault) in STATUSES:
            return Delivery(int(fault), render_error(dialect, int(fault), "injected fault"))
        if fault == "html":
            return Delivery(200, _HTML, content_type="text/html; charset=utf-8")
        if fault == "error200":
            return Delivery(200, render_error(dialect, 502, "upstream provider failed", "502"))
        return None

    def _reply(self, asked: wire.Asked) -> wire.Reply:
        """Ask the simulated model: one of a task's own, else one that knows labels."""
        text = self._of_a_task(asked)
        if text is not None:
            return wire.Reply(asked.model, text, "stop", asked.prompt_tokens, 0, len(text) // 4 + 1)
        table, molecule = self._book.find(fields(asked.user))
        model = self._models.get((asked.model, table)) or self._model(asked.model, table)
        if effort_tokens(asked.effort) is None:
            raise wire.BadRequest(
                400,
                "unsupported_value",
                f"reasoning_effort {asked.effort!r} is not supported: use one of {', '.join(EFFORT_TOKENS)}",
            )
        text = model.answer(molecule, asked.repeat, asked.effort)
        reasoning = model.reasoning_tokens(molecule, asked.repeat, asked.effort)
        output = reasoning + len(text) // 4 + 1
        finish = "stop"
        if asked.cap is not None and output > asked.cap:
            reasoning = min(reasoning, asked.cap)
            text = text[: 4 * (asked.cap - reasoning)]
            finish, output = "length", asked.cap
        return wire.Reply(asked.model, text, finish, asked.prompt_tokens, reasoning, output)

    def _of_a_task(self, asked: wire.Asked) -> str | None:
        draws = Draws(asked.model, self._settings.seed, asked.repeat, asked.effort)
        messages = question("", asked.user)
        for simulate in self._simulations:
            text = simulate(messages, draws)
            if text is not None:
                return text
        return None

    def _model(self, name: str, table: str) -> Simulated:
        """Make the model of a name, with the labels of the property that is asked for."""
        labels = self._book.labels(table)
        try:
            model = Simulated(name, labels, self._settings.seed)
        except ValueError as error:
            default = self._settings.default_model
            if default is None:
                raise wire.BadRequest(404, "model_not_found", str(error)) from error
            model = Simulated(f"{default}@{name}", labels, self._settings.seed)
        self._models[name, table] = model
        return model

    def _send(
        self, fault: str | None, dialect: str, reply: wire.Reply, call: bytes, delay_s: float
    ) -> Delivery:
        """Write a reply, with the damage that the fault does to it."""
        digest = blake2b(call, digest_size=16).digest()
        if fault == "empty":
            reply = replace(reply, text="", finish="stop")
        elif fault in _FINISH:
            text = "I can't help with that." if fault == "refusal" else ""
            reply = replace(reply, text=text, finish=_FINISH[fault])
        elif fault == "wrong-model":
            reply = replace(reply, model="another-model-2024-01-01")
        elif fault == "huge":
            reply = replace(reply, text=_HUGE + reply.text)
        elif fault == "nul":
            reply = replace(reply, text=f"\x00\u2028\ud800 {reply.text}\x00")
        body = wire.render(dialect, reply, digest.hex(), int(time.time()))
        if fault == "half-json":
            body = body[: len(body) // 2]
        return Delivery(
            200,
            body,
            manner=fault if fault in _MANNERS and fault is not None else "whole",
            delay_s=delay_s,
            digest=digest if fault is None or fault in WHOLE else None,
            output_tokens=reply.output_tokens,
        )

    def opened(self, connection: Connection) -> None:
        self.connections.add(connection)

    def closed(self, connection: Connection) -> None:
        self.connections.discard(connection)

    def began(self, delivery: Delivery) -> None:
        if not delivery.counted:
            return
        counts = self._counts
        counts.in_flight += 1
        counts.max_in_flight = max(counts.max_in_flight, counts.in_flight)

    def ended(self, delivery: Delivery, delivered: bool) -> None:
        if not delivery.counted:
            return
        counts = self._counts
        counts.in_flight -= 1
        if delivered and delivery.digest is not None:
            counts.answered += 1
            counts.output_tokens += delivery.output_tokens
            if delivery.digest in self._answered:
                counts.repeated_calls += 1
            self._answered.add(delivery.digest)
