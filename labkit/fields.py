"""Typed fields out of YAML files that people write, with sentences they can act on.

The file is read as a tree of nodes that know their line, never as YAML's own guesses: `010` stays
text, `no` is refused where a word is meant, a key written twice is an error with both lines. All
problems of a file are collected and told at once by `Document.finish`.
"""

import difflib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from labkit.errors import InputError, IntegrityError, refuse
from labkit.nodes import compose, is_guessed, place_of, plain_node, value_of

_TEXT = "tag:yaml.org,2002:str"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_LONGEST_SHOWN = 60
_SURROGATE = re.compile("[\ud800-\udfff]")


class Fields:
    """One mapping of a YAML file; getters note problems and return a stand-in value."""

    def __init__(self, node: MappingNode, place: str, problems: list[str]) -> None:
        self._place = place
        self._problems = problems
        self._nodes: dict[str, Node] = {}
        self._keys: dict[str, Node] = {}
        self._read: set[str] = set()
        for key, value in node.value:
            self._take(key, value)

    def _take(self, key: Node, value: Node) -> None:
        if not isinstance(key, ScalarNode):
            self._complain(key, "a key must be one plain word")
        elif key.value in self._nodes:
            first = self._keys[key.value].start_mark.line + 1
            self._complain(key, f"{_short(key.value)!r} is written twice (first on line {first})")
        else:
            self._nodes[key.value] = value
            self._keys[key.value] = key

    def _complain(self, node: Node, what: str) -> None:
        self._problems.append(f"{place_of(node, self._place)}: {what}")

    def _find(self, name: str, *, required: bool) -> Node | None:
        self._read.add(name)
        node = self._nodes.get(name)
        if node is None and required:
            self._problems.append(f'{self._place}: no "{name}:"')
        return node

    def __contains__(self, name: str) -> bool:
        return name in self._nodes

    def line(self, name: str) -> str:
        """Return "file, line n" of a field, for messages of the caller."""
        node = self._nodes.get(name)
        return place_of(node, self._place) if node else self._place

    def problem(self, name: str, what: str) -> None:
        """Note a problem that the caller found in a field."""
        self._problems.append(f"{self.line(name)}: {what}")

    def beside(self, what: str) -> None:
        """Note a problem of a file that belongs to this one."""
        self._problems.append(what)

    def text(self, name: str, *, default: str | None = None) -> str:
        """Return a text. A value that YAML reads as something else must be quoted."""
        node = self._find(name, required=default is None)
        if node is None:
            return default or ""
        return self._text_of(node, name)

    def filled(self, name: str) -> str:
        """Return a text that must say something: a blank one is a problem."""
        value = self.text(name)
        node = self._nodes.get(name)
        if isinstance(node, ScalarNode) and node.tag == _TEXT and not value.strip():
            self._complain(node, f'"{name}" is empty')
        return value

    def word(self, name: str, allowed: Sequence[str], *, instead: str) -> str:
        """Return a text that must be one of `allowed`; `instead` stands in for any other."""
        value = self.text(name)
        if value in allowed:
            return value
        node = self._nodes.get(name)
        if isinstance(node, ScalarNode) and node.tag == _TEXT:
            near = difflib.get_close_matches(value, allowed, n=1)
            mend = f'did you mean "{near[0]}"?' if near else f"use one of {', '.join(allowed)}"
            self._complain(node, f'"{name}" is {_short(value)!r}: {mend}')
        return instead

    def named(self, name: str, expected: str) -> None:
        """Check that a text is what the file's name says."""
        value = self.text(name)
        node = self._nodes.get(name)
        if isinstance(node, ScalarNode) and node.tag == _TEXT and value != expected:
            self._complain(
                node, f'"{name}" is {_short(value)!r}, but the file is called {expected}'
            )

    def _text_of(self, node: Node, name: str) -> str:
        if not isinstance(node, ScalarNode):
            self._complain(node, f'"{name}" must be a text')
            return ""
        if not node.value and node.tag != _TEXT:
            self._complain(node, f'"{name}" is empty')
        elif is_guessed(node):
            self._complain(
                node, f'"{name}" must be a text: put it in quotes: "{_short(node.value)}"'
            )
        text = str(node.value)
        if _SURROGATE.search(text):
            self._complain(node, f'"{name}" holds half of a character, which no file can hold')
            return ""
        return text

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; a missing field is an empty list."""
        node = self._find(name, required=False)
        if node is None:
            return ()
        if not isinstance(node, SequenceNode):
            one = node.value if isinstance(node, ScalarNode) else ""
            self._complain(
                node, f'"{name}" must be a list' + (f': ["{_short(one)}"]' if one else "")
            )
            return ()
        return tuple(self._text_of(item, name) for item in node.value)

    def number(self, name: str, *, default: float, low: float = 0.0) -> float:
        """Return a number of at least `low`, as people write one: 10 or 0.5, never 1:30 or 0x1f."""
        node = self._find(name, required=False)
        if node is None:
            return default
        if isinstance(node, ScalarNode) and node.tag != _TEXT and _NUMBER.fullmatch(node.value):
            value = float(node.value)
            if value >= low:
                return value
        self._complain(node, f'"{name}" must be a number, {low:g} or more')
        return default

    def whole(self, name: str, *, default: int, low: int = 0) -> int:
        """Return a whole number of at least `low`."""
        value = self.number(name, default=default, low=low)
        if value != int(value):
            self.problem(name, f'"{name}" must be a whole number')
        return int(value)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return true or false."""
        node = self._find(name, required=False)
        if node is None:
            return default
        if isinstance(node, ScalarNode) and node.value in ("true", "false"):
            return bool(node.value == "true")
        self._complain(node, f'"{name}" must be true or false')
        return default

    def mapping(self, name: str) -> "Fields":
        """Return a mapping inside this one; a missing field is an empty mapping."""
        node = self._find(name, required=False)
        if not isinstance(node, MappingNode):
            if node is not None:
                self._complain(node, f'"{name}" must be a mapping of names to values')
            node = plain_node({}, self._place, self._problems)
        return Fields(node, f"{self._place}, {name}", self._problems)

    def mappings(self, name: str) -> tuple["Fields", ...]:
        """Return a list of mappings; a missing field is an empty list."""
        for item in self._items(name):
            if not isinstance(item, MappingNode):
                self._complain(item, f'"{name}" must be a list of mappings')
        return tuple(item for item in self.entries(name, texts=False) if isinstance(item, Fields))

    def entries(self, name: str, *, texts: bool = True) -> tuple["str | Fields", ...]:
        """Return a list of texts and mappings, or of its mappings; a missing field is empty."""
        return tuple(
            Fields(item, f"{self._place}, {name} {count}", self._problems)
            if isinstance(item, MappingNode)
            else self._text_of(item, name)
            for count, item in enumerate(self._items(name), 1)
            if texts or isinstance(item, MappingNode)
        )

    def _items(self, name: str) -> list[Node]:
        node = self._find(name, required=False)
        return node.value if isinstance(node, SequenceNode) else [node] if node else []

    def apart(self, name: str) -> tuple[tuple["Fields", list[str], str], ...]:
        """Return a list of mappings, each with its own list of problems and with its place."""
        found = []
        for count, item in enumerate(self._items(name), 1):
            place, problems = f"{self._place}, {name} {count}", list[str]()
            node = item if isinstance(item, MappingNode) else plain_node({}, place, problems)
            if node is not item:
                problems.append(f"{place_of(item, place)}: this must be a mapping: id: ...")
            found.append((Fields(node, place, problems), problems, place_of(item, place)))
        return tuple(found)

    def value(self, name: str) -> object:
        """Return a plain value, whatever kind it is of; a missing field is None."""
        node = self._find(name, required=False)
        return node and value_of(node, self._place, self._problems)

    def names(self) -> tuple[str, ...]:
        """Return the names that stand in this mapping, in their order."""
        return tuple(self._nodes)

    def done(self) -> None:
        """Note every field that nothing has read: a typing error, most likely."""
        for name, key in self._keys.items():
            if name not in self._read:
                near = difflib.get_close_matches(name, sorted(self._read), n=1)
                guess = f', did you mean "{near[0]}"?' if near else ""
                self._complain(key, f'unknown field "{_short(name)}"{guess}')


