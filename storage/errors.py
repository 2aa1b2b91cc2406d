"""What can be wrong with bytes and tables at rest.

StorageError          any of the below; the message is complete and names file, row and what is allowed
├── TableError        a user's table cannot be used: missing file or column, unreadable bytes, bad value
└── CacheError        the response cache or a journal segment cannot be used
    └── CacheDoubt    the database is not what its parts say; never leaves the cache, which rebuilds the database
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


class StorageError(Exception):
    """Base of all errors that a storage function raises on purpose. Show the message, without a traceback."""


_TRIED_BYTES = 65_536


def reason(error: Exception, folder: Path | None = None) -> str:
    """Say what went wrong: the system's own words where it has some.

    With the ``folder`` that was written to, the words are asked for where a library hides them: polars calls a full
    disk a file out of specification.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if folder is not None:
        try:
            with tempfile.TemporaryFile(dir=folder) as stream:
                stream.write(bytes(_TRIED_BYTES))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as cause:
            return cause.strerror or str(error)
    return str(error)


class TableError(StorageError):
    """A table from outside cannot be used. Mend the file named in the message."""


class CacheError(StorageError):
    """The cache or journal cannot be used as it is. The message names the file and the way on."""


class CacheDoubt(CacheError):
    """The database is not what its parts say. Raised within the cache, which then rebuilds the database."""
