"""How answers are scored: every choice that METHOD leaves open, with its default, under one name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from numbers import Integral, Real
from typing import Annotated, Any, Literal, get_args

from ..errors import SettingsError
from ..seams.nearest import did_you_mean

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
class Help:
    """A setting in one line for people; ``option`` is its name on the command line where that is another."""

    text: str
    option: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """Settings of one scoring: the section ``[score]`` of audit.toml, and the options of ``molaudit score``.

    ``approximate`` says what becomes of "about 3.14" and "3.18 ± 0.05", ``decimal_comma`` whether "3,18" is 3.18.
    ``samples=None`` is the protocol's own convention: the first answer of a molecule for ``recall``, all
    samples pooled for ``blinding``. ``source_units`` maps a benchmark to the unit its labels were converted
    from. ``several_values`` names the benchmarks that publish several values of a molecule.
    """

    protocol: Annotated[Protocol, Help("recall, or blinding for the counts of the earlier study")] = "recall"
    figures: Annotated[
        Figures,
        Help(
            "whether a label's trailing zeros count as figures: never (stripped), or after a point (written)"
        ),
    ] = "stripped"
    samples: Annotated[
        Samples | None,
        Help("several answers to a molecule: the first parsed one counts (of recall), or all (of blinding)"),
    ] = None
    answer_figures: Annotated[
        AnswerFigures,
        Help("answers with fewer than three figures: read as padded with zeros, or left out (required)"),
    ] = "padded"
    match: Annotated[
        Match, Help("compare at 1, 2 and 3 figures each rounded, or prefixes of the three-figure codes")
    ] = "nested"
    correction: Annotated[
        Correction, Help("Benjamini-Hochberg over both rungs of all cells, or over cells")
    ] = "rung"
    approximate: Annotated[
        Approximate,
        Help('"about 3.14" and "3.18 ± 0.05": they count, or are left out as uncertain'),
    ] = "count"
    decimal_comma: Annotated[bool, Help('replies and labels write decimal commas: "3,18" is 3.18')] = False
    alpha: Annotated[float, Help("false discovery rate")] = 0.05
    seed: Annotated[int, Help("seed of all resampling; in audit.toml that of the run")] = 0
    repeats: Annotated[int, Help("halves of the mode floor")] = 10_000
    resamples: Annotated[int, Help("bootstrap resamples")] = 2_000
    source_units: Annotated[
        Mapping[str, str],
        Help("the unit that a benchmark's labels were converted from, such as ld50=mg/kg", "source-unit"),
    ] = field(default_factory=dict)
    several_values: Annotated[
        Collection[str],
        Help("a benchmark that publishes several values of a molecule: an answer may agree with any of them"),
    ] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any], **defaults: Any) -> ScoreSettings:
        """The settings that a table of them says.

        Raises
        ------
        SettingsError
            A key is none of them, or a value is not allowed.
        """
        names = [one.name for one in fields(cls)]
        for key in given:
            if key not in names:
                near = did_you_mean(key, names)
                raise SettingsError(f"unknown key {key!r}; allowed: {', '.join(names)}{near}")
        return cls(**{**defaults, **given})

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
        if isinstance(self.several_values, str) or not all(isinstance(x, str) for x in self.several_values):
            raise SettingsError(
                f"several_values: found {self.several_values!r}; allowed: a list of benchmarks"
            )
        if not isinstance(self.source_units, Mapping):
            raise SettingsError(
                f"source_units: found {self.source_units!r}; allowed: benchmarks with units, such as ld50 = 'mg/kg'"
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
