"""The plan: every call of a run, made one by one when asked for, with its key; and what the run will take.

A plan of any size holds the prompts of nothing: calls are made lazily, molecules outermost and models innermost, so
that the models of a pool advance together and a run that stops early has asked all of them about the same molecules.

The sample of a benchmark is the molecules with the smallest hashes of (seed, benchmark, molecule). It depends
neither on the order of rows nor on other benchmarks, and a larger sample contains a smaller one, so raising
``molecules`` later asks only for what is new.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b

import polars as pl

from . import calls
from .errors import InputError, SettingsError
from .models.records import Call
from .plan_models import Asked, resolve
from .settings import Settings

BYTES_PER_TOKEN = 3.5
"""UTF-8 bytes of a prompt per token. Texts with SMILES run at 3 to 4; the estimate is for limits and money, and both
are corrected by the tokens that replies report."""
OVERHEAD_TOKENS = 8
"""Tokens that chat formats add to a prompt for roles and separators."""


@dataclass(frozen=True, slots=True)
class BenchmarkItems:
    """A benchmark as a plan needs it; its frame has the text columns ``molecule`` (unique) and ``smiles``."""

    property: str
    unit: str
    frame: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Item:
    """One molecule to be asked about, under one condition."""

    benchmark: str
    property: str
    unit: str
    molecule: str
    smiles: str | None
    condition: str


Prompt = Callable[[Item], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Lane:
    """One (model, effort), ready to make calls."""

    asked: Asked
    template: calls.Template
    tails: tuple[bytes, ...]


class Plan:
    """The calls of a run.

    Parameters
    ----------
    settings
        A validated audit.toml.
    benchmarks
        By the names that the settings give them. Files are not read here.
    prompt
        Gives the system and the user text of a molecule. The system text may be empty.

    Raises
    ------
    SettingsError
        If a model cannot be asked as the settings say (`plan_models.resolve`), or a benchmark is not given.
    InputError
        If a benchmark names a molecule twice; later, if ``prompt`` refuses a molecule.
    """

    def __init__(self, settings: Settings, benchmarks: Mapping[str, BenchmarkItems], prompt: Prompt) -> None:
        self.settings = settings
        self.asked = resolve(settings)
        self.endpoints = {one.name: one.record() for one in settings.endpoints}
        self._prompt = prompt
        self._lanes = tuple(self._lane(one) for one in self.asked)
        self._samples = {one.name: self._sample(one.name, benchmarks) for one in settings.benchmarks}
        self._benchmarks = benchmarks

    def __len__(self) -> int:
        """The number of calls."""
        return self.items * len(self._lanes) * self.settings.run.samples

    @property
    def items(self) -> int:
        """The number of questions: molecules times conditions."""
        return sum(map(len, self._samples.values())) * len(self.settings.run.conditions)

    @property
    def pools(self) -> tuple[str, ...]:
        """The limit pools in use, in the order of the settings."""
        return tuple(dict.fromkeys(one.endpoint.pool for one in self.asked))

    def questions(self) -> Iterator[Item]:
        """Every question once: the i-th molecule of each benchmark before the next of any."""
        longest = max(map(len, self._samples.values()), default=0)
        for index in range(longest):
            for name, sample in self._samples.items():
                if index < len(sample):
                    molecule, smiles = sample[index]
                    items = self._benchmarks[name]
                    for condition in self.settings.run.conditions:
                        yield Item(name, items.property, items.unit, molecule, smiles, condition)

    def calls(self, pool: str | None = None) -> Iterator[Call]:
        """The calls, of one pool or of all, in an order that is the same each time."""
        lanes = [one for one in self._lanes if pool is None or one.asked.endpoint.pool == pool]
        if not lanes:
            return
        digest = calls.digest
        for item in self.questions():
            system, user = self._texts(item)
            tokens = input_tokens(system, user)
            bodies = [lane.template.body(system, user) for lane in lanes]
            for repeat in range(self.settings.run.samples):
                for lane, body in zip(lanes, bodies, strict=True):
                    asked = lane.asked
                    yield Call(
                        key=digest(b'{"body":' + body + lane.tails[repeat]),
                        endpoint=asked.endpoint.name,
                        path=lane.template.path,
                        body=body,
                        model=asked.model.name,
                        benchmark=item.benchmark,
                        molecule=item.molecule,
                        condition=item.condition,
                        effort=asked.effort.label,
                        repeat=repeat,
                        input_tokens=tokens,
                        output_tokens=asked.max_output_tokens,
                        timeout_s=asked.timeout_s,
                    )

    def preimage(self, call: Call) -> bytes:
        """What the key of a call digests, to be stored beside it."""
        return calls.preimage(call, self.endpoints[call.endpoint])

    def prompt_tokens(self) -> int:
        """The estimated input tokens of asking every question once."""
        return sum(input_tokens(*self._texts(item)) for item in self.questions())

    def _texts(self, item: Item) -> tuple[bytes, bytes]:
        """The two texts of a question, in JSON."""
        try:
            system, user = self._prompt(item)
            return calls.quoted(system), calls.quoted(user)
        except (ValueError, SettingsError) as error:
            raise InputError(
                f"benchmark {item.benchmark!r}, molecule {item.molecule!r}: cannot be asked: {error}"
            ) from error

    def _lane(self, asked: Asked) -> _Lane:
        template = calls.Template(asked.endpoint.dialect, asked.request("", ""))
        repeats = range(self.settings.run.samples)
        tails = tuple(calls.preimage_tail(asked.endpoint, template.path, repeat) for repeat in repeats)
        return _Lane(asked, template, tails)

    def _sample(
        self, name: str, benchmarks: Mapping[str, BenchmarkItems]
    ) -> tuple[tuple[str, str | None], ...]:
        if name not in benchmarks:
            raise SettingsError(
                f"benchmark {name!r} is not loaded; loaded: {', '.join(benchmarks) or 'none'}"
            )
        frame = benchmarks[name].frame
        twice = frame.filter(pl.col("molecule").is_duplicated())
        if len(twice):
            raise InputError(f"benchmark {name!r} has the molecule {twice['molecule'][0]!r} twice")
        own = next(one for one in self.settings.benchmarks if one.name == name)
        wanted = own.molecules or self.settings.run.molecules or len(frame)
        rows = zip(frame["molecule"].to_list(), frame["smiles"].to_list(), strict=True)
        seed = self.settings.run.seed
        return tuple(sorted(rows, key=lambda row: _rank(seed, name, row[0]))[:wanted])


def input_tokens(system: bytes, user: bytes) -> int:
    """The estimated tokens of a prompt, from its two texts in JSON (quotes and escapes counted: a few bytes)."""
    return math.ceil((len(system) + len(user) - 4) / BYTES_PER_TOKEN) + OVERHEAD_TOKENS


def _rank(seed: int, benchmark: str, molecule: str) -> bytes:
    return blake2b(calls.canonical([seed, benchmark, molecule]), digest_size=16).digest()
