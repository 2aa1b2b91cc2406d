"""Proxies of the environment: which one an address goes through, and what of NO_PROXY is not understood."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from .records import Endpoint

_NO_PROXY = ("no_proxy", "NO_PROXY")


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address; never one for this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    where = f"[{host}]" if ":" in host else host
    named = where if parts.port is None else f"{where}:{parts.port}"
    if is_loopback(url) or proxy_bypass(named):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return None if not proxy else proxy if "://" in proxy else f"http://{proxy}"


def is_loopback(url: str) -> bool:
    """Whether the host of a URL is this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def ignored_exceptions(environment: Mapping[str, str]) -> list[str]:
    """The entries of NO_PROXY in forms that are not understood: networks, patterns, addresses with a scheme."""
    text = next((environment[name] for name in _NO_PROXY if environment.get(name)), "")
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    return [entry for entry in entries if entry != "*" and not _is_host(entry)]


def _is_host(entry: str) -> bool:
    name = entry.lstrip(".")
    # "10." and "192.168." are meant as the beginning of an address, which nothing here compares.
    return re.fullmatch(r"\[?[\w:-]+(?:\.[\w-]+)*\]?(?::\d+)?", name) is not None and not entry.endswith(".")


def warnings(
    endpoints: Iterable[Endpoint], environment: Mapping[str, str], silenced: Iterable[str] = ()
) -> list[str]:
    """What a person should know before keys and prompts go out.

    ``silenced`` names the endpoints whose keys may go out in plain text.
    """
    quiet = set(silenced)
    found: list[str] = []
    proxied: list[str] = []
    for one in endpoints:
        parts = urlsplit(one.base_url)
        plain = parts.scheme == "http" and not is_loopback(one.base_url)
        if plain and one.api_key_env is not None and one.name not in quiet:
            found.append(
                f"endpoint {one.name!r}: the key of {one.api_key_env} goes over plain http to {parts.hostname}, "
                "where anyone on the way can read it; use https, or insecure = true if the way is trusted"
            )
        if one.proxy and proxy_for(one.base_url) is not None:
            proxied.append(one.name)
    ignored = ignored_exceptions(environment)
    if proxied and ignored:
        found.append(
            f"NO_PROXY: {', '.join(map(repr, ignored))} not understood (allowed: *, a host, a domain, host:port); "
            f"requests to {', '.join(map(repr, proxied))} go through the proxy, unless the endpoint has proxy = false"
        )
    return found
