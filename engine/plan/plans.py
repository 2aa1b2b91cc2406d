"""The plan: every call of a run, made one by one when asked for, with its key; and what the run will take.

A plan of any size holds the prompts of nothing: calls are made lazily, molecules outermost and models innermost, so
that the models of a pool advance together and a run that stops early has asked all of them about the same molecules.

What is asked is none of its business: a `Block` brings the conversations, made one by one, of an arm or a task.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..errors import InputError, SettingsError
from ..models.records import Call, Messages, Role, question
from ..settings.loading import Settings
from . import calls
from .lanes import Asked

BYTES_PER_TOKEN = 3.5
"""UTF-8 bytes of a prompt per token. Texts with SMILES run at 3 to 4; the estimate is for limits and money, and both
are corrected by the tokens that replies report."""
OVERHEAD_TOKENS = 8
"""Tokens that chat formats add to a prompt for roles and separators."""


@dataclass(frozen=True, slots=True)
class Block:
    """Questions that are put to the same models: what an arm asks about one benchmark, or a task under a condition.

    Attributes
    ----------
    arm, benchmark, condition
        What the questions are about, as tables name it; ``benchmark`` is the task's name where it is one.
    ids
        What each question is about: the molecule, or the task's sample.
    messages
        The conversation of the question of a number, made when it is asked for. A ValueError says why it cannot be.
    asked
        The models, each at an effort.
    samples
        How often each question is put.
    task
        The task whose questions they are; empty for the retrieval audit.
    """

    arm: str
    benchmark: str
    condition: str
    ids: Sequence[str]
    messages: Callable[[int], Messages]
    asked: tuple[Asked, ...]
    samples: int = 1
    task: str = ""

    def __len__(self) -> int:
        """The number of calls."""
        return len(self.ids) * len(self.asked) * self.samples


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
    blocks
        What is asked of whom.

    Attributes
    ----------
    asked
        Every model at every effort, once.
    shared
        Whether two blocks may hold the same call.

    Raises
    ------
    InputError
        If a block asks about the same thing twice; later, if a question cannot be put.
    """

    def __init__(self, settings: Settings, blocks: Sequence[Block]) -> None:
        self.settings = settings
        self.blocks = tuple(blocks)
        for block in self.blocks:
            _refuse_twice(block)
        unique = {one.lane: one for block in self.blocks for one in block.asked}
        self.asked = tuple(unique.values())
        self.endpoints = {one.name: one.record() for one in settings.endpoints}
        most = max((block.samples for block in self.blocks), default=1)
        self._lanes = {name: _lane(one, most) for name, one in unique.items()}
        places = [(block.benchmark, block.condition) for block in self.blocks]
        self.shared = len(set(places)) < len(places)

    def __len__(self) -> int:
        """The number of rows: calls, each counted for every arm that it belongs to."""
        return sum(map(len, self.blocks))

    @property
    def items(self) -> int:
        """The number of questions, each counted for every arm."""
        return sum(len(block.ids) for block in self.blocks)

    @property
    def pools(self) -> tuple[str, ...]:
        """The limit pools in use, in the order of the settings."""
        return tuple(dict.fromkeys(one.endpoint.pool for one in self.asked))

    def questions(self) -> Iterator[tuple[Block, int]]:
        """Every question once: the i-th of each block before the next of any."""
        for index in range(max((len(block.ids) for block in self.blocks), default=0)):
            for block in self.blocks:
                if index < len(block.ids):
                    yield block, index

    def calls(self, pool: str | None = None) -> Iterator[Call]:
        """The calls, of one pool or of all, each once, in an order that is the same each time.

        Only blocks about one thing under one condition can hold the same call: else no key need be remembered.
        """
        if not self.shared:
            yield from (call for _, call in self.rows(pool))
            return
        made: set[bytes] = set()
        for _, call in self.rows(pool):
            key = bytes.fromhex(call.key)
            if key not in made:
                made.add(key)
                yield call

    def rows(self, pool: str | None = None) -> Iterator[tuple[Block, Call]]:
        """Each call with the block that asks for it; a call that two arms share comes once for each."""
        lanes = {
            id(block): [
                self._lanes[one.lane] for one in block.asked if pool is None or one.endpoint.pool == pool
            ]
            for block in self.blocks
        }
        digest, preimage = calls.digest, calls.preimage
        for block, index in self.questions():
            mine = lanes[id(block)]
            if not mine:
                continue
            roles, texts = _texts(block, index)
            tokens = input_tokens(texts)
            bodies = [lane.template.body(roles, texts) for lane in mine]
            for repeat in range(block.samples):
                for lane, body in zip(mine, bodies, strict=True):
                    asked = lane.asked
                    yield (
                        block,
                        Call(
                            key=digest(preimage(body, lane.tails[repeat])),
                            endpoint=asked.endpoint.name,
                            path=lane.template.path,
                            body=body,
                            model=asked.model.name,
                            benchmark=block.benchmark,
                            molecule=block.ids[index],
                            condition=block.condition,
                            effort=asked.effort.label,
                            repeat=repeat,
                            input_tokens=tokens,
                            output_tokens=asked.max_output_tokens,
                            timeout_s=asked.timeout_s,
                        ),
                    )

    def preimage(self, call: Call) -> bytes:
        """What the key of a call digests, to be stored beside it."""
        tail = calls.preimage_tail(self.endpoints[call.endpoint], call.path, call.repeat)
        return calls.preimage(call.body, tail)


def prompt_tokens(block: Block) -> int:
    """The estimated input tokens of asking every question of a block once."""
    return sum(input_tokens(_texts(block, index)[1]) for index in range(len(block.ids)))


def _texts(block: Block, index: int) -> tuple[tuple[Role, ...], list[bytes]]:
    """Who speaks in a question, and the texts in JSON."""
    try:
        messages = block.messages(index)
        return tuple(one.role for one in messages), [calls.quoted(one.text) for one in messages]
    except (ValueError, SettingsError) as error:
        raise InputError(
            f"benchmark {block.benchmark!r}, molecule {block.ids[index]!r}: cannot be asked: {error}"
        ) from error


def _lane(asked: Asked, repeats: int) -> _Lane:
    template = calls.Template(asked.endpoint.dialect, asked.request(question("", "")))
    tails = tuple(calls.preimage_tail(asked.endpoint, template.path, repeat) for repeat in range(repeats))
    return _Lane(asked, template, tails)


def _refuse_twice(block: Block) -> None:
    if len(set(block.ids)) < len(block.ids):
        twice = next(name for name, count in Counter(block.ids).items() if count > 1)
        raise InputError(f"benchmark {block.benchmark!r} has the molecule {twice!r} twice")


def input_tokens(texts: Sequence[bytes]) -> int:
    """The estimated tokens of a prompt, from its texts in JSON (quotes and escapes counted: a few bytes)."""
    length = sum(map(len, texts)) - 2 * len(texts)
    return math.ceil(length / BYTES_PER_TOKEN) + OVERHEAD_TOKENS
