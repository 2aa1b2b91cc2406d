"""The error bodies of the simulated server, in the words of the provider whose dialect is spoken."""

from __future__ import annotations

import json
from typing import Any

from .replies import ANTHROPIC, GEMINI

_ANTHROPIC_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
}  # fmt: skip
_GEMINI_STATUS = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}  # fmt: skip
_OPENAI_TYPES = {429: "requests", 500: "server_error", 503: "service_unavailable_error"}
_OPENAI_CODES = {
    401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded", 500: "server_error",
    503: "server_is_overloaded",
}  # fmt: skip


def render_error(
    dialect: str, status: int, message: str, code: str | None = None, wait_s: float | None = None
) -> bytes:
    """Write an error as the dialect's body. ``wait_s`` goes into the body where the dialect puts it there."""
    shape: dict[str, Any]
    if dialect == ANTHROPIC:
        kind = _ANTHROPIC_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        shape = {"type": "error", "error": {"type": kind, "message": message}}
    elif dialect == GEMINI:
        shape = {
            "error": {"code": status, "message": message, "status": _GEMINI_STATUS.get(status, "INTERNAL")}
        }
        if wait_s is not None:
            delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait_s:.3f}s"}
            shape["error"]["details"] = [delay]
    else:
        kind = _OPENAI_TYPES.get(status, "server_error" if status > 500 else "invalid_request_error")
        if code == "insufficient_quota":
            kind = code
        code = code or _OPENAI_CODES.get(status)
        shape = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return json.dumps(shape).encode()


def render_quota(dialect: str) -> tuple[int, bytes]:
    """Write the error of an empty account, which no wait cures: its status and body."""
    if dialect == ANTHROPIC:
        return 400, render_error(dialect, 400, "Your credit balance is too low to access the Anthropic API.")
    if dialect == GEMINI:
        return 429, render_error(dialect, 429, "You exceeded your current quota. Quota exceeded, limit: 0")
    message = "You exceeded your current quota, please check your plan and billing details."
    return 429, render_error(dialect, 429, message, "insufficient_quota")
