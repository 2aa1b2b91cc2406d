"""The tasks, found by listing this folder."""

from ..seams.registry import Registry
from ._task import Task

TASKS: Registry[Task] = Registry("molaudit.engine.tasks", "TASK", "task")
