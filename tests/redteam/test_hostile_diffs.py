"""Diffs that try to write elsewhere, to hide, or to break the grader: each has a clear result."""

import hashlib
import tempfile
import zlib
from base64 import b85encode
from collections.abc import Callable
from pathlib import Path

import pytest
from gradings import CALC, FIXED, Set, bench_of, make_set, validated

from labkit.model import Flag, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_grader.execute import Bench
from labkit_grader.report import grade_text

HIDDEN = "tests/test_hidden.py"
ZEROS = "0" * 40
PASS, FAIL = Verdict.PASS, Verdict.FAIL


def text_file(path: str, text: str = "x\n", mode: str = "100644") -> bytes:
    lines = text.splitlines(keepends=True)
    end = "" if text.endswith("\n") else "\n\\ No newline at end of file\n"
    body = "".join(f"+{line}" for line in lines)
    old, new = (
        f'"{side}/{path[1:]}' if path.startswith('"') else f"{side}/{path}" for side in "ab"
    )
    return (
        f"diff --git {old} {new}\nnew file mode {mode}\nindex {ZEROS}..{'1' * 40}\n"
        f"--- /dev/null\n+++ {new}\n@@ -0,0 +1,{len(lines)} @@\n{body}{end}"
    ).encode()


def link(path: str, target: str) -> bytes:
    return text_file(path, target, "120000")


def binary(path: str, data: bytes, *, claimed: int | None = None) -> bytes:
    packed = zlib.compress(data)
    lines = []
    for at in range(0, len(packed), 52):
        piece = packed[at : at + 52]
        count = len(piece)
        length = chr(64 + count) if count <= 26 else chr(96 + count - 26)
        lines.append(length.encode() + b85encode(piece + b"\0" * (-count % 4)))
    size = len(data) if claimed is None else claimed
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n"
        f"index {ZEROS}..{'1' * 40}\nGIT binary patch\nliteral {size}\n"
    ).encode() + b"\n".join(lines) + b"\n\nliteral 0\nHcmV?d00001\n\n"  # fmt: skip


def delta(path: str, makes: int) -> bytes:
    """Return a change of `path` that begins to make a file of any size out of what is there."""
    head = b""
    for number in (len(CALC), makes):
        rest = number
        while rest > 0x7F:
            head += bytes([rest & 0x7F | 0x80])
            rest >>= 7
        head += bytes([rest])
    whole = binary(path, head + b"\x90\x20", claimed=len(head) + 2)
    made = whole.replace(b"new file mode 100644\n", b"").replace(b"literal", b"delta", 1)
    return made.replace(ZEROS.encode(), b"2" * 40)


def deleted(path: str, text: str) -> bytes:
    lines = text.splitlines(keepends=True)
    body = "".join(f"-{line}" for line in lines)
    return (
        f"diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n"
        f"@@ -1,{len(lines)} +0,0 @@\n{body}"
    ).encode()


def fix(before: str = "a/calc.py", after: str = "b/calc.py", head: str = "") -> bytes:
    lines = CALC.splitlines(keepends=True)
    return (
        (head or f"diff --git {before} {after}\n") + f"--- {before}\n+++ {after}\n"
        f"@@ -1,3 +1,3 @@\n {lines[0]}-{lines[1]}+{FIXED.splitlines(keepends=True)[1]} {lines[2]}"
    ).encode()


def submodule(path: str, mode: str = "160000") -> bytes:
    return text_file(path, f"Subproject commit {'1' * 40}\n", mode)


GOOD = fix()
FOLDERS = "d/" * 2000

