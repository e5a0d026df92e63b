"""Which hidden files each runner is asked to run."""

import pytest

from labkit_grader.selection import hidden_tests, is_test
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
