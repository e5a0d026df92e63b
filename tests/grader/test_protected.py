"""What of a changed tree may take part in grading."""

from pathlib import Path

import pytest
from gradings import BASE, Files, make_set

from labkit.archive import Entry, Kind
from labkit.model import Category
from labkit_grader.protected import guard, lay


def tree_of(files: Files) -> dict[bytes, Entry]:
    tree = {}
    for path, content in files.items():
        if content is not None:
            link = isinstance(content, str) and content.startswith("-> ")
            kind = Kind.SYMLINK if link else Kind.FILE
            data = content.encode() if isinstance(content, str) else content
            tree[path.encode()] = Entry(path=path.encode(), kind=kind, data=data)
    return tree


def guarded(
    tmp_path: Path, base: Files, changes: Files, **task: object
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the files that grading sees and what was neutralised."""
    case = make_set(tmp_path, **task).case  # type: ignore[arg-type] # fields of a task
    found = guard(tree_of(base), tree_of({**base, **changes}), case.task)
    return {
        path.decode(): entry.data.decode() for path, entry in found.tree.items()
    }, found.neutralised


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "pkg/conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        "sitecustomize.py",
        "usercustomize/__init__.py",
        "evil.pth",
        "evil-1.0.dist-info/entry_points.txt",
        "evil.egg-info/PKG-INFO",
        "pytest.py",
        "json.py",
        "json/__init__.py",
        "src/json.py",
        "pluggy/__init__.py",
        "json.cpython-311-x86_64-linux-gnu.so",
        "__pycache__/conftest.cpython-311-pytest-9.2.0.pyc",
        "pkg/__pycache__/mod.cpython-311.pyc",
        "tests/helper.py",
        "pkg/tests/test_more.py",
        "tests",
        "evals/labkit.yaml",
    ],
)
def test_an_added_file_that_could_steer_grading_is_removed(tmp_path: Path, path: str) -> None:
    base: Files = {"calc.py": "", "pkg/mod.py": ""}
    files, named = guarded(tmp_path, base, {path: "x"})
    assert files == base
    assert named == (f"{path}: removed",)


@pytest.mark.parametrize(
    "path",
    [
        "new.py",
        "pkg/json.py",
        "site/index.html",
        "docs/pytest.md",
        "setup.py",
        "notes/test.txt",
        "pyproject.toml",
        "tox.ini",
    ],
)
def test_an_ordinary_new_file_stays(tmp_path: Path, path: str) -> None:
    files, named = guarded(tmp_path, {"calc.py": ""}, {path: "[project]\n"})
    assert path in files
    assert named == ()


def test_changed_and_deleted_protected_files_are_put_back(tmp_path: Path) -> None:
    base: Files = {"conftest.py": "old", "tests/test_a.py": "old", "calc.py": "old"}
    files, named = guarded(
        tmp_path, base, {"conftest.py": "new", "tests/test_a.py": None, "calc.py": "new"}
    )
    assert files == {**base, "calc.py": "new"}
    assert named == (
        "conftest.py: put back as at the base",
        "tests/test_a.py: put back as at the base",
    )


@pytest.mark.parametrize("path", ["pyproject.toml", "setup.cfg", "tox.ini"])
@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("[a]\nb = 1\n", "[a]\nb = 2\n", True),
        ("[tool.pytest]\n", "[tool.pytest]\naddopts = '-x'\n", False),
        ("[a]\n", "[tool.pytest.ini_options]\naddopts = '-x'\n", False),
        ("[tool.pytest]\n", "[a]\n", False),
        ("[a]\n", "[a\n[pytest]", False),
    ],
    ids=["other section", "changed", "added", "lost", "broken"],
)
def test_shared_settings_are_put_back_when_pytests_part_changes(
    tmp_path: Path, path: str, old: str, new: str, *, kept: bool
) -> None:
    files, named = guarded(tmp_path, {path: old}, {path: new})
    assert files[path] == (new if kept else old)
    assert named == (() if kept else (f"{path}: put back as at the base",))


def test_a_module_of_the_project_may_have_a_standard_name(tmp_path: Path) -> None:
    files, named = guarded(tmp_path, {"calendar.py": "old"}, {"calendar.py": "new"})
    assert files["calendar.py"] == "new"
    assert named == ()


def test_only_the_allowed_paths_keep_their_changes(tmp_path: Path) -> None:
    base: Files = {"a/x.py": "old", "b/x.py": "old", "tests/t.py": "old"}
    files, _ = guarded(
        tmp_path, base, dict.fromkeys(base, "new"), allowed=("a/", "tests/"), forbidden=()
    )
    assert files == {"a/x.py": "new", "b/x.py": "old", "tests/t.py": "new"}


@pytest.mark.parametrize(
    ("grading", "allowed", "content"),
    [
        ("sh ./ci//run.sh {report}", (), "old"),
        ("sh ci/run.sh --out={report}", ("ci/",), "new"),
        ("sh other.sh {report} ci", (), "new"),
        ("python -m pytest ci/run.sh", (), "new"),
    ],
    ids=["named", "allowed", "not named", "another runner"],
)
def test_the_file_that_a_command_names_runs_as_at_the_base(
    tmp_path: Path, grading: str, allowed: tuple[str, ...], content: str
) -> None:
    base: Files = {"ci/run.sh": "old"}
    files, named = guarded(
        tmp_path, base, {"ci/run.sh": "new"}, grading=grading, allowed=allowed, forbidden=()
    )
    assert files == {"ci/run.sh": content}
    assert named == (() if content == "new" else ("ci/run.sh: put back as at the base",))


def test_in_a_tests_task_tests_and_their_fixtures_are_the_work(tmp_path: Path) -> None:
    changes: Files = {"tests/test_a.py": "new", "tests/conftest.py": "new", "conftest.py": "new"}
    files, named = guarded(
        tmp_path, {"calc.py": ""}, changes, category=Category.TESTS, forbidden=("calc.py",)
    )
    assert files.keys() == {"calc.py", "tests/test_a.py", "tests/conftest.py"}
    assert named == ("conftest.py: removed",)


def test_a_file_in_place_of_a_folder_gives_way_to_what_is_put_back(tmp_path: Path) -> None:
    base: Files = {"pkg/conftest.py": "old", "pkg/a.py": "old"}
    files, named = guarded(tmp_path, base, {**dict.fromkeys(base), "pkg": "new"})
    assert files == {"pkg/conftest.py": "old"}
    assert named[-1] == "pkg: removed, it stood in the way of a protected file or a test"


@pytest.mark.parametrize(
    ("standing", "named"),
    [
        ({"tests": "-> src"}, "tests"),
        ({"tests": "a file"}, "tests"),
        ({"tests/test_h.py/inner.py": "a folder"}, "tests/test_h.py/inner.py"),
        ({"tests/test_h.py": "-> ../calc.py"}, "tests/test_h.py"),
    ],
    ids=["link for folder", "file for folder", "folder for file", "link for file"],
)
def test_hidden_tests_are_laid_over_whatever_stands_there(standing: Files, named: str) -> None:
    hidden = Entry(path=b"tests/test_h.py", kind=Kind.FILE, data=b"hidden")
    laid = lay(tree_of({"calc.py": "", **standing}), [hidden])
    assert laid.tree.keys() == {b"calc.py", b"tests/test_h.py"}
    assert laid.tree[b"tests/test_h.py"] == hidden
    assert laid.neutralised == (
        f"{named}: removed, it stood in the way of a protected file or a test",
    )


def test_replacing_a_plain_test_is_not_worth_a_word() -> None:
    hidden = Entry(path=b"tests/test_a.py", kind=Kind.FILE, data=b"hidden")
    laid = lay(tree_of(BASE) | {b"tests/test_a.py": hidden}, [hidden])
    assert laid.neutralised == ()
