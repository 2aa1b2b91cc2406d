"""The audit of models whose memory is known, over real HTTP on this machine: what a reader should see first."""

from __future__ import annotations

from pathlib import Path

from .audit.command import RunOptions, run_audit, show_plan
from .output import prepare_folder
from .serve import ServeSettings, start_process

MODELS = ("reciter", "reciter-10", "skilled", "blind", "constant")
SEED = 1

_AUDIT = """\
# Simulated models behind a server of this program; `molaudit demo` starts it and writes its address here.
[run]
name = "demo"
seed = {seed}
molecules = 500
efforts = ["minimum"]

[[endpoint]]
name = "simulated"
dialect = "openai-chat"
base_url = "{url}"
identity = "simulated"               # the port changes, the models behind it do not
in_flight = 50
{models}
[[benchmark]]
use = "crc-boiling-points"
"""
_MODEL = """
[[model]]
id = "{name}"
endpoint = "simulated"
"""


def run_demo(folder: Path) -> int:
    """Start the server, plan, call what the folder's cache does not hold, score, show. Returns the exit code."""
    prepare_folder(folder)
    audit, cache = folder / "audit.toml", folder / "cache.duckdb"
    with start_process(ServeSettings(seed=SEED)) as url:
        models = "".join(_MODEL.format(name=name) for name in MODELS)
        audit.write_text(_AUDIT.format(seed=SEED, url=url, models=models), encoding="utf-8")
        show_plan(audit, cache)
        again = ("molaudit", "demo", "--out", str(folder))
        return run_audit(audit, RunOptions(out=folder, cache=cache, yes=True, again=again))
