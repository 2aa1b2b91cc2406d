"""The command line: one module of `commands` per command, imported by name; heavy libraries load on use."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from io import TextIOWrapper
from typing import NoReturn

from .audit.interruptions import interruptible
from .report.inert import inert
from .seams.nearest import did_you_mean
from .settings.environment import check as check_environment

COMMANDS = {
    "score": "audit answers that already exist: verdicts, cells, pairs",
    "judge": "verdicts from counts alone",
    "floors": "the molecule-blind floors of labels",
    "limits": "the smallest counts that would be significant",
    "init": "write a first audit.toml, commented, that plan accepts",
    "models": "the model table: efforts, prices with their dates",
    "benchmarks": "the benchmarks that are shipped",
    "run": "make the calls of an audit that are not answered yet, and score it",
    "plan": "what an audit would take: calls, tokens, cost, time",
    "status": "how far an audit is, also while it runs",
    "report": "score what is answered so far, also while it runs",
    "cache": "the response cache: info, explain, evict, export, merge, rebuild",
    "pairs": "source-target pairs of the identity-blinded diagnostic",
    "power": "the chance that an audit flags a model, before money is spent",
    "read": "how a reply is read, and why; a table of replies; a provider's body",
    "null": "null distributions to disk, in chunks for any number of machines",
    "bench": "speed beside peers and physical limits, in one run",
    "serve": "simulated models behind a real HTTP server on this machine",
    "demo": "audit simulated models on an embedded benchmark, no key, no network",
}
"""Command to its line in ``--help``. The module ``commands/NAME.py`` has ``configure(parser)`` and ``run(args)``."""

EXIT_DISK_FULL = 1
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


def program() -> int:
    """`main` as a process of its own.

    It searches for no cyclic garbage in what it imports, which takes a seventh of its start, nor at its end (0.4 s).
    """
    _stand_in_for_closed_streams()
    try:
        with interruptible():
            gc.disable()
            args = _parser(sys.argv[1:])
            gc.freeze()
            gc.enable()
            code = _carry_out(args)
            gc.freeze()
    except KeyboardInterrupt:
        code = _interrupted()
    # CPython ends a process by SIGINT, whatever it returns, if the last text that was evaluated was interrupted;
    # named tuples are made from one while modules are loaded.
    eval("None")
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors of input are one message, never a traceback."""
    return _carry_out(_parser(list(sys.argv[1:] if argv is None else argv)))


def _carry_out(args: argparse.Namespace) -> int:
    if isinstance(sys.stdout, TextIOWrapper):
        # An ASCII terminal shows what it has no letter for as an escape, as stderr always does.
        sys.stdout.reconfigure(errors="backslashreplace")
    from .processes import compiling

    compiling.tell_with(lambda text: print(f"molaudit {args.command}: {text}", file=sys.stderr, flush=True))  # noqa: T201
    try:
        check_environment()
        code = args.run(args)
        compiling.say_total()
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            what = f" {inert(str(error.filename))}" if error.filename is not None else ""
            print(f"molaudit {args.command}: cannot write{what}: {error.strerror}", file=sys.stderr)  # noqa: T201
            return EXIT_DISK_FULL
        if not _is_ours(error):
            raise
        lines = "\n".join(inert(line) for line in str(error).split("\n"))
        print(f"molaudit {args.command}: {lines}", file=sys.stderr)  # noqa: T201
        return EXIT_BAD_INPUT
    finally:
        # Nothing is imported for it: a command that has made no folder has not loaded what makes them.
        if output := sys.modules.get("molaudit.engine.report.files"):
            output.remove_unused_folders()
    return int(code)


def _interrupted() -> int:
    print("interrupted", file=sys.stderr)  # noqa: T201
    return EXIT_INTERRUPTED


def _stand_in_for_closed_streams() -> None:
    """Let a program that was started with a closed output write into nothing."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _parser(argv: list[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="molaudit",
        description="Did the model predict this molecular property, or recite the published number?",
    )
    parser.add_argument("--version", action="version", version=f"molaudit {version('molaudit')}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, line in COMMANDS.items():
        sub = subparsers.add_parser(name, help=line, description=line[0].upper() + line[1:] + ".")
        sub.given = argv
        if name in argv:
            module = import_module(f".commands.{name}", __package__)
            module.configure(sub)
            sub.set_defaults(run=module.run)
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        said: _Parser = subparsers.choices[args.command]
        said.error(f"unrecognized arguments: {' '.join(unknown)}{said.near_option(unknown)}")
    return args


class _Parser(argparse.ArgumentParser):
    """Names the allowed word that is nearest to a wrong one."""

    given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        found = _CHOICE.search(message)
        if found is not None:
            message += did_you_mean(found[1], re.findall(r"'?([\w-]+)'?(?:, |$)", found[2]))
        elif "arguments are required" in message:
            message += self.near_option([one for one in self.given if one.startswith("--")])
        super().error(message)

    def near_option(self, unknown: Sequence[str]) -> str:
        """The option that the first of these which is none may be."""
        known = self._option_string_actions
        names = (one.partition("=")[0] for one in unknown if one.startswith("--"))
        wrong = next((one for one in names if not any(option.startswith(one) for option in known)), None)
        return "" if wrong is None else did_you_mean(wrong, known)


_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)$")


def _is_ours(error: Exception) -> bool:
    """Whether the error was raised on purpose, with a complete message."""
    from molaudit.storage.errors import StorageError

    from .errors import EngineError

    return isinstance(error, EngineError | StorageError)
