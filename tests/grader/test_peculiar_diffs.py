"""What diffs of git can hold beside changed lines: each arrives in the tree as it was meant."""

import random
from pathlib import Path

import pytest
from gradings import BASE, CALC, FIXED, Files, Project, bench_of, make_set, validated

from labkit.archive import Entry, Kind
from labkit.export import read_base
from labkit.git import EXECUTABLE, REGULAR, SYMLINK
from labkit.model import Flag, Verdict
from labkit.patch.place import Applied, NotApplied, apply_to_base, shown
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.tasks import forbidden_edits

MODES = {Kind.FILE: REGULAR, Kind.EXECUTABLE: EXECUTABLE, Kind.SYMLINK: SYMLINK}
Start = dict[bytes, tuple[str, bytes]]


def tree_id(project: Project, files: Start) -> str:
    """Return the tree of files given as mode and content, by any path that git takes."""
    git = project.repository.git
    index = {"GIT_INDEX_FILE": str(project.repository.git_dir / "peculiar")}
    git("read-tree", "--empty", extra=index)
    lines = b""
    for path, (mode, data) in files.items():
        oid = git("hash-object", "-w", "--stdin", stdin=data).stdout.strip()
        lines += mode.encode() + b" " + oid + b"\t" + path + b"\0"
    git("update-index", "-z", "--index-info", stdin=lines, extra=index)
    return git("write-tree", extra=index).stdout.decode().strip()


F, X, L = REGULAR, EXECUTABLE, SYMLINK
LONG = b"".join(b"line %d\n" % number for number in range(40))
CASES: dict[str, tuple[Start, Start]] = {
    "CRLF": ({b"a": (F, b"x\r\ny\r\n")}, {b"a": (F, b"x\r\nz\r\n")}),
    "CRLF to LF": ({b"a": (F, b"x\r\ny\r\n")}, {b"a": (F, b"x\ny\n")}),
    "LF to CRLF": ({b"a": (F, b"x\ny\n")}, {b"a": (F, b"x\r\ny\r\n")}),
    "mixed line ends": ({b"a": (F, b"x\r\ny\nz\r\n")}, {b"a": (F, b"x\r\ny\n\rz\n\r\n")}),
    "lone CR": ({b"a": (F, b"x\ry\r")}, {b"a": (F, b"x\rz\r")}),
    "lone CR at the end": ({b"a": (F, b"x\n")}, {b"a": (F, b"\r\x01"), b"z": (F, b"")}),
    "final newline lost": ({b"a": (F, b"x\n")}, {b"a": (F, b"x")}),
    "final newline added": ({b"a": (F, b"x")}, {b"a": (F, b"x\n")}),
    "no final newline, both": ({b"a": (F, b"x")}, {b"a": (F, b"y")}),
    "binary": ({b"a": (F, b"\0\1\2")}, {b"a": (F, b"\0\1\3")}),
    "binary to text": ({b"a": (F, b"\0\1\2")}, {b"a": (F, b"text\n")}),
    "binary added and removed": ({b"a": (F, b"\0" * 99)}, {b"b": (F, b"\0\xff" * 99)}),
    "rename": ({b"old": (F, LONG)}, {b"new": (F, LONG)}),
    "rename with a change": ({b"old": (F, LONG)}, {b"d/new": (F, LONG + b"more\n")}),
    "rename onto another": ({b"a": (F, LONG), b"b": (F, b"x\n")}, {b"b": (F, LONG)}),
    "swap": ({b"a": (F, LONG), b"b": (F, b"x\n")}, {b"a": (F, b"x\n"), b"b": (F, LONG)}),
    "copy": ({b"a": (F, LONG)}, {b"a": (F, LONG + b"z\n"), b"b": (F, LONG)}),
    "mode only": ({b"a": (F, b"x\n")}, {b"a": (X, b"x\n")}),
    "mode back": ({b"a": (X, b"x\n")}, {b"a": (F, b"x\n")}),
    "mode and content": ({b"a": (X, b"x\n")}, {b"a": (F, b"y\n")}),
    "empty file added": ({}, {b"a": (F, b"")}),
    "empty file removed": ({b"a": (F, b"")}, {}),
    "file emptied": ({b"a": (F, b"x\n")}, {b"a": (F, b"")}),
    "file filled": ({b"a": (F, b"")}, {b"a": (F, b"x\n")}),
    "deletion": ({b"a": (F, b"x\n"), b"b": (F, b"y\n")}, {b"b": (F, b"y\n")}),
    "file to link": ({b"a": (F, b"x\n"), b"b": (F, b"y\n")}, {b"a": (L, b"b"), b"b": (F, b"y\n")}),
    "link to file": ({b"a": (L, b"b"), b"b": (F, b"y\n")}, {b"a": (F, b"x\n"), b"b": (F, b"y\n")}),
    "link turned": ({b"a": (L, b"b")}, {b"a": (L, b"c")}),
    "link removed": ({b"a": (L, b"b")}, {}),
    "file to folder": ({b"a": (F, b"x\n")}, {b"a/b/c": (F, b"x\n")}),
    "folder to file": ({b"a/b/c": (F, b"x\n"), b"a/d": (F, b"")}, {b"a": (F, b"x\n")}),
    "folder to link": ({b"a/b": (F, b"x\n"), b"c/b": (F, b"y\n")},
                       {b"a": (L, b"c"), b"c/b": (F, b"y\n")}),
    "link to folder": ({b"a": (L, b"c"), b"c/b": (F, b"y\n")},
                       {b"a/b": (F, b"x\n"), b"c/b": (F, b"y\n")}),
    "blanks": ({b"my file": (F, b"x\n")}, {b"my file": (F, b"y\n"), b" a ": (F, b"z\n")}),
    "folders named a and b": ({b"a/x": (F, b"x\n")}, {b"a/x": (F, b"y\n"), b"b/x": (F, b"z\n")}),
    "quotes, tabs, newlines": ({}, {b'q"\t\n\\x': (F, b"x\n"), b"a\x1b[31m": (F, b"y\n")}),
    "text of another coding": ({}, {b"\xff\xfe\xe9": (F, b"x\n"), "h\u00e9".encode(): (F, b"")}),
    "names like options": ({}, {b"-x": (F, b"x\n"), b"--all": (F, b""), b":(glob)": (F, b"z")}),
    "a diff as content": ({}, {b"a": (F, b"diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1")}),
    "lines like headers": ({b"a": (F, b"-- x\n++ y\n")},
                           {b"a": (F, b"++ /x\n-- y\n@@ -1 +1 @@\n")}),
    "a fence as content": ({b"a": (F, b"```\n")}, {b"a": (F, b"```diff\n- x\n```\n")}),
}  # fmt: skip


