"""``python -m molaudit``."""

import sys

from molaudit.engine.cli import main

sys.exit(main())
