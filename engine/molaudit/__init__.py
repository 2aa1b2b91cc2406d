"""Did the model predict this property, or recite the published number?

>>> import molaudit
>>> scores = molaudit.score("answers.csv", "labels.csv")  # doctest: +SKIP
>>> scores.cells  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from molaudit.engine.answers.numbers import read as read
    from molaudit.engine.api import Scores as Scores
    from molaudit.engine.api import score as score
    from molaudit.engine.audit.api import arun as arun
    from molaudit.engine.audit.api import plan as plan
    from molaudit.engine.audit.api import run as run
    from molaudit.engine.audit.api_results import AuditPlan as AuditPlan
    from molaudit.engine.audit.api_results import AuditScores as AuditScores

_HOMES = {
    "AuditPlan": "audit.api_results",
    "AuditScores": "audit.api_results",
    "Scores": "api",
    "arun": "audit.api",
    "plan": "audit.api",
    "read": "answers.numbers",
    "run": "audit.api",
    "score": "api",
}
"""Public name to the module of the engine that has it."""

__all__ = ["AuditPlan", "AuditScores", "Scores", "arun", "plan", "read", "run", "score"]


def __getattr__(name: str) -> Any:
    # Loading on first use keeps `molaudit --help` and `import molaudit` free of polars, numba and RDKit.
    if name in _HOMES:
        return getattr(import_module(f"molaudit.engine.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'molaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
