"""Patches of candidates: applied wholly or not at all, and never outside the folder."""

import os
from pathlib import Path

import pytest
from gitrepo import Project, make_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labkit.evals.edits import apply_diff, apply_replacements, read_replacements
from labkit.evals.sample import Replacement

CALC = b"def add(a, b):\n    return a - b\n"


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    (folder / "pkg").mkdir(parents=True)
    (folder / "calc.py").write_bytes(CALC)
    (folder / "pkg" / "data.txt").write_bytes(b"one\ntwo\n")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): os.fsencode(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def edit(path: str, search: str, replace: str) -> Replacement:
    return Replacement(path=path, search=search, replace=replace)


def test_an_edit_changes_its_one_place(scratch: Path) -> None:
    (scratch / "calc.py").chmod(0o755)
    assert apply_replacements(scratch, [edit("calc.py", "a - b", "a + b")]) is None
    assert (scratch / "calc.py").read_bytes() == b"def add(a, b):\n    return a + b\n"
    assert (scratch / "calc.py").stat().st_mode & 0o777 == 0o755


def test_an_empty_search_makes_a_new_file(scratch: Path) -> None:
    assert apply_replacements(scratch, [edit("new/deep/file.py", "", "x = 1\n")]) is None
    assert (scratch / "new/deep/file.py").read_bytes() == b"x = 1\n"


def test_edits_of_one_file_apply_in_their_order(scratch: Path) -> None:
    told = apply_replacements(
        scratch,
        [
            edit("calc.py", "a - b", "total(a, b)"),
            edit("calc.py", "total(a, b)", "a + b"),
            edit("extra.py", "", "y = 1\n"),
            edit("extra.py", "y = 1", "y = 2"),
        ],
    )
    assert told is None
    assert (scratch / "calc.py").read_bytes() == b"def add(a, b):\n    return a + b\n"
    assert (scratch / "extra.py").read_bytes() == b"y = 2\n"


def test_line_ends_and_a_missing_newline_stay_as_they_are(scratch: Path) -> None:
    (scratch / "win.txt").write_bytes(b"one\r\ntwo\r\nthree")
    assert apply_replacements(scratch, [edit("win.txt", "two\r\nthree", "2\r\n3")]) is None
    assert (scratch / "win.txt").read_bytes() == b"one\r\n2\r\n3"
    told = apply_replacements(scratch, [edit("win.txt", "one\n2", "x")])
    assert told == "edit 1: the text to replace does not stand in win.txt"


@pytest.mark.parametrize(
    ("path", "search", "replace", "told"),
    [
        ("calc.py", "a * b", "a", "the text to replace does not stand in calc.py"),
        ("calc.py", "a", "c", "the text to replace stands 3 times in calc.py"),
        ("calc.py", "", "new", "an empty search makes a new file, and calc.py is there already"),
        ("pkg", "", "new", "an empty search makes a new file, and pkg is there already"),
        ("calc.py", "a - b", "a - b", "search and replace are the same in calc.py"),
        ("gone.py", "a", "b", "gone.py is missing"),
        ("pkg", "a", "b", "pkg is not a file"),
        ("calc.py/x", "a", "b", "calc.py/x does not lie in a plain folder"),
        ("/etc/hostname", "a", "b", "write it relative to the folder"),
        ("../calc.py", "a", "b", "write it relative to the folder"),
        ("pkg/../calc.py", "a", "b", "write it relative to the folder"),
        ("./calc.py", "a", "b", "write it relative to the folder"),
        ("", "a", "b", "must name a file"),
        ("a\0b", "a", "b", "must name a file"),
        ("\ud800", "a", "b", "a character that no UTF-8 file can"),
        ("calc.py", "a - b", "\udcff", "a character that no UTF-8 file can"),
        (".git/config", "", "x", "below .git"),
        ("pkg/.GIT/hooks/x", "", "x", "below .git"),
        ("git~1/config", "", "x", "below .git"),
        ("Calc.py", "", "x", "Calc.py and calc.py are one path on some systems"),
        ("PKG/new.txt", "", "x", "PKG and pkg are one path on some systems"),
        ("calc.py/new", "", "x", "calc.py is no plain folder, so calc.py/new cannot lie in it"),
        ("n" * 300, "", "x", "a name is too long"),
    ],
)
def test_an_edit_that_does_not_fit_says_why_and_changes_nothing(
    scratch: Path, path: str, search: str, replace: str, told: str
) -> None:
    before = files(scratch)
    fitting = edit("pkg/data.txt", "two", "2")
    found = apply_replacements(scratch, [fitting, edit(path, search, replace)])
    assert told in (found or "")
    assert files(scratch) == before


def test_overlapping_places_are_counted(scratch: Path) -> None:
    (scratch / "a.txt").write_text("aaa")
    told = apply_replacements(scratch, [edit("a.txt", "aa", "b")])
    assert told == "edit 1: the text to replace stands 2 times in a.txt"
    (scratch / "a.txt").write_text("a" * 100_000)
    told = apply_replacements(scratch, [edit("a.txt", "a", "b")])
    assert told == "edit 1: the text to replace stands at least 1000 times in a.txt"


def test_what_is_no_edit_is_told(scratch: Path) -> None:
    odd = Replacement(path="calc.py", search=7, replace="x")  # type: ignore[arg-type]
    assert apply_replacements(scratch, [odd]) == (
        "edit 1 holds a value of type int where a text belongs"
    )
    bare = [("calc.py", "a", "b")]
    told = apply_replacements(scratch, bare)  # type: ignore[arg-type]
    assert told == "edit 1 is a value of type tuple, not a Replacement"


@pytest.mark.parametrize("path", ["link.py", "linked/file.txt"])
@pytest.mark.parametrize("search", ["secret", ""])
def test_no_link_is_followed(scratch: Path, tmp_path: Path, path: str, search: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.txt").write_text("secret")
    (scratch / "link.py").symlink_to(outside / "file.txt")
    (scratch / "linked").symlink_to(outside)
    assert apply_replacements(scratch, [edit(path, search, "taken")]) is not None
    assert apply_replacements(scratch, [edit("linked/new.txt", "", "taken")]) is not None
    assert files(outside) == {"file.txt": b"secret"}


def test_a_link_in_place_of_the_folder_is_not_followed(scratch: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(scratch)
    before = files(scratch)
    for one in (edit("new.txt", "", "x"), edit("calc.py", "a - b", "a + b")):
        assert apply_replacements(link, [one]) == "the folder is missing"
    assert apply_diff(link, of_new("new.txt")) == "the folder is missing"
    assert files(scratch) == before


def test_another_name_of_a_file_outside_keeps_its_content(scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("secret")
    (scratch / "hard").hardlink_to(tmp_path / "mine")
    assert apply_replacements(scratch, [edit("hard", "secret", "taken")]) is None
    assert (scratch / "hard").read_text() == "taken"
    assert (tmp_path / "mine").read_text() == "secret"


@given(
    before=st.text(alphabet="ab\r\né", max_size=12),
    search=st.text(alphabet="ab\r\né", min_size=1, max_size=3),
    replace=st.text(alphabet="ab\r\né", max_size=3),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_an_edit_is_made_where_its_text_stands_once_and_nowhere_else(
    scratch: Path, before: str, search: str, replace: str
) -> None:
    (scratch / "t").write_bytes(before.encode())
    places = [n for n in range(len(before)) if before.startswith(search, n)]
    told = apply_replacements(scratch, [edit("t", search, replace)])
    after = (scratch / "t").read_bytes().decode()
    if len(places) == 1 and search != replace:
        at = places[0]
        assert (told, after) == (None, before[:at] + replace + before[at + len(search) :])
    else:
        assert told
        assert after == before


BLOCK = "calc.py\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n"
ADDED = "<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE"
EDIT = edit("calc.py", "    return a - b\n", "    return a + b\n")


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("", ()),
        (" \n\n", ()),
        (BLOCK, (EDIT,)),
        (BLOCK.removesuffix("\n"), (EDIT,)),
        (f"Here it is:\n\n{BLOCK}\nThat is all.", (EDIT,)),
        (f"{BLOCK}\n`b.py`\n{ADDED}", (EDIT, edit("b.py", "", "x\n"))),
        (f"calc.py\n```python\n{BLOCK.removeprefix('calc.py')[1:]}```\n", (EDIT,)),
        ("b.py\n<<<<<<< SEARCH \nold\n======= \n>>>>>>> REPLACE  ", (edit("b.py", "old\n", ""),)),
        ("b\n<<<<<<< SEARCH\r\nx\r\n=======\r\n>>>>>>> REPLACE\r\n", (edit("b", "x\r\n", ""),)),
    ],
)  # fmt: skip
def test_blocks_are_read(text: str, edits: tuple[Replacement, ...]) -> None:
    assert read_replacements(text) == edits


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I changed the sign.", "there is no search/replace block in it"),
        (BLOCK.removeprefix("calc.py\n"), "no path stands in front of the block on line 1"),
        (BLOCK + BLOCK.removeprefix("calc.py\n"), "no path stands in front of the block on line 7"),
        ("calc.py\n\n" + BLOCK[8:], "no path stands in front of the block on line 3"),
        (BLOCK.replace(">>>>>>> REPLACE", ""), "the block on line 2 has no end: >>>>>>> REPLACE"),
        (BLOCK.replace(">>>>>>> REPLACE", ">>>>>>> main"), "the block on line 2 has no end"),
        (BLOCK.replace("=======\n", ""), "has no lines ======="),
        (BLOCK.replace("=======\n", "=======\nx\n=======\n"), "has 2 lines ======="),
        ("calc.py\n<<<<<<< HEAD\nx\n", "line 2, <<<<<<< HEAD, begins no block"),
        (BLOCK + ">>>>>>> REPLACE", "line 7, >>>>>>> REPLACE, begins no block"),
        (f"{BLOCK}b.py\n<<<<<<< SEARCH\nx\n{BLOCK}", "the block on line 8 has no end"),
    ],
)
def test_a_text_that_cannot_be_read_is_a_patch_that_does_not_apply(
    scratch: Path, text: str, told: str
) -> None:
    before = files(scratch)
    assert told in (apply_replacements(scratch, read_replacements(text)) or "")
    assert files(scratch) == before


@given(st.text(alphabet="<=> \nab`SEARCHREPLACE", max_size=80))
def test_reading_blocks_never_raises(text: str) -> None:
    for each in read_replacements(text):
        assert each.problem or each.path


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a.py", "b/c.txt"]),
            st.lists(st.text(alphabet="ab <=>`", max_size=9), max_size=3),
            st.lists(st.text(alphabet="ab <=>`", max_size=9), max_size=3),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_blocks_that_were_written_are_read_back(
    written: list[tuple[str, list[str], list[str]]],
) -> None:
    text, wanted = "", []
    for path, old, new in written:
        body = "".join(f"{line}\n" for line in [*old, "=======", *new])
        text += f"{path}\n<<<<<<< SEARCH\n{body}>>>>>>> REPLACE\n"
        wanted.append(edit(path, "".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new)))
    marks = [x.strip() for _, old, new in written for x in (*old, *new)]
    if not any(x == "=" * 7 or x.startswith(("<" * 7, ">" * 7)) for x in marks):
        assert read_replacements(text) == tuple(wanted)


