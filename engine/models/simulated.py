"""Models whose memory is known: they calibrate the audit and stand in for real ones behind `molaudit serve`.

Every answer is a hash of (seed, model, molecule, repeat, effort): the same in any order, in any process, and
over HTTP or not. Whether a reciter has a molecule in memory depends on (seed, model, molecule) alone, so it
recites the same number in each repeat and at each effort. What is not recited is drawn as the `window`
reference predictor draws: right in the first figure, knowing nothing below it.

A molecule that is not among the labels gets a pseudo-label, a hash of its text, the same for all models: a
number from 20.0 to 400.0 that no published table agrees with beyond chance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from statistics import NormalDist, median, pstdev
from typing import TYPE_CHECKING

from .hostile import hostile

if TYPE_CHECKING:
    import polars as pl

EFFORT_TOKENS: Mapping[str, int] = {
    "none": 0,
    "off": 0,
    "disabled": 0,
    "minimal": 0,
    "minimum": 0,
    "low": 256,
    "medium": 1024,
    "standard": 1024,
    "high": 4096,
    "xhigh": 8192,
    "max": 16384,
}
"""Mean reasoning tokens by effort; no effort at all is 0, and a number is a budget of as many tokens."""

_NAMES = {
    "reciter": "recites the published value of 60 % of the molecules (reciter-N: of N %)",
    "reciter-10": "recites the published value of 10 % of the molecules",
    "skilled": "right in the first figure, uniform below it: the window reference predictor",
    "skilled-95": "label plus normal errors, correlation 0.95 with the labels (skilled-N: 0.N)",
    "blind": "sees no molecule: draws from the labels",
    "constant": "answers the median label always",
    "hostile": "markup, formulas, control characters, refusals, ranges, run-on prompts, huge replies",
}

_NORMAL = NormalDist()
_RETRIES = 32


def names() -> dict[str, str]:
    """Return what each simulated model does, by name. ``NAME@anything`` is another of its kind."""
    return dict(_NAMES)


def effort_tokens(effort: str | None) -> int | None:
    """Return the mean reasoning tokens of an effort level or token budget; None: unknown level."""
    if effort is None:
        return 0
    if effort.isascii() and effort.isdigit():
        return int(effort)
    return EFFORT_TOKENS.get(effort)


def labels_of(frame: pl.DataFrame) -> dict[str, str]:
    """Map each SMILES of a benchmark, or the molecule's name where it has none, to its first label."""
    labels: dict[str, str] = {}
    for key, label in zip(_keys(frame), frame["label"].to_list(), strict=True):
        labels.setdefault(key, label)
    return labels


