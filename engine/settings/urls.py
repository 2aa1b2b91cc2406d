"""Base URLs in one spelling, so that a trailing slash neither breaks a call nor makes a second cache."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ..models.dialects.registry import Dialect
from ..models.transport_proxies import is_loopback

_DEFAULT_PORT = {"http": 80, "https": 443}
_QUERY = re.compile(r"(?:api-version=[A-Za-z0-9._-]{1,40})?", re.ASCII)
"""Azure names the version of its API there. Other queries may hold keys."""
_EXAMPLES = {
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
}


def normal_base_url(text: str, dialect: Dialect) -> str:
    """The base URL to which the dialect's paths are appended.

    Understood are a missing scheme, upper case, default ports, repeated and trailing slashes, the full URL of an
    operation (".../chat/completions"), and a bare host, which gets the dialect's version ("/v1"). Any other path is
    kept.

    Raises
    ------
    ValueError
        If it is no http(s) URL, or carries a user, a fragment, or another query than ``api-version``. The message
        does not repeat the text, which may hold a key.
    """
    example = f"give one like {_EXAMPLES[dialect.name]}"
    text = text.strip()
    if "://" not in text:
        text = ("http://" if is_loopback(f"http://{text}") else "https://") + text
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(f"is no URL; {example}") from None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    if scheme not in _DEFAULT_PORT or not host or re.search(r"\s", text):
        raise ValueError(f"is no http or https URL; {example}")
    if parts.username or parts.password:
        raise ValueError("holds a user or password; keys belong into an environment variable (api_key_env)")
    if parts.fragment or not _QUERY.fullmatch(parts.query):
        raise ValueError(
            "holds a query or fragment; allowed: ?api-version=... alone; keys belong into an environment variable "
            "(api_key_env)"
        )
    where = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORT[scheme]:
        where += f":{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{scheme}://{where}{_path(parts.path, dialect)}{query}"


def _path(path: str, dialect: Dialect) -> str:
    path = re.sub(r"/{2,}", "/", path).rstrip("/")
    for operation in dialect.operations:
        if path.endswith(operation):
            path = path.removesuffix(operation)
            break
        if operation == "/models" and f"{operation}/" in path:
            path = path[: path.index(f"{operation}/")]
            break
    return path or f"/{dialect.version}"
