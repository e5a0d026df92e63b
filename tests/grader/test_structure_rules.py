"""The declarative rules of a refactoring: what meets them and what only looks as if it did."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.archive import Entry, Kind
from labkit.errors import InputError
from labkit.model import Category
from labkit.patch.place import Tree
from labkit_grader.oraclefile import read_rules
from labkit_grader.structure.rules import Rule, why_not

FUNCTION = "def f(x):\n    if x:\n        return 1\n    for y in x:\n        y()\n    return 2\n"


def tree(**files: str | bytes) -> Tree:
    """Return a tree; `a` stands for the file a.py."""
    made = {}
    for name, content in files.items():
        path = f"{name}.py".replace("__", "/").encode()
        data = content.encode() if isinstance(content, str) else content
        made[path] = Entry(path=path, kind=Kind.FILE, data=data)
    return made


def rule(text: str) -> Rule:
    rules = read_rules(f"structure:\n  - {text}\n".encode(), Category.REFACTOR).structure.rules
    return rules[0]


def short(text: str, **files: str | bytes) -> str:
    return why_not(rule(text), tree(**files))


GONE = "symbol_gone: {file: a.py, name: old}"
METHOD = "symbol_gone: {file: a.py, name: C.old}"
MOVED = "symbol_moved: {name: old, from: a.py, to: b.py}"
LENGTH = "function_length: {file: a.py, at_most: 6}"
SHORT = "function_length: {file: a.py, function: f, at_most: 5}"
COMPLEX = "complexity: {file: a.py, function: f, at_most: 2}"
IMPORT = "import_removed: {file: p/a.py, module: os.path}"
OWN = "import_removed: {file: p/a.py, module: p.units}"
TEXT = 'text_gone: {file: a.py, text: "print(x)"}'
TWICE = "no_duplicate: {files: [a.py, b.py], lines: 3}"

MET: list[tuple[str, dict[str, str | bytes]]] = [
    (GONE, {"a": "def new(): pass\n"}),
    (GONE, {"b": ""}),
    (GONE, {"a": '"""old was here; old()"""\n# def old(): pass\nx = "old"\n'}),
    (GONE, {"a": "def f():\n    old = 1\n    return old\n"}),
    (GONE, {"a": "parser.add_parser('old')\n"}),
    (METHOD, {"a": "class C:\n    def new(self): pass\ndef old(): pass\n"}),
    (METHOD, {"a": ""}),
    ("symbol_there: {file: a.py, name: C.m}", {"a": "class C:\n    m = 1\n"}),
    (MOVED, {"a": "", "b": "def old(): pass\n"}),
    (MOVED, {"a": "from b import old\n", "b": "class old: pass\n"}),
    (MOVED, {"b": "old = 3\n"}),
    ("file_gone: {file: a.py}", {"b": ""}),
    ("file_length: {file: a.py, at_most: 6}", {"a": FUNCTION}),
    (LENGTH, {"a": FUNCTION}),
    (LENGTH, {"a": "x = 1\n" * 20}),
    (COMPLEX, {"a": "def f(x):\n    return 1 if x else 2\n"}),
    ("complexity: {file: a.py, at_most: 3}", {"a": FUNCTION}),
    (IMPORT, {"p__a": "import os\nfrom os import sep\n# import os.path\nx = 'os.path'\n"}),
    (OWN, {"p__a": "from . import unit\nfrom .. import units\n"}),
    (TEXT, {"a": "# print(x)\ndef f():\n    '''print(x)'''\n"}),
    (TEXT, {"b": "print(x)\n"}),
    (TWICE, {"a": "x = 1\ny = 2\nz = 3\n", "b": "x = 1\ny = 2\nz = 4\n"}),
    (TWICE, {"a": "# a\n# b\n# c\nx = 1\n", "b": "# a\n# b\n# c\n"}),
]
NOT_MET: list[tuple[str, dict[str, str | bytes], str]] = [
    (GONE, {"a": "def old(): pass\n"}, "line 1 of a.py gives the name old to something"),
    (GONE, {"a": "async def old(): pass\n"}, "line 1"),
    (GONE, {"a": "if True:\n    class old: pass\n"}, "line 2"),
    (GONE, {"a": "for old in []: pass\n"}, "line 1"),
    (GONE, {"a": "def f():\n    global old\n    old = 1\n"}, "line 1"),
    (METHOD, {"a": "class C:\n    old = new\n"}, "line 2"),
    ("symbol_there: {file: a.py, name: f}", {"a": "from b import f\n"}, "it is not"),
    ("symbol_there: {file: a.py, name: f}", {}, "there is no file a.py"),
    ("symbol_there: {file: a.py, name: f}", {"a": "def g(): pass\n"}, "it is not"),
    (MOVED, {"a": "def old(): pass\n", "b": "def old(): pass\n"}, "line 1 of a.py still makes"),
    (MOVED, {"a": "", "b": "from a import old\n"}, "b.py does not define it"),
    (MOVED, {"a": "def _o(): pass\n", "b": "import a\nold = a._o\n"}, "b.py does not define it"),
    (MOVED, {"a": ""}, "there is no file b.py"),
    ("file_gone: {file: a.py}", {"a": ""}, "it is still there"),
    ("file_length: {file: a.py, at_most: 5}", {"a": FUNCTION}, "it has 6"),
    ("file_length: {file: a.py, at_most: 5}", {}, "there is no file a.py"),
    (SHORT, {"a": FUNCTION}, "f has 6"),
    (SHORT, {"a": "def f():\n    a=1;b=2;c=3;d=4;e=5\n"}, "f has 6"),
    (SHORT, {"a": "def g(): pass\n"}, "there is no function f in a.py"),
    (COMPLEX, {"a": FUNCTION}, "that of f is 3"),
    (COMPLEX, {"a": "class f:\n    pass\n"}, "there is no function f in a.py"),
    (IMPORT, {"p__a": "import os.path\n"}, "line 1 of p/a.py uses os.path"),
    (IMPORT, {"p__a": "from os import path as p\n"}, "line 1"),
    (IMPORT, {"p__a": "from os.path import join\n"}, "line 1"),
    (IMPORT, {"p__a": "import os\nos.path.join\n"}, "line 2"),
    (IMPORT, {"p__a": "def f():\n    import os.path as q\n"}, "line 2"),
    (IMPORT, {"p__a": "from importlib import import_module\nimport_module('os.path')\n"}, "line 2"),
    (OWN, {"p__a": "from . import units\n"}, "line 1"),
    (OWN, {"p__a": "from .units import x\n"}, "line 1"),
    (OWN, {"p__a": "from p import units\n"}, "line 1"),
    (TEXT, {"a": "print(\n  x)\n"}, "it still does"),
    (TEXT, {"a": "print( x )  # no\n"}, "it still does"),
    (
        TWICE,
        {"a": "x=1\ny=2 # b\n\nz=3\n", "b": "if x:\n    x = 1\n    y = 2\n    z = 3\n"},
        "3 li",
    ),
]


@pytest.mark.parametrize(("text", "files"), MET)
def test_a_rule_is_met(text: str, files: dict[str, str | bytes]) -> None:
    assert short(text, **files) == ""


@pytest.mark.parametrize(("text", "files", "why"), NOT_MET)
def test_a_rule_is_not_met(text: str, files: dict[str, str | bytes], why: str) -> None:
    assert short(text, **files).startswith(why)


USES = "import_removed: {file: a.py, module: os}"
THERE = "symbol_there: {file: a.py, name: f}"
ALL = [GONE, METHOD, MOVED, LENGTH, SHORT, COMPLEX, TEXT, TWICE, USES, THERE]
HOSTILE: dict[str, tuple[bytes, str]] = {
    "syntax": (b"def f(:\n", "a.py, line 1 cannot be parsed"),
    "null": (b"x = 1\0", "cannot be parsed"),
    "no text": (b"\xff\xfe\x00", "cannot be parsed"),
    "odd coding": (b"# -*- coding: nothing -*-\n", "cannot be parsed"),
    "parentheses": (b"(" * 50_000, "cannot be parsed"),
    "minus": (b"x = " + b"-" * 100_000 + b"1\n", "nested too deeply"),
    "attributes": (b"x" + b".x" * 100_000 + b"\n", "nested too deeply"),
    "sums": (b"x = " + b"1+" * 100_000 + b"1\n", "nested too deeply"),
    "calls": (b"x" + b"()" * 100_000 + b"\n", "nested too deeply"),
    "blocks": (b"".join(b" " * n + b"if x:\n" for n in range(500)), "cannot be parsed"),
    "elifs": (b"if x: pass\n" + b"elif x: pass\n" * 20_000, "nested too deeply"),
    "large": (b"#" * 2_000_000, "a.py is too large to be looked at: 2000000 bytes"),
}


@pytest.mark.parametrize("text", ALL)
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_source_is_not_met_with_the_reason(text: str, kind: str) -> None:
    data, why = HOSTILE[kind]
    assert why in short(text, a=data, b="def old(): pass\n")


def test_a_link_is_no_file() -> None:
    link = Entry(path=b"a.py", kind=Kind.SYMLINK, data=b"b.py")
    assert why_not(rule(GONE), {b"a.py": link}) == "a.py is no plain file"


@given(st.binary(max_size=400) | st.text(alphabet="def x():\n \t#'\"\\[]{}=.,@*:", max_size=200))
def test_no_bytes_break_a_rule(data: bytes | str) -> None:
    for text in ALL:
        assert isinstance(short(text, a=data, b=data), str)


COUNTED = """
def f(x):
    if x and x or x: pass
    elif x: pass
    else: pass
    for i in x: pass
    else: pass
    while x: pass
    try: pass
    except A: pass
    except B: pass
    else: pass
    finally:
        if x: pass
    with x:
        if x: pass
    def inner():
        return [y for y in x if y]
    class K:
        def m(self):
            if x: pass
    match x:
        case 1: pass
        case [a, *_]: pass
        case _: pass

