"""The columns of ``pairs.parquet`` and ``pairs.csv``: name, type and meaning, in order; the only list of them."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

COLUMNS: Mapping[str, tuple[type[pl.DataType], str]] = {
    "task": (pl.String, "name of the task in audit.toml"),
    "kind": (pl.String, "kind of the task"),
    "sample": (pl.String, "task, record of the source, record of the target"),
    "cluster": (pl.Int64, "samples that share a source or a target, directly or over others, have one number"),
    "group": (pl.String, "consistent or inconsistent, by the true labels; empty where neither"),
    "source": (pl.String, "source: canonical isomeric SMILES, or a formulation"),
    "target": (pl.String, "target, likewise"),
    "source_record": (pl.Int64, "record of the source in the task's tables, from 1, blank lines not counted"),
    "target_record": (pl.Int64, "record of the target"),
    "similarity": (pl.Float64, "Tanimoto similarity of source and target, Morgan fingerprints, radius 2, 2,048 bits"),
    "edit": (pl.String, "kind of the edit: single-site, saturation, enantiomer, substructure, component, stated"),
    "edit_mapped": (pl.String, "source with atom map numbers at the places that the edit names"),
    "edit_removed": (pl.String, "what is taken off: a fragment as SMILES, map numbers, or a component"),
    "edit_added": (pl.String, "what is put on, or a user's own words"),
    "edit_core": (pl.String, "what stays, a dummy at the site; for single-site edits"),
    "verified": (pl.Boolean, "the edit was done and gave the target by canonical SMILES and InChI"),
    "description": (pl.String, "the edit in words"),
    "description_style": (pl.String, "style and version of the words"),
    "source_label": (pl.String, "true label of the source, as in the table"),
    "target_label": (pl.String, "true label of the target"),
    "false_label": (pl.String, "what C3 shows as the source's label; empty: the sample has no C3"),
    "source_label_shown": (pl.String, "the source's label as C2 shows it"),
}  # fmt: skip

SCHEMA = pl.Schema({name: kind() for name, (kind, _) in COLUMNS.items()})