def answers(
    name: str,
    frame: pl.DataFrame,
    seed: int,
    repeat: int = 0,
    effort: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> list[str]:
    """Answer a benchmark (columns molecule, label, optional smiles), one reply a row, as the server would.

    ``labels`` is all that the model knows, by default the labels of ``frame``. Give the whole benchmark's,
    from `labels_of`, where ``frame`` is a sample of it: `blind`, `constant` and `skilled-N` depend on all of
    them.
    """
    model = Simulated(name, labels_of(frame) if labels is None else labels, seed)
    return [model.answer(key, repeat, effort) for key in _keys(frame)]


def _keys(frame: pl.DataFrame) -> list[str]:
    names: list[str] = frame["molecule"].to_list()
    if "smiles" not in frame.columns:
        return names
    return [smiles or name for smiles, name in zip(frame["smiles"].to_list(), names, strict=True)]


class Simulated:
    """One simulated model that knows ``labels``: published values as text by SMILES (or name).

    Raises
    ------
    ValueError
        ``name`` is not one of `names` and not of the forms reciter-N, skilled-N.
    """

    def __init__(self, name: str, labels: Mapping[str, str], seed: int) -> None:
        self.name = name
        self._labels = labels
        self._seed = seed
        # Sorted: a draw must not depend on the order in which the labels were read.
        self._values = sorted(float(label) for label in labels.values() if _is_number(label)) or [0.0]
        self._reply = self._kind(name.split("@", 1)[0])

    def answer(self, molecule: str, repeat: int = 0, effort: str | None = None) -> str:
        """Reply to the zero-shot question about a molecule, named as its label is."""
        label = self._labels.get(molecule)
        if label is None or not _is_number(label):
            label = pseudo_label(molecule)
        return self._reply(label, molecule, f"{repeat}\x1f{effort}")

    def reasoning_tokens(self, molecule: str, repeat: int = 0, effort: str | None = None) -> int:
        """Return the tokens spent on reasoning: within half of the mean of the effort, 0 where that is 0.

        Raises
        ------
        ValueError
            The effort is neither a known level nor a number of tokens.
        """
        mean = effort_tokens(effort)
        if mean is None:
            raise ValueError(f"unknown effort {effort!r}: choose one of {', '.join(EFFORT_TOKENS)}")
        return (
            0
            if mean == 0
            else round(mean * (0.5 + self._uniform(molecule, f"tokens\x1f{repeat}\x1f{effort}")))
        )

    def _kind(self, base: str) -> Callable[[str, str, str], str]:
        """Bind the behaviour that a name stands for: label, molecule and occasion to a reply."""
        if base in {"blind", "constant", "hostile", "skilled"}:
            if base == "constant":
                self._constant = f"Answer: {three_figures(median(self._values))}"
            return {
                "blind": self._blind,
                "constant": lambda *_: self._constant,
                "hostile": self._hostile,
                "skilled": self._skilled,
            }[base]
        found = re.fullmatch(r"(reciter|skilled)(?:-(\d{1,3}))?", base)
        share = 60 if found is None or found[2] is None else int(found[2])
        if found is None or share > 100 or (found[1] == "skilled" and not 1 <= share <= 99):
            raise ValueError(
                f"no simulated model is called {self.name!r}: choose one of {', '.join(_NAMES)}, "
                "reciter-N (N from 0 to 100) or skilled-N (N from 1 to 99)"
            )
        self._share = share / 100
        if found[1] == "reciter":
            return self._reciter
        self._spread = pstdev(self._values) * (self._share**-2 - 1) ** 0.5
        return self._noisy

    def _uniform(self, molecule: str, purpose: str) -> float:
        return _uniform(f"{self._seed}\x1f{self.name}\x1f{molecule}\x1f{purpose}")

    def _reciter(self, label: str, molecule: str, occasion: str) -> str:
        if self._uniform(molecule, "memory") < self._share:
            return f"Answer: {three_figures(float(label))}"
        return self._skilled(label, molecule, occasion)

    def _skilled(self, label: str, molecule: str, occasion: str) -> str:
        def uniform(n: int) -> float:
            return self._uniform(molecule, f"{occasion}\x1f{n}")

        return f"Answer: {window(float(label), uniform)}"

    def _noisy(self, label: str, molecule: str, occasion: str) -> str:
        # Half a step away from 0 and 1, where the inverse is infinite.
        u = min(max(self._uniform(molecule, occasion), 2.0**-54), 1 - 2.0**-53)
        return f"Answer: {three_figures(float(label) + self._spread * _NORMAL.inv_cdf(u))}"

    def _blind(self, _label: str, molecule: str, occasion: str) -> str:
        index = int(self._uniform(molecule, occasion) * len(self._values))
        return f"Answer: {three_figures(self._values[index])}"

    def _hostile(self, label: str, molecule: str, occasion: str) -> str:
        return hostile(three_figures(float(label)), self._uniform(molecule, occasion))


class Draws:
    """What a task's simulated model is told beside the conversation: its name, the occasion, and its draws."""

    def __init__(self, model: str, seed: int, repeat: int, effort: str | None) -> None:
        self.model, self.repeat, self.effort = model, repeat, effort
        self._seed = seed

    def uniform(self, purpose: str) -> float:
        """A draw from [0, 1) that belongs to the seed, the model and the purpose."""
        return _uniform(f"{self._seed}\x1f{self.model}\x1f{purpose}")


def pseudo_label(molecule: str) -> str:
    """Make up the label of a molecule that no table knows: a hash of its text, uniform from 20.0 to 400.0."""
    return f"{20 + 380 * _uniform('pseudo-label of ' + molecule):.1f}"


def three_figures(value: float) -> str:
    """Write a number with three significant figures, correctly rounded; plain digits from 1e-5 up to 1e7."""
    if value == 0:
        return "0"
    text = format(value, ".2e")
    exponent = int(text[text.index("e") + 1 :])
    if not -5 <= exponent < 7:
        return text
    return format(float(text), f".{max(0, 2 - exponent)}f")


def window(label: float, uniform: Callable[[int], float]) -> str:
    """Draw a three-figure number that agrees with ``label`` in the first figure and carries no more of it.

    Uniform over the interval of values that round to the label's one-figure value (METHOD: reference
    predictor); the interval is half as wide below a leading 1. Writing three figures can push a draw at the
    upper end into the next figure: it is drawn again.

    Parameters
    ----------
    label : float
    uniform : callable
        The n-th draw from [0, 1).
    """
    if label == 0:
        return "0"
    first = format(label, ".0e")
    digit, exponent = first.lstrip("-").split("e")
    scale = 10.0 ** int(exponent)
    low = (0.95 if digit == "1" else int(digit) - 0.5) * scale
    high = (int(digit) + 0.5) * scale
    sign = -1.0 if label < 0 else 1.0
    for n in range(_RETRIES):
        text = three_figures(sign * (low + (high - low) * uniform(n)))
        if format(float(text), ".0e") == first:
            return text
    return three_figures(float(first))


def _uniform(text: str) -> float:
    """Hash a text to [0, 1), 53 bits."""
    return (
        int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 11
    ) * 2.0**-53


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