REFUSED: dict[str, tuple[bytes, str]] = {
    "dotdot": (text_file("../escaped"), "invalid path"),
    "dotdot inside": (text_file("tests/../../escaped"), "invalid path"),
    "absolute": (text_file("/labkit-escaped"), "invalid path"),
    "absolute without prefix": (
        b"--- /dev/null\n+++ /labkit-escaped\n@@ -0,0 +1 @@\n+x\n", "an absolute path",
    ),
    "git hook": (text_file(".git/hooks/pre-commit", mode="100755"), "invalid path"),
    "git in capitals": (text_file(".GIT/config"), "invalid path"),
    "git with a blank": (text_file('".git /config"'), "invalid path"),
    "git with a dot": (text_file(".git./config"), "invalid path"),
    "git as Windows shortens it": (text_file("GIT~1/config"), "invalid path"),
    "git as a Windows stream": (text_file(".git::$INDEX_ALLOCATION/config"), "invalid path"),
    "git with a character of no width": (text_file(".g\u200cit/config"), "invalid path"),
    "git deep down": (text_file("vendor/x/.git/config"), "invalid path"),
    "backslashes": (text_file("..\\..\\.git\\config"), "invalid path"),
    "submodule": (submodule("sub"), "submodule: sub"),
    "folder mode": (submodule("sub", "040000"), "no such mode: 040000"),
    "modules as a link": (link(".gitmodules", "calc.py"), "invalid path"),
    "link to the root": (link("out", "/etc/passwd"), "leads out of the tree"),
    "link that climbs": (link("docs/out", "../../x"), "leads out of the tree"),
    "link that climbs later": (link("out", "tests/../../x"), "leads out of the tree"),
    "link without a target": (
        f"diff --git a/out b/out\nnew file mode 120000\nindex {ZEROS}..e69de29\n".encode(),
        "leads nowhere",
    ),
    "link, then a write through it": (link("out", "tests") + text_file("out/new.py"), "out"),
    "link from a file, then a write through it": (
        deleted("README.md", "calc\n") + link("README.md", "tests")
        + text_file("README.md/new.py"), "README.md",
    ),
    "file for a folder that stays": (text_file("tests"), "tests"),
    "folder for a file that stays": (text_file("calc.py/new.py"), "calc.py"),
    "new file that is there": (text_file("calc.py"), "already exists"),
    "case twin": (text_file("CALC.py"), "one path on some systems"),
    "case twin of a folder": (text_file("Tests/x.py"), "one path on some systems"),
    "twin with a blank at its end": (text_file('"calc.py "'), "one path on some"),
    "twin of no width": (text_file("calc\ufeff.py"), "one path on some systems"),
    "twins of two forms": (text_file("\u00e9.py") + text_file("e\u0301.py"), "one path on some"),
    "twice the same new file": (text_file("new.py") * 2, "makes a file twice: a/new.py"),
    "long name": (text_file("n" * 300), "a name is too long"),
    "long path": (text_file(FOLDERS + "x"), "too long"),
    "counts beyond any": (
        GOOD.replace(b"@@ -1,3 +1,3 @@", b"@@ -1,99999999999999999999999 +1,3 @@"), "corrupt",
    ),
    "counts that lie": (GOOD.replace(b"+1,3 @@", b"+1,9 @@"), "corrupt"),
    "a mode that is none": (text_file("x", mode="999999"), "no such mode"),
    "a mode out of range": (text_file("x", mode="7777777777777777777"), "no such mode"),
    "binary without data": (
        b"diff --git a/x b/x\nBinary files a/x and b/x differ\n" + GOOD, "without its data",
    ),
    "binary that lies about its size": (binary("x", b"abc", claimed=9), "corrupt binary patch"),
    "binary bomb": (binary("x", b"\0" * 70_000_000), "too large"),
    "delta bomb": (delta("calc.py", 80_000_000_000), "too large"),
    "delta that makes little": (delta("calc.py", 32), "calc.py"),
    "binary of an absurd size": (binary("x", b"x", claimed=10**15), "absurd"),
    "binary with rubbish for data": (
        binary("x", b"abc").replace(b"\n\nliteral 0", b"\nzzzz~~~~\n\nliteral 0"), "",
    ),
    "too large": (
        text_file("x", "yy\n").replace(b"+yy", b"+" + b"y" * 67_200_000), "too large",
    ),
    "nul bytes in a name": (text_file("a\0b"), "NUL byte"),
    "nothing but nul bytes": (b"\0" * 1000, "there is no diff in it"),
    "no prefix": (fix("calc.py", "calc.py"), "no a/ and b/ in front, as calc.py"),
    "no prefix in a folder": (
        fix("src/calc.py", "src/calc.py", head="\n"), "no a/ and b/ in front, as src/calc.py",
    ),
    "combined diff": (
        b"diff --cc calc.py\nindex 1,2..3\n--- a/calc.py\n+++ b/calc.py\n"
        b"@@@ -1,1 -1,1 +1,1 @@@\n--x\n++y\n", "combined diff of a merge",
    ),
    "UTF-16": (GOOD.decode().encode("utf-16"), "UTF-16 text, as > of PowerShell"),
    "two answers": (
        b"```diff\n" + GOOD + b"```\nor else\n```diff\n" + GOOD + b"```\n", "two diffs of calc.py",
    ),
    "rename of nothing": (
        b"diff --git a/no b/yes\nsimilarity index 100%\nrename from no\nrename to yes\n", "no",
    ),
    "copy out of the tree": (
        b"diff --git a/../x b/x\nsimilarity index 100%\ncopy from ../x\ncopy to x\n", "",
    ),
    "rename into git": (
        b"diff --git a/README.md b/.git/config\nsimilarity index 100%\n"
        b"rename from README.md\nrename to .git/config\n", "invalid path",
    ),
}  # fmt: skip

