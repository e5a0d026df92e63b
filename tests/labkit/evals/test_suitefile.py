"""Suite files: what is read, what is told, and that a malformed case takes nothing down."""

import json
import os
import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.evals import EvalCase, EvalSuite, Split
from labkit.evals.bundled import write_bundled
from labkit.evals.suitefile import Form, read_suite, read_suite_file
from labkit.evals.suitewriting import suite_values
from labkit.graders import Tools
from labkit.nodes import dump_yaml

EXACT = {"name": "exact"}
WHOLE = """\
name: capitals
grader: {name: exact}

cases:
  - id: france
    inputs: the capital of France
    reference: Paris
    slices: [europe]
    tags: [safety]
    split: train
  - id: "007"
    inputs: {question: "1:30", parts: [1, -2.5, 1.0e-07, true, null, "", "no"]}
    reference: ["010", 10]
    grader:
      name: contains_all
      words: [a, b]
    forbidden: ["tests/**"]
    folder: files/seven
"""
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inside, max_size=4)
    ),
    max_leaves=12,
)


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def laid(folder: Path, content: str = WHOLE) -> Path:
    write(folder / "files" / "seven" / "app.py", "x = 1\n")
    return write(folder / "suite.yaml", content)


def jsonl(cases: list[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)


def problem(tmp_path: Path, case: str) -> str:
    """Return what is told of a case (YAML below the dash) beside a sound one."""
    path = write(
        tmp_path / "s.yaml",
        f"cases:\n  - {{id: sound, grader: {{name: exact}}}}\n  - {case}\n",
    )
    found = read_suite(path)
    sound = [one for one in found.suite.cases if one.id == "sound"]
    assert not sound[0].problem
    assert len(found.suite.cases) == 2
    (told,) = found.problems
    return told


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    found = read_suite(laid(tmp_path))
    seven, france = found.suite.cases
    assert (found.suite.name, found.form, found.problems) == ("capitals", Form.YAML, ())
    assert france == EvalCase(
        "france",
        inputs="the capital of France",
        reference="Paris",
        grader_spec=EXACT,
        slices=("europe",),
        tags=("safety",),
        split=Split.TRAIN,
    )
    assert seven == EvalCase(
        "007",
        inputs={"question": "1:30", "parts": [1, -2.5, 1e-7, True, None, "", "no"]},
        reference=["010", 10],
        grader_spec={"name": "contains_all", "words": ["a", "b"]},
        folder=tmp_path / "files" / "seven",
        forbidden=("tests/**",),
        split=Split.VAL,
    )


def test_a_folder_is_its_suite_yaml_and_is_called_like_the_folder(tmp_path: Path) -> None:
    laid(tmp_path / "mine", WHOLE.replace("name: capitals\n", ""))
    found = read_suite_file(tmp_path / "mine")
    assert found.name == "mine"
    assert found == read_suite_file(tmp_path / "mine" / "suite.yaml")


def test_the_same_cases_have_one_version_in_every_form(tmp_path: Path) -> None:
    suite = read_suite_file(laid(tmp_path))
    values = suite_values(suite.name, suite.cases, tmp_path)
    for name, text in {
        "whole.json": json.dumps(values),
        "list.json": json.dumps(values["cases"]),
        "cases.jsonl": "\n" + jsonl(values["cases"]) + "\n",
        "again.yaml": dump_yaml(values),
        "mark.json": "\ufeff" + json.dumps(values).replace("\n", "\r\n"),
    }.items():
        found = read_suite(write(tmp_path / name, text))
        assert found.problems == ()
        assert found.suite.version == suite.version
        assert [case.split for case in found.suite.cases] == [case.split for case in suite.cases]


@given(value=VALUES, reference=VALUES)
def test_any_json_value_survives_every_form(
    tmp_path_factory: pytest.TempPathFactory, value: object, reference: object
) -> None:
    case = EvalCase("one", inputs=value, reference=reference, grader_spec=EXACT)
    version = EvalSuite([case]).version
    folder = tmp_path_factory.mktemp("values")
    values = suite_values("s", [case], folder)
    for name, text in {
        "s.json": json.dumps(values, ensure_ascii=False),
        "s.jsonl": jsonl(values["cases"]),
        "s.yaml": dump_yaml(values),
    }.items():
        found = read_suite(write(folder / name, text))
        assert found.problems == ()
        assert found.suite.version == version


@given(
    ids=st.lists(st.text("abc", min_size=1, max_size=3), min_size=2, max_size=6, unique=True),
    seed=st.integers(0, 1000),
)
def test_the_order_of_cases_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], seed: int
) -> None:
    cases: list[Mapping[str, Any]] = [
        {"id": name, "inputs": name * 2, "grader": EXACT, "slices": ["x", "y"]} for name in ids
    ]
    shuffled = random.Random(seed).sample(cases, len(cases))  # noqa: S311 - an order
    folder = tmp_path_factory.mktemp("order")
    one = read_suite_file(write(folder / "one.jsonl", jsonl(cases)))
    other = read_suite_file(write(folder / "other.jsonl", jsonl(shuffled)))
    assert one.version == other.version
    assert one.cases == other.cases


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ("{inputs: 1, grader: {name: exact}}", 's.yaml, cases 2, line 3: no "id"'),
        ("{id: '  ', grader: {name: exact}}", '"id" is empty'),
        ("{id: 010, grader: {name: exact}}", 'put it in quotes: "010"'),
        (f"{{id: {'x' * 300}, grader: {{name: exact}}}}", "at most 200 characters"),
        ("{id: a, inputs: no, grader: {name: exact}}", "line 3: readers of YAML disagree about no"),
        ("{id: a, inputs: {x: [010]}, grader: {name: exact}}", 'put it in quotes: "010"'),
        ("{id: a, inputs: 1:30, grader: {name: exact}}", "disagree about 1:30"),
        ("{id: a, inputs: 1e5, grader: {name: exact}}", "disagree about 1e5"),
        ("{id: a, inputs: 2020-01-01, grader: {name: exact}}", "disagree about 2020-01-01"),
        ("{id: a, inputs: , grader: {name: exact}}", "there is no value: write null"),
        ("{id: a, inputs: {no: 1}, grader: {name: exact}}", 'put the name in quotes: "no"'),
        ("{id: a, inputs: {b: 1, b: 2}, grader: {name: exact}}", "'b' is written twice"),
        ("{id: a, inputs: 1.0e+999, grader: {name: exact}}", "too large for a number"),
        ('{id: a, inputs: "\\ud800", grader: {name: exact}}', "half of a character"),
        ("{id: a}", 'no "grader": write "grader": {"name": "exact"}'),
        ("{id: a, grader: exact}", '"grader" is no mapping'),
        ("{id: a, split: tset, grader: {name: exact}}", 'did you mean "test"?'),
        ("{id: a, refrence: 1, grader: {name: exact}}", 'did you mean "reference"?'),
        ("{id: a, slices: x, grader: {name: exact}}", '"slices" must be a list: ["x"]'),
        ("{id: a, folder: ../b, grader: {name: exact}}", "must be a folder below the suite's own"),
        ("{id: a, folder: /etc, grader: {name: exact}}", "must be a folder below the suite's own"),
        ("{id: a, folder: gone, grader: {name: exact}}", "no folder"),
        ("5", "line 3: this must be a mapping: id: ..."),
    ],
)
def test_a_malformed_case_is_told_with_its_line_and_takes_nothing_down(
    tmp_path: Path, case: str, says: str
) -> None:
    told = problem(tmp_path, case)
    assert says in told
    assert told.startswith("s.yaml, cases 2")


