"""Source, edit and target side by side, as SVG, the changed atoms marked."""

from __future__ import annotations

from collections.abc import Sequence

from rdkit import Chem, rdBase
from rdkit.Chem.Draw import rdMolDraw2D

from .cuts import side
from .edits import ENANTIOMER, HYDROGEN, SATURATION, SINGLE_SITE, SUBSTRUCTURE, Edit
from .execution import CHANGED, done, mapped_atoms

_PANEL, _HEIGHT = 330, 260
Panel = tuple[Chem.Mol, list[int], str]


def drawing(edit: Edit) -> str:
    """Draw a structural edit: what changes in the source, what it is, and the target that comes of it."""
    with rdBase.BlockLogs():
        source, places = mapped_atoms(edit.mapped)
        target = done(edit)
        panels = [
            (source, _gone(source, places, edit), "source"),
            *_middle(edit, source, places),
            (target, [a.GetIdx() for a in target.GetAtoms() if a.HasProp(CHANGED)], "target"),
        ]
        return _svg(panels)


def component_drawing(before: str, after: str, kind: str) -> str | None:
    """Draw the component that is replaced and the one that replaces it; None where neither is a structure."""
    with rdBase.BlockLogs():
        panels: list[Panel] = []
        for smiles, legend in ((before, f"{kind} of the source"), (after, f"{kind} of the target")):
            molecule = Chem.MolFromSmiles(smiles) if smiles else None
            if molecule is not None:
                panels.append((molecule, [], legend))
        return _svg(panels) if panels else None


def _gone(source: Chem.Mol, places: dict[int, int], edit: Edit) -> list[int]:
    """Atoms of the source that the edit takes off or touches."""
    if edit.kind == SINGLE_SITE and 2 in places:
        return sorted({places[1], *side(source, places[2], places[1])})
    return sorted(places.values())


def _middle(edit: Edit, source: Chem.Mol, places: dict[int, int]) -> list[Panel]:
    """What the edit is: fragments off and on, or the source with its numbered places."""
    numbered = Chem.Mol(source)
    for number, index in places.items():
        numbered.GetAtomWithIdx(index).SetProp("atomNote", str(number))
    if edit.kind == SINGLE_SITE:
        core = Chem.MolFromSmiles(edit.core) if edit.core else None
        if core is not None:
            dummies = [a.GetIdx() for a in core.GetAtoms() if a.GetAtomicNum() == 0]
            return [(core, dummies, f"{_short(edit.removed)} to {_short(edit.added)}")]
    words = {
        SATURATION: "hydrogenate 1=2",
        ENANTIOMER: "invert all centres",
        SUBSTRUCTURE: f"take out {edit.removed or 'nothing'}; put in {edit.added or 'nothing'}",
    }
    return [(numbered, sorted(places.values()), words.get(edit.kind, f"{edit.removed} to {edit.added}"))]


def _short(fragment: str) -> str:
    return "H" if fragment == HYDROGEN else fragment


def _svg(panels: Sequence[Panel]) -> str:
    canvas = rdMolDraw2D.MolDraw2DSVG(_PANEL * len(panels), _HEIGHT, _PANEL, _HEIGHT)
    molecules = [
        rdMolDraw2D.PrepareMolForDrawing(molecule, kekulize=_kekulizes(molecule)) for molecule, _, _ in panels
    ]
    canvas.DrawMolecules(
        molecules,
        highlightAtoms=[atoms for _, atoms, _ in panels],
        highlightBonds=[_between(molecule, atoms) for molecule, atoms, _ in panels],
        legends=[legend for _, _, legend in panels],
    )
    canvas.FinishDrawing()
    return str(canvas.GetDrawingText())


def _between(molecule: Chem.Mol, atoms: list[int]) -> list[int]:
    inside = set(atoms)
    return [
        bond.GetIdx()
        for bond in molecule.GetBonds()
        if bond.GetBeginAtomIdx() in inside and bond.GetEndAtomIdx() in inside
    ]


def _kekulizes(molecule: Chem.Mol) -> bool:
    try:
        Chem.Kekulize(Chem.Mol(molecule))
    except Chem.KekulizeException:
        return False
    return True
