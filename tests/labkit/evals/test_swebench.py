"""Files of instances: what is read, what is told, and how names of tests are compared."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.evals.swebench import (
    Instances,
    Named,
    differences,
    named_text,
    read_named,
    read_swebench,
)

GOOD: dict[str, Any] = {
    "instance_id": "blue__words-1",
    "repo": "blue/words",
    "base_commit": "0123456789abcdef0123456789abcdef01234567",
    "patch": "diff --git a/a b/a\n",
    "test_patch": "diff --git a/tests/a b/tests/a\n",
    "problem_statement": "Mend it.\u2028Please.",
    "hints_text": "",
    "version": 1.0,
    "FAIL_TO_PASS": '["tests/test_a.py::test_b"]',
    "PASS_TO_PASS": [],
}


def read(tmp_path: Path, text: str) -> Instances:
    """Read a file that holds a text."""
    path = tmp_path / "all.json"
    path.write_text(text, encoding="utf-8")
    return read_swebench(path)


def test_lines_and_lists_read_alike(tmp_path: Path) -> None:
    other = GOOD | {"instance_id": "blue__words-2"}
    lines = read(tmp_path, "\ufeff" + "\n\n".join(map(json.dumps, [GOOD, other])))
    listed = read(tmp_path, json.dumps([GOOD, other], indent=2, ensure_ascii=False))
    raw = read(tmp_path, json.dumps(GOOD, ensure_ascii=False))
    assert [each.id for each in lines.found] == ["blue__words-1", "blue__words-2"]
    assert [each.id for each in listed.found] == ["blue__words-1", "blue__words-2"]
    assert raw.found[0].problem == "Mend it.\u2028Please."
    assert lines.problems == listed.problems == raw.problems == ()
    assert (lines.found[1].place, listed.found[1].place) == (
        "all.json, line 3",
        "all.json, entry 2",
    )
    first = lines.found[0]
    assert first.named == Named(fail_to_pass=("tests/test_a.py::test_b",), pass_to_pass=())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"patch": None}, 'blue__words-1: "patch" is missing'),
        ({"problem_statement": "\n"}, 'blue__words-1: "problem_statement" is empty'),
        ({"instance_id": 5}, '"instance_id" must be a text'),
        ({"test_patch": ["a"]}, 'blue__words-1: "test_patch" must be a text'),
        ({"base_commit": "HEAD"}, "blue__words-1: \"base_commit\" is no commit id: 'HEAD'"),
        ({"patch": "\ud800"}, 'blue__words-1: "patch" holds half a character'),
        ({"FAIL_TO_PASS": "test_a"}, '"FAIL_TO_PASS" must be a list of texts'),
        ({"PASS_TO_PASS": [1]}, '"PASS_TO_PASS" must be a list of texts'),
        ({"FAIL_TO_PASS": {"a": 1}}, '"FAIL_TO_PASS" must be a list of texts'),
    ],
)
def test_what_is_wrong_with_one_stops_no_other(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    good = GOOD | {"instance_id": "fine"}
    read_in = read(tmp_path, f"{json.dumps(GOOD | change)}\n{json.dumps(good)}")
    assert [each.id for each in read_in.found] == ["fine"]
    (problem,) = read_in.problems
    assert problem.startswith("all.json, line 1: ")
    assert says in problem


def test_every_problem_of_one_instance_is_told(tmp_path: Path) -> None:
    problems = read(tmp_path, '{"instance_id": "x"}').problems
    assert [each.rpartition(": x: ")[2] for each in problems] == [
        '"base_commit" is missing', '"patch" is missing', '"problem_statement" is missing',
    ]  # fmt: skip


def test_what_is_no_instance_at_all(tmp_path: Path) -> None:
    read_in = read(tmp_path, '{"a": 1\n3\n' + "[" * 100_000)
    assert [each.partition(": ")[2][:17] for each in read_in.problems] == [
        "not JSON: Expecti", "not an object of ", "not JSON: maximum",
    ]  # fmt: skip
    assert read(tmp_path, "[1, {}").problems[0].startswith("all.json: not JSON")
    assert read(tmp_path, "[1]").problems == (
        "all.json, entry 1: not an object of names and values",
    )
    for nothing in ("", " \n", "[]"):
        with pytest.raises(InputError, match="holds no instance"):
            read(tmp_path, nothing)
    with pytest.raises(InputError, match="no file"):
        read_swebench(tmp_path / "gone")


def test_an_id_that_stands_there_twice_is_nobody_s(tmp_path: Path) -> None:
    read_in = read(tmp_path, f"{json.dumps(GOOD)}\n{json.dumps(GOOD)}")
    assert read_in.found == ()
    assert read_in.problems == ("all.json: instance blue__words-1 stands there more than once",)


def test_tests_are_compared_by_as_much_as_is_named() -> None:
    found = (["t/a.py::C::test_b[1]", "t/a.py::test_c"], ["t/a.py::test_d"])

    def told(**named: tuple[str, ...]) -> list[str]:
        return list(differences(Named(**named), *found))

    assert told() == []
    assert told(fail_to_pass=("t/a.py::C::test_b[1]", "t/a.py::test_c")) == []
    assert told(fail_to_pass=("test_b[1]", "test_c (t.a.C)")) == []
    assert told(fail_to_pass=(*found[0], "t/z.py::test_c")) == [
        "1 test (t/z.py::test_c) should begin to pass, and did not or was not run"
    ]
    assert told(fail_to_pass=(*found[0], *found[1])) == [
        "1 test (t/a.py::test_d) should fail at the base, and did not"
    ]
    assert told(fail_to_pass=()) == [
        "2 tests (t/a.py::C::test_b[1], t/a.py::test_c) began to pass, and the instance does not "
        "say so"
    ]
    assert told(pass_to_pass=("t/other.py::test_x", "t/a.py::test_c")) == [
        "1 test (t/a.py::test_c) should pass at the base, and did not"
    ]


NAMES = st.one_of(st.none(), st.lists(st.text(max_size=8), max_size=4))


@given(NAMES, NAMES)
def test_what_is_named_is_kept_beside_a_draft(
    tmp_path_factory: pytest.TempPathFactory, begin: list[str] | None, still: list[str] | None
) -> None:
    values = GOOD | {"FAIL_TO_PASS": begin, "PASS_TO_PASS": json.dumps(still)}
    (one,) = read(tmp_path_factory.mktemp("file"), json.dumps(values)).found
    named = read_named(named_text(one).encode())
    assert named == one.named
    assert named.fail_to_pass == (None if begin is None else tuple(begin))
    assert list(differences(named, begin or [], still or [])) == [] or set(begin or []) & set(
        still or []
    )


@pytest.mark.parametrize("damaged", [b"", b"[]", b"{", b'{"fail_to_pass": 3}', b"\xff"])
def test_a_damaged_list_names_nothing(damaged: bytes) -> None:
    assert read_named(damaged) == Named()
