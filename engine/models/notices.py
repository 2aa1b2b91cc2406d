"""Errors and notices of a provider that come as the text of an ordinary reply with status 200.

They hold numbers ("wait 30 seconds"), so as an answer they would be scored. A sentence of a model about errors is
left alone: what counts is an error in the form that software prints, or a notice with which no token was billed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .records import Usage

_STATUS = r"(?P<status>[45]\d\d)"
_PRINTED = re.compile(
    rf"\s*(?:Error: )?(?:"
    rf"(?:api |http |server |upstream |provider )?error code:? {_STATUS}\b"
    rf"|\[?(?:error|apierror|http error|exception)\]?:? (?:http )?\(?(?:status )?(?P<plain>[45]\d\d)\)?"
    rf"(?=[ \t]*(?:$|[-:{{]|(?-i:[A-Z][A-Z_]{{4,}})|(?:Bad|Not|Request|Too|Internal|Service|Gateway)\b))"
    rf"|(?:http/?[\d.]* ?)?(?P<phrase>400 Bad Request|401 Unauthorized|403 Forbidden|404 Not Found"
    rf"|408 Request Time-?out|429 Too Many Requests|500 Internal Server Error|502 Bad Gateway"
    rf"|503 Service (?:Temporarily )?Unavailable|504 Gateway Time-?out)"
    rf")",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"\s*(?:Error: |Exception: )?(?:[a-z_]\w*\.)*"
    r"(?P<name>RateLimit|APIConnection|APIStatus|APITimeout|API|InternalServer|ServiceUnavailable|BadRequest"
    r"|Authentication|PermissionDenied|NotFound|Timeout|ContextWindowExceeded|Midstream\w*)(?:Error|Exception)\b",
)
_NAMED_STATUS = {
    "RateLimit": 429,
    "APITimeout": 504,
    "Timeout": 504,
    "ServiceUnavailable": 503,
    "BadRequest": 400,
    "ContextWindowExceeded": 400,
    "Authentication": 401,
    "PermissionDenied": 403,
    "NotFound": 404,
}
_PAGE = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
_CODE = re.compile(r"\b(?:HTTP|code:?|status:?) ?([45]\d\d)\b", re.IGNORECASE)

_LIMIT = re.compile(
    r"too many requests|rate limit (?:exceeded|reached|hit)|requests per (?:minute|hour|day)"
    r"|exceeded (?:your|the) (?:current )?(?:quota|rate limit|usage limit)|slow down and (?:wait|try)",
    re.IGNORECASE,
)
"""No text about a molecule says so."""

_SOFT_LIMIT = re.compile(
    r"slow down|going (?:a little |too )?fast|please wait|wait \d+ ?(?:s|sec|min)|try again (?:in|later)"
    r"|(?:usage|message|request|daily|hourly) limit|quota|over capacity|high demand|temporarily unavailable",
    re.IGNORECASE,
)
"""Words that an answer might hold; of a reply without a single token they are the provider's."""

_LONGEST_NOTICE = 600
_ERROR_KEYS = frozenset({"error", "type", "code", "status", "message", "detail", "request_id", "user_id"})
"""All that a printed error holds; an answer that states an error has other keys beside it."""


@dataclass(frozen=True, slots=True)
class Notice:
    """An error in the place of an answer: the status that it stands for, and its body as `outcomes` reads one."""

    status: int
    body: Any


def error_in(text: str, usage: Usage) -> Notice | None:
    """The error or notice that a text is; None for everything that may be an answer."""
    start = text[:400]
    found = _PRINTED.match(start)
    if found:
        status = int(found["status"] or found["plain"] or found["phrase"][:3])
        return Notice(status, {"message": text})
    raised = _RAISED.match(start)
    if raised:
        code = _CODE.search(start)
        return Notice(int(code[1]) if code else _NAMED_STATUS.get(raised["name"], 500), {"message": text})
    if _PAGE.match(start):
        code = re.search(r"\b([45]\d\d)\b", start)
        return Notice(int(code[1]) if code else 502, text)
    if text.lstrip().startswith("{") and '"error"' in text:
        return _object(text)
    unbilled = not usage.output_tokens and not usage.input_tokens
    counted = usage.output_tokens is not None
    if len(text) > _LONGEST_NOTICE or not unbilled:
        return None
    if _LIMIT.search(text) or (counted and _SOFT_LIMIT.search(text)):
        return Notice(429, {"message": text})
    return None


def _object(text: str) -> Notice | None:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or not body.keys() <= _ERROR_KEYS:
        return None
    error = body.get("error")
    return Notice(200, error) if isinstance(error, dict | str) and error else None
