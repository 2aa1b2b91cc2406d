"""A model's own words for an edit: kept only where the verified edit is still recovered from them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from molaudit.storage.tables import reading as tables
from molaudit.storage.tables.columns import Columns

from ..errors import InputError
from ..molecules.edits import Edit
from . import descriptions

COLUMNS = Columns(required=("sample", "text"))

PARAPHRASED = "paraphrase of "
"""What stands before the style of words that are not ours."""


def paraphrase(pairs: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, list[str]]:
    """Put paraphrases in the place of our words, where the edit reads back from them.

    Parameters
    ----------
    pairs
        Table of pairs (`columns.COLUMNS`).
    path
        Table with ``sample`` (as in the pairs) and ``text``.

    Returns
    -------
    The pairs, and notes that count what was kept and what was refused.

    Raises
    ------
    InputError, TableError
        The table cannot be read, or names a sample twice or one that there is not.
    """
    table = tables.read(path, COLUMNS)
    words: dict[str, str] = {}
    known = set(pairs["sample"].to_list())
    for row, sample, text in table.frame.select("row", "sample", "text").iter_rows():
        if sample not in known:
            raise InputError(f"{path}, row {row}: no pair has the sample {sample!r}")
        if sample in words:
            raise InputError(
                f"{path}, row {row}: the sample {sample!r} has a paraphrase already; give it one"
            )
        words[sample] = text or ""
    said, styles = [], []
    kept = 0
    for one in pairs.iter_rows(named=True):
        edit = Edit(*(one[f"edit{part}"] or "" for part in ("", "_mapped", "_removed", "_added", "_core")))
        text, style = one["description"], one["description_style"]
        own = words.get(one["sample"], "").strip()
        if own and descriptions.recover(own, style, edit):
            text, style, kept = own, PARAPHRASED + style, kept + 1
        said.append(text)
        styles.append(style)
    notes = [f"{path}: {kept} of {len(words)} paraphrases kept; from the others the edit does not read back"]
    changed = pairs.with_columns(description=pl.Series(said), description_style=pl.Series(styles))
    return changed, notes
