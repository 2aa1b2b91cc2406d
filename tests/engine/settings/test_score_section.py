"""``[score]`` is `ScoreSettings`: every key of the one is in the other, and a wrong one is named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from molaudit.engine.errors import SettingsError
from molaudit.engine.settings import loading as settings
from molaudit.engine.studies.settings import ScoreSettings

BASE: dict[str, Any] = {
    "run": {"seed": 7},
    "endpoint": [{"name": "e", "base_url": "https://h.example/v1"}],
    "model": [{"id": "m", "endpoint": "e"}],
    "benchmark": [{"use": "b"}],
}
CHANGED: dict[str, Any] = {
    "protocol": "blinding",
    "figures": "written",
    "samples": "pool",
    "answer_figures": "required",
    "match": "prefix",
    "correction": "cell",
    "approximate": "leave-out",
    "decimal_comma": True,
    "alpha": 0.01,
    "seed": 3,
    "repeats": 5,
    "resamples": 6,
    "source_units": {"b": "mg/kg"},
    "several_values": ["b"],
}


def scoring(**score: Any) -> ScoreSettings:
    return settings.parse({**BASE, "score": score}, Path("audit.toml")).scoring


def test_every_setting_can_be_said() -> None:
    found = scoring(**CHANGED)
    assert {one.name: getattr(found, one.name) for one in fields(ScoreSettings)} == CHANGED


def test_the_seed_is_the_runs_unless_said() -> None:
    assert scoring().seed == 7
    assert scoring(seed=2).seed == 2


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ({"protocl": "recall"}, "score: unknown key 'protocl'"),
        ({"protocl": "recall"}, "did you mean 'protocol'?"),
        ({"protocol": "other"}, "score: protocol: found 'other'; allowed: recall, blinding"),
        ({"protocol": ["recall"]}, "score: protocol: found ['recall']; allowed: recall, blinding"),
        ({"alpha": "0.1"}, "score: alpha: found '0.1'; allowed: a number between 0 and 1"),
        ({"repeats": 0}, "score: repeats: found 0; allowed: a whole number from 1"),
        ({"several_values": "b"}, "score: several_values: found 'b'; allowed: a list of benchmarks"),
        ({"several_values": [1]}, "score: several_values: found [1]; allowed: a list of benchmarks"),
        ({"source_units": ["b"]}, "score: source_units: found ['b']; allowed: benchmarks with units"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(score: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        scoring(**score)
    assert message in str(caught.value)
