"""How answers are scored: every choice that METHOD leaves open, with its default, under one name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, get_args

from ..errors import SettingsError

Protocol = Literal["recall", "blinding"]
Figures = Literal["stripped", "written"]
Samples = Literal["first", "pool"]
AnswerFigures = Literal["padded", "required"]
Match = Literal["nested", "prefix"]
Correction = Literal["rung", "cell"]
Approximate = Literal["count", "leave-out"]

CHOICES: dict[str, tuple[str, ...]] = {
    "protocol": get_args(Protocol),
    "figures": get_args(Figures),
    "samples": get_args(Samples),
    "answer_figures": get_args(AnswerFigures),
    "match": get_args(Match),
    "correction": get_args(Correction),
    "approximate": get_args(Approximate),
}


MOST_KEPT = 10**8
"""Draws whose results are in memory at once, 8 bytes each and some copies."""


def _is_whole(value: object, least: int, most: int) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and least <= int(value) <= most


def _is_between_0_and_1(value: object) -> bool:
    return isinstance(value, Real) and 0 < float(value) < 1


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """Settings of one scoring.

    ``approximate`` says what becomes of "about 3.14" and "3.18 ± 0.05", ``decimal_comma`` whether "3,18" is 3.18.
    ``samples=None`` is the protocol's own convention: the first answer of a molecule for ``recall``, all
    samples pooled for ``blinding``. ``source_units`` maps a benchmark to the unit its labels were converted
    from. ``several_values`` names the benchmarks that publish several values of a molecule.
    """

    protocol: Protocol = "recall"
    figures: Figures = "stripped"
    samples: Samples | None = None
    answer_figures: AnswerFigures = "padded"
    match: Match = "nested"
    correction: Correction = "rung"
    approximate: Approximate = "count"
    decimal_comma: bool = False
    alpha: float = 0.05
    seed: int = 0
    repeats: int = 10_000
    resamples: int = 2_000
    source_units: Mapping[str, str] = field(default_factory=dict)
    several_values: Collection[str] = ()

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if value not in allowed and not (name == "samples" and value is None):
                raise SettingsError(f"{name}: found {value!r}; allowed: {', '.join(allowed)}")
        if not isinstance(self.decimal_comma, bool):
            raise SettingsError(f"decimal_comma: found {self.decimal_comma!r}; allowed: True, False")
        if not _is_between_0_and_1(self.alpha):
            raise SettingsError(f"alpha: found {self.alpha!r}; allowed: a number between 0 and 1")
        for name in ("repeats", "resamples"):
            if not _is_whole(getattr(self, name), 1, MOST_KEPT):
                raise SettingsError(
                    f"{name}: found {getattr(self, name)!r}; allowed: a whole number from 1 to {MOST_KEPT}"
                )
        if isinstance(self.several_values, str):
            raise SettingsError(
                f"several_values: found {self.several_values!r}; allowed: a list of benchmarks"
            )
        if not _is_whole(self.seed, 0, 2**63 - 1):
            raise SettingsError(f"seed: found {self.seed!r}; allowed: a whole number from 0 to 2^63 - 1")

    @property
    def pooled(self) -> bool:
        """Whether all samples of a molecule count, rather than the first that was parsed."""
        return self.samples == "pool" or (self.samples is None and self.protocol == "blinding")

    def as_dict(self) -> dict[str, Any]:
        """Return the settings for ``run.json``, with the sample rule spelled out."""
        return asdict(self) | {
            "samples": "pool" if self.pooled else "first",
            "source_units": dict(self.source_units),
            "several_values": sorted(self.several_values),
        }
