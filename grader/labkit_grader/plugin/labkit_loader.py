"""Loads the test classes of unittest, also those with constructors of their own.

A plain file that knows nothing of labkit: standard library only, Python 3.6 or newer.
"""

import importlib
import traceback
import unittest
from pathlib import Path
from typing import Any, Callable, Iterator


class Loader(unittest.TestLoader):
    """Loads a class whose tests cannot be made the usual way as one test, or tells of it."""

    def __init__(self, told: Callable[[str, str], None]) -> None:
        super().__init__()
        self._told = told

    def loadTestsFromTestCase(self, testCaseClass: Any) -> Any:  # noqa: N803 - its own name
        try:
            return super().loadTestsFromTestCase(testCaseClass)
        except Exception as error:  # noqa: BLE001 - its own constructor may raise anything
            complaint = last_words(error)
        try:  # one that takes no name of a method, as projects with a runner of their own have
            if hasattr(testCaseClass, "runTest"):
                return unittest.TestSuite([testCaseClass()])
        except Exception as error:  # noqa: BLE001
            complaint = last_words(error)
        self._told(f"{testCaseClass.__module__}.{testCaseClass.__qualname__}", complaint)
        return unittest.TestSuite()


def last_words(error: BaseException) -> str:
    """Return an exception as Python shows it."""
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    return "".join(lines)


def imported(name: str, path: Path) -> Any:
    """Import a module and make sure that it is the file."""
    module = importlib.import_module(name)
    here = getattr(module, "__file__", None)
    if here is None or Path(here).resolve() != path.resolve():
        raise ImportError(f"another module has the name {name}: {here}")
    return module


def failed_name(test: Any) -> str:
    """Return what a stand-in for something that could not be loaded stands for."""
    return str(getattr(test, "_testMethodName", test))


def leaves(suite: Any) -> Iterator[Any]:
    """Yield every single test of a suite."""
    try:
        inner = list(suite)
    except TypeError:
        yield suite
        return
    for test in inner:
        yield from leaves(test)
