"""Fixture tasks: read from a folder, told of wholly when they are wrong, the same as cases."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.evals import EvalSuite, Split
from labkit.evals.fixtures import NOT_SET_UP, is_fixtures, read_fixtures
from labkit.evals.verifiers import VerifierRegistry
from labkit.graders import Case, Output, Tools

TASK = """\
goal: Mend add.
verifier: {name: file_equals, path: calc.py}
"""
WHOLE = """\
id: mend-add
goal: Mend add.
setup: ["python3 make.py"]
verifier:
  name: pytest_passes
  tests: [tests, test_more.py]
  timeout: 5
slices: [python]
tags: [safety]
forbidden: ["tests/", "*.md"]
split: train
"""
SAME = "name: file_equals, path: calc.py"
OUTSIDE = "write it relative to the folder, with no . or .. in it"
FILES = {"buggy/calc.py": "a - b\n", "expected/calc.py": "a + b\n"}


def lay(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def told(folder: Path) -> list[str]:
    with pytest.raises(InputError) as error:
        read_fixtures(folder)
    return list(error.value.problems)


@pytest.mark.parametrize("form", ["task.yaml", "task.yml", "task.json"])
def test_a_task_is_read(tmp_path: Path, form: str) -> None:
    text = WHOLE
    if form == "task.json":
        spec = {"name": "pytest_passes", "tests": ["tests", "test_more.py"], "timeout": 5}
        values = {
            "id": "mend-add",
            "goal": "Mend add.",
            "setup": ["python3 make.py"],
            "verifier": spec,
            "slices": ["python"],
            "tags": ["safety"],
            "forbidden": ["tests/", "*.md"],
            "split": "train",
        }
        text = json.dumps(values, indent="\t")
    tests = {"tests/test_a.py": "x", "tests/data/a.txt": "1\n", "test_more.py": "y"}
    lay(tmp_path / "mend-add", {form: text, **FILES, **tests})
    (task,) = read_fixtures(tmp_path)
    assert (task.id, task.goal, task.split) == ("mend-add", "Mend add.", Split.TRAIN)
    assert (task.slices, task.tags, task.setup) == (
        ("python",),
        ("safety",),
        ("python3 make.py",),
    )
    assert task.forbidden == ("tests/", "*.md")
    assert read_fixtures(tmp_path / "mend-add") == (task,)
    case = task.case(tmp_path)
    assert dict(case.grader_spec) == {"name": "pytest_passes", "files": tests, "timeout": 5}
    assert (case.inputs, case.folder, case.safety, case.problem) == (
        "Mend add.",
        tmp_path,
        True,
        "",
    )
    assert task.case().problem == NOT_SET_UP


def test_what_is_expected_may_lie_in_its_folder(tmp_path: Path) -> None:
    nested = f'{{name: all_of, graders: [{{{SAME}}}, {{{SAME}, expected: "x"}}]}}'
    lay(tmp_path / "one", {"task.yaml": TASK, **FILES})
    lay(tmp_path / "two", {"task.yaml": f"goal: x\nverifier: {nested}\n", **FILES})
    one, two = read_fixtures(tmp_path)
    filled = {"name": "file_equals", "path": "calc.py", "expected": "a + b\n"}
    assert one.case().grader_spec == filled
    assert two.case().grader_spec == {
        "name": "all_of",
        "graders": [filled, {**filled, "expected": "x"}],
    }


def test_every_problem_of_every_task_is_told_at_once(tmp_path: Path) -> None:
    lay(tmp_path, {"README.md": "not a task", ".git/config": "x", "__pycache__/x.pyc": "x"})
    lay(tmp_path / "a", {"task.yaml": "gaol: x\nsplit: tset\nsetup: make\n", **FILES})
    lay(tmp_path / "b", {"task.json": '{"goal": "x", "goal": "y", "verifier": "exact"}', **FILES})
    lay(tmp_path / "c", {"task.yaml": "- x\n"})
    lay(tmp_path / "d", {"buggy/x": "x"})
    lay(tmp_path / "e", {"task.yaml": TASK, "task.json": "{}"})
    lay(tmp_path / "F_x", {"task.yaml": TASK + 'id: g\nforbidden: ["!x", "["]\n', **FILES})
    lay(tmp_path / "h", {"task.json": "[1]"})
    lay(tmp_path / "i", {"task.json": "{"})
    assert told(tmp_path) == [
        "F_x/task.yaml, line 3: \"id\" is 'g', but the file is called F_x",
        "F_x/task.yaml: task id 'F_x' is not allowed (use lower-case letters and digits, joined by "
        "single hyphens: bug-17 (at most 60 characters))",
        "F_x/task.yaml, line 4: '!x' begins with !: nothing can be taken out again, list what you "
        "mean",
        "F_x/task.yaml, line 4: '[' is not a pattern: [ needs a list of characters and a ]",
        'a/task.yaml: no "goal:"',
        'a/task.yaml: no "verifier:"',
        'a/task.yaml, line 3: "setup" must be a list: ["make"]',
        'a/task.yaml, line 2: "split" is \'tset\': did you mean "test"?',
        'a/task.yaml, line 1: unknown field "gaol", did you mean "goal"?',
        "b/task.json: 'goal' is written twice",
        'b/task.json: "verifier" must be a mapping with a name: {name: pytest_passes, tests: '
        "[tests]}",
        "c/task.yaml, line 1: there is no mapping of names to values in it",
        "d holds buggy/ and no task.yaml: write one, or move it away",
        "e holds task.yaml and task.json: keep one",
        "h/task.json: a task is a mapping",
        "i/task.json, line 1, column 2: not JSON: Expecting property name enclosed in double "
        "quotes",
    ]


@pytest.mark.parametrize(
    ("verifier", "files", "problems"),
    [
        ("{name: exact}", {}, ["no folder buggy/ beside it", "no folder expected/ beside it"]),
        (
            "{name: pytest_passes, tests: [tests, ../x, buggy, expected/test_a.py, /etc]}",
            FILES,
            [
                "pytest_passes: tests cannot be read: No such file or directory",
                f"pytest_passes: a path in tests is '../x': {OUTSIDE}",
                "pytest_passes: buggy must lie beside buggy/, where no candidate sees it",
                "pytest_passes: expected/test_a.py must lie beside buggy/, where no candidate sees "
                "it",
                f"pytest_passes: a path in tests is '/etc': {OUTSIDE}",
            ],
        ),
        (
            "{name: pytest_passes, tests: tests}",
            FILES,
            ['pytest_passes: "tests" must be a list of paths: [tests]'],
        ),
        (
            "{name: pytest_passes, tests: [x], files: {test_a.py: x}}",
            FILES,
            ["pytest_passes: write tests or files, not both"],
        ),
        (
            "{name: file_equals, path: gone.py}",
            FILES,
            ["file_equals: expected/gone.py cannot be read: No such file or directory"],
        ),
    ],
)
def test_what_a_task_lacks_is_told(
    tmp_path: Path, verifier: str, files: Mapping[str, str], problems: list[str]
) -> None:
    lay(tmp_path / "a", {"task.yaml": f"goal: x\nverifier: {verifier}\n", **files})
    assert told(tmp_path) == [f"a/task.yaml: {problem}" for problem in problems]


def test_a_solution_that_is_forbidden_is_told(tmp_path: Path) -> None:
    lay(tmp_path / "a", {"task.yaml": TASK + "forbidden: ['calc.*']\n", **FILES})
    assert told(tmp_path) == ["a/task.yaml: expected/ changes what is forbidden: calc.py"]


def test_links_and_texts_that_are_none_are_told(tmp_path: Path) -> None:
    lay(tmp_path / "a", {"task.yaml": TASK, **FILES})
    (tmp_path / "a/expected/calc.py").write_bytes(b"\xff")
    (tmp_path / "a/buggy/link").symlink_to("calc.py")
    assert told(tmp_path) == [
        f"a/task.yaml: {tmp_path}/a/buggy/link is neither a file nor a folder",
        "a/task.yaml: file_equals: expected/calc.py is no UTF-8 text",
    ]


def test_where_there_is_no_task_that_is_said(tmp_path: Path) -> None:
    assert told(tmp_path / "gone") == [f"no folder {tmp_path / 'gone'}"]
    assert told(tmp_path) == [f"{tmp_path} holds no task"]
    assert not is_fixtures(tmp_path)
    lay(tmp_path / "a", {"task.yaml": TASK, **FILES})
    assert is_fixtures(tmp_path)
    assert is_fixtures(tmp_path / "a")


@given(
    goal=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip),
    words=st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), max_size=2),
    split=st.sampled_from(Split),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_json_task_says_what_was_written(
    tmp_path: Path, goal: str, words: list[str], split: Split
) -> None:
    values = {
        "goal": goal,
        "verifier": {"name": "contains_all", "words": words, "path": "calc.py"},
        "slices": words,
        "split": split,
    }
    lay(tmp_path / "a", {"task.json": json.dumps(values), **FILES})
    (task,) = read_fixtures(tmp_path)
    assert (task.goal, task.slices, task.split) == (goal, tuple(words), split)
    assert task.verifier == values["verifier"]


def test_the_version_is_that_of_the_tasks_own_files(tmp_path: Path) -> None:
    def version(start: Path | None = None, problem: str = "") -> str:
        return EvalSuite(
            [task.case(start, problem=problem) for task in read_fixtures(tmp_path)]
        ).version

    spec = WHOLE.replace(", test_more.py", "").replace("id: mend-add\n", "")
    lay(tmp_path / "a", {"task.yaml": spec, **FILES, "tests/test_a.py": "x"})
    first = version()
    assert version(lay(tmp_path.parent / "made", {"b": "c"})) == first
    assert version(problem="its setup failed") == first
    seen = {first}
    for name, text in {
        "buggy/calc.py": "a * b\n",
        "tests/test_a.py": "y",
        "tests/data.txt": "z",
        "task.yaml": spec.replace("make.py", "other.py"),
    }.items():
        lay(tmp_path / "a", {name: text})
        assert version() not in seen
        seen.add(version())
    lay(tmp_path / "a", {"notes.txt": "nothing of it counts", "expected/calc.py": "other"})
    assert version() in seen


def test_a_check_of_ones_own_is_a_verifier(tmp_path: Path) -> None:
    registry = VerifierRegistry()
    registry.register_check("has_readme", lambda folder: (folder / "README.md").exists())
    assert {"file_equals", "regex_match", "shell_exit_zero", "pytest_passes", "has_readme"} <= set(
        registry.names()
    )
    grader = registry.build({"name": "has_readme"}, tools=Tools())
    assert grader(Output(folder=tmp_path), Case(id="a")).passed is False
    assert grader(Output(), Case(id="a")).passed is False
    lay(tmp_path, {"README.md": ""})
    assert grader(Output(folder=tmp_path), Case(id="a")).passed
    with pytest.raises(InputError, match="already a grader called has_readme"):
        registry.register_check("has_readme", lambda _: True)


def test_a_task_made_in_code_tells_what_its_folder_lacks(tmp_path: Path) -> None:
    lay(tmp_path / "a", {"task.yaml": TASK, **FILES})
    (task,) = read_fixtures(tmp_path)
    lost = replace(task, verifier={"name": "file_equals", "path": "gone.py"})
    assert lost.case().problem == (
        "file_equals: expected/gone.py cannot be read: No such file or directory"
    )
