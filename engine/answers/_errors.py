"""Texts that no model wrote as its answer: an error or a notice of a service that a harness put in its place."""

from __future__ import annotations

import re

# What such a text begins with: "Error: ...", "APIError: ...", "openai.RateLimitError: ...", a traceback.
_HEAD = re.compile(
    r"[\s\W]{0,8}(?:(?:an?\s)?(?:unexpected\s|internal\s|fatal\s|api\s|server\s|http\s|upstream\s)?(?:error"
    r"|exception|failure)\b"
    r"|[\w.]{0,60}(?:Error|Exception|Timeout|Warning)\b(?=\s{0,2}[:(\[{-]|\s{0,3}$)"
    r"|Traceback \(most recent call last\)"
    r"|(?:request|call|generation|connection|api call)\s(?:failed|timed out|aborted|refused)|failed (?:to"
    r"|after|with)\b"
    r"|HTTP(?:/\d(?:\.\d)?)?\s{0,2}(?:error\s{0,2})?[1-5]\d\d\b"
    r"|status(?:[ _]code)?\s{0,2}[:=]?\s{0,2}[1-5]\d\d\b|<!doctype html|<html"
    r"|[45]\d\d\s[A-Z])",
    re.I,
)

# What marks it as a machine's: a code, a state in capitals, a sentence that only services say.
_MACHINE = re.compile(
    r"\b(?:error\s)?code\b[\"']?\s{0,2}[:=]?\s{0,2}[\"']?\d{3}\b"
    r"|\bHTTP(?:/\d(?:\.\d)?)?\s{0,2}(?:error\s{0,2})?:?\s{0,2}[1-5]\d\d\b"
    r"|\bstatus(?:[ _]?code)?[\"']?\s{0,2}(?:[:=]|of|is)?\s{0,2}[1-5]\d\d\b"
    r"|\b[45]\d\d\s{0,2}[-:]?\s{0,2}[A-Z][A-Z_]{5,}\b"
    r"|\b(?:4[0-3]\d|451|49[89]|5[0-3]\d)\b[\s:,-]{1,3}(?:bad|unauthori[sz]ed|payment|forbidden|not found"
    r"|method|request|conflict|gone"
    r"|payload|too (?:many|large|early)|unprocessable|internal|not implemented|gateway|service|server"
    r"|client|overloaded|timeout|error)\b"
    r"|\b(?:rate[ _-]?limit|too many requests|overloaded|quota|resource[ _]exhausted|invalid[ _]argument"
    r"|internal (?:server )?error"
    r"|bad gateway|bad request|service (?:temporarily )?unavailable|gateway time-?out|time[d]?[ -]?out"
    r"|deadline exceeded|connection (?:error|reset|refused|aborted)"
    r"|request[ _]id|authentication|unauthori[sz]ed|permission denied|api[ _]key|max retries"
    r"|retries exceeded|after \d+ (?:attempts|retries|tries)"
    r"|invalid_request|context length|content (?:filter|policy)|insufficient (?:balance|quota|credits?)"
    r"|billing|try again|server error)\b"
    r"|[{,]\s{0,3}[\"'](?:error|message|type)[\"']\s{0,2}:|\bFile \"",
    re.I,
)

# An error object that is the whole text: {"error": {...}}, {"error": "..."}, {"detail": "..."}, {"object": "error"}.
_OBJECT = re.compile(
    r"\s{0,20}(?:data:\s{0,3})?\[?\s{0,8}\{[^{}]{0,300}?[\"'](?:error|errors|detail|fault|base_resp"
    r"|object)[\"']\s{0,3}:\s{0,3}(?:[\[{]|[\"']\w)",
    re.I,
)
_OBJECT_ERROR = re.compile(
    r"[\"'](?:error|errors|detail|fault)[\"']\s{0,3}:|[\"']object[\"']\s{0,3}:\s{0,3}[\"']error|base_resp",
    re.I,
)
_FIELD = re.compile(
    r"[\"'](?:final[ _-]?)?(?:answer|prediction|predicted\w{0,20}|value|result|estimate)[\"']\s{0,3}:", re.I
)

# A notice of a service: what it asks of its user no model asks in an answer.
_NOTICE = re.compile(
    r"\b(?:please\s)?(?:wait|(?:re)?try(?:\sagain)?|retry|come back)\s(?:(?:for|in|after|at least|another"
    r"|about)\s){0,2}~?\d+(?:\.\d+)?\s?"
    r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?)\b"
    r"|\b(?:soft|hard|rate|usage|message|request|token|daily|hourly|monthly|concurrency"
    r"|free[- ]tier)[ -]?(?:limit|quota|cap)s?\b"
    r"(?=[^.\n]{0,80}\b(?:reach|exceed|hit|wait|try|upgrade|reset|per|of|for|is|was|has)\w*)"
    r"|\b(?:reached|exceeded|hit)\s(?:your|the|our|its)\s(?:[\w-]{1,20}\s){0,3}(?:limit|quota|cap)\b"
    r"|\b(?:queue|queued)\b[^.\n]{0,40}\bposition\b|\bunder (?:heavy|high) (?:load|demand)\b"
    r"|\bmodel is (?:currently )?(?:loading|overloaded|busy)\b"
    r"|\bestimated (?:time|wait)\b",
    re.I,
)
_ANSWERED = re.compile(
    r"\banswer\b|\bpredict|\bestimate[sd]?\b(?! (?:time|wait))|\bboxed\b|=\s{0,3}[-\u2212]?\d", re.I
)
_DECIMAL = re.compile(r"\d[.,]\d")
_LONGEST_NOTICE = 600


def is_error_text(text: str) -> bool:
    """Whether a whole reply is an error or a notice of a service; the word "error" in an answer is none."""
    head = text[:400]
    if _OBJECT.match(text, 0, 400) and _OBJECT_ERROR.search(head) and not _FIELD.search(text[:4000]):
        return True
    if _HEAD.match(head) and _MACHINE.search(head):
        return True
    if len(text) > _LONGEST_NOTICE:
        return False
    if _NOTICE.search(text) is None or _ANSWERED.search(text):
        return False
    # A decimal number that is no time to wait may be an answer.
    return _DECIMAL.search(_NOTICE.sub("", text)) is None
