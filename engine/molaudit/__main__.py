"""``python -m molaudit``."""

import sys

from molaudit.engine.cli import program

sys.exit(program())
