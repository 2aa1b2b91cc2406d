"""Simulated models of known memory that answer a benchmark many times over: they calibrate the audit (METHOD 1.9).

A predictor gives answers of shape (seeds, n) for the molecules asked in each seed. Its skill and its memory are known
by construction, so that a flag is right or wrong beyond doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from molaudit.kernels import figures, floors, simulate

from .verdicts import MIN_TRIALS

Kind = Literal["blind", "constant", "modal", "reference", "skilled", "honest", "reciter"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SKILLS = (0.90, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99)
SHARPER = (0.995, 0.998, 0.999)
RATES = (0.01, 0.02, 0.05, 0.10, 0.20)
SKILLED_RATES = (0.02, 0.05, 0.10)
"""Shares recited by a model that otherwise predicts at r = 0.90."""


@dataclass(frozen=True, slots=True)
class Task:
    """``labels``: all scorable labels of a benchmark. ``asked``: positions, shape (seeds, n), for all models."""

    labels: Floats
    asked: Ints
    seed: int

    def pick(self, answers: Floats) -> Floats:
        """Return the answers to the molecules asked from answers to all, shape (seeds, all labels)."""
        return np.take_along_axis(answers, self.asked, axis=1)


@dataclass(frozen=True, slots=True)
class Predictor:
    """One simulated model."""

    name: str
    kind: Kind
    answer: Callable[[Task], Floats]


def task(labels: Floats, n: int, seeds: int, seed: int) -> Task:
    """Ask n random labels (or all) in each seed."""
    rng = np.random.default_rng(seed)
    size = min(n, labels.size)
    asked = np.stack([rng.permutation(labels.size)[:size] for _ in range(seeds)])
    return Task(labels, asked, seed)


def predictors(labels: Floats, n: int) -> list[Predictor]:
    """Return the models that calibrate the audit on these labels.

    ``draws``, ``window`` and ``first figure`` know no digit below the first. ``constant`` models always give the
    median, the most frequent label, or a label in the prefix whose digits are steepest. ``modal`` ones give the
    modal continuation of a first figure that is drawn from the labels, or that is right.
    """
    return [
        Predictor("draws", "blind", lambda t: t.pick(simulate.blind(t.labels, t.seed, len(t.asked)))),
        *(
            Predictor(f"constant {why} ({value:.3g})", "constant", _constant(value))
            for why, value in constants(labels, n).items()
        ),
        Predictor("modal, any first figure", "modal", lambda t: modal(t, knows_first=False)),
        Predictor("modal, true first figure", "modal", lambda t: modal(t, knows_first=True)),
        Predictor("window", "reference", _window),
        Predictor("first figure", "reference", _first_figure),
        *(Predictor(f"skilled r = {r:.2f}", "skilled", _skilled(r)) for r in SKILLS),
        *(Predictor(f"reciter {rate:.0%}", "reciter", _reciter(rate)) for rate in RATES),
        *(Predictor(f"r = 0.90 and {rate:.0%}", "reciter", _skilled_reciter(rate)) for rate in SKILLED_RATES),
    ]


def constants(labels: Floats, n: int) -> dict[str, float]:
    """Return answers that need no molecule: median, most frequent value, and one in the steepest prefix of a rung.

    A prefix is considered if n molecules are expected to bring it at least the trials that a test needs, twice over.
    """
    codes = figures.codes_all(labels)
    found = {"median": float(np.median(labels)), "modal": float(_modal(labels))}
    least = 2 * MIN_TRIALS * labels.size / min(n, labels.size)
    for rung, name in ((12, "steep R12"), (23, "steep R23")):
        prefixes, sizes = np.unique(codes[rung // 10 - 1], return_counts=True)
        inside = [codes[rung // 10 - 1] == prefix for prefix in prefixes[sizes >= least]]
        if not inside:
            continue
        continuation = codes[rung // 10]
        steepest = max(inside, key=lambda rows: _top(continuation[rows])[1] / rows.sum())
        rows = steepest & (continuation == _top(continuation[steepest])[0])
        found[name] = float(_modal(labels[rows]))
    return found


def modal(asking: Task, *, knows_first: bool) -> Floats:
    """Answer with the modal two- and then three-figure continuation of the first figure.

    The continuations are learned on the labels that are not asked: a label's own digits would be memory of it.
    Where a floor could not be fitted on those, half of the labels asked are learned on and not answered (NaN).
    """
    labels, n = asking.labels, asking.asked.shape[1]
    first = figures.codes(labels, 1)
    rng = np.random.default_rng([asking.seed, 1])
    out = np.empty(asking.asked.shape)
    spare = labels.size - n >= floors.MIN_LABELS
    for s, asked in enumerate(asking.asked):
        learned = np.delete(labels, asked) if spare else labels[asked[: n // 2]]
        seen = asked if knows_first else rng.integers(0, labels.size, n)
        out[s] = _continued(first[seen], learned)
    if not spare:
        out[:, : n // 2] = np.nan
    return out


def _continued(first: Ints, learned: Floats) -> Floats:
    """Return for each one-figure code the modal continuation among learned labels; NaN where none has that code."""
    codes = figures.codes_all(learned)
    answers = np.full(first.size, np.nan)
    for code in np.unique(first):
        rows = codes[0] == code
        if rows.any():
            rows &= codes[1] == _top(codes[1][rows])[0]
            rows &= codes[2] == _top(codes[2][rows])[0]
            answers[first == code] = learned[rows][0]
    return answers


def _top(codes: Ints) -> tuple[int, int]:
    values, counts = np.unique(codes, return_counts=True)
    return int(values[counts.argmax()]), int(counts.max())


def _modal(values: Floats) -> float:
    codes = figures.codes(values, 3)
    return float(values[codes == _top(codes)[0]][0])


def _constant(value: float) -> Callable[[Task], Floats]:
    return lambda t: np.full(t.asked.shape, value)


def _window(t: Task) -> Floats:
    return t.pick(simulate.window(t.labels, t.seed, len(t.asked)))


def _first_figure(t: Task) -> Floats:
    return t.pick(simulate.first_figure(t.labels, t.seed, len(t.asked)))


def _skilled(r: float) -> Callable[[Task], Floats]:
    return lambda t: t.pick(simulate.skilled(t.labels, r, t.seed, len(t.asked)))


def sharper() -> list[Predictor]:
    """Return predictors so good that third figures can be predicted where labels are coarse against their spread."""
    return [Predictor(f"skilled r = {r:.3f}", "skilled", _skilled(r)) for r in SHARPER]


def _skilled_reciter(rate: float) -> Callable[[Task], Floats]:
    def answer(t: Task) -> Floats:
        base = simulate.skilled(t.labels, 0.90, t.seed, len(t.asked))
        return t.pick(simulate.reciter(t.labels, base, rate, t.seed))

    return answer


def _reciter(rate: float) -> Callable[[Task], Floats]:
    def answer(t: Task) -> Floats:
        base = simulate.window(t.labels, t.seed, len(t.asked))
        return t.pick(simulate.reciter(t.labels, base, rate, t.seed))

    return answer
