"""One ``molaudit score`` in this process, timed by stages: ``python -m molaudit.bench.score_stages RESULT ARGS...``.

RESULT gets one JSON object from stage to seconds. A stage within another is taken off it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

START = time.perf_counter()

STAGES = (
    ("read answers", "molaudit.storage.tables.imports", "load_answers"),
    ("read labels", "molaudit.storage.tables.imports", "load_labels"),
    ("digests of the inputs", "molaudit.storage.tables.imports", "digest"),
    ("read replies, join labels", "molaudit.engine.studies.retrieval", "pair"),
    ("count", "molaudit.engine.studies.counting", "counts"),
    ("floors", "molaudit.engine.studies.retrieval", "floors_table"),
    ("errors and correlations", "molaudit.engine.studies.accuracy", "errors_by_cell"),
    ("matched floors", "molaudit.engine.statistics.matched", "matched_p"),
    ("exact or next door", "molaudit.engine.statistics.nearby", "nearby"),
    ("cautions", "molaudit.engine.studies.cautions", "cautions"),
    ("table of pairs", "molaudit.engine.studies.retrieval", "pair_table"),
    ("write", "molaudit.engine.report.files", "write_scores"),
    ("show", "molaudit.engine.report.terminal", "show_scores"),
)
"""Stage, and the function that is it, by the name under which it is called."""


class Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner = 0.0

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time added to a stage."""

        def call(*given: Any, **named: Any) -> Any:
            before, self._inner = self._inner, 0.0
            begin = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                taken = time.perf_counter() - begin
                self.seconds[stage] = self.seconds.get(stage, 0.0) + taken - self._inner
                self._inner = before + taken

        return call


def main(arguments: list[str]) -> int:
    """Score by stages and write what they took; the rest of this process stands as ``start and all else``."""
    from importlib import import_module

    from molaudit.engine import cli
    from molaudit.storage import results

    clock = Clock()
    for stage, module, name in STAGES:
        owner = import_module(module)
        setattr(owner, name, clock.timed(stage, getattr(owner, name)))
    code = cli.main(["score", *arguments[1:]])
    rest = time.perf_counter() - START - sum(clock.seconds.values())
    results.write_json({**clock.seconds, "start and all else": rest}, Path(arguments[0]))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
