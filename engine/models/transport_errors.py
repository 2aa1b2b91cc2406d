"""What a failed request means: the exceptions of httpx and aiohttp as values, in a word and in a sentence."""

from __future__ import annotations

import errno

import aiohttp
import httpx

from .records import Outcome, TransportFailure

_SENT: tuple[tuple[type[BaseException], Outcome, str], ...] = (
    (aiohttp.SocketTimeoutError, Outcome.TIMED_OUT, "read_timeout"),
    (aiohttp.ServerDisconnectedError, Outcome.FAILED, "disconnected"),
    (aiohttp.ClientPayloadError, Outcome.FAILED, "body_cut_short"),
    (aiohttp.ClientOSError, Outcome.FAILED, "reset"),
    (aiohttp.ClientResponseError, Outcome.FAILED, "not_http"),
    (httpx.DecodingError, Outcome.MALFORMED, "content_encoding"),
    (OSError, Outcome.FAILED, "reset"),
)
"""After the hand-over: the provider may have worked, and may bill. First match counts."""

_NOT_SENT: tuple[tuple[type[BaseException], str], ...] = (
    (aiohttp.ClientConnectorDNSError, "dns"),
    (aiohttp.ClientConnectorSSLError, "tls"),
    (aiohttp.ClientConnectorCertificateError, "certificate"),
    (aiohttp.ClientProxyConnectionError, "proxy"),
    (aiohttp.ClientHttpProxyError, "proxy"),
    (aiohttp.ConnectionTimeoutError, "connect_timeout"),
    (aiohttp.InvalidURL, "url"),
)
"""Before it: the provider saw nothing. First match counts."""

_ERRNOS = {
    errno.ECONNREFUSED: "connection_refused",
    errno.EMFILE: "descriptors",
    errno.ENFILE: "descriptors",
    errno.ENETUNREACH: "no_route",
    errno.EHOSTUNREACH: "no_route",
    errno.EADDRNOTAVAIL: "no_local_port",
}

_SENTENCES = {
    "connection_refused": "connection refused",
    "dns": "no such host",
    "tls": "no TLS there",
    "certificate": "its certificate is not trusted",
    "proxy": "the proxy of the environment does not let it through",
    "connect_timeout": "no connection in time",
    "no_route": "no route to it",
    "no_local_port": "no local port is free",
    "descriptors": "this machine is out of file descriptors",
}


def classify(error: Exception, address: str = "the endpoint") -> TransportFailure:
    """What a failed request means, by the exception that httpx's name hides.

    The aiohttp transport reports a refused connection, a failed name look-up and a reset before the reply all as
    ``ConnectTimeout``; whether a repeat could be paid twice stands in its cause. Only our words leave here: the
    exceptions' own texts may quote addresses with credentials. ``address`` is what a person is told.
    """
    hidden = isinstance(error, httpx.TransportError | httpx.TimeoutException) and error.__cause__ is not None
    cause = error.__cause__ if hidden else error
    for kind, reason in _NOT_SENT:
        if isinstance(cause, kind):
            return _unreachable(reason, address)
    if isinstance(cause, aiohttp.ClientConnectorError):
        return _unreachable(_ERRNOS.get(cause.os_error.errno or 0, "connection"), address)
    if isinstance(cause, OSError) and _ERRNOS.get(cause.errno or 0) == "descriptors":
        return _unreachable("descriptors", address)
    for kind, outcome, reason in _SENT:
        if isinstance(cause, kind):
            return TransportFailure(outcome, reason, True)
    return TransportFailure(Outcome.FAILED, type(cause).__name__, True)


def _unreachable(reason: str, address: str) -> TransportFailure:
    why = _SENTENCES.get(reason, reason.replace("_", " "))
    return TransportFailure(Outcome.UNREACHABLE, reason, False, f"cannot connect to {address} ({why})")
