"""How a question about a molecule is put: one file a condition, each with a `Condition` called ``CONDITION``."""

from ._condition import Condition, Item, Prompts, Subject
from ._registry import CONDITIONS

__all__ = ["CONDITIONS", "Condition", "Item", "Prompts", "Subject"]
