"""What users bring: answers, labels, counts and floors, checked and typed. One door to the readers beside it."""

from .answers import Answers, answers_from_frame, load_answers
from .counts import load_cells, load_floors
from .labels import Labels, labels_from_frame, load_labels
from .reading import digest

__all__ = [
    "Answers",
    "Labels",
    "answers_from_frame",
    "digest",
    "labels_from_frame",
    "load_answers",
    "load_cells",
    "load_floors",
    "load_labels",
]
