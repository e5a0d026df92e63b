"""Which hidden files each runner is asked to run."""

import pytest

from labkit.archive import Entry, Kind
from labkit_grader.selection import belongs, hidden_tests, is_test, python_files
from labkit_grader.testrun import Runner


@pytest.mark.parametrize(
    "name",
    [
        *("calc.test.js", "calc.spec.ts", "calc_test.go", "CalcTest.java", "test-calc.sh"),
        *("TestCalc.kt", "test_calc.bats", "calc_spec.rb", "CalcTests.cs", "tests.rs", "Test.java"),
        *("add_test_helper.js", "HTTPTest.java", "test.js", "some-specs.js", "x/y.test.mjs"),
    ],
)
def test_a_name_with_test_or_spec_as_a_word_is_a_test_of_any_language(name: str) -> None:
    assert is_test(name, Runner.JUNIT)


@pytest.mark.parametrize(
    "name",
    ["latest.js", "contest.go", "special.rb", "Testament.java", "attestation.ts", "tests/run.sh"],
)
def test_a_name_that_only_holds_the_letters_is_none(name: str) -> None:
    assert not is_test(name, Runner.JUNIT)


@pytest.mark.parametrize(
    ("runner", "paths", "run"),
    [
        (Runner.PYTEST, {"tests/test_a.py", "tests/helper.py"}, ("tests/test_a.py",)),
        (Runner.UNITTEST, {"a/tests.py", "a/conftest.py"}, ("a/tests.py",)),
        (Runner.PYTEST, {"b.py", "a.py", "conftest.py", "p/__init__.py", "x.js"}, ("a.py", "b.py")),
        (Runner.JUNIT, {"t/a.test.js", "t/data.json", "t/help.js"}, ("t/a.test.js",)),
        (Runner.JUNIT, {"t/case1.sh", "t/case2.sh"}, ("t/case1.sh", "t/case2.sh")),
    ],
    ids=["pytest", "unittest", "modules", "by word", "all"],
)
def test_names_choose_and_where_none_does_every_file_may(
    runner: Runner, paths: set[str], run: tuple[str, ...]
) -> None:
    assert hidden_tests(paths, runner, ()) == run


def test_the_patterns_of_the_project_count_too() -> None:
    paths = {"check_a.py", "test_b.py", "helper.py"}
    assert hidden_tests(paths, Runner.UNITTEST, ("check*.py",)) == ("check_a.py", "test_b.py")


@pytest.mark.parametrize(
    ("runner", "test", "file", "roots"),
    [
        (Runner.PYTEST, "tests/test_a.py::T::test_x[a::b]", "tests/test_a.py", ()),
        (Runner.UNITTEST, "tests.test_a.T.test_x", "tests/test_a.py", ()),
        (Runner.UNITTEST, "test_a.T.test_x", "tests/test_a.py", ("tests",)),
        (Runner.UNITTEST, "pkg.test_a.T.test_x", "src/pkg/test_a.py", (".",)),
        (Runner.JUNIT, "t/a.test.js::signs::test::x", "t/a.test.js", ()),
        (Runner.JUNIT, "com.x.FooTest::adds", "src/test/java/com/x/FooTest.java", ()),
    ],
)
def test_a_test_is_known_by_its_file(
    runner: Runner, test: str, file: str, roots: tuple[str, ...]
) -> None:
    assert belongs(test, file, runner, roots)
    for other in ("other.py", file.replace("a.", "b.").replace("Foo", "Bar"), "x"):
        assert not belongs(test, other, runner, roots)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "pytest.ini",
            "[pytest]\npython_files = check_*.py\n    more.py\n",
            ("check_*.py", "more.py"),
        ),
        ("setup.cfg", "[tool:pytest]\npython_files=a.py 'b c.py'\n", ("a.py", "b c.py")),
        ("tox.ini", "[tox]\na=%(b)s\n[pytest]\npython_files: check_%x.py\n", ("check_%x.py",)),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\npython_files = 'a.py b.py'\n",
            ("a.py", "b.py"),
        ),
        ("pyproject.toml", "[tool.pytest]\npython_files = ['a.py']\n", ("a.py",)),
        ("pytest.toml", "[pytest]\npython_files = ['a.py', 3]\n", ("a.py",)),
        ("pyproject.toml", "[tool.pytest", ()),
        ("pyproject.toml", "tool = 3\n", ()),
        ("setup.cfg", "no section\n", ()),
        ("setup.cfg", "[tool:pytest]\npython_files = 'open\n", ()),
        ("pytest.ini", b"[pytest]\npython_files = \xff.py\n", ("\ufffd.py",)),
        ("sub/pytest.ini", "[pytest]\npython_files = a.py\n", ()),
    ],
)
def test_the_setting_python_files_is_read_wherever_pytest_has_it(
    name: str, text: str | bytes, found: tuple[str, ...]
) -> None:
    data = text.encode() if isinstance(text, str) else text
    entry = Entry(path=name.encode(), kind=Kind.FILE, data=data)
    assert python_files([entry]) == found
