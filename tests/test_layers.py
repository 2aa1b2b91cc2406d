"""The rooms keep to their directions: read from the source, so that no import order can hide a breach."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("engine", "kernels", "storage", "bench")


def sources(room: str) -> list[Path]:
    return sorted(path for path in (ROOT / room).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Absolute names of all modules that a file imports, also inside functions."""
    package = ["molaudit", *path.relative_to(ROOT).parent.parts]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return names


def uses(path: Path, *modules: str) -> set[str]:
    return {name for name in imported(path) for m in modules if name == m or name.startswith(m + ".")}


@pytest.mark.parametrize(
    ("room", "forbidden"),
    [
        (
            "kernels",
            ("molaudit.engine", "molaudit.storage", "molaudit.bench", "polars", "rdkit", "duckdb", "httpx"),
        ),
        ("storage", ("molaudit.engine", "molaudit.kernels", "molaudit.bench", "numba", "rdkit", "httpx")),
        ("engine", ("numba", "duckdb")),
    ],
)
def test_room_imports_only_what_it_may(room: str, forbidden: tuple[str, ...]) -> None:
    files = sources(room)
    assert files
    breaches = {str(path.relative_to(ROOT)): found for path in files if (found := uses(path, *forbidden))}
    assert breaches == {}


def test_rdkit_is_imported_in_one_folder() -> None:
    breaches = [path for path in sources("engine") if uses(path, "rdkit") and path.parent.name != "molecules"]
    assert breaches == []


def test_only_the_transport_opens_client_sockets() -> None:
    clients = ("httpx", "httpx_aiohttp", "aiohttp", "socket", "urllib.request", "http.client")
    found = {path for path in sources("engine") if uses(path, *clients)}
    others = {
        path for path in found if "simulated" not in path.parts and not path.name.startswith("transport")
    }
    assert others == set()


def test_duckdb_is_opened_in_the_cache_alone() -> None:
    assert {path.parent.name for path in sources("storage") if uses(path, "duckdb")} == {"cache"}


def test_the_root_of_the_engine_holds_the_rooms_and_three_files() -> None:
    loose = {path.name for path in (ROOT / "engine").glob("*.py")}
    assert loose == {"__init__.py", "cli.py", "api.py", "errors.py"}


def test_scheduling_reads_no_clock_of_its_own() -> None:
    files = sources("engine/scheduling")
    assert {path.name: uses(path, "time", "asyncio") for path in files if uses(path, "time", "asyncio")} == {}


def test_packages_in_pyproject_are_the_folders_with_code() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    folders = {
        "molaudit" + "".join(f".{part}" for part in path.parent.relative_to(ROOT).parts)
        for room in ROOMS
        for path in sources(room)
        if path.parent != ROOT / "engine" / "molaudit"
    }
    assert listed == folders | {"molaudit"}
