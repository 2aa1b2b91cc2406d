"""Error bodies of all providers in one form: codes from the most to the least specific, a sentence, a number.

Errors come nested in ``error``, flat, as a bare string, in a list of one, as HTML, or as a list of validation
messages; a field may have any type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BASE_RESP = "base_resp"
"""What stands before MiniMax's codes, whose numbers mean other things elsewhere."""


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """An error body in one form, whatever its shape on the wire."""

    words: tuple[str, ...]
    message: str
    number: int | None
    fields: Mapping[str, Any]


def read(body: object) -> ErrorBody:
    """The error of a decoded JSON body, or of the text of a body that is not JSON."""
    if isinstance(body, list):
        body = body[0] if body else None
    if isinstance(body, str):
        return ErrorBody((), re.sub(r"<[^<>]{0,300}>|\s+", " ", body[:4000]).strip(), None, {})
    if not isinstance(body, dict):
        return ErrorBody((), "", None, {})
    if not body.get("error") and "base_resp" in body:
        body = {"error": within(body) or body}
    nested = body.get("error")
    fields: Mapping[str, Any] = nested if isinstance(nested, dict) else body
    words: list[str] = []
    number = None
    for value in _words(fields):
        if isinstance(value, int) and not isinstance(value, bool):
            number = value if number is None else number
        elif isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
            number = int(value) if number is None else number
        elif isinstance(value, str) and value and value != "error" and value not in words:
            words.append(value[:200])
    return ErrorBody(tuple(words), _sentence(fields, nested)[:8000], number, fields)


def within(body: Mapping[str, Any]) -> object:
    """The error that a body carries whatever its status says; None if it carries none.

    It stands in ``error``, in ``type: error`` alone, or, with MiniMax, in a ``base_resp`` whose code is not 0.
    """
    if body.get("error"):
        return body["error"]
    if body.get("type") == "error":
        return {"type": "api_error"}
    base = body.get("base_resp")
    code = base.get("status_code") if isinstance(base, dict) else None
    if isinstance(base, dict) and type(code) is int and code != 0:
        return {"code": f"{BASE_RESP} {code}", "message": base.get("status_msg")}
    return None


def _words(fields: Mapping[str, Any]) -> list[object]:
    """Codes and types in the order of how specific they are."""
    values: list[object] = [fields.get("code")]
    metadata = fields.get("metadata")
    if isinstance(metadata, dict):
        values.append(metadata.get("error_type"))
    details = fields.get("details")
    for detail in details if isinstance(details, list) else [details]:
        if isinstance(detail, dict):
            values += [detail.get("reason"), detail.get("error_code")]
    values += [fields.get("type"), fields.get("status"), fields.get("error_type")]
    return values


def _sentence(fields: Mapping[str, Any], nested: object) -> str:
    for value in (fields.get("message"), nested, fields.get("detail"), fields.get("msg")):
        if isinstance(value, str):
            return value
    for item in fields["detail"] if isinstance(fields.get("detail"), list) else []:
        # A validation error (422) is a list of objects with a place and a message.
        if isinstance(item, dict) and isinstance(item.get("msg"), str):
            place = item["loc"] if isinstance(item.get("loc"), list) else []
            return ".".join(part for part in place if isinstance(part, str)) + f": {item['msg']}"
    return ""


def violations(error: ErrorBody) -> list[Mapping[str, Any]]:
    """The exceeded quotas that Google's errors list."""
    found: list[Mapping[str, Any]] = []
    details = error.fields.get("details")
    for detail in details if isinstance(details, list) else []:
        violations = detail.get("violations") if isinstance(detail, dict) else None
        found += [one for one in violations if isinstance(one, dict)] if isinstance(violations, list) else []
    return found
