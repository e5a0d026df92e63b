"""Diffs with something around them: lifted out the same way each time, or refused."""

import pytest
from gradings import BASE, FIXED, Project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labkit.patch.lift import Lifted, Refused, lift

PATCH = b"""\
diff --git a/calc.py b/calc.py
index 1111111..2222222 100644
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""
OTHER = b"""\
diff --git a/notes.md b/notes.md
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/notes.md
@@ -0,0 +1,3 @@
+```python
+- no remark
+```
"""
MOVED = b"""\
diff --git a/old b/new
similarity index 100%
rename from old
rename to new
"""
EMPTY = b"diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n"
BINARY = (
    b"diff --git a/x b/x\nindex 1111111..2222222 100644\nGIT binary patch\n"
    b"literal 3\nKcmYdHU|?imU|;|M0tNs8\n\nliteral 0\nHcmV?d00001\n\n"
)


def lifted(text: bytes) -> Lifted:
    found = lift(text)
    assert isinstance(found, Lifted), found
    return found


@pytest.mark.parametrize("patch", [PATCH, OTHER, MOVED, EMPTY, BINARY])
def test_a_diff_by_itself_is_left_as_it_is(patch: bytes) -> None:
    assert lift(patch) == Lifted(patch=patch)
    assert lift(PATCH + patch + OTHER) == Lifted(patch=PATCH + patch + OTHER)
    assert lift(b"\n" + patch + b"\n\n") == Lifted(patch=b"\n" + patch + b"\n\n")


@pytest.mark.parametrize("patch", [PATCH, OTHER, MOVED, EMPTY, BINARY])
@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (b"Here it is:\n", b"", "1 line around the diff cut away, first 'Here it is:'"),
        (b"", b"- a remark\n", "1 line around the diff cut away, first '- a remark'"),
        (b"", b"+ a remark\n+ more\n", "2 lines around the diff cut away, first '+ a remark'"),
        (b"```diff\n", b"```\n", "2 lines around the diff cut away, first '```diff'"),
        (b"Run:\n```sh\ngit apply x.diff\n\n", b"```\nDone.\n", "5 lines around the diff cut"),
        (b"diff --git is what I used.\n", b"", "1 line around the diff cut away"),
        (b"--- a line of dashes\n", b"", "1 line around the diff cut away"),
    ],
    ids=["before", "minus", "plus", "fence", "command", "words of git", "dashes"],
)
def test_what_stands_around_a_diff_is_cut_away_and_told(
    patch: bytes, before: bytes, after: bytes, told: str
) -> None:
    found = lifted(before + patch + after)
    assert found.patch == patch
    assert len(found.repairs) == 1
    assert found.repairs[0].startswith(told)


def test_diffs_in_several_fences_are_one_unless_they_are_of_one_file() -> None:
    between = b"```\nand\n```diff\n"
    assert lifted(b"```\n" + PATCH + between + OTHER + b"```\n").patch == PATCH + OTHER
    twice = lift(b"```\n" + PATCH + between + PATCH + b"```\n")
    reason = "it holds two diffs of calc.py, and does not say which one is meant"
    assert twice == Refused(reason=reason)


def test_a_series_of_mails_may_change_a_file_twice() -> None:
    mail = b"From 12 Mon Sep 17\nSubject: [PATCH] x\n\n---\n calc.py | 2 +-\n\n"
    assert lifted(mail + PATCH + b"-- \n2.39\n\n" + mail + PATCH).patch == PATCH + PATCH


def test_a_byte_order_mark_is_cut_away_and_wide_text_refused() -> None:
    mark = b"\xef\xbb\xbf"
    assert lift(mark + PATCH) == Lifted(patch=PATCH, repairs=("a byte order mark was cut away",))
    assert isinstance(lift(PATCH.decode().encode("utf-16")), Refused)


@pytest.mark.parametrize(
    "line", [b"new file mode 100644\n", b"GIT binary patch\n", b"@@ -1 +1 @@\n", b"+++ b/x\n",
             b"index 1111111..2222222\n", b"literal 3\n"]
)  # fmt: skip
def test_a_stray_part_of_a_diff_is_not_taken_for_prose(line: bytes) -> None:
    assert lift(b"Look:\n" + line + PATCH) == Lifted(patch=b"Look:\n" + line + PATCH)


@pytest.mark.parametrize("text", [b"I could not do it.\n", b"```\n```\n", b"{}\n"])
def test_a_text_without_a_diff_is_refused(text: bytes) -> None:
    found = lift(text)
    assert isinstance(found, Refused)
    assert found.reason.startswith("there is no diff in it; it begins with ")


def test_with_crlf_the_same_is_lifted() -> None:
    crlf = PATCH.replace(b"\n", b"\r\n")
    assert lifted(b"Hi\r\n" + crlf + b"- bye\r\n").patch == crlf


remarks = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30), max_size=4
).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(before=remarks, after=remarks, data=st.binary(max_size=80))
def test_whatever_is_said_around_a_true_diff_it_is_the_same_diff(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes, data: bytes
) -> None:
    project = Project.start(tmp_path_factory.mktemp("p"), BASE)
    patch = project.diff(project.commit({}), {"calc.py": FIXED, "data": data})
    found = lift(before + patch + after)
    if isinstance(found, Lifted):
        assert found.patch in (patch, before + patch + after, (before + patch + after)[3:])
    else:
        assert "UTF-16" in found.reason


@given(st.binary(max_size=300))
def test_any_bytes_have_an_answer(text: bytes) -> None:
    for whole in (text, PATCH + text, text + PATCH, PATCH[: len(text)] + text):
        assert isinstance(lift(whole), Lifted | Refused)