def test_all_problems_of_a_case_are_told(tmp_path: Path) -> None:
    told = problem(tmp_path, "{id: a, inputs: no, split: tset, refrence: 1}")
    assert told.count("; ") == 3
    for word in ("about no", "'tset'", "refrence", '"grader"'):
        assert word in told


def test_a_link_in_a_cases_folder_is_its_problem(tmp_path: Path) -> None:
    path = laid(tmp_path)
    (tmp_path / "files" / "seven" / "link").symlink_to("/etc/passwd")
    (told,) = read_suite(path).problems
    assert "neither a file nor a folder: replace links" in told


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "s.jsonl, line 2: not JSON"),
        ('{"id": "a", "inputs": NaN, "grader": {"name": "exact"}}', "NaN is no number"),
        ('{"id": "a", "inputs": 1e999, "grader": {"name": "exact"}}', "which a suite cannot pin"),
        ('{"id": "a", "inputs": {"b": 1, "b": 2}, "grader": {"name": "exact"}}', "'b' is written"),
        ('{"id": "a", "id": "b", "grader": {"name": "exact"}}', "'id' is written twice"),
        ('{"id": 7, "grader": {"name": "exact"}}', '"id" must be a text'),
        ('{"id": "a", "inputs": "\\ud800", "grader": {"name": "exact"}}', "half of a character"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": "a", "grader": {"name": "exact"}, "inputs": ' + "[" * 60 + "]" * 60 + "}", "deep"),
        ("7", "s.jsonl, line 2: a case is a mapping"),
        ("[]", "s.jsonl, line 2: a case is a mapping"),
        ("{}", 'no "id"'),
    ],
)
def test_a_malformed_line_takes_nothing_down(tmp_path: Path, line: str, says: str) -> None:
    sound = json.dumps({"id": "sound", "grader": EXACT})
    found = read_suite(write(tmp_path / "s.jsonl", f"{sound}\n{line}\n"))
    (told,) = found.problems
    assert says in told
    assert "line 2" in told
    assert len(found.suite.cases) == 2


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("s.yaml", "cases: [", ("s.yaml, line", "not YAML")),
        ("s.yaml", "", ("s.yaml is empty",)),
        ("s.yaml", "cases: []\n", ("there is no case in it",)),
        ("s.yaml", "name: x\n", ("there is no case in it",)),
        ("s.yaml", "cases: [&a {id: b}, *a]\n", ("anchors and aliases",)),
        ("s.yaml", b"cases: \xff\n", ("not UTF-8",)),
        ("s.yaml", "grader: 3\ncase: []\n", ("unknown field", '"grader" must be a mapping')),
        (
            "s.yaml",
            "cases: [{id: a, grader: {name: exact}}, {id: a, grader: {name: exact}}, {id: a}]",
            ("3 cases are called a",),
        ),
        ("s.json", "{", ("s.json: not JSON",)),
        ("s.json", '{"cases": {}}', ('"cases" must be a list',)),
        ("s.json", '{"cases": [], "grader": 1, "nam": "x"}', ("unknown field", "a mapping")),
        ("s.json", "7", ("neither a mapping nor a list",)),
        ("s.json", "[]", ("there is no case in it",)),
        ("s.json", b"[\n\n\xff]", ("s.json, line 3: not UTF-8",)),
        ("s.jsonl", "\n\n", ("there is no case in it",)),
        ("s.txt", "x", ("its name ends in .txt",)),
    ],
)
def test_what_is_no_suite_is_one_error(
    tmp_path: Path, name: str, content: str | bytes, says: tuple[str, ...]
) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(InputError) as caught:
        read_suite(path)
    told = "\n".join(caught.value.problems)
    for words in says:
        assert words in told


