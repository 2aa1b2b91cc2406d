"""docs/reference/audit.toml.md has every key of the schema, none besides, and its defaults."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from molaudit.engine.plan.estimate import DEFAULT_IN_FLIGHT
from molaudit.engine.settings import loading as settings
from molaudit.engine.settings.schema import DEFAULT_ATTEMPT_S, DEFAULT_CONNECT_S, SECTIONS, PriceSettings

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/audit.toml.md"
TEXT = PAGE.read_text(encoding="utf-8")
SCHEMA: dict[str, type[BaseModel]] = {
    **{name: model for name, model in SECTIONS.items() if model is not None},
    "price": PriceSettings,
}


def rows(section: str) -> dict[str, list[str]]:
    """The cells of a section's table, by key."""
    heading = rf"^##+ `\[*{section}\]*`$"
    parts = re.split(r"^##+ .*$", TEXT, flags=re.MULTILINE)
    headings = re.findall(r"^##+ .*$", TEXT, flags=re.MULTILINE)
    (part,) = [body for body, title in zip(parts[1:], headings, strict=True) if re.match(heading, title)]
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in part.splitlines()
        if line.startswith("| `")
    ]
    return {row[0].strip("`"): row[1:] for row in cells}


@pytest.mark.parametrize("section", SCHEMA)
def test_the_page_has_the_keys_of_the_schema_in_its_order(section: str) -> None:
    keys = [field.alias or name for name, field in SCHEMA[section].model_fields.items()]
    assert list(rows(section)) == keys


@pytest.mark.parametrize("section", SCHEMA)
def test_the_page_has_the_defaults_of_the_schema(section: str) -> None:
    """A default in code letters is the schema's; words stand for what is computed, and for None."""
    stated = {key: cells[1] for key, cells in rows(section).items()}
    for name, field in SCHEMA[section].model_fields.items():
        shown = stated[field.alias or name]
        assert (shown == "needed") == field.is_required(), name
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        if re.fullmatch(r'`(["\[{\d].*|true|false)`', shown) and name not in ("in_flight", "timeouts"):
            value: Any = tomllib.loads(f"x = {shown.strip('`')}")["x"]
            assert value == (list(default) if isinstance(default, tuple) else default), name
        else:
            assert default in (None, "", {}) or name in ("in_flight", "timeouts"), name


def test_the_defaults_that_the_engine_fills_in_are_those_of_the_page() -> None:
    endpoint = rows("endpoint")
    assert endpoint["in_flight"][1] == f"`{DEFAULT_IN_FLIGHT}`"
    said = f"`{{ connect = {DEFAULT_CONNECT_S:g}, default = {DEFAULT_ATTEMPT_S:g} }}`"
    assert endpoint["timeouts"][1] == said


def test_the_example_of_the_page_is_accepted() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", TEXT, flags=re.DOTALL)
    assert settings.parse(tomllib.loads(example), PAGE).run.efforts == ("minimum",)


def test_every_row_says_whether_the_key_changes_calls_and_what_it_means() -> None:
    for section in SCHEMA:
        for key, (_kind, _default, changes, meaning) in rows(section).items():
            assert changes in ("yes", "no", "adds", "the sample"), key
            assert len(meaning) > 5, key
