"""Reads JUnit XML that hostile code may have written, as a stream: no tree of it is ever built.

There is no standard for it; what is read is what all of its writers share. A test's id is its file
(where the report tells it), the names of the suites around it, its class and its own name, joined
by `::`, each part only once in a row. Two tests with the same id count as one, which passed only if
both did.
"""

from __future__ import annotations  # AttributesImpl is generic for the type checker alone

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

PASSED = "passed"

_OUTCOMES = {"skipped": "skipped", "error": "error", "failure": "failed"}
"""The outcome that an element in a test means, the one that decides first: a test that a runner
does not count (Node's todo) is not broken by its failure."""
_NOT_RUN = frozenset({"notrun", "skipped", "disabled", "ignored", "suppressed"})
_WORK_FOLDER = "/workspace/"
_MOST_ELEMENTS = 1_000_000
_MOST_TESTS = 100_000
_MOST_ID_CHARACTERS = 32 * 1024 * 1024
_DEEPEST = 100
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What JUnit reports tell."""

    outcomes: Mapping[str, str] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    suite_errors: Mapping[str, str] = field(default_factory=dict)
    """Failures of a whole suite, outside of any test, by its name."""
    problem: str = ""
    """Why nothing of it is believed."""
    garbled: bool = False
    """Whether that is no well-formed XML, as honest runners write it around control characters."""


def read_junit(files: Iterable[tuple[str, bytes]]) -> Results:
    """Read reports by name; one that cannot be read makes all of them unreadable."""
    from defusedxml import DefusedXmlException, sax  # noqa: PLC0415 - only where it is needed

    reader = _Reader()
    name = ""
    try:
        for name, data in files:
            if not data.strip():
                return _unreadable(name, "it is empty", garbled=True)
            reader.begin()
            sax.parseString(data, reader, forbid_dtd=True)
    except _UnusableError as error:
        return _unreadable(name, str(error))
    except DefusedXmlException:
        return _unreadable(name, "it declares a document type, which no test runner does")
    except SAXParseException as error:
        place = f"line {error.getLineNumber()}"
        return _unreadable(name, f"no well-formed XML, {place}: {error.getMessage()}", garbled=True)
    except (SAXException, ValueError, LookupError) as error:  # an encoding that nobody knows
        return _unreadable(name, f"no well-formed XML: {error}", garbled=True)
    return Results(
        outcomes=reader.outcomes, messages=reader.messages, suite_errors=reader.suite_errors
    )


def _unreadable(name: str, why: str, *, garbled: bool = False) -> Results:
    return Results(problem=f"the report could not be read: {name}: {why[:300]}", garbled=garbled)


class _UnusableError(Exception):
    """The report is XML, but not one to be believed."""


@dataclass(slots=True)
class _Test:
    """A test that is being read."""

    id: str
    skipped: bool
    words: list[str] = field(default_factory=list)
    found: set[str] = field(default_factory=set)
    length: int = 0

    def add(self, text: str) -> None:
        """Keep the end of what the test complained of."""
        self.words.append(text[-_LONGEST_MESSAGE:])
        self.length += len(self.words[-1])
        if self.length > 4 * _LONGEST_MESSAGE:
            self.words = ["".join(self.words)[-_LONGEST_MESSAGE:]]
            self.length = len(self.words[0])

    @property
    def message(self) -> str:
        """The end of what the test complained of."""
        return "".join(self.words).strip()[-_LONGEST_MESSAGE:]

    @property
    def outcome(self) -> str:
        """The test's one outcome."""
        if self.skipped:
            return "skipped"
        return next((_OUTCOMES[tag] for tag in _OUTCOMES if tag in self.found), PASSED)


class _Reader(ContentHandler):
    """Gathers the tests of reports, element by element."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: dict[str, str] = {}
        self.messages: dict[str, str] = {}
        self.suite_errors: dict[str, str] = {}
        self._elements = 0
        self._tests = 0
        self._id_characters = 0
        self.begin()

    def begin(self) -> None:
        """Begin another report."""
        self._path: list[str] = []
        self._suites: list[tuple[str, str]] = []
        """Name and file of each suite around."""
        self._test: _Test | None = None

    def startElement(self, name: str, attrs: AttributesImpl[str]) -> None:  # noqa: N802
        self._elements += 1
        if self._elements > _MOST_ELEMENTS:
            raise _UnusableError(f"it holds more than {_MOST_ELEMENTS:,} elements")
        tag = name.rpartition(":")[2]
        if not self._path and tag not in ("testsuites", "testsuite"):
            raise _UnusableError(f"it is no JUnit report: it begins with <{tag[:50]}>")
        if len(self._path) >= _DEEPEST:
            raise _UnusableError(f"its elements lie more than {_DEEPEST} deep in each other")
        inside = self._path[-1] if self._path else ""
        self._path.append(tag)
        if tag == "testsuite":
            self._suites.append((attrs.get("name", ""), attrs.get("file", "")))
        elif tag == "testcase":
            self._begin_test(attrs)
        elif tag in _OUTCOMES and inside in ("testcase", "testsuite"):
            self._begin_complaint(tag, inside, attrs)

    def endElement(self, name: str) -> None:  # noqa: N802
        del name
        tag = self._path.pop()
        if tag == "testsuite":
            self._suites.pop()
        elif tag == "testcase" and self._test is not None:
            self._end_test(self._test)
            self._test = None

    def characters(self, content: str) -> None:
        if self._test is not None and self._path[-1] in ("failure", "error"):
            self._test.add(content)

    def _begin_test(self, attrs: AttributesImpl[str]) -> None:
        self._tests += 1
        if self._tests > _MOST_TESTS:
            raise _UnusableError(f"it tells of more than {_MOST_TESTS:,} tests")
        files = [attrs.get("file", ""), *(file for _, file in reversed(self._suites))]
        parts = [
            next(filter(None, files), ""),
            *(name for name, _ in self._suites),
            attrs.get("classname", ""),
        ]
        test = _joined([*parts, attrs.get("name", "") or "(no name)"])
        self._id_characters += len(test)
        if self._id_characters > _MOST_ID_CHARACTERS:
            raise _UnusableError("the names of its tests are too long")
        states = {attrs.get("status", "").lower(), attrs.get("result", "").lower()}
        self._test = _Test(id=test, skipped=not _NOT_RUN.isdisjoint(states))

    def _begin_complaint(self, tag: str, inside: str, attrs: AttributesImpl[str]) -> None:
        told = " ".join(filter(None, (attrs.get("type", ""), attrs.get("message", "")))) + "\n"
        if self._test is not None and inside == "testcase":
            self._test.found.add(tag)
            if tag != "skipped":
                self._test.add(told)
        elif tag != "skipped":
            suite = _joined([name for name, _ in self._suites]) or "a suite without a name"
            self.suite_errors[suite] = told.strip()[-_LONGEST_MESSAGE:]

    def _end_test(self, test: _Test) -> None:
        if self.outcomes.get(test.id, PASSED) == PASSED:
            self.outcomes[test.id] = test.outcome
        if test.message:
            self.messages[test.id] = test.message


def _joined(parts: list[str]) -> str:
    """Return an id: paths from the project's folder, no empty part, none twice in a row."""
    kept: list[str] = []
    for part in parts:
        text = part.removeprefix(_WORK_FOLDER)
        if text and kept[-1:] != [text]:
            kept.append(text)
    return "::".join(kept)
