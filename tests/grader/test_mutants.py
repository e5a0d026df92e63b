"""Generated faults and variants: what they are, and what has to hold of all of them."""

import ast
from types import CodeType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labkit_grader.made import Made, read_made
from labkit_grader.mutants import Mutant, mutants
from labkit_grader.pysource import Source, UnreadableError, parse
from labkit_grader.variants import commented, gutted, reformatted, reworked


def source(text: str | bytes) -> Source:
    data = text.encode() if isinstance(text, str) else text
    return Source(path="a.py", data=data, module=parse(data, "a.py"))


def changed(text: str) -> set[str]:
    """Return every faulty version of a text."""
    return {m.applied(text.encode()).decode() for m in mutants([source(text)])}


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("x == y\n", {"x != y\n"}),
        ("(x) <(y)\n", {"(x) <=(y)\n"}),
        ("x not  in y\n", {"x in y\n"}),
        ("x is not y\n", {"x is y\n"}),
        ("x in y\n", {"x not in y\n"}),
        ("x = y + z\n", {"x = y - z\n"}),
        ("x //= y\n", {"x *= y\n"}),
        ("x ** y\n", {"x * y\n"}),
        ("a and b and c\n", {"a or b and c\n"}),
        ("if not(x): y = z\n", {"if (x): y = z\n"}),
        ("x = True\n", {"x = False\n"}),
        ("x = 10\n", {"x = (10 + 1)\n"}),
        ("x = 1.5\n", {"x = (1.5 + 1)\n"}),
        ("def f(): return g\n", {"def f(): return None\n"}),
        ("def f(): return None\n", set()),
        ("raise A\n", {"pass\n"}),
        ("f()\n", {"pass\n"}),
        ("for a in b:\n    break\n", {"for a in b:\n    continue\n"}),
        ("x = a if b else c\n", {"x = (c)\n", "x = (a)\n"}),
        ("x = 'text'\n", set()),
        ('"""Doc 1."""\n', set()),
        ("x: Literal[1]\n", set()),
        ("@f(1)\ndef g(x: 1) -> 2: pass\n", set()),
        ("x = f'{1}'\n", set()),
        ("x = (a  # 1 + 2\n + b)\n", set()),
        ("@f\r\ndef g():\r\n    return a + b\r\n",
         {"@f\r\ndef g():\r\n    return a - b\r\n", "@f\r\ndef g():\r\n    return None\r\n"}),
        ("é = ü + ö\n", {"é = ü - ö\n"}),
        ("\N{BYTE ORDER MARK}x = y + z\n", {"\N{BYTE ORDER MARK}x = y - z\n"}),
        ("x = '''\n1 + 2\n''' + y\n", {"x = '''\n1 + 2\n''' - y\n"}),
    ],
)  # fmt: skip
def test_each_place_gives_its_faults(text: str, faults: set[str]) -> None:
    assert changed(text) == faults


def test_a_fault_says_what_it_is() -> None:
    (fault,) = mutants([source("x = 1\n\n\ny = x == z\n".replace("x = 1", "x = z"))])
    assert str(fault) == "a.py:4: == becomes !="


PARTS = st.sampled_from(
    ["a", "1", "True", "'s'", "a.b", "f(a)", "not a", "(a + 1)", "a == b", "a and b", "-a",
     "[a for a in b if a > 1]", "a if b else 2", "f'{a!r}'", "lambda: a", "{1: a}"]
)  # fmt: skip
LINES = st.sampled_from(
    ["x = {}", "return {}", "if {}: return {}", "x += {}", "raise E({})", "f({})", "'''doc'''",
     "for i in {}: break", "while {}: continue", "assert {}", "with {} as w: pass",
     "def g(a={}): return {}", "class K:\n        def m(self): return {}", "yield {}", "pass"]
)  # fmt: skip


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Return a module of a few functions that may do anything."""
    text = draw(st.sampled_from(["", '"""Doc."""\n', "from __future__ import annotations\n"]))
    for number in range(draw(st.integers(1, 3))):
        lines = draw(st.lists(LINES, min_size=1, max_size=4))
        body = "".join(f"    {line}\n" for line in lines).replace("{}", "%s")
        text += (
            f"def f{number}(a, b=1):\n{body % tuple(draw(PARTS) for _ in range(body.count('%s')))}"
        )
    return text


@given(modules())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_every_fault_parses_differs_and_is_alone(text: str) -> None:
    real = source(text)
    found = tuple(mutants([real]))
    results = [fault.applied(real.data) for fault in found]
    assert len(set(results)) == len(results)
    for result in results:
        assert ast.dump(parse(result, "a.py")) != ast.dump(real.module)
    assert found == tuple(mutants([source(text)]))
    assert set(mutants([real, Source(path="b.py", data=real.data, module=real.module)])) > set(
        found
    )


@given(modules())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_variants_keep_what_they_promise(text: str) -> None:
    real = source(text)
    for change in (reformatted, commented):
        assert ast.dump(parse(change(real.data, "a.py"), "a.py")) == ast.dump(real.module)
        assert change(real.data, "a.py") != real.data
    again = parse(reworked(real.data, "a.py"), "a.py")
    for node in ast.walk(again):
        if isinstance(node, ast.FunctionDef):
            node.body = [line for line in node.body if ast.unparse(line) != "[]"]
    assert ast.dump(again) == ast.dump(real.module)
    assert [ast.get_docstring(again)] == [ast.get_docstring(real.module)]


def run(data: bytes, **names: Any) -> dict[str, Any]:
    code: CodeType = compile(data, "a.py", "exec")
    exec(code, names)  # noqa: S102 - text of this test
    return names


def test_gutted_code_imports_and_then_raises() -> None:
    text = "def f(x):\n    '''Doc.'''\n    return x + 1\n"
    text += "class C:\n    def m(self): return 1\nY = f(1)\n"
    names = run(gutted(text.encode(), "a.py"))
    assert names["Y"] == 2
    assert names["f"].__doc__ == "Doc."
    with pytest.raises(NotImplementedError):
        names["f"](1)
    with pytest.raises(NotImplementedError):
        names["C"]().m()


@pytest.mark.parametrize("data", [b"def f(:\n", b"\0", b"x = " + b"-" * 100_000 + b"1\n"])
def test_what_cannot_be_parsed_has_no_variant(data: bytes) -> None:
    for change in (reworked, reformatted, commented, gutted):
        with pytest.raises(UnreadableError):
            change(data, "a.py")


def test_what_was_made_is_read_back() -> None:
    fault = Mutant(path="a.py", line=1, start=0, end=1, text="é", what="x becomes y")
    full = Made(mutants=(fault,), neutral={"a.py": "x"}, gutted={"a.py": "y"})
    assert read_made(full.values()) == full
    assert read_made(Made().values()) == Made()
    assert Made().values() == {}