def test_a_folder_of_fixture_tasks_is_a_suite(tmp_path: Path) -> None:
    write_bundled(tmp_path / "five")
    found = read_suite(tmp_path / "five")
    assert (found.suite.name, found.form, found.problems) == ("five", Form.FIXTURES, ())
    assert len(found.suite.cases) == 5
    assert found.runs == tmp_path / "five-runs"
    task = tmp_path / "five" / found.suite.cases[0].id / "task.yaml"
    task.write_text(task.read_text() + "tagss: []\n")
    again = read_suite(tmp_path / "five")
    (told,) = again.problems
    assert 'unknown field "tagss", did you mean "tags"?' in told
    assert len(again.suite.cases) == 5


def test_a_task_with_a_setup_is_not_run_without_it(tmp_path: Path) -> None:
    for tree in ("buggy", "expected"):
        write(tmp_path / "a" / tree / "x.txt", tree)
    verifier = "verifier: {name: file_equals, path: x.txt}"
    write(tmp_path / "a" / "task.yaml", f"goal: Mend it.\nsetup: [make]\n{verifier}\n")
    found = read_suite(tmp_path)
    assert found.problems == ()
    (case,) = read_suite_file(tmp_path).cases
    assert case.problem == "its setup has not been run"
    assert read_suite_file(tmp_path).version == found.suite.version
    (case,) = found.set_up({"a"}, Tools(), tmp_path / "made").cases
    assert "its setup failed: it needs a sandbox" in case.problem
    (case,) = found.set_up((), Tools(), tmp_path / "made").cases
    assert not case.problem


def test_a_folder_needs_one_suite(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no suite\.yaml, and no folder with a task\.yaml"):
        read_suite(tmp_path)
    laid(tmp_path)
    write(tmp_path / "suite.json", "[]")
    with pytest.raises(InputError, match=r"holds suite\.yaml and suite\.json"):
        read_suite(tmp_path)
    with pytest.raises(InputError, match="no file"):
        read_suite(tmp_path / "gone.yaml")


@pytest.mark.parametrize("field", ["slices", "tags", "forbidden"])
@pytest.mark.parametrize("value", [["\ud800"], "\ud800", ["a", {"\ud800": 1}]])
@pytest.mark.parametrize("name", ["suite.json", "suite.yaml"])
def test_half_a_character_anywhere_takes_its_case_down_alone(
    tmp_path: Path, field: str, value: object, name: str
) -> None:
    cases = [{"id": "good", "grader": EXACT}, {"id": "bad", "grader": EXACT, field: value}]
    found = read_suite(write(tmp_path / name, json.dumps({"name": "s", "cases": cases})))
    assert [case.id for case in found.suite.cases if not case.problem] == ["good"]
    assert len(found.suite.version) == 16
    found.problems[0].encode()


def test_a_folder_with_a_name_that_is_no_text_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    odd = os.fsencode(tmp_path / "odd") + b"/\xff"
    try:
        os.close(os.open(odd, os.O_CREAT | os.O_WRONLY))
    except OSError:
        pytest.skip("this file system takes no such name")
    cases = [{"id": "a", "grader": EXACT, "folder": "odd"}]
    found = read_suite(write(tmp_path / "suite.json", json.dumps(cases)))
    assert "no name in UTF-8" in found.problems[0]


def test_brackets_without_end_are_refused_at_once(tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(InputError, match="nested too deeply"):
        read_suite(write(tmp_path / "suite.yaml", "cases: " + "[" * 50_000))
    assert time.monotonic() - begun < 5
