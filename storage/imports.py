"""What users bring: answers, labels, counts and floors, checked and typed. One door to the readers beside it."""

from .answer_tables import Answers, answers_from_frame, load_answers
from .count_tables import load_cells, load_floors
from .label_tables import Labels, labels_from_frame, load_labels
from .tables import digest

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
