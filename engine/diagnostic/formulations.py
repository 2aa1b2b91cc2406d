"""Reactions as formulations: components of fixed kinds by name and SMILES, written so that they can be read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..molecules.edits import REPLACEMENT, Edit

NONE = "none"
_BETWEEN, _OF, _SMILES = " | ", ": ", " = "


@dataclass(frozen=True, slots=True)
class Component:
    """A component; its SMILES is empty for none and where it is not known."""

    name: str
    smiles: str = ""

    def __str__(self) -> str:
        return f"{self.name}{_SMILES}{self.smiles}" if self.smiles else self.name


def component(text: str) -> Component:
    """Read a component back."""
    name, equals, smiles = text.rpartition(_SMILES)
    return Component(name, smiles) if equals else Component(text)


def written(components: Mapping[str, Component]) -> str:
    """Write a formulation on one line: ``ligand: XPhos = CC(C)... | base: ...``.

    Raises
    ------
    ValueError
        A name that holds a separator; the message says which.
    """
    for kind, one in components.items():
        if any(sign in part for sign in (_BETWEEN.strip(), "\n") for part in (kind, one.name, one.smiles)):
            raise ValueError(f"{kind} {one.name!r}: a name must not hold '|' or a line break")
        if _OF in kind or _SMILES in one.name:
            raise ValueError(f"{kind} {one.name!r}: a name must not hold {_SMILES!r}, nor a kind {_OF!r}")
    return _BETWEEN.join(f"{kind}{_OF}{one}" for kind, one in components.items())


def read(text: str) -> dict[str, Component] | None:
    """Read a formulation back; None for any other text."""
    found: dict[str, Component] = {}
    for part in text.split(_BETWEEN):
        kind, colon, rest = part.partition(_OF)
        if not colon or not kind or not rest or kind in found:
            return None
        found[kind] = component(rest)
    return found


def named(text: str) -> tuple[str, Component]:
    """Read ``kind: component`` back."""
    kind, _, rest = text.partition(_OF)
    return kind, component(rest)


def spoken(kind: str, one: Component) -> str:
    """Say a component in a sentence: ``ligand XPhos (CC(C)...)``."""
    return f"{kind} {one.name} ({one.smiles})" if one.smiles else f"{kind} {one.name}"


def heard(text: str) -> Component:
    """Read a component of a sentence back, its kind taken off."""
    name, bracket, smiles = text.rpartition(" (")
    return Component(name, smiles.removesuffix(")")) if bracket and smiles.endswith(")") else Component(text)


def replacement(source: Mapping[str, Component], kind: str, new: Component) -> Edit:
    """The edit that exchanges one component."""
    return Edit(REPLACEMENT, written(source), f"{kind}{_OF}{source[kind]}", f"{kind}{_OF}{new}")


def execute(edit: Edit) -> str | None:
    """Exchange the component; None where the source does not have it."""
    source = read(edit.mapped)
    kind, _, new = edit.added.partition(_OF)
    if source is None or kind not in source or edit.removed != f"{kind}{_OF}{source[kind]}" or not new:
        return None
    return written({**source, kind: component(new)})
