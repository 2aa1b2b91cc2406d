"""Where a reply of the diagnostic states its answer, best places first; what is in them is read by kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from ._places import find_boxes, find_tags
from ._turns import next_turn
from .reasoning import split_reasoning

T = TypeVar("T")
Outcome = Literal["answer", "refusal", "ambiguous", "truncated", "empty", "none"]


@dataclass(frozen=True, slots=True)
class TaskAnswer(Generic[T]):
    """What a reply gives as its answer.

    Only ``kind == "answer"`` has a ``value``. ``rule`` says where it stood (``tag``, ``box``, ``json``,
    ``answer-line``, ``fence``, ``own-line``, ``list``, ``prose``), ``flags`` what was odd.
    """

    kind: Outcome
    value: T | None = None
    rule: str = "none"
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stated:
    """A text that states the answer; ``data`` is what JSON holds, where it is JSON."""

    rule: str
    text: str
    data: Any = None


_FENCE = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_ANSWER_LINE = re.compile(
    r"(?im)^[ \t>*_#-]*(?:(?:so|thus|therefore|hence)[, ]+)?(?:the |my )?"
    r"(?:final |predicted |best )?(?:answer|prediction|label|class|descriptors?|odou?r descriptors?|reactants?"
    r"|precursors?|ranking|yield|target(?: molecule| structure)?|product|structure|smiles)"
    r"(?:[ \t]+(?:is|are|would be))?[ \t]*\**[ \t]*(?:[:=：]|(?<=is)|(?<=are)|(?<=be))[ \t]*\**[ \t]*(\S.*)$"
)
_WIDEST = 60_000


def visible(text: str | None) -> tuple[str, tuple[str, ...], Outcome | None]:
    """The part of a reply that counts, its flags, and the outcome where nothing does.

    Reasoning is left out, as are questions that the model goes on to ask itself.
    """
    if text is None or not text.strip():
        return "", (), "empty"
    parted = split_reasoning(text)
    shown = parted.visible
    flags: tuple[str, ...] = ("reasoning",) if parted.thought else ()
    if parted.cut:
        return "", flags, "truncated"
    if not shown.strip():
        return "", flags, "empty"
    turn = next_turn(shown)
    if turn is not None and shown[:turn].strip():
        shown, flags = shown[:turn], (*flags, "run-on")
    if len(shown) > _WIDEST:
        shown, flags = shown[: _WIDEST // 2] + "\n" + shown[-_WIDEST // 2 :], (*flags, "long")
    return shown.strip(), flags, None


def stated(text: str, keys: tuple[str, ...]) -> Iterator[Stated]:
    """Yield the texts that state an answer, the last of each kind of place first.

    ``keys`` are the names under which a JSON object may hold it.
    """
    for rule, places in (("tag", find_tags(text)), ("box", find_boxes(text))):
        for place in reversed(places):
            content = re.sub(r"\\(?:text|mathrm|texttt)\s*\{([^{}]*)\}", r"\1", place.content).strip()
            yield from _as_json(content, rule, keys)
            yield Stated(rule, unmarked(content))
    yield from _json_values(text, keys)
    for match in reversed(list(_ANSWER_LINE.finditer(text))):
        yield from _as_json(match.group(1).strip(), "answer-line", keys)
        yield Stated("answer-line", unmarked(match.group(1)))
    for match in reversed(list(_FENCE.finditer(text))):
        if match.group(2).strip():
            yield Stated("fence", match.group(2).strip())


def unmarked(text: str) -> str:
    """Take Markdown's emphasis, quotes and a final full stop off a short statement."""
    text = text.strip().strip("*_`\"'“”‘’ \t").strip()
    return text[:-1].rstrip("*_`\"'“”‘’ ") if text.endswith(".") else text


def _as_json(text: str, rule: str, keys: tuple[str, ...]) -> Iterator[Stated]:
    for start in (text.find("["), text.find("{")):
        if start == 0:
            found = _decoded(text, start)
            if found is not None:
                value = _of_keys(found[0], keys)
                if value is not None:
                    yield Stated(rule, _shown(value), value)


def _json_values(text: str, keys: tuple[str, ...]) -> Iterator[Stated]:
    """Yield JSON objects with one of the keys, and lists, last first; what lies in another is not its own."""
    found: list[Stated] = []
    at = 0
    for _ in range(200):
        starts = [place for sign in "[{" if (place := text.find(sign, at)) >= 0]
        if not starts:
            break
        at = min(starts)
        decoded = _decoded(text, at)
        if decoded is None:
            at += 1
            continue
        value = _of_keys(decoded[0], keys)
        if value is not None:
            found.append(Stated("json", _shown(value), value))
        at = decoded[1]
    yield from reversed(found)


def _decoded(text: str, start: int) -> tuple[Any, int] | None:
    try:
        return json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def _of_keys(value: Any, keys: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        lowered = {str(key).strip().lower(): one for key, one in value.items()}
        return next((lowered[key] for key in keys if key in lowered), None)
    return value if isinstance(value, list) else None


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
