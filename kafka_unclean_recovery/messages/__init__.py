"""This package adds messages that kafka-python lacks to its codec: a class here, its fields in the
JSON beside it.

Such a class sends and reads versions from 0 to the highest that its JSON names. kafka-python keeps
one response class per key, the one defined last; nothing here asks it for one.

Its clients are kept out of a process that needs only its codec. The package `kafka` imports its
consumer, producer and admin client, which takes longer than all messages do. Until somebody asks
for one of them, the package stands here without its contents.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_PACKAGE = "kafka"


class _Later(ModuleType):
    """The package, whose contents are imported when anything but a module of it is asked for."""

    __spec__: ModuleSpec

    def __getattr__(self, name: str) -> Any:
        self.__class__ = ModuleType  # type: ignore[assignment]
        loader = self.__spec__.loader
        assert loader is not None
        loader.exec_module(self)
        return getattr(self, name)


def _keep_clients_out() -> None:
    """Import the package without its contents, unless it is there already."""
    if _PACKAGE in sys.modules:
        return
    spec = find_spec(_PACKAGE)
    assert spec is not None
    package = module_from_spec(spec)
    package.__class__ = _Later
    sys.modules[_PACKAGE] = package


_keep_clients_out()