@pytest.fixture
def checkout(tmp_path: Path, scratch: Path) -> Project:
    """A repository with the scratch folder's files in its first commit."""
    made = make_project(tmp_path / "project")
    made.commit(files(scratch))
    return made


def diff_of(project: Project, new: dict[str, str | bytes | None]) -> str:
    base = project.git("rev-parse", "HEAD")
    head = project.commit(new)
    return os.fsdecode(project.repository.diff(base, head))


@pytest.mark.parametrize(
    "new",
    [
        {"calc.py": "def add(a, b):\n    return a + b\n"},
        {"calc.py": "def add(a, b):\n    return a + b"},
        {"new/deep/file.py": "x = 1\n"},
        {"calc.py": None},
        {"pkg/data.txt": None},
        {"pkg/data.txt": None, "pkg/renamed.txt": "one\ntwo\n"},
        {"pkg/data.txt": None, "data/pkg": "one\ntwo\n"},
        {"picture.png": bytes(range(256))},
        {"pkg/data.txt": "one\r\ntwo\r\n"},
        {"é.txt": "é\n"},
    ],
)
def test_a_diff_makes_the_files_that_it_was_made_of(
    scratch: Path, checkout: Project, new: dict[str, str | bytes | None]
) -> None:
    diff = diff_of(checkout, new)
    assert apply_diff(scratch, diff) is None
    wanted = files(checkout.folder)
    assert files(scratch) == {k: v for k, v in wanted.items() if not k.startswith(".git/")}
    assert all(any(path.iterdir()) for path in scratch.rglob("*") if path.is_dir())
    if "calc.py" in new:
        assert apply_diff(scratch, diff) is not None


