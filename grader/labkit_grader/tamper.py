"""What cannot be true of an honest run of tests: signs that the graded code acted on its grading.

A contradiction never makes a pass; what is merely strange is no contradiction.
"""

from collections.abc import Mapping

from labkit.fields import counted, first_words
from labkit.model import Ended
from labkit_grader.command import Command
from labkit_grader.material import Expected
from labkit_grader.pysource import UnreadableError, functions, parse
from labkit_grader.testrun import BROKEN, OURS, TestRun

_MOST_NAMES = 100


def contradictions(
    run: TestRun, expected: tuple[str, ...], sentinel: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return one sentence for each contradiction between what a run says and what was seen.

    `sentinel` are the kinds of tests that have to fail, as validation saw them fail.
    """
    if run.ended is not Ended.EXITED or run.garbled:
        return ()  # many an honest runner writes control characters as they are
    found: list[str] = []
    unseen = [test for test in expected if test not in run.outcomes]
    if run.forged:
        found.append("the report has a line that the test runner did not write")
    if run.reported_exit is not None and run.reported_exit != run.exit_code:
        found.append(
            f"{run.runner} ended in {run.reported_exit}, but the process in {run.exit_code}"
        )
    if run.exit_code == 0 and unseen:
        found.append(f"the run ended in 0, but {len(unseen)} expected tests were not seen")
    if run.exit_code == 0 and run.trouble:
        found.append(f"the run ended in 0, but {run.trouble}")
    if run.complete and not BROKEN.issuperset(
        said for kind in sentinel for said in run.sentinel.get(kind, ())
    ):
        found.append("a test that has to fail did not")
    if run.altered:
        found.append(f"files of tests were changed while they ran: {first_words(run.altered)}")
    return tuple(found)


def strangers(
    run: TestRun, command: Command, files: Mapping[str, bytes], expected: Expected
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a sentence on tests that cannot be of the hidden `files`, and the unknown others.

    Tests of functions that stand in the files can be more or fewer than validation saw where their
    parameters come from the graded code. They count for nothing and are no contradiction.
    """
    known = {*expected.tests, *expected.others}
    unknown = [test for test in dict.fromkeys(run.collected) if test not in known]
    foreign: list[str] = []
    if unknown and command.runner in OURS:
        names = _defined_names(files)
        told = all(_name(test) in names for test in expected.tests)
        foreign = [
            test
            for test in unknown
            if not command.is_of(test, files) or (told and _name(test) not in names)
        ]
    others = tuple(sorted(test for test in unknown if test not in foreign))[:_MOST_NAMES]
    if not foreign:
        return (), others
    return (f"{counted(len(foreign), 'test')} of no hidden file: {first_words(foreign)}",), others


def _defined_names(files: Mapping[str, bytes]) -> frozenset[str]:
    """Return the names of all functions and methods that stand in Python files."""
    names: set[str] = set()
    for path, data in files.items():
        try:
            names.update(function.name for _, function in functions(parse(data, path)))
        except UnreadableError:
            continue
    return frozenset(names)


def _name(test: str) -> str:
    """Return the function's name in a test's id."""
    return test.partition("[")[0].rpartition("::")[2].rpartition(".")[2]
