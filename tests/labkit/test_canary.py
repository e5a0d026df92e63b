import ast
import hashlib
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from labkit.canary import digest, find, lift, plant, token


def mint(number: int) -> str:
    return token(hashlib.sha256(str(number).encode()).digest())


def test_a_token_has_its_shape_and_128_bits() -> None:
    made = token(bytes(range(16)))
    assert made == "LKCANARYAAAQEAYEAUDAOCAJBIFQYDIOB4"
    assert len(made) == len("LKCANARY") + 26


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="128 random bits"):
        token(bytes(15))


def test_every_token_is_found_once_in_any_text() -> None:
    one, two = mint(1), mint(2)
    text = f"x{one}\n+# {two} \ud800 {one}"
    assert find(text) == (one, two)
    assert find(f"\x00\xff{two.lower()}".encode("latin-1")) == (two,)
    assert find("LKCANARYTOOSHORT") == ()


def test_the_digest_is_sha256_of_the_token() -> None:
    assert digest(mint(1)) == hashlib.sha256(mint(1).encode()).hexdigest()


PYTHON = {
    "plain": b"import os\n\n\ndef test_a():\n    assert os\n",
    "docstring": b'"""Tests."""\nfrom __future__ import annotations\nx = 1\n',
    "shebang and coding": b"#!/usr/bin/env python3\n# -*- coding: latin-1 -*-\nx = '\xe9'\n",
    "decorator": b"import pytest\n@pytest.mark.slow\n@pytest.mark.x(\n  1)\ndef t():\n    pass\n",
    "string with statements": b'x = """\nimport os\n# not a comment\n"""; y = 2\nz = 3\n',
    "string ends before a statement": b's = """a\n"""; t = """b\n""" ; u = 1\n',
    "no last newline": b"x = 1",
    "crlf": b"x = 1\r\n\r\ny = 2\r\n",
    "old mac": b"x = 1\ry = 2\r",
    "byte-order mark": b"\xef\xbb\xbfx = 1\n",
    "comments only": b"# nothing\n",
    "empty": b"",
    "form feed": b"x = 1\n\x0c\ny = 2\n",
    "line separator in a string": "x = 'a\u2028b'\ny = 1\n".encode(),
}


@pytest.mark.parametrize("data", PYTHON.values(), ids=PYTHON.keys())
def test_a_python_file_means_the_same_afterwards(data: bytes) -> None:
    planted = plant("hidden/tests/test_a.py", data, mint)
    assert ast.dump(ast.parse(planted.data)) == ast.dump(ast.parse(data))
    assert find(planted.data) == planted.tokens
    assert planted.tokens


def test_the_first_lines_of_a_python_file_stay_first() -> None:
    planted = plant("t.py", PYTHON["shebang and coding"], mint).data
    assert planted.startswith(b"#!/usr/bin/env python3\n# -*- coding: latin-1 -*-\n# LKCANARY")
    marked = plant("t.py", PYTHON["byte-order mark"], mint).data
    assert marked.startswith(b"\xef\xbb\xbf# LKCANARY")


def test_line_ends_are_kept() -> None:
    planted = plant("t.py", PYTHON["crlf"], mint).data
    assert planted.count(b"\n") == planted.count(b"\r\n")


def test_a_long_python_file_has_tokens_throughout() -> None:
    data = b"".join(b"def test_%d():\n    assert True\n\n" % number for number in range(30))
    planted = plant("t.py", data, mint)
    assert planted.tokens == tuple(mint(number) for number in range(4))
    places = [number for number, line in enumerate(planted.data.splitlines()) if b"LKC" in line]
    assert places == [0, 31, 62, 93]


@given(st.lists(st.sampled_from([v for k, v in PYTHON.items() if k not in ("old mac",)])))
def test_planting_any_mix_of_statements_keeps_the_tree(parts: list[bytes]) -> None:
    data = b"\n".join(part.removeprefix(b"\xef\xbb\xbf") for part in parts)
    try:
        before = ast.dump(ast.parse(data))
    except SyntaxError:  # a __future__ import in the middle, latin-1 without its line
        before = ""
    planted = plant("t.py", data, mint)
    if before:
        assert ast.dump(ast.parse(planted.data)) == before
    else:
        assert planted.data == data