APPLIED: dict[str, tuple[bytes, Verdict]] = {
    "link inside": (GOOD + link("docs/link", "../calc.py"), PASS),
    "link at a hidden path": (GOOD + link(HIDDEN, "../calc.py"), FAIL),
    "link to where hidden tests go": (GOOD + link("look.py", HIDDEN), PASS),
    "folder where a hidden test goes": (GOOD + text_file(f"{HIDDEN}/x.py"), FAIL),
    "tests become a link": (
        GOOD + deleted("tests/test_calc.py", "from calc import double\n\n\n"
        "def test_double():\n    assert double(4) == 8\n") + link("tests", "docs")
        + text_file("docs/test_hidden.py", "def test_add(): pass\n"), FAIL,
    ),
    "a file becomes a link and a file again": (
        GOOD + deleted("README.md", "calc\n") + link("README.md", "calc.py"), PASS,
    ),
    "odd mode bits": (GOOD + text_file("x", mode="100666") + text_file("y", mode="104755"), PASS),
    "a mail": (
        b"From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nDate: today\n"
        b"Subject: [PATCH] mend\n\n---\n calc.py | 2 +-\n 1 file changed\n\n" + GOOD
        + b"-- \n2.39.5\n\n", PASS,
    ),
    "a place beyond any": (GOOD.replace(b"-1,3", b"-18446744073709551617,3"), PASS),
    "svn": (
        b"Index: calc.py\n" + b"=" * 67 + b"\n"
        + fix("calc.py\t(revision 1)", "calc.py\t(working copy)", head="\n"), PASS,
    ),
    "without git's own lines": (fix(head="\n"), PASS),
    "a remark like a line of a hunk": (GOOD + b"- that was it\n+ and no more\n", PASS),
    "fence": (b"Sure!\n```diff\n" + GOOD + b"```\nThat mends it.\n", PASS),
    "reserved on Windows": (GOOD + text_file("aux.py") + text_file("con"), PASS),
    "control characters in names": (GOOD + text_file('"\\033[31mred\\007\\n"'), PASS),
    "no text in names": (GOOD + text_file('"\\377\\376"'), PASS),
}  # fmt: skip


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory, bubblewrap_sandbox: BubblewrapSandbox) -> Set:
    return validated(make_set(tmp_path_factory.mktemp("task")), bench_of(bubblewrap_sandbox))


@pytest.fixture
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


@pytest.fixture
def untouched(
    task: Set, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], dict[str, str]]:
    """Return a function that lists what a diff may not change: project, scratch, surroundings."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    (tmp_path / "bystander").write_text("stays\n")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(tmp_path)

    def listing() -> dict[str, str]:
        roots = (tmp_path, task.project.repository.git_dir.parent)
        found = {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            for root in roots
            for path in root.rglob("*")
        }
        for place in ("/labkit-escaped", "/escaped"):
            found[place] = str(Path(place).exists())
        return found

    return listing


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_diff_is_refused_with_a_reason(
    task: Set, bench: Bench, untouched: Callable[[], dict[str, str]], name: str
) -> None:
    patch, words = REFUSED[name]
    before = untouched()
    record = task.graded(bench, patch)
    assert untouched() == before
    assert (record.verdict, record.flags) == (Verdict.FAIL, (Flag.NOT_APPLIED,)), record.reason
    assert record.reason.startswith("the diff does not apply: ")
    assert words in record.reason
    assert len(record.reason) < 600
    assert grade_text(record).isprintable() or "\n" in grade_text(record)


@pytest.mark.parametrize("name", APPLIED)
def test_an_odd_diff_is_graded(
    task: Set, bench: Bench, untouched: Callable[[], dict[str, str]], name: str
) -> None:
    patch, verdict = APPLIED[name]
    before = untouched()
    record = task.graded(bench, patch)
    assert untouched() == before
    assert record.verdict is verdict, record.reason
    assert set(record.tests.values()) == {"passed"}, record.reason
    assert all(line.isprintable() for line in grade_text(record).splitlines())
