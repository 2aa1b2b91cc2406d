"""``molaudit init``: write a first audit.toml."""

from __future__ import annotations

import argparse
from pathlib import Path

PROVIDERS = ("openai", "anthropic", "google", "deepseek", "mistral", "xai", "openrouter")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--local",
        metavar="URL",
        help="a server of your own, such as http://127.0.0.1:11434/v1 (OpenAI-compatible)",
    )
    where.add_argument(
        "--provider",
        metavar="NAME",
        choices=PROVIDERS,
        help=f"{', '.join(PROVIDERS)}; default: the simulated models of molaudit serve",
    )
    parser.add_argument("--model", metavar="ID", help="the model to ask, as the server or provider calls it")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("audit.toml"),
        metavar="FILE",
        help="file to write; default: audit.toml",
    )


def run(args: argparse.Namespace) -> int:
    """Write, and say what comes next."""
    from dataclasses import replace

    from rich.console import Console

    from ..errors import SettingsError
    from ..models.dialects.registry import DIALECTS
    from ..report.terminal import tell
    from ..settings.faults import looks_like_key
    from ..settings.first_steps import PLACEHOLDER, SIMULATED, Provider, template
    from ..settings.first_steps import PROVIDERS as KNOWN
    from ..settings.urls import normal_base_url

    plan, run_it = f"molaudit plan {args.out}", f"molaudit run {args.out}"
    if args.local is not None:
        try:
            url = normal_base_url(args.local, DIALECTS["openai-chat"])
        except ValueError as error:
            raise SettingsError(f"--local {error}") from None
        chosen, name = Provider("openai-chat", url, None, PLACEHOLDER), "local"
        what, steps = f"An audit of a model behind {url}.", f"{plan} (asks nothing), then {run_it}"
    elif args.provider is not None:
        chosen, name = KNOWN[args.provider], args.provider
        what = f"An audit of a model of {args.provider}."
        steps = f"put your key into {chosen.api_key_env}, {plan} (asks nothing), then {run_it}"
    else:
        chosen, name = SIMULATED, "simulated"
        what = "A rehearsal on simulated models: nothing leaves this machine, nothing costs."
        steps = f"molaudit serve in another terminal, then {plan} (asks nothing), then {run_it}"
    if args.model is not None:
        if looks_like_key(args.model):
            raise SettingsError("--model holds what looks like a secret key; allowed: the name of a model")
        chosen = replace(chosen, model=args.model)
    text = template(chosen, name, what=what, next_steps=steps)
    try:
        with args.out.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise SettingsError(
            f"--out {args.out}: is there already, and is not written over; give another"
        ) from None
    except OSError as error:
        raise SettingsError(f"--out {args.out}: cannot be written ({error.strerror})") from error
    console = Console()
    tell(console, f"{args.out} written. Next: {steps}")
    if args.local is not None and args.model is None:
        tell(console, f'put the model\'s name into {args.out} (id = "{PLACEHOLDER}"), or give --model')
    return 0
