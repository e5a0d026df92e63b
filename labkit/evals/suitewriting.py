"""Suites written: cases as JSON, and a file without some of its cases."""

import json
from collections.abc import Container, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, assert_never

from labkit.errors import InputError
from labkit.evals.case import EvalCase
from labkit.evals.caseentry import parse_json
from labkit.evals.suitefile import Form, SuiteFile, suite_of
from labkit.fields import json_text, read_bytes
from labkit.nodes import dump_yaml, without_items


def suite_values(name: str, cases: Iterable[EvalCase], root: Path) -> dict[str, Any]:
    """Return a suite as a JSON file has it; folders are named relative to `root`."""
    return {"name": name, "cases": [case_values(case, root) for case in cases]}


def case_values(case: EvalCase, root: Path) -> dict[str, Any]:
    """Return a sound case as a JSON file has it; what is empty is left out."""
    content = case.content()
    values = {
        "id": case.id,
        "split": str(case.split),
        "inputs": content["inputs"],
        "reference": content["reference"],
        "grader": content["grader"],
        "slices": list(case.slices),
        "tags": list(case.tags),
        "folder": case.folder.relative_to(root).as_posix() if case.folder else "",
        "forbidden": list(case.forbidden),
    }
    always = ("id", "split", "inputs", "reference", "grader")
    return {key: value for key, value in values.items() if value or key in always}


def without_cases(found: SuiteFile, gone: Container[str]) -> tuple[bytes, bool]:
    """Return a suite's file without some cases, and whether its comments are still there.

    Raises InputError when that cannot be done without harm to the rest.
    """
    places = {place for place, case in enumerate(found.written) if case.id in gone}
    text = read_bytes(found.path).decode("utf-8-sig")
    match found.form:
        case Form.YAML:
            cut, commented = without_items(text, "cases", places), True
        case Form.JSON:
            cut, commented = _filter_json(text, places), True
        case Form.LINES:
            cut, commented = _cut_lines(text, places), True
        case Form.FIXTURES | Form.HARBOR:
            raise ValueError("a folder of tasks has no file to take cases out of")
        case _:
            assert_never(found.form)
    if cut is None or not _is_rest(found, cut, places):
        cut, commented = _written_anew(found, places), False
    if not _is_rest(found, cut, places):
        raise InputError(
            f"{found.path} cannot be taken apart",
            hint="mend its malformed cases, and write one case below the other",
        )
    return cut.encode(), commented


def _written_anew(found: SuiteFile, gone: Container[int]) -> str:
    kept = [case for place, case in enumerate(found.written) if place not in gone]
    values = suite_values(found.suite.name, kept, found.path.parent)
    return dump_yaml(values) if found.form is Form.YAML else json_text(values)


def _is_rest(found: SuiteFile, text: str, gone: Container[int]) -> bool:
    """Return whether a file holds the other cases as they were, and nothing else."""
    try:
        after = suite_of(text.encode(), found.path)
    except InputError:
        return False
    kept = [case for place, case in enumerate(found.written) if place not in gone]
    return after.suite.name == found.suite.name and (
        list(map(_bare, after.written)) == list(map(_bare, kept))
    )


def _bare(case: EvalCase) -> EvalCase:
    """Return a case whose problem does not say on which line it is."""
    return replace(case, problem="yes" if case.problem else "")


def _cut_lines(text: str, gone: Container[int]) -> str:
    kept, place = [], -1
    for line in text.split("\n"):
        place += bool(line.strip())
        if not line.strip() or place not in gone:
            kept.append(line)
    return "\n".join(kept)


def _filter_json(text: str, gone: Container[int]) -> str | None:
    values = parse_json(text, "the suite")
    listed = values["cases"] if isinstance(values, dict) else values
    if not isinstance(listed, list):
        return None
    kept = [case for place, case in enumerate(listed) if place not in gone]
    if isinstance(values, dict):
        return json_text({**values, "cases": kept})
    return json.dumps(kept, indent=2, ensure_ascii=False) + "\n"
