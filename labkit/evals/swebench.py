"""Instances as SWE-bench and its relatives publish them: one JSON object a line, or a JSON list.

An instance is a solved piece of work: a repository, the commit before, the diff that solved it, the
diff of its tests, and the names of the tests that begin to pass and that still pass.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.errors import InputError
from labkit.fields import counted, first_words, json_text, read_bytes

_NEEDED = ("instance_id", "base_commit", "patch", "problem_statement")
_OPTIONAL = ("repo", "test_patch")
_SURROGATE = re.compile("[\ud800-\udfff]")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The tests that an instance names; None where it does not say."""

    fail_to_pass: tuple[str, ...] | None = None
    pass_to_pass: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One solved piece of work of somebody's project."""

    id: str
    repo: str
    """`owner/name`; empty where the instance does not say."""
    base: str
    """The id of the commit before."""
    patch: str
    test_patch: str
    problem: str
    """What was asked: the issue's text."""
    named: Named
    place: str
    """Where it stands, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instances:
    """What a file holds: what could be read of it, and why the rest could not."""

    found: tuple[Instance, ...]
    problems: tuple[str, ...]
    """One sentence each, with its place."""


def read_swebench(path: Path) -> Instances:
    """Read a file of instances; what is wrong with one of them stops no other.

    Raises InputError when there is no such file, or it is no text, or holds nothing.
    """
    if not path.is_file():
        raise InputError(f"no file {path}", hint="give a file of instances, one JSON object a line")
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8", hint="save it as UTF-8") from error
    found: list[Instance] = []
    problems: list[str] = []
    for place, values in _objects(text, path.name, problems):
        complaints = list(_complaints(values))
        problems += [f"{place}: {what}" for what in complaints]
        if not complaints:
            found.append(_instance(values, place))
    if not found and not problems:
        raise InputError(f"{path} holds no instance", hint="one JSON object a line, or a JSON list")
    twice = [name for name, times in Counter(each.id for each in found).items() if times > 1]
    problems += [f"{path.name}: instance {name} stands there more than once" for name in twice]
    return Instances(
        found=tuple(each for each in found if each.id not in twice), problems=tuple(problems)
    )


def _objects(text: str, name: str, problems: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each object with its place; whatever is none is a problem."""
    for place, value in _values(text, name, problems):
        if isinstance(value, dict):
            yield place, value
        else:
            problems.append(f"{place}: not an object of names and values")


def _values(text: str, name: str, problems: list[str]) -> Iterator[tuple[str, object]]:
    if text.lstrip().startswith("["):
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            problems.append(f"{name}: not JSON: {error}")
            return
        yield from ((f"{name}, entry {count}", value) for count, value in enumerate(values, 1))
        return
    # By "\n" alone: a line separator inside a text is no end of a line of JSON.
    for count, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"{name}, line {count}", json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.append(f"{name}, line {count}: not JSON: {error}")


def _complaints(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an object as an instance."""
    name = values.get("instance_id")
    who = f"{name}: " if isinstance(name, str) else ""
    for field in (*_NEEDED, *_OPTIONAL):
        if what := _text_problem(values.get(field), needed=field in _NEEDED):
            yield f'{who}"{field}" {what}'
    base = values.get("base_commit")
    if isinstance(base, str) and base.strip() and not _COMMIT.fullmatch(base):
        yield f'{who}"base_commit" is no commit id: {base[:80]!r}'
    for field in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        if _tests(values, field) is NotImplemented:
            yield f'{who}"{field}" must be a list of texts, or such a list as JSON text'


def _text_problem(value: object, *, needed: bool) -> str:
    """Return what is wrong with a text; empty when nothing is."""
    if value is None:
        return "is missing" if needed else ""
    if not isinstance(value, str):
        return "must be a text"
    if needed and not value.strip():
        return "is empty"
    return "" if value.isascii() or not _SURROGATE.search(value) else "holds half a character"


def _tests(values: Mapping[str, Any], field: str) -> Any:
    """Return the names in a field, None where there is none, NotImplemented for anything else."""
    value = values.get(field, values.get(field.lower()))
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else None
        except (ValueError, RecursionError):
            return NotImplemented
    if value is None:
        return None
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    return NotImplemented


def _instance(values: Mapping[str, Any], place: str) -> Instance:
    return Instance(
        id=values["instance_id"],
        repo=values.get("repo") or "",
        base=values["base_commit"],
        patch=values["patch"],
        test_patch=values.get("test_patch") or "",
        problem=values["problem_statement"],
        named=Named(
            fail_to_pass=_tests(values, "FAIL_TO_PASS"),
            pass_to_pass=_tests(values, "PASS_TO_PASS"),
        ),
        place=place,
    )


def named_text(instance: Instance) -> str:
    """Return what an instance names as a file beside a draft, for `read_named`."""
    named = instance.named
    return json_text(
        {
            "schema": _SCHEMA,
            "instance": instance.id,
            "fail_to_pass": None if named.fail_to_pass is None else list(named.fail_to_pass),
            "pass_to_pass": None if named.pass_to_pass is None else list(named.pass_to_pass),
        }
    )


def read_named(data: bytes) -> Named:
    """Read that file back; one that was damaged names nothing."""
    try:
        values = json.loads(data)
        lists = [_tests(values, name) for name in ("fail_to_pass", "pass_to_pass")]
    except (ValueError, RecursionError, AttributeError):
        return Named()
    known = [None if each is NotImplemented else each for each in lists]
    return Named(fail_to_pass=known[0], pass_to_pass=known[1])


def differences(
    named: Named, fail_to_pass: Sequence[str], pass_to_pass: Sequence[str]
) -> Iterator[str]:
    """Yield where what an instance names is not what was found, one sentence each.

    Names are compared as they are where they say their file (`a.py::test_b`), else by the function
    alone: some instances name no more than that. Tests that still pass are only compared where they
    ran: those of other files are none of the hidden tests.
    """
    if named.fail_to_pass is not None:
        begin = _Names(fail_to_pass)
        still = _Names(pass_to_pass)
        lost = [name for name in named.fail_to_pass if name not in begin]
        passing = [name for name in lost if name in still]
        if passing:
            yield f"{_tests_named(passing)} should fail at the base, and did not"
        if gone := [name for name in lost if name not in still]:
            yield f"{_tests_named(gone)} should begin to pass, and did not or was not run"
        if new := [name for name in fail_to_pass if name not in _Names(named.fail_to_pass)]:
            yield f"{_tests_named(new)} began to pass, and the instance does not say so"
    if named.pass_to_pass is not None:
        begin = _Names(fail_to_pass)
        if failed := [name for name in named.pass_to_pass if name in begin]:
            yield f"{_tests_named(failed)} should pass at the base, and did not"


def _tests_named(names: Sequence[str]) -> str:
    return f"{counted(len(names), 'test')} ({first_words(names, most=3)})"


class _Names:
    """Tests by their whole names, and by their functions alone."""

    def __init__(self, names: Iterable[str]) -> None:
        self._whole = set(names)
        self._functions = {_function(name) for name in self._whole}
        self._bare = {name for name in self._whole if "::" not in name}

    def __contains__(self, name: str) -> bool:
        if name in self._whole:
            return True
        if "::" not in name:
            return _function(name) in self._functions
        return any(_function(name) == _function(bare) for bare in self._bare)


def _function(name: str) -> str:
    """Return a test's function: the last part of `a.py::B::test_c`, the first of `test_c (a.B)`."""
    return name.rpartition("::")[2].partition(" ")[0]
