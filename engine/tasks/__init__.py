"""What is asked and how it is measured: one file a task, each with a `Task` called ``TASK``."""

from ._registry import TASKS
from ._task import Opened, Opening, Simulation, Study, Task

__all__ = ["TASKS", "Opened", "Opening", "Simulation", "Study", "Task"]
