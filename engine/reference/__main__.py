"""Write the generated pages: ``python -m molaudit.engine.reference [FOLDER]``, from the root of the sources."""

from __future__ import annotations

import sys
from pathlib import Path

from . import pages


def main(arguments: list[str]) -> int:
    """Write every page that is not as generated, and name it."""
    folder = Path(arguments[0]) if arguments else Path("docs/reference")
    if not folder.is_dir():
        print(f"{folder}: no such folder; run this from the root of the sources", file=sys.stderr)  # noqa: T201
        return 2
    for name, text in pages(folder).items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
