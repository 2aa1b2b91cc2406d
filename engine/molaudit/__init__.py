"""Did the model predict this property, or recite the published number?

>>> import molaudit
>>> scores = molaudit.score("answers.csv", "labels.csv")  # doctest: +SKIP
>>> scores.cells  # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from molaudit.engine.answers.numbers import read as read
    from molaudit.engine.api import Scores as Scores
    from molaudit.engine.api import score as score

__all__ = ["Scores", "read", "score"]


def __getattr__(name: str) -> Any:
    # Loading on first use keeps `molaudit --help` and `import molaudit` free of polars, numba and RDKit.
    if name == "read":
        from molaudit.engine.answers import numbers

        return numbers.read
    if name in __all__:
        from molaudit.engine import api

        return getattr(api, name)
    raise AttributeError(f"module 'molaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
