"""One case as it was written: checked field by field, its problems kept with it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from labkit.errors import InputError
from labkit.evals.case import EvalCase, Split
from labkit.evals.digests import folder_digest, plain
from labkit.fields import Fields
from labkit.nodes import plain_node

VALUES = ("inputs", "reference", "grader")
"""The fields that may hold any plain value."""


class _Repeating(dict[str, object]):
    """A mapping of a JSON file in which a name stands twice."""

    def __init__(self, pairs: Iterable[tuple[str, object]]) -> None:
        named = list(pairs)
        super().__init__(named)
        names = [name for name, _ in named]
        self.repeated = next(name for name in names if names.count(name) > 1)


@dataclass(slots=True, kw_only=True)
class Entry:
    """One case as it was written."""

    fields: Fields
    values: Mapping[str, object]
    """Those of `VALUES` that it has."""
    problems: list[str]
    place: str
    stand_in: str
    """What it is called when it has no id that can be used."""

    def case(self, grader: Mapping[str, object] | None, root: Path) -> EvalCase:
        """Return the case; `grader` is for one without its own, folders lie below `root`."""
        fields = self.fields
        written = fields.filled("id") if "id" in fields else ""
        if "id" not in fields and not self.problems:
            self.problems.append(f'{self.place}: no "id"')
        split = fields.word("split", list(Split), instead="val") if "split" in fields else "val"
        for name in VALUES:
            if name not in fields:
                fields.value(name)  # so that a typing error can be near it
        found = EvalCase(
            id=self._id(written),
            inputs=self._value("inputs"),
            reference=self._value("reference"),
            grader_spec=self._grader(grader),
            slices=fields.texts("slices"),
            tags=fields.texts("tags"),
            folder=self._folder(root),
            forbidden=fields.texts("forbidden"),
            split=Split(split),
        )
        fields.done()
        told = "; ".join(self.problems)
        return replace(found, problem=told.encode(errors="backslashreplace").decode())

    def _id(self, written: str) -> str:
        if not written.strip():
            return self.stand_in
        try:
            return EvalCase(written).id
        except InputError as error:
            self.problems.append(f"{self.fields.line('id')}: {error.message} ({error.hint})")
            return self.stand_in

    def _value(self, name: str) -> object:
        value = self.values.get(name)
        place = f"{self.place}: {name}"
        try:
            json.dumps(value, ensure_ascii=False).encode()
            return plain(value, place)
        except UnicodeEncodeError:
            self.problems.append(f"{place} holds half of a character, which no file can hold")
        except InputError as error:
            self.problems.append(" ".join(filter(None, (error.message, error.hint))))
        except RecursionError:
            self.problems.append(f"{place} is nested too deeply")
        return None

    def _grader(self, default: Mapping[str, object] | None) -> Mapping[str, object]:
        spec = self._value("grader") if "grader" in self.values else default
        if isinstance(spec, Mapping):
            return spec
        what = 'no "grader"' if spec is None else '"grader" is no mapping'
        self.problems.append(f'{self.place}: {what}: write "grader": {{"name": "exact"}}')
        return {}

    def _folder(self, root: Path) -> Path | None:
        written = self.fields.text("folder", default="")
        if not written:
            return None
        pure = PurePosixPath(written)
        if pure.is_absolute() or ".." in pure.parts or "\\" in written or not pure.parts:
            self.fields.problem("folder", f"{written!r} must be a folder below the suite's own")
            return None
        folder = root / pure
        try:
            folder_digest(folder)
        except InputError as error:
            self.fields.problem("folder", ": ".join(filter(None, (error.message, error.hint))))
            return None
        except OSError as error:
            self.fields.problem("folder", f"{folder} cannot be read: {error.strerror}")
            return None
        return folder


def json_entry(case: object, place: str, where: str, problem: str = "") -> Entry:
    """Return a case of a JSON file; `problem` is what is known to be wrong with it."""
    problems = [problem] if problem else []
    at = f"{place}, {where}"
    values: dict[str, object] = {}
    if isinstance(case, dict):
        values = case
    elif not problem:
        problems.append(f"{at}: a case is a mapping")
    problems.extend(f"{at}: {name!r} is written twice" for name in repeats(case))
    if not values and problems:
        return Entry(
            fields=Fields(plain_node({"id": where}, at, problems), at, problems),
            values={"grader": {}},
            problems=problems,
            place=at,
            stand_in=where,
        )
    rest = {name: value for name, value in values.items() if name not in VALUES}
    return Entry(
        fields=Fields(plain_node(rest, at, problems), at, problems),
        values={name: values[name] for name in VALUES if name in values},
        problems=problems,
        place=at,
        stand_in=where,
    )


def parse_json(text: str, place: str) -> object:
    """Read JSON strictly: no NaN, no infinity; `json_entry` sees names that stand twice."""
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if "\n" in text.strip() else ""
        raise InputError(
            f"{place}{line}: not JSON: {error.msg}", hint="mend or remove it"
        ) from error
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise InputError(f"{place}: not JSON: {why}", hint="mend or remove it") from error


def _mapping(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repeating(pairs)


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is no number")


def repeats(value: object) -> Iterator[str]:
    """Yield the names that stand twice in a mapping, however deep it lies."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, _Repeating):
            yield each.repeated
        if isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
