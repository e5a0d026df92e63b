"""Diffs as people and broken tools hand them in, put on a base."""

import string
from pathlib import Path

import pytest
from gradings import BASE, CALC, FIXED, Files, Project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labkit.export import read_base
from labkit.patch.place import Applied, NotApplied, apply_to_base, base_tree

CRLF = CALC.replace("\n", "\r\n")


def applied(project: Project, patch: bytes) -> Applied | NotApplied:
    base = project.commit({})
    return apply_to_base(project.repository, read_base(project.repository, base), patch)


def refused(project: Project, patch: bytes) -> str:
    answer = applied(project, patch)
    assert isinstance(answer, NotApplied)
    return answer.reason


def content(project: Project, patch: bytes, path: str) -> tuple[bytes, tuple[str, ...]]:
    answer = applied(project, patch)
    assert isinstance(answer, Applied), answer
    return answer.tree[path.encode()].data, answer.repairs


def diff(project: Project, files: Files) -> bytes:
    return project.diff(project.commit({}), files)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.start(tmp_path, BASE)


def test_a_diff_applies_as_it_is(project: Project) -> None:
    patch = diff(project, {"calc.py": FIXED, "new/file.txt": "x\n", "README.md": None})
    answer = applied(project, patch)
    assert isinstance(answer, Applied)
    assert answer.tree[b"calc.py"].data == FIXED.encode()
    assert answer.tree[b"new/file.txt"].data == b"x\n"
    assert b"README.md" not in answer.tree
    assert answer.changed == (b"README.md", b"calc.py", b"new/file.txt")
    assert answer.repairs == ()


@pytest.mark.parametrize("patch", [b"", b"\n", b"\n \r\n\t"], ids=["empty", "newline", "blank"])
def test_an_empty_diff_is_the_base(project: Project, patch: bytes) -> None:
    answer = applied(project, patch)
    base = read_base(project.repository, project.commit({}))
    assert answer == Applied(tree=base_tree(base), changed=())


def test_a_lost_final_newline_is_put_back_and_told(project: Project) -> None:
    patch = diff(project, {"calc.py": FIXED}).rstrip(b"\n")
    assert content(project, patch, "calc.py") == (
        FIXED.encode(),
        ("the lost final newline was put back",),
    )


@pytest.mark.parametrize("cut", [b"", b"\n"], ids=["whole", "last newline lost too"])
def test_a_diff_with_crlf_fits_sources_with_lf(project: Project, cut: bytes) -> None:
    patch = diff(project, {"calc.py": FIXED, "new.py": "a = 1\n"}).replace(b"\n", b"\r\n")
    data, repairs = content(project, patch.removesuffix(cut), "calc.py")
    assert data == FIXED.encode()
    assert repairs[-1] == "CRLF line ends were taken as LF, which the changed files have"
    assert content(project, patch, "new.py")[0] == b"a = 1\n"


def test_a_diff_of_crlf_sources_keeps_them(project: Project) -> None:
    project.commit({"calc.py": CRLF})
    patch = diff(project, {"calc.py": CRLF.replace("a - b", "a + b")})
    assert content(project, patch, "calc.py") == (CRLF.replace("a - b", "a + b").encode(), ())


def test_a_diff_that_lost_the_crs_of_its_sources_says_so(project: Project) -> None:
    project.commit({"calc.py": CRLF})
    patch = diff(project, {"calc.py": CRLF.replace("a - b", "a + b")}).replace(b"\r", b"")
    assert (
        refused(project, patch) == "line ends differ: the diff has LF, but CRLF stands in calc.py"
    )


def test_crlf_is_not_normalised_where_a_changed_file_has_it(project: Project) -> None:
    project.commit({"other.py": CRLF})
    changes: Files = {"calc.py": FIXED, "other.py": CRLF.replace("a - b", "a + b")}
    mixed = diff(project, changes).replace(b"\r", b"").replace(b"\n", b"\r\n")
    refused(project, mixed)


def test_a_wrong_diff_of_crlf_sources_is_not_excused_by_line_ends(project: Project) -> None:
    project.commit({"calc.py": CRLF})
    patch = diff(project, {"calc.py": CRLF.replace("a - b", "a + b")}).replace(b"\r", b"")
    assert "line ends" not in refused(project, patch.replace(b"a - b", b"a * b"))


def test_binary_with_data_applies_and_without_is_named(project: Project) -> None:
    project.commit({"logo.png": b"\x89PNG\0\1"})
    base = project.commit({})
    new = project.tree({"calc.py": FIXED, "logo.png": b"\x89PNG\0\2"})
    assert content(project, project.repository.diff(base, new), "logo.png")[0] == b"\x89PNG\0\2"
    without = project.repository.git("diff", "--full-index", base, new).stdout
    assert b"Binary files" in without
    reason = "a binary file without its data: Binary files a/logo.png and b/logo.png differ"
    assert refused(project, without) == reason


@pytest.mark.parametrize(
    "path", ["my file.py", "b/normal", 'quo"te.py', "tab\t.py", "h\u00e9.txt", "new\nline.py"]
)
def test_odd_names_come_through(project: Project, path: str) -> None:
    assert content(project, diff(project, {path: "x\n"}), path)[0] == b"x\n"


