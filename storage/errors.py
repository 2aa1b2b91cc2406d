"""What can be wrong with bytes and tables at rest.

StorageError          any of the below; the message is complete and names file, row and what is allowed
├── TableError        a user's table cannot be used: missing file or column, unreadable bytes, bad value
└── CacheError        the response cache or a journal segment cannot be used
    └── CacheDoubt    the database is not what its parts say; never leaves the cache, which rebuilds the database
"""


class StorageError(Exception):
    """Base of all errors that a storage function raises on purpose. Show the message, without a traceback."""


def reason(error: Exception) -> str:
    """Say what went wrong: the system's own words where it has some."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


class TableError(StorageError):
    """A table from outside cannot be used. Mend the file named in the message."""


class CacheError(StorageError):
    """The cache or journal cannot be used as it is. The message names the file and the way on."""


class CacheDoubt(CacheError):
    """The database is not what its parts say. Raised within the cache, which then rebuilds the database."""
