"""A first audit.toml: small, commented, and accepted by `molaudit plan` as it stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import SettingsError


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a provider is reached, in which dialect, and a model to begin with."""

    dialect: str
    base_url: str
    api_key_env: str | None
    model: str


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("openai-responses", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5.5"),
    "anthropic": Provider(
        "anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "claude-haiku-4-5-20251001"
    ),
    "google": Provider(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta",
        "GEMINI_API_KEY",
        "gemini-3.1-flash-lite",
    ),
    "deepseek": Provider("openai-chat", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-v4-pro"),
    "mistral": Provider("openai-chat", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-large-2512"),
    "xai": Provider("openai-chat", "https://api.x.ai/v1", "XAI_API_KEY", "grok-4.3"),
    "openrouter": Provider(
        "openai-chat", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "meta-llama/llama-4-maverick"
    ),
}

SIMULATED = Provider("openai-chat", "http://127.0.0.1:8123/v1", None, "reciter-10")
"""The simulated models of `molaudit serve`: a rehearsal that costs nothing."""

PLACEHOLDER = "the-model"
"""Stands for the name of a model that only the user knows."""

_COMMENTS_AT = 35
"""Column of the comments behind values; in the template a tab stands before each."""

_TEXT = """\
# {what}
# Next: {next_steps}
# Every key: docs/reference/audit.toml.md. Lines that begin with "#" are off.

[run]
name = {name}
seed = 1\t# of the sample of molecules and all resampling
molecules = 50\t# per benchmark; a larger number later asks only for what is new
# efforts = ["minimum"]\t# of reasoning: minimum, standard, or a model's own (molaudit models NAME)
# samples = 1\t# replies to each question
max_output_tokens = 4096\t# cap of a reply, reasoning included; what reaches it is cut and not scored
{off}budget_usd = 5.0\t# no call is begun that might pass it; needs a known price
# deadline_minutes = 480\t# end in time; the same command goes on later

[[endpoint]]
name = {name}
dialect = {dialect}\t# openai-chat, openai-responses, anthropic or gemini
base_url = {base_url}
{key}
# requests_per_minute = 500\t# your account's limits, if you know them; what is not stated is learned
# tokens_per_minute = 200000
in_flight = {in_flight}\t# calls at once

[[model]]
id = {model}{model_comment}
endpoint = {name}
# name = "short"\t# in the tables
# max_output_tokens = 16384\t# for this model alone
# price = {{ input = 0.0, output = 0.0 }}\t# USD per million tokens, where the model table knows none

# [[model]]\t# more models: another block each
# id = "..."
# endpoint = {name}

[[benchmark]]
use = "crc-boiling-points"\t# molaudit benchmarks lists what is shipped

# [[benchmark]]\t# a table of your own, with columns molecule (or smiles) and label
# file = "labels.csv"\t# beside this file
# property = "aqueous solubility"
# unit = "log10 mol/L"
# kind = "measured"
"""


def template(provider: Provider, name: str, *, what: str, next_steps: str) -> str:
    """The text of an audit.toml.

    Parameters
    ----------
    name
        Of the endpoint and the run.
    what, next_steps
        The two first lines.

    Raises
    ------
    SettingsError
        The model's name or the address cannot stand in a file.
    """
    key = '# api_key_env = "A_NAME"\t# the NAME of an environment variable, where the server wants a key'
    if provider.api_key_env is not None:
        key = f'api_key_env = "{provider.api_key_env}"\t# the NAME of the environment variable, never the key'
    text = _TEXT.format(
        what=what,
        next_steps=next_steps,
        name=_quoted(name, "name"),
        off="# " if provider.api_key_env is None else "",
        dialect=_quoted(provider.dialect, "dialect"),
        base_url=_quoted(provider.base_url, "base_url"),
        key=key,
        in_flight=8 if provider.api_key_env is None else 32,
        model=_quoted(provider.model, "--model"),
        model_comment="" if provider.model != PLACEHOLDER else "\t# as the server calls it (GET /v1/models)",
    )
    return "".join(map(_aligned, text.splitlines(keepends=True)))


def _aligned(line: str) -> str:
    value, tab, comment = line.partition("\t")
    return f"{value:<{_COMMENTS_AT - 1}} {comment}" if tab else line


def _quoted(text: str, option: str) -> str:
    """Text as TOML writes it: what JSON escapes, TOML does alike."""
    if not text or not text.isprintable():
        raise SettingsError(f"{option}: found {text!r}; allowed: printable text")
    return json.dumps(text, ensure_ascii=False)