def new_file(path: str, mode: str = "100644", text: str = "x") -> bytes:
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\n"
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}\n\\ No newline at end of file\n"
    ).encode()


@pytest.mark.parametrize(
    "path",
    ["../out.py", "a/../../out.py", ".git/hooks/pre-commit", "sub/.git/config", ".GIT/config",
     "/etc/cron.d/x", "git~1/config"],
)  # fmt: skip
def test_paths_that_leave_the_tree_or_enter_git_are_refused(project: Project, path: str) -> None:
    refused(project, new_file(path))


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../x", "tests/../../x", "./../x", "deep/../tests"]
)
def test_links_that_could_lead_out_are_refused(project: Project, target: str) -> None:
    assert "link" in refused(project, new_file("link", "120000", target))


def test_links_inside_the_tree_are_kept(project: Project) -> None:
    patch = new_file("docs/link", "120000", "../README.md")
    assert content(project, patch, "docs/link")[0] == b"../README.md"


def test_nothing_is_written_through_a_link(project: Project) -> None:
    patch = new_file("link", "120000", "tests") + new_file("link/escape.py")
    refused(project, patch)


def test_a_submodule_is_refused(project: Project) -> None:
    oid = project.commit({})
    patch = (
        "diff --git a/sub b/sub\nnew file mode 160000\n"
        f"index {'0' * 40}..{oid}\n--- /dev/null\n+++ b/sub\n"
        f"@@ -0,0 +1 @@\n+Subproject commit {oid}\n"
    ).encode()
    assert refused(project, patch) == "the diff adds or moves a submodule: sub"


@pytest.mark.parametrize(
    ("path", "twin"),
    [("Calc.py", "calc.py"), ("Tests/test_x.py", "tests"), ("TESTS", "tests")],
    ids=["file", "folder", "file for folder"],
)
def test_case_twins_are_refused(project: Project, path: str, twin: str) -> None:
    assert twin in refused(project, new_file(path))


def test_a_rename_that_changes_case_is_no_twin(project: Project) -> None:
    answer = applied(project, diff(project, {"README.md": None, "Readme.md": "calc\n"}))
    assert isinstance(answer, Applied)


@pytest.mark.parametrize(
    "patch",
    [b"null", b"no diff at all\n", b"\xff\xfe\0", b"diff --git a/x b/x\n@@ -1 +1 @@\n"],
    ids=["null", "prose", "bytes", "broken"],
)
def test_what_is_no_diff_is_not_applied(project: Project, patch: bytes) -> None:
    assert refused(project, patch)


def test_a_diff_of_another_state_is_not_applied_in_part(project: Project) -> None:
    patch = new_file("fine.py") + diff(project, {"calc.py": FIXED}).replace(b"a - b", b"a * b")
    assert "calc.py" in refused(project, patch)


def test_a_binary_that_unpacks_to_too_much_is_refused(project: Project) -> None:
    patch = b"diff --git a/x b/x\nGIT binary patch\nliteral 999999999999\nzc\n\n"
    assert refused(project, patch).startswith("the diff is too large: ")


names = st.text(alphabet=string.ascii_letters + " \u00e9.", min_size=1, max_size=8).filter(
    lambda name: name.strip(". ") and name.casefold() not in ("calc.py", "tests", "readme.md")
)
contents = st.binary(max_size=60)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(path=names, data=contents, calc=contents)
def test_every_true_diff_comes_back_whole_and_survives_the_lost_newline(
    project: Project, path: str, data: bytes, calc: bytes
) -> None:
    changes = {path: data, "calc.py": calc}
    patch = diff(project, changes)
    answer = applied(project, patch)
    assert isinstance(answer, Applied)
    assert {name: answer.tree[name.encode()].data for name in changes} == changes
    assert answer.repairs == ()
    shorter = applied(project, patch.removesuffix(b"\n"))
    if isinstance(shorter, Applied):
        assert shorter.tree == answer.tree


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(junk=st.binary(max_size=300))
def test_any_bytes_give_an_answer(project: Project, junk: bytes) -> None:
    assert isinstance(applied(project, b"diff --git a/x b/x\n" + junk), Applied | NotApplied)


@pytest.mark.parametrize("lost", [1, 2], ids=["the empty line", "both newlines"])
def test_binary_data_at_the_end_is_never_left_out(project: Project, lost: int) -> None:
    patch = diff(project, {"d": b"\x00"})
    whole = applied(project, patch)
    shorter = applied(project, patch[:-lost])
    assert isinstance(whole, Applied)
    assert isinstance(shorter, Applied)
    assert shorter.tree == whole.tree
    assert shorter.tree[b"d"].data == b"\x00"
    assert (whole.repairs == (), shorter.repairs == ()) == (True, False)


def test_no_damage_to_one_line_makes_a_file_be_left_out(project: Project) -> None:
    files: Files = {
        "a.txt": "new\n",
        "b.bin": bytes(range(256)),
        "c.bin": b"\0\1",
        "d.txt": "new\n",
    }
    lines = diff(project, files).splitlines(keepends=True)
    for place, line in enumerate(lines):
        if not line.startswith(b"diff --git "):
            answer = applied(project, b"".join(lines[:place] + lines[place + 1 :]))
            whole = isinstance(answer, Applied) and len(answer.changed) == len(files)
            assert whole or isinstance(answer, NotApplied), line
