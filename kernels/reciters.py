"""Agreement counts of simulated reciters, without their answers: what power is reckoned from.

A draw is one random order of the benchmark's labels, asked one after another; the counts after the first n are
those of a cell of n molecules. So one pass gives a whole curve over n, and the cells of a curve share their draws.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import column, doubles
from .figures import codes_all
from .figures.encoding import codes_device
from .machine.compile import kernel
from .machine.threads import spread
from .simulate import _window_answer
from .streams import POWER, high_below, inner_uniform, key, word

Base = Literal["window", "blind"]

_MOLECULE_OPERATIONS = 30  # of the processor, a molecule
_WORDS_EACH = 3  # of one molecule: which it is, whether it is recited, what is answered otherwise


def counts(
    label: ArrayLike, sizes: ArrayLike, rate: float, base: Base, *, seed: int, draws: int, first: int = 0
) -> NDArray[np.int64]:
    """Count the nested agreement of simulated cells of each size.

    Parameters
    ----------
    label : float64[n]
        Scorable labels of the benchmark: finite, not zero.
    sizes : int64[s]
        Molecules asked, ascending, each from 1 to n; drawn without replacement.
    rate
        Chance that a molecule's label is recited. The same draws serve every rate: a molecule recited at one
        rate is recited at all higher ones.
    base
        What answers the other molecules: ``window``, the reference predictor of METHOD 1.5 that knows the first
        figure; ``blind``, a draw from all labels.
    seed, draws, first
        Draw r depends on (label, seed, first + r) alone, so chunks and threads change no bit.

    Returns
    -------
    int64[draws, s, 3]
        m1, m2, m3 of METHOD 1.2.

    Raises
    ------
    ValueError
        A label is not finite or zero, sizes are not ascending within 1..n, rate is outside [0, 1] or base is
        unknown.
    """
    labels, asked = doubles(label, "label"), column(sizes, np.int64, "sizes")
    if not (np.isfinite(labels) & (labels != 0.0)).all():
        raise ValueError("labels must be finite and not zero: those carry no figures")
    if asked.size and (asked[0] < 1 or asked[-1] > labels.size or bool((np.diff(asked) < 0).any())):
        raise ValueError(f"sizes must ascend within 1..{labels.size}, found {asked.tolist()}")
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"rate must lie between 0 and 1, not {rate}")
    if base not in ("window", "blind"):
        raise ValueError(f"base must be window or blind, not {base!r}")
    codes, blind = codes_all(labels), base == "blind"
    out = np.zeros((draws, asked.size, 3), dtype=np.int64)
    spread(
        lambda a, b: _counts(labels, codes, asked, rate, blind, seed, first + a, out[a:b]),
        draws,
        _MOLECULE_OPERATIONS * labels.size,
    )
    return out


@kernel()
def _counts(
    label: NDArray[np.float64],
    codes: NDArray[np.int64],
    sizes: NDArray[np.int64],
    rate: float,
    blind: bool,
    seed: int,
    first: int,
    out: NDArray[np.int64],
) -> None:
    n = len(label)
    order = np.empty(n, dtype=np.int64)
    for r in range(len(out)):
        state = key(seed, POWER, first + r)
        for i in range(n):
            order[i] = i
        one = two = three = done = 0
        for s in range(len(sizes)):
            for i in range(done, sizes[s]):
                j = i + np.int64(high_below(word(state, _WORDS_EACH * i), np.uint64(n - i)))
                chosen = order[j]
                order[j] = order[i]
                order[i] = chosen
                if inner_uniform(word(state, _WORDS_EACH * i + 1)) < rate:
                    one, two, three = one + 1, two + 1, three + 1
                    continue
                bits = word(state, _WORDS_EACH * i + 2)
                if blind:
                    other = np.int64(high_below(bits, np.uint64(n)))
                    code_1, code_2, code_3 = codes[0, other], codes[1, other], codes[2, other]
                else:
                    code_1, code_2, code_3 = codes_device(_window_answer(label[chosen], inner_uniform(bits)))
                agree_1 = code_1 == codes[0, chosen]
                agree_2 = agree_1 & (code_2 == codes[1, chosen])
                one += int(agree_1)
                two += int(agree_2)
                three += int(agree_2 & (code_3 == codes[2, chosen]))
            done = sizes[s]
            out[r, s, 0], out[r, s, 1], out[r, s, 2] = one, two, three
