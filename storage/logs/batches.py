"""Output files of batches, one reply a line: OpenAI's (`response.body`) and Anthropic's (`result.message`).

Only `custom_id` tells what a line is about, so it must be the molecule; a bare number is a mere position.
"""

from typing import Any

from ..tables import reading as tables
from .rows import LogRows, named_molecule

_ENDINGS = {
    "length": "truncated", "max_tokens": "truncated", "max_output_tokens": "truncated",
    "content_filter": "filtered", "refusal": "refused",
}  # fmt: skip


def is_line(record: dict[str, Any]) -> bool:
    """Whether a line is one of a batch's output or error file."""
    return (
        "custom_id" in record and bool({"response", "result", "error"} & set(record)) and "body" not in record
    )


def read(source: str, lines: list[tuple[int, dict[str, Any]]]) -> tables.Table:
    """The replies of (row, line). A line that failed names no model; it belongs to the file's, if there is one only.

    Raises
    ------
    TableError
        There is no line, or none whose `custom_id` can be a molecule.
    """
    rows = LogRows(source)
    read_lines = [(row, line, _body(line)) for row, line in lines]
    models = {str(body["model"]) for _, _, body in read_lines if body and isinstance(body.get("model"), str)}
    only = next(iter(models)) if len(models) == 1 else None
    for row, line, body in read_lines:
        model = body.get("model") if body else None
        model = model if isinstance(model, str) else only
        if model is None:
            rows.leave_out("failed, of an unknown model")
            continue
        named = named_molecule({}, line.get("custom_id"))
        replies = _replies(body) if body else [(None, "failed")]
        for sample, (text, outcome) in enumerate(replies):
            # With one reply a line, lines of one molecule are numbered as they come.
            number = str(sample) if len(replies) > 1 else None
            rows.add_named(
                row,
                named,
                model=model,
                answer=text,
                sample=number,
                reasoning_tokens=_reasoning(body),
                outcome=outcome or ("empty" if text is None else None),
            )
    return rows.table([])


def _body(line: dict[str, Any]) -> dict[str, Any] | None:
    """The provider's body of a reply; None where the call failed."""
    response, result = line.get("response"), line.get("result")
    if (
        isinstance(response, dict)
        and str(response.get("status_code", "200")) == "200"
        and not line.get("error")
    ):
        body = response.get("body")
    else:
        body = result.get("message") if isinstance(result, dict) else None
    return body if isinstance(body, dict) else None


def _replies(body: dict[str, Any]) -> list[tuple[str | None, str | None]]:
    """Texts and, where they cannot be scored, outcomes: of chat completions, responses and messages."""
    choices = body.get("choices")
    if isinstance(choices, list):
        return [_choice(each) for each in choices if isinstance(each, dict)] or [(None, None)]
    output = body.get("output")
    if isinstance(output, list):
        messages = [each for each in output if isinstance(each, dict) and each.get("type") == "message"]
        about = body.get("incomplete_details")
        reason = about.get("reason") if isinstance(about, dict) else None
        return [(_text([part for each in messages for part in _parts(each)]), _ENDINGS.get(str(reason)))]
    return [(_text(body.get("content")), _ENDINGS.get(str(body.get("stop_reason"))))]


def _choice(choice: dict[str, Any]) -> tuple[str | None, str | None]:
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    outcome = _ENDINGS.get(str(choice.get("finish_reason")))
    if isinstance(message.get("refusal"), str) and not message.get("content"):
        return message["refusal"], "refused"
    return _text(message.get("content")), outcome


def _parts(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _text(content: Any) -> str | None:
    """The visible text: parts of type text only, so that no reasoning is read as an answer."""
    if isinstance(content, list):
        parts = [
            part.get("text")
            for part in content
            if isinstance(part, dict) and part.get("type") in ("text", "output_text")
        ]
        content = "".join(part for part in parts if isinstance(part, str)) if parts else None
    return content if isinstance(content, str) else None


def _reasoning(body: dict[str, Any] | None) -> str | None:
    usage = body.get("usage") if body else None
    for key in ("completion_tokens_details", "output_tokens_details"):
        details = usage.get(key) if isinstance(usage, dict) else None
        found = details.get("reasoning_tokens") if isinstance(details, dict) else None
        if isinstance(found, str) and found.isdecimal():
            return found
    return None