class Document(Fields):
    """A whole YAML file, one mapping; call `finish` once every field was asked for."""

    def __init__(self, data: bytes, place: str) -> None:
        self._found: list[str] = []
        super().__init__(compose(data, place), place, self._found)

    @classmethod
    def read(cls, path: Path) -> "Document":
        """Read a YAML file; raises InputError when it is missing or not YAML."""
        return cls(read_bytes(path), path.name)

    @property
    def sound(self) -> bool:
        """Whether no problem has been found so far."""
        return not self._found

    def finish(self, *, hint: str | None = None) -> None:
        """Raise one InputError that tells every problem of the file, if there is one."""
        self.done()
        refuse(self._found, hint=hint)


def _short(text: str) -> str:
    """Return a text of a file as a message can hold it."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def read_bytes(path: Path) -> bytes:
    """Return a file's content; raises InputError with the path when it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"no file {path}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def read_json(path: Path, *, schema: int) -> dict[str, Any]:
    """Read a JSON file that labkit wrote; raises IntegrityError when it is not what it wrote."""
    try:
        values = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise IntegrityError(f"{path} is damaged: {error}", hint="restore it from git") from error
    if not isinstance(values, dict) or values.get("schema") != schema:
        raise IntegrityError(
            f"{path} is not of schema {schema}", hint="it was written by another version of labkit"
        )
    return values


def json_text(values: dict[str, Any]) -> str:
    """Return readable JSON with a final newline, for files that labkit writes."""
    return json.dumps(values, indent=2, ensure_ascii=False, sort_keys=False) + "\n"


def canonical_json(values: Any) -> bytes:
    """Return the one byte form of a JSON value, for digests and signatures."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def first_words(names: Sequence[str], most: int = 8) -> str:
    """Return a list of names as words, cut after `most` of them."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def counted(count: int, what: str) -> str:
    """Return "1 task", "2 tasks"."""
    return f"1 {what}" if count == 1 else f"{count} {what}s"