@pytest.mark.parametrize("options", [(), ("-M", "-C", "--find-copies-harder"), ("-U0",), ("-D",)])
@pytest.mark.parametrize("name", CASES)
def test_what_git_tells_is_what_is_laid_out(
    tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    start, end = CASES[name]
    always: Start = {b"calc.py": (F, CALC.encode())}
    project = Project.start(tmp_path, {})
    git = project.repository.git
    old, new = tree_id(project, start | always), tree_id(project, end | always)
    commit = git("commit-tree", old, "-m", "base").stdout.decode().strip()
    patch = git(
        "diff", "--binary", "--full-index", *(options or ("--no-renames",)), old, new
    ).stdout
    answer = apply_to_base(project.repository, read_base(project.repository, commit), patch)
    if "-D" in options and b"deleted file" in patch and not isinstance(answer, Applied):
        return  # a diff without what it deletes is no whole diff
    if "-U0" in options and not isinstance(answer, Applied):
        return  # git takes no context for none where it was not told so
    assert isinstance(answer, Applied), answer
    laid = {path: (MODES[entry.kind], entry.data) for path, entry in answer.tree.items()}
    assert laid == end | always
    changed = {path for path in start.keys() | end.keys() if start.get(path) != end.get(path)}
    assert set(answer.changed) == changed
    assert answer.repairs == ()


@pytest.mark.parametrize(
    ("options", "end", "edits"),
    [
        (("-M",), {b"src/new": (F, LONG)}, ("tests/old",)),
        (("-M",), {b"tests/old": (F, LONG), b"tests/new": (F, LONG)}, ("tests/new",)),
        (("-C", "--find-copies-harder"), {b"tests/old": (F, LONG), b"tests/x": (F, LONG)},
         ("tests/x",)),
        ((), {b"tests/old": (X, LONG)}, ("tests/old",)),
        ((), {}, ("tests/old",)),
        ((), {b"tests": (L, b"src")}, ("tests", "tests/old")),
    ],
    ids=["renamed out", "added", "copied in", "mode", "deleted", "folder to link"],
)  # fmt: skip
def test_whatever_touches_a_forbidden_path_is_an_edit_of_it(
    tmp_path: Path, options: tuple[str, ...], end: Start, edits: tuple[str, ...]
) -> None:
    project = Project.start(tmp_path, {})
    git = project.repository.git
    always: Start = {b"src/a": (F, b"")}
    old, new = tree_id(project, {b"tests/old": (F, LONG)} | always), tree_id(project, end | always)
    commit = git("commit-tree", old, "-m", "base").stdout.decode().strip()
    patch = git("diff", "--binary", "--full-index", *options, old, new).stdout
    answer = apply_to_base(project.repository, read_base(project.repository, commit), patch)
    assert isinstance(answer, Applied), answer
    task = make_set(tmp_path / "task", forbidden=("tests/**", "tests")).case.task
    assert forbidden_edits(task, tuple(map(shown, answer.changed))) == edits


def test_touched_files_have_their_real_names_in_the_record(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    bench = bench_of(bubblewrap_sandbox, seconds=20)
    task = validated(make_set(tmp_path, forbidden=("**/*.txt",)), bench)
    odd: Files = {'h\u00e9 "x".txt': "1\n", "b/tab\t.txt": "2\n", "b/normal": "3\n"}
    record = task.graded(bench, task.diff({**odd, "calc.py": FIXED}))
    assert (record.verdict, record.flags) == (
        Verdict.FAIL, (Flag.OUT_OF_SCOPE, Flag.NEUTRALISED),
    )  # fmt: skip
    assert record.forbidden_edits == ("b/tab\t.txt", 'h\u00e9 "x".txt')


def test_edits_of_visible_and_hidden_tests_change_nothing_of_the_verdict(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    """The diff first, then what is protected, then the hidden tests: nothing can conflict."""
    bench = bench_of(bubblewrap_sandbox, seconds=20)
    task = validated(make_set(tmp_path, forbidden=()), bench)
    plain = task.graded(bench, task.diff({"calc.py": FIXED}))
    tests: Files = {
        "tests/test_calc.py": None, "tests/test_hidden.py": "raise SystemExit(0)\n",
        "tests/conftest.py": "raise SystemExit(0)\n",
    }  # fmt: skip
    both = task.graded(bench, task.diff({"calc.py": FIXED, **tests}))
    assert (both.verdict, both.tests) == (plain.verdict, plain.tests) == (Verdict.PASS, plain.tests)


def test_a_binary_change_that_git_tells_as_a_delta_arrives(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(60_000)  # noqa: S311 - noise
    project = Project.start(tmp_path, {"x": noise})
    base = project.commit({})
    patch = project.diff(base, {"x": noise[:30_000] + b"!" + noise[30_000:]})
    assert b"\ndelta " in patch
    answer = apply_to_base(project.repository, read_base(project.repository, base), patch)
    assert isinstance(answer, Applied), answer
    assert len(answer.tree[b"x"].data) == 60_001


def test_a_few_words_do_not_make_many_copies_of_a_large_file(tmp_path: Path) -> None:
    project = Project.start(tmp_path, {"x": b"y" * 3_000_000})
    base = read_base(project.repository, project.commit({}))
    copies = b"".join(
        b"diff --git a/x b/%d\nsimilarity index 100%%\ncopy from x\ncopy to %d\n" % (n, n)
        for n in range(40)
    )
    answer = apply_to_base(project.repository, base, copies)
    assert isinstance(answer, NotApplied)
    assert answer.reason.startswith("the files that it changes are too large: 120000000 bytes")
    few = apply_to_base(project.repository, base, copies[:200].rpartition(b"diff --git")[0])
    assert isinstance(few, Applied)


def test_many_files_and_long_ones_are_a_diff_like_any_other(tmp_path: Path) -> None:
    project = Project.start(tmp_path, BASE)
    base = read_base(project.repository, project.commit({}))
    files = b"".join(
        b"diff --git a/f%d/%d b/f%d/%d\nnew file mode 100644\nindex 0000000..e69de29\n"
        % (number // 100, number, number // 100, number)
        for number in range(5000)
    )
    long = (
        b"diff --git a/long b/long\nnew file mode 100644\n--- /dev/null\n+++ b/long\n"
        b"@@ -0,0 +1 @@\n+" + b"y" * 8_000_000 + b"\n"
    )
    answer = apply_to_base(project.repository, base, files + long)
    assert isinstance(answer, Applied), answer
    assert len(answer.changed) == 5001
    assert answer.tree[b"f0/7"] == Entry(path=b"f0/7", kind=Kind.FILE, data=b"")
    assert len(answer.tree[b"long"].data) == 8_000_001
