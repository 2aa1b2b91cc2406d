"""The zero-shot question: one molecule, one property, one number to three significant figures.

The question names the molecule by its SMILES alone, as the study behind the method does; ``name=True`` adds
the name. Its lines ``Property:``, ``SMILES:`` and ``Name:`` are a format: `fields` reads them back, which is
how a simulated model knows what it was asked. The text is part of every cache key: changing a word asks all
again.
"""

from __future__ import annotations

from ..models.records import Messages, question
from ._condition import Condition, Item, Prompts, Subject

SYSTEM = (
    "You report measured properties of chemical compounds. Always commit to one number: "
    "if you are unsure, give your best estimate."
)

_TASK = (
    "Give the measured value to three significant figures, in the unit stated. "
    "Reply with one line and nothing else, the number without its unit:\n"
    "Answer: <number>"
)

_FIELDS = ("Property", "Unit", "SMILES", "Name")


def zero_shot(
    property: str, unit: str, molecule: str, smiles: str | None, *, name: bool = False
) -> tuple[str, str]:
    """Return the system and the user text that ask for ``property`` of a molecule.

    Without a SMILES the molecule is asked by name. An empty ``unit`` is a plain number.

    Raises
    ------
    ValueError
        A part is empty or holds a line break, and so could not be told from the question's own lines.
    """
    lines = [("Property", property), ("Unit", unit or "none (a plain number)")]
    if smiles is not None:
        lines.append(("SMILES", smiles))
    if name or smiles is None:
        lines.append(("Name", molecule))
    for key, text in lines:
        if not text.strip() or text.splitlines() != [text]:
            raise ValueError(f"a prompt's {key} must be one line of text, not {text!r}")
    return SYSTEM, "\n".join([f"{key}: {text}" for key, text in lines]) + "\n\n" + _TASK


def fields(user: str) -> dict[str, str]:
    """Read the last ``Property``, ``Unit``, ``SMILES`` and ``Name`` lines of a question, where present.

    The last, because examples given in context come before the question proper.
    """
    found = {}
    padded = "\n" + user
    for key in _FIELDS:
        start = padded.rfind(f"\n{key}: ")
        if start >= 0:
            start += len(key) + 3
            end = padded.find("\n", start)
            found[key] = padded[start : end if end >= 0 else len(padded)]
    return found


def _messages(item: Item) -> Messages:
    return question(*zero_shot(item.property, item.unit, item.molecule, item.smiles))


def _prepare(_: Subject) -> Prompts:
    return Prompts(_messages)


CONDITION = Condition(
    "zero_shot", "the property of one molecule, without examples", ("zero-shot/1",), _prepare
)