def g(x):
    match x:
        case 1 if x: pass
        case y if y: pass
    async def h():
        async for i in x:
            async with i: pass
    return lambda: x if x else 1

class C:
    def m(self):
        assert self
        try: pass
        finally: pass
"""


def test_complexity_is_counted_as_ruff_counts_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(COUNTED)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=C901", "--quiet",
               "--config=lint.mccabe.max-complexity=0", "--output-format=json", "a.py"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    found = [message["message"] for message in json.loads(done.stdout)]
    counted = {text.split("`")[1]: int(text.split("(")[1].split(" ")[0]) for text in found}
    assert counted["f"] > 10
    for name, figure in (("f", counted["f"]), ("g", counted["g"]), ("C.m", counted["m"])):
        text = f"complexity: {{file: a.py, function: {name}, at_most: "
        assert short(f"{text}{figure}}}", a=COUNTED) == ""
        if figure > 1:
            assert short(f"{text}{figure - 1}}}", a=COUNTED) == f"that of {name} is {figure}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("symbol_gon: {file: a.py, name: x}", 'line 2: there is no rule "symbol_gon": did you '),
        ("nothing: {}", 'there is no rule "nothing": use one of symbol_gone'),
        ("symbol_gone: {fil: a.py, name: x}", 'unknown field "fil", did you mean "file"?'),
        ("symbol_gone: {name: x}", 'structure 1, symbol_gone: no "file:"'),
        ("symbol_gone: a.py", '"symbol_gone" must be a mapping'),
        ("symbol_gone: {file: a.js, name: x}", "'a.js' is no Python file"),
        ("symbol_gone: {file: ../a.py, name: x}", "'../a.py' is not a path inside the project"),
        ("symbol_gone: {file: /a.py, name: x}", "is not a path inside the project"),
        ("symbol_gone: {file: a.py, name: ''}", '"name" is empty'),
        ("complexity: {file: a.py}", 'no "at_most:"'),
        ("complexity: {file: a.py, at_most: 0}", '"at_most" must be a number, 1 or more'),
        ("complexity: {file: a.py, at_most: many}", '"at_most" must be a number'),
        ("complexity: {file: a.py, at_most: 2.5}", '"at_most" must be a whole number'),
        ("no_duplicate: {lines: 3}", '"files" must name at least one file'),
        ("no_duplicate: {files: [a.c], lines: 3}", "'a.c' is no Python file"),
        ("no_duplicate: {files: [/a.py], lines: 3}", "is not a path inside the project"),
        ("{test: tests/a.py, command: x}", "one rule in each item, each behind its own dash"),
        ("{}", "one rule in each item"),
        ("command: [a]", '"command" must be a text'),
        ("command: ''", '"command" is empty'),
        ("[a]", '"structure" must be a text'),
        ("5", '"structure" must be a text: put it in quotes: "5"'),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_read_says_where_and_why(text: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        rule(text)
    assert any(problem in found for found in error.value.problems), error.value.problems
    assert all(found.startswith("oracle.yaml") for found in error.value.problems)


def test_every_problem_is_told_at_once() -> None:
    text = b"structure:\n  - nothing: {}\n  - file_gone: {file: /x}\nstructur: []\n"
    with pytest.raises(InputError) as error:
        read_rules(text, Category.REFACTOR)
    assert [problem.split(":")[0] for problem in error.value.problems] == [
        "oracle.yaml, structure 1, line 2",
        "oracle.yaml, structure 2, file_gone, line 3",
        "oracle.yaml, line 4",
    ]


def test_each_rule_names_itself() -> None:
    names = [str(rule(text)) for text in (GONE, MOVED, LENGTH, SHORT, COMPLEX, TWICE, TEXT)]
    assert names == [
        "old is gone from a.py",
        "old has moved from a.py to b.py",
        "every function in a.py has at most 6 lines",
        "f in a.py has at most 5 lines",
        "the complexity of f in a.py is at most 2",
        "no 3 lines stand twice in a.py, b.py",
        "a.py does not hold 'print(x)'",
    ]