def test_a_diff_of_a_file_with_crlf_needs_the_same_line_ends(
    scratch: Path, checkout: Project
) -> None:
    (scratch / "win.txt").write_bytes(b"one\r\ntwo\r\n")
    checkout.commit({"win.txt": b"one\r\ntwo\r\n"})
    diff = diff_of(checkout, {"win.txt": b"one\r\n2\r\n"})
    before = files(scratch)
    assert "line ends differ" in (apply_diff(scratch, diff.replace("\r\n", "\n")) or "")
    assert files(scratch) == before
    assert apply_diff(scratch, diff) is None
    assert (scratch / "win.txt").read_bytes() == b"one\r\n2\r\n"


def test_a_diff_makes_a_program_a_program(scratch: Path, checkout: Project) -> None:
    base = checkout.git("rev-parse", "HEAD")
    (checkout.folder / "calc.py").chmod(0o755)
    head = checkout.commit({"run.sh": "true\n"})
    assert apply_diff(scratch, checkout.repository.diff(base, head).decode()) is None
    assert (scratch / "calc.py").stat().st_mode & 0o777 == 0o755
    assert (scratch / "run.sh").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("diff", ["", " \n"])
def test_a_blank_diff_changes_nothing(scratch: Path, diff: str) -> None:
    before = files(scratch)
    assert apply_diff(scratch, diff) is None
    assert files(scratch) == before