@pytest.mark.parametrize("data", [b"def (:\n", b"\x00", b"x = '\xe9'\n"])
def test_what_python_cannot_read_stays_as_it_is(data: bytes) -> None:
    planted = plant("t.py", data, mint)
    assert (planted.data, planted.tokens) == (data, ())


NINE = b"a = 1\n" * 9


def test_a_statement_that_begins_in_the_last_line_of_a_string_is_passed_over() -> None:
    data = NINE + b's = """\n"""; t = 1\n'
    planted = plant("t.py", data, mint)
    assert ast.dump(ast.parse(planted.data)) == ast.dump(ast.parse(data))
    assert planted.tokens == (mint(0), mint(1))


def test_a_continued_line_before_a_statement_stays_whole() -> None:
    data = NINE + b"x = 1; \\\ny = 2\n"
    planted = plant("t.py", data, mint)
    assert ast.dump(ast.parse(planted.data)) == ast.dump(ast.parse(data))
    assert len(planted.tokens) == 3


def test_a_file_that_planting_would_change_stays_as_it_is() -> None:
    # In UTF-7, `+AAo-` is a line end that no byte shows, so lines are counted wrongly.
    data = b"# coding: utf-7\n" + NINE[6:] + b'b = 1+AAo-c = 1\ns = """\nq"""\n'
    assert ast.parse(data).body[10].lineno == 12
    planted = plant("t.py", data, mint)
    assert (planted.data, planted.tokens) == (data, ())


def test_yaml_means_the_same_afterwards() -> None:
    data = b"edits: none\nmust_name:\n  - slug\ntext: |\n  last"
    planted = plant("oracle.yaml", data, mint)
    assert yaml.safe_load(planted.data) == yaml.safe_load(data)
    assert planted.tokens == (mint(0),)


def test_a_shell_script_keeps_its_first_line() -> None:
    planted = plant("run.sh", b"#!/bin/sh\necho\n", mint)
    assert planted.data == f"#!/bin/sh\n# {mint(0)}\necho\n".encode()


def test_markdown_gets_hidden_comments() -> None:
    planted = plant("examples/good-1.md", b"I ask.\n", mint)
    assert planted.data == f"<!-- {mint(0)} -->\nI ask.\n<!-- {mint(1)} -->\n".encode()
    settings = plant("a.md", b"---\ntitle: x\n---\n", mint)
    assert settings.data == f"---\ntitle: x\n---\n<!-- {mint(0)} -->\n".encode()


def test_a_patch_with_a_token_still_applies(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    patch = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    planted = plant("mutations/01-two.patch", patch, mint)
    assert find(planted.data) == (mint(0),)
    subprocess.run(["git", "apply", "-"], input=planted.data, cwd=tmp_path, check=True)
    assert (tmp_path / "a.py").read_text() == "x = 2\n"


@pytest.mark.parametrize(
    ("path", "data"),
    [("evidence.json", b"{}"), ("hidden/data.bin", b"\x00\x01"), ("a.patch", b"--- a\n+++ b\n")],
    ids=["json", "binary", "patch without a git header"],
)
def test_other_kinds_stay_as_they_are(path: str, data: bytes) -> None:
    planted = plant(path, data, mint)
    assert (planted.data, planted.tokens) == (data, ())


@pytest.mark.parametrize("name", ["t.py", "notes.md", "oracle.yaml", "run.sh", "fault.patch"])
@given(data=st.sampled_from([*PYTHON.values(), b"---\na: b\n", b"#!/bin/sh\nls\n"]) | st.binary())
def test_what_was_planted_can_be_lifted_again(name: str, data: bytes) -> None:
    whole = data if not data or data.endswith((b"\n", b"\r")) else data + b"\n"
    assert lift(plant(name, whole, mint).data) == whole
