"""Loads the test classes of unittest, also those with constructors of their own.

A plain file that knows nothing of labkit: standard library only, Python 3.6 or newer.
"""

import traceback
import unittest
from typing import Any, Callable


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
