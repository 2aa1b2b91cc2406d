"""The audit of models whose memory is known, over real HTTP on this machine: what a reader should see first."""

from __future__ import annotations

from pathlib import Path

from molaudit.storage import results

from ..errors import SettingsError
from ..processes.compiling import compiled_ahead
from ..report.files import prepare_folder
from ..simulated.server import ServeSettings, start_process
from .command import RunOptions, run_audit, show_plan

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
    """Start the server, plan, call what the folder's cache does not hold, score, show. Returns the exit code.

    Raises
    ------
    SettingsError
        The folder cannot be written, or holds an audit.toml that is not the demo's.
    """
    audit, cache = folder / "audit.toml", folder / "cache.duckdb"
    _spare(audit)
    prepare_folder(folder)
    with compiled_ahead(), start_process(ServeSettings(seed=SEED)) as url:
        models = "".join(_MODEL.format(name=name) for name in MODELS)
        text = _AUDIT.format(seed=SEED, url=url, models=models)
        results.replace(audit, lambda stream: stream.write(text.encode()))
        show_plan(audit, cache)
        again = ("molaudit", "demo", "--out", str(folder))
        return run_audit(audit, RunOptions(out=folder, cache=cache, yes=True, again=again))


def _spare(audit: Path) -> None:
    """Refuse to write over the settings of an audit that is the user's own."""
    ours = _AUDIT.partition("\n")[0]
    try:
        with audit.open("rb") as stream:
            first = stream.readline(2 * len(ours)).decode("utf-8", "replace").rstrip("\r\n")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise SettingsError(
            f"{audit}: cannot be read ({error.strerror or error}); give another --out"
        ) from error
    if first != ours:
        raise SettingsError(
            f"{audit}: is not the demo's, and would be written over; give --out a folder without an audit.toml"
        )
