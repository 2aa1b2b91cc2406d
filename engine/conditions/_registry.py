"""The conditions, found by listing this folder."""

from ..seams.registry import Registry
from ._condition import Condition

CONDITIONS: Registry[Condition] = Registry("molaudit.engine.conditions", "CONDITION", "condition")
