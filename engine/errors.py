"""What can go wrong through a user's settings or input.

EngineError           any of the below; the message is complete and is shown without a traceback
├── SettingsError     audit.toml or a command's options: names file, key, what was found, what is allowed
└── InputError        answers, labels or counts that cannot be judged: names file, column and row
"""


class EngineError(Exception):
    """Base of all errors that an engine function raises on purpose. Show the message, without a traceback."""


class SettingsError(EngineError):
    """A setting is missing, unknown or not allowed. Mend the file or option named in the message."""


class InputError(EngineError):
    """Input is well formed but cannot be used. Mend the file, column or row named in the message."""
