"""What `labkit config diff` does: two configurations as declared, as started, and on the wire."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from labkit.cli.configmade import Made, make
from labkit.cli.configshow import SCHEMA, chosen
from labkit.cli.console import data
from labkit.cli.firstrequests import apart
from labkit.cli.lab import Lab
from labkit.cli.seen import finished_records, weighed
from labkit.configurations import differences, read_configuration, the_difference
from labkit.effects import Weight, compared, digits, effects, one_line
from labkit.errors import InputError
from labkit.fields import counted, json_text
from labkit.records import RunRecord

_PAIR = 2
_MISSING = "none"
_LONGEST = 300


def diff(names: Sequence[str], *, as_json: bool) -> int:
    """Print how configurations differ; return 1 when that is not one thing, and seen as such."""
    lab = Lab.open()
    if names and (len(names) != _PAIR or len(set(names)) != _PAIR):
        raise InputError(
            "two configurations are compared", hint="name two, such as A B, or none for all"
        )
    found = chosen(lab, names)
    if len(found) < _PAIR:
        raise InputError("there is one configuration only", hint="write evals/configs/B.yaml")
    made = [make(lab, read_configuration(lab.workspace, name)) for name in found]
    records = finished_records(lab)
    pairs = [_pair(lab, made[0], other, records) for other in made[1:]]
    if as_json:
        data(json_text({"schema": SCHEMA, "pairs": pairs}))
    else:
        data("\n\n".join("\n".join(map(one_line, _lines(pair))) for pair in pairs))
    return 1 if any(not pair["one_thing"] or _broken(pair) for pair in pairs) else 0


def _broken(pair: Mapping[str, Any]) -> bool:
    return any(finding["weight"] == Weight.BREAKS for finding in pair["findings"])


def _pair(lab: Lab, one: Made, other: Made, records: Sequence[RunRecord]) -> dict[str, Any]:
    first, second = one.configuration, other.configuration
    try:
        the_difference((first, second))
        problem = ""
    except InputError as error:
        problem = error.message
    both = (first, second)
    return {
        "first": str(first.id),
        "second": str(second.id),
        "declared": list(differences(first, second)),
        "one_thing": not problem,
        "problem": problem,
        "follows": list(_follows(one, other)),
        "not_started": [*one.problems, *other.problems],
        "wire": compared(records, first.id, second.id),
        "lines": apart(lab, records, (first.id, second.id)),
        "findings": [
            {"kind": str(each.kind), "weight": str(each.weight), "text": each.text,
             "sentence": weighed(each)}
            for each in effects(both, [r for r in records if r.run.configuration in _ids(both)])
        ],
    }  # fmt: skip


def _ids(both: Sequence[Any]) -> frozenset[Any]:
    return frozenset(configuration.id for configuration in both)


def _follows(one: Made, other: Made) -> Iterator[dict[str, str]]:
    """Yield what agents make differently of two configurations."""
    left, right = dict(_flat(one)), dict(_flat(other))
    for name in dict.fromkeys((*left, *right)):
        if left.get(name) != right.get(name):
            first, second = _apart(left.get(name, []), right.get(name, []))
            joined = shlex.join if name == "argv" else "; ".join
            yield {
                "what": name,
                "first": joined(first) or _MISSING,
                "second": joined(second) or _MISSING,
            }
    names = sorted(one.environment.keys() & other.environment.keys())
    for name in names:
        if one.environment[name] != other.environment[name]:
            yield {"what": f"variable {name}", "first": "one value", "second": "another"}


def _flat(made: Made) -> Iterator[tuple[str, list[str]]]:
    for name, value in made.values.items():
        match value:
            case dict():
                for key, each in value.items():
                    if key != "key_problem":
                        yield f"{name}: {key}", [str(each)]
            case list() if name == "install":
                yield name, [line for command in value for line in str(command).splitlines()]
            case list():
                yield name, [str(each) for each in value]
            case _:
                yield name, [str(value)]


def _apart(left: list[str], right: list[str]) -> tuple[list[str], list[str]]:
    """Return what only one side has; a word behind an option keeps its option."""
    first, second = list[str](), list[str]()
    for tag, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        words = (*left[i:j], *right[k:m])
        option = i > 0 and left[i - 1].startswith("-") and not words[0].startswith("-")
        before = [left[i - 1]] if option else []
        first += [*before, *left[i:j]] if j > i else []
        second += [*before, *right[k:m]] if m > k else []
    return first, second


def _lines(pair: Mapping[str, Any]) -> Iterator[str]:
    names = f"{pair['first']} and {pair['second']}"
    if pair["one_thing"]:
        yield f"{names} are declared to differ in one thing: {pair['declared'][0]}"
    else:
        yield f"{names}: {pair['problem']}"
    if pair["follows"]:
        yield "  what follows when they are started:"
    for each in pair["follows"]:
        first, second = (_cut(digits(each[side])) for side in ("first", "second"))
        yield f"    {each['what']}: {first} against {second}"
    for problem in pair["not_started"]:
        yield f"    problem: {problem}"
    yield from _on_the_wire(pair["wire"])
    yield from _apart_lines(pair["lines"])
    for finding in pair["findings"]:
        yield f"  {finding['sentence']}"


def _apart_lines(found: Mapping[str, Any] | None) -> Iterator[str]:
    if not found:
        return
    yield f"  lines that differ between the first requests of {found['runs'][0]} and " + (
        f"{found['runs'][1]}:"
    )
    for part, lines in found["parts"].items():
        yield f"    {part}:"
        yield from (f"      {line}" for line in lines)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _on_the_wire(wire: Mapping[str, Any]) -> Iterator[str]:
    if not wire["pairs"]:
        yield "  no pair of runs is here yet: what differs on the wire is not known"
        return
    yield f"  first requests of {counted(wire['known'], 'pair')} of runs, of {wire['pairs']}:"
    for part in wire["parts"]:
        if part["differs"] == 0:
            told = "equal"
        elif part["differs"] == wire["known"]:
            told = f"differs{part['values']}"
        else:
            told = f"differs in {part['differs']} of {wire['known']}{part['values']}"
        yield f"    {part['name']}: {told}"