def of_new(path: str, mode: str = "100644", line: str = "x") -> str:
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1 @@\n+{line}\n\\ No newline at end of file\n"
    )


CHANGE = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""


@pytest.mark.parametrize(
    ("diff", "told"),
    [
        ("I changed the sign.", "there is no diff in it"),
        (CHANGE.replace("a - b", "a * b"), "patch does not apply"),
        (CHANGE.replace("calc.py", "gone.py"), "gone.py"),
        (CHANGE + of_new("../out.txt"), "invalid path"),
        (CHANGE + of_new(".git/hooks/x"), ".git"),
        (CHANGE + of_new("pkg/.GIT/x"), "invalid path"),
        (CHANGE + of_new("Calc.py"), "one path on some systems"),
        (CHANGE + of_new("calc.py"), "calc.py"),
        (CHANGE + of_new("calc.py/x"), "calc.py"),
        (CHANGE + of_new("l", "120000", "/etc/passwd"), "leads out of the tree"),
        (CHANGE + of_new("l", "120000", "../../x"), "leads out of the tree"),
        (CHANGE + of_new("m", "160000", f"Subproject commit {'1' * 40}"), "submodule"),
        (CHANGE + of_new("n", "060000"), "no such mode"),
        (CHANGE.replace("@@ -1,2", "@@ -1,9"), "patch"),
        (CHANGE.replace("a + b", "\ud800"), "a character that no UTF-8 file can"),
    ],
)
def test_a_diff_that_does_not_fit_says_why_and_changes_nothing(
    scratch: Path, diff: str, told: str
) -> None:
    before = files(scratch)
    assert told in (apply_diff(scratch, diff) or "")
    assert files(scratch) == before


def test_a_diff_that_is_no_text_is_told(scratch: Path) -> None:
    told = apply_diff(scratch, b"x")  # type: ignore[arg-type]
    assert told == "the diff is a value of type bytes, not a text"


def test_a_diff_does_not_go_through_a_link(scratch: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (scratch / "linked").symlink_to(outside)
    assert apply_diff(scratch, of_new("linked/file.txt")) is not None
    assert not any(outside.iterdir())


def test_what_git_cannot_keep_neither_stops_a_diff_nor_is_overwritten_by_it(scratch: Path) -> None:
    (scratch / ".git").mkdir()
    (scratch / ".git" / "config").write_text("x")
    os.mkfifo(scratch / "pipe")
    (scratch / "empty").mkdir()
    assert apply_diff(scratch, CHANGE) is None
    assert (scratch / ".git" / "config").read_text() == "x"
    assert apply_diff(scratch, of_new("pipe/x")) == (
        "pipe is no plain folder, so pipe/x cannot lie in it"
    )
    assert apply_diff(scratch, of_new("empty")) is None
    assert (scratch / "empty").read_text() == "x"
    (scratch / "held").mkdir()
    os.mkfifo(scratch / "held" / "pipe")
    assert apply_diff(scratch, of_new("held")) == "held is a folder with files in it"


def test_a_folder_gives_way_to_a_file_and_a_file_to_a_folder(
    scratch: Path, checkout: Project
) -> None:
    base = checkout.git("rev-parse", "HEAD")
    checkout.commit({"pkg/data.txt": None, "calc.py": None})
    (checkout.folder / "pkg").rmdir()
    head = checkout.commit({"pkg": "now a file\n", "calc.py/x": "now a folder\n"})
    assert apply_diff(scratch, checkout.repository.diff(base, head).decode()) is None
    assert files(scratch) == {"pkg": b"now a file\n", "calc.py/x": b"now a folder\n"}


def test_the_users_git_settings_have_no_effect(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[apply]\n\twhitespace = fix\n[core]\n\tautocrlf = true\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    (scratch / ".gitattributes").write_text("* text eol=crlf\n")
    assert apply_diff(scratch, of_new("t.txt", line="trailing  ")) is None
    assert (scratch / "t.txt").read_bytes() == b"trailing  "
