"""A folder as a registry: each file in it is a member, found by listing the folder.

There is no list to edit. A member is a module or package of the folder whose name does not begin with an underscore
(what members share does); it offers one object under the attribute that the registry names. Members are imported when
they are asked for, so a command loads no provider, condition or statistic that it does not need.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Generic, TypeVar, cast

from ..errors import SettingsError
from .nearest import did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """The members of one folder, by name.

    Parameters
    ----------
    package
        Import name of the folder. Its ``__path__`` is listed at each look, so a folder that is added to it counts.
    attribute
        What a member is called in its file. The member has a ``name``, which is that of its file; a file name
        cannot hold a dash, so an underscore stands for one where the member's name has it.
    what
        The word for a member in messages.
    """

    def __init__(self, package: str, attribute: str, what: str) -> None:
        self._package, self._attribute, self._what = package, attribute, what
        self._loaded: dict[str, tuple[ModuleType, T]] = {}

    def files(self) -> tuple[str, ...]:
        """Names of the files and folders that are members, in alphabetical order."""
        path = import_module(self._package).__path__
        return tuple(sorted(one.name for one in pkgutil.iter_modules(path) if not one.name.startswith("_")))

    def names(self) -> tuple[str, ...]:
        """The members' names, in alphabetical order of their files."""
        return tuple(str(getattr(member, "name")) for member in self)  # noqa: B009 - T is any member

    def __iter__(self) -> Iterator[T]:
        return (self._load(file) for file in self.files())

    def __contains__(self, name: object) -> bool:
        return (
            isinstance(name, str) and name.replace("-", "_") in self.files() and self.find(name) is not None
        )

    def find(self, name: str) -> T | None:
        """The member of that name; None if there is none."""
        file = name.replace("-", "_")
        if not file.isidentifier() or file not in self.files():
            return None
        member = self._load(file)
        return member if getattr(member, "name") == name else None  # noqa: B009

    def get(self, name: str) -> T:
        """The member of that name.

        Raises
        ------
        SettingsError
            There is none; the message lists those that there are.
        """
        member = self.find(name)
        if member is None:
            near = did_you_mean(name, self.names())
            raise SettingsError(f"unknown {self._what} {name!r}; allowed: {', '.join(self.names())}{near}")
        return member

    def _load(self, file: str) -> T:
        module = import_module(f"{self._package}.{file}")
        known = self._loaded.get(file)
        if known is not None and known[0] is module:
            return known[1]
        member = getattr(module, self._attribute, None)
        name = getattr(member, "name", None)
        if not isinstance(name, str) or name.replace("-", "_") != file:
            raise SettingsError(
                f"{module.__file__}: is in the folder of {self._what}s, so it must offer {self._attribute} with "
                f"the name of the file; found {name!r} (what is no {self._what} begins with an underscore)"
            )
        self._loaded[file] = (module, cast(T, member))
        return self._loaded[file][1]
