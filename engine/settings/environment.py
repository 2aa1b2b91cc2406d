"""What the environment variables of libraries may say: a value that would end in a traceback is one clear line.

Nothing heavy is imported unless a variable asks for what only the library itself can answer.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

from ..errors import SettingsError

_AT_LEAST_ONE = ("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")


def check(environ: MutableMapping[str, str] = os.environ) -> None:
    """Refuse what the kernels cannot work under, before anything is read or asked.

    Raises
    ------
    SettingsError
        Naming the variable, its value and what is allowed.
    """
    if not environ.get("COLUMNS", "1").strip().isdigit() or int(environ.get("COLUMNS", "1")) == 0:
        del environ["COLUMNS"]  # a terminal of no width shows nothing: its own width is taken
    for name in _AT_LEAST_ONE:
        text = environ.get(name, "").strip()
        if text.lstrip("-").isdigit() and int(text) < 1:
            raise SettingsError(
                f"the environment variable {name} is {environ[name]!r}; allowed: a whole number from 1, or unset it"
            )
    if environ.get("NUMBA_DISABLE_JIT", "").strip().lower() not in ("", "0", "false"):
        raise SettingsError(
            f"the environment variable NUMBA_DISABLE_JIT is {environ['NUMBA_DISABLE_JIT']!r}: the kernels only work "
            "compiled; unset it or set it to 0"
        )


def check_certificates(environ: MutableMapping[str, str] = os.environ) -> None:
    """Refuse certificates that cannot be read, before a connection needs them.

    Raises
    ------
    SettingsError
        Naming the variable and the file.
    """
    for name, is_there in (("SSL_CERT_FILE", os.path.isfile), ("SSL_CERT_DIR", os.path.isdir)):
        place = environ.get(name, "")
        if not place:
            continue
        what = "file" if name == "SSL_CERT_FILE" else "folder"
        if not is_there(place) or not os.access(place, os.R_OK):
            raise SettingsError(
                f"the environment variable {name} names {place!r}, which is no {what} that can be read; unset it, or "
                f"set it to a {what} of certificates"
            )
    place = environ.get("SSL_CERT_FILE", "")
    if place:
        import ssl

        try:
            ssl.create_default_context(cafile=place)
        except (ssl.SSLError, OSError) as error:
            raise SettingsError(
                f"the environment variable SSL_CERT_FILE names {place!r}, which holds no certificates in the form of "
                f"PEM ({error.args[-1]}); unset it, or set it to a file that does"
            ) from None
