"""``commands.md``: every command with its arguments and options, from their declarations."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from ..cli import COMMANDS
from ._markdown import GENERATED, capital, table

_INTRODUCTION = """\
# Every command

`molaudit COMMAND --help` says the same.
"""


def commands_page() -> str:
    """The page."""
    return "\n".join(
        [GENERATED + "\n" + _INTRODUCTION, *(_command(name, line) for name, line in COMMANDS.items())]
    )


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    parser = argparse.ArgumentParser(prog=f"molaudit {name}", add_help=False)
    import_module(f"molaudit.engine.commands.{name}").configure(parser)
    return parser


def _command(name: str, line: str) -> str:
    return f"## `molaudit {name}`\n\n{capital(line)}.\n" + _arguments(parser_of(name), f"molaudit {name}")


def _arguments(parser: argparse.ArgumentParser, called: str) -> str:
    actions = [one for one in parser._actions if not isinstance(one, argparse._HelpAction)]
    parts = [one for one in actions if isinstance(one, argparse._SubParsersAction)]
    rows = [_row(one) for one in actions if one not in parts and one.help != argparse.SUPPRESS]
    text = "\n" + table(("argument or option", "default", "meaning"), rows) if rows else ""
    for part in parts:
        lines = {choice.dest: choice.help or "" for choice in part._choices_actions}
        for sub, its in part.choices.items():
            about = f"\n{capital(lines.get(sub, ''))}.\n" if lines.get(sub) else ""
            text += f"\n### `{called} {sub}`\n{about}" + _arguments(its, f"{called} {sub}")
    return text


def _row(one: argparse.Action) -> tuple[str, str, str]:
    name = ", ".join(f"`{option}`" for option in one.option_strings) or f"`{_word(one)}`"
    if one.option_strings and one.nargs != 0:
        name += f" `{_word(one)}`"
    return name, _default(one), _help(one)


def _word(one: argparse.Action) -> str:
    if one.metavar is not None:
        word = one.metavar if isinstance(one.metavar, str) else " ".join(one.metavar)
    elif one.choices is not None:
        word = "|".join(str(choice) for choice in one.choices)
    else:
        word = one.dest.upper()
    return f"{word} ..." if one.nargs in ("+", "*") else word


def _default(one: argparse.Action) -> str:
    if one.required and one.nargs not in ("?", "*"):
        return "needed"
    shown = isinstance(one.default, str | int | float | Path) and not isinstance(one.default, bool)
    return f"`{one.default}`" if shown and one.default is not argparse.SUPPRESS else ""


def _help(one: argparse.Action) -> str:
    """The help without the default that argparse's own column has already."""
    text = (one.help or "").replace("%%", "%")
    return text.removesuffix(f"; default: {one.default}")
