"""Why a task's hidden tests prove something or not, in sentences for their author."""

from collections.abc import Iterator, Mapping, Sequence

from labkit.fields import first_words
from labkit.model import Category, Ended
from labkit.patch.place import NotApplied, apply_to_base, base_tree
from labkit.testpaths import is_test as is_test_path
from labkit_grader.oracles.causes import (
    Cause,
    cause_of,
    last_error,
    missing_package,
    wrong_reason,
)
from labkit_grader.oracles.compared import Compared, Sides
from labkit_grader.oracles.interface import Case
from labkit_grader.protected import guard
from labkit_grader.testrun import BROKEN, PASSED, Runner, TestRun

_MENDS = {
    Cause.NETWORK: (
        "a network, which the sandbox does not have: keep what they fetch beside them, or leave "
        "them out"
    ),
    Cause.OUTSIDE: (
        "to write outside of the project, which the sandbox refuses: use tmp_path, or leave them "
        "out"
    ),
}


def tests(names: Sequence[str], one: str, more: str) -> str:
    """Return "1 hidden test is" or "3 hidden tests are"."""
    return f"1 hidden test {one}" if len(names) == 1 else f"{len(names)} hidden tests {more}"


def problems_of(case: Case, sides: Sides, compared: Compared) -> Iterator[str]:
    """Yield what is wrong with the hidden tests at the solution."""
    limits = {
        Ended.TIMEOUT: f"time at the solution (limit {sides.limits.seconds:g} s: grade_minutes)",
        Ended.OUT_OF_MEMORY: f"memory at the solution (limit {sides.limits.memory} MiB: memory)",
    }
    cut = [run for run in sides.solution if run.ended in limits]
    if cut:
        yield f"the hidden tests run out of {limits[cut[0].ended]}, under limits: in labkit.yaml"
    else:
        troubles = sorted({run.trouble for run in sides.solution if run.trouble})
        yield from (f"at the solution: {trouble}{_mend(trouble)}" for trouble in troubles)
    yield from _not_collected(case, sides)
    yield from _not_started(sides)
    if compared.failing:
        told = _told(compared.failing, "fails at the solution", "fail at the solution")
        yield told + _first_complaint(sides.solution, compared.failing)
    if compared.unreliable and not cut:
        times = [
            f"{test} ({sum(run.outcome(test) == PASSED for run in sides.solution)} of "
            f"{len(sides.solution)})"
            for test in compared.unreliable
        ]
        yield _told(
            times,
            "has to begin to pass but is unstable: it does not always pass at the solution",
            "have to begin to pass but are unstable: they do not always pass at the solution",
        )


def _mend(trouble: str) -> str:
    """Return what to do about options in the project's settings that no plugin here knows."""
    if "unrecognized arguments" not in trouble:
        return ""
    return ' (they stand in the project\'s settings: grade with "python -m pytest -o addopts=")'


def notes_of(case: Case, sides: Sides, compared: Compared) -> Iterator[str]:
    """Yield what the author should know of the hidden tests."""
    yield from _base_notes(case, sides)
    yield from _wrong_reasons(case, sides, compared)
    yield from _causes(sides, compared)
    yield from _dropped(sides, compared)
    if len(compared.fail_to_pass) == 1 and not compared.pass_to_pass:
        yield "the task is thin: one hidden test has to begin to pass, none has to keep passing"
    if compared.fail_to_pass:
        yield from _same_as_commit(case)
    yield from _put_back(case)


def _put_back(case: Case) -> Iterator[str]:
    """Say what of the solution itself is kept out of grading; of tests everybody knows."""
    solution = case.repository.commit(case.task.solution).tree
    patch = case.repository.diff(case.base.tree, solution)
    applied = apply_to_base(case.repository, case.base, patch)
    if isinstance(applied, NotApplied):
        return
    named = guard(base_tree(case.base), applied.tree, case.task).neutralised
    told = [what for what in named if not is_test_path(what.rpartition(": ")[0].encode())]
    if told:
        yield f"grading undoes a part of the solution, as of every run: {first_words(told, 3)}"


def _not_collected(case: Case, sides: Sides) -> Iterator[str]:
    errors = _collect_errors(sides.solution)
    packages = sorted({found for text in errors.values() if (found := missing_package(case, text))})
    for package in packages:
        yield f"the environment lacks the package {package}: neither side can import it"
    for name, text in errors.items():
        if not missing_package(case, text):
            yield f"at the solution {name} cannot be collected: {last_error(text)}"


def _not_started(sides: Sides) -> Iterator[str]:
    """Yield why nothing is compared where only an exit code tells, and the base has none."""
    weak = [run for run in sides.base if run.runner is Runner.EXIT_CODE]
    for problem in sorted({run.problem for run in weak if run.problem}):
        yield f"at the base {problem}: that is no failing test"


def _collect_errors(runs: Sequence[TestRun]) -> dict[str, str]:
    return {name: text for run in runs for name, text in run.collect_errors.items()}


def _base_notes(case: Case, sides: Sides) -> Iterator[str]:
    cut = any(run.ended is Ended.TIMEOUT for run in sides.base)
    within = f" (limit {sides.base_seconds:g} s)" if cut or sides.stuck else ""
    for word in sorted(set(sides.stuck.values())):
        stuck = [test for test, how in sides.stuck.items() if how == word]
        limit = within if word == "runs out of time" else ""
        many = word.replace("runs", "run").replace("ends", "end")
        yield f"at the base {tests(stuck, word, many)}{limit}: {first_words(stuck)}; that counts " \
              "as failing"  # fmt: skip
    ate = sorted(
        test
        for test, text in _messages(sides.base).items()
        if test not in sides.stuck and "MemoryError" in text
    )
    if ate:
        yield f"at the base {_told(ate, 'runs out of memory', 'run out of memory')}"
    for trouble in sorted({run.trouble for run in sides.base if run.trouble}):
        yield f"at the base: {trouble}{within}; tests not seen count as failing"
    both = _collect_errors(sides.solution)
    for name, text in _collect_errors(sides.base).items():
        if name in both:
            continue  # a problem at the solution already
        yield (
            f"at the base {name} cannot be collected, so its tests fail without running: "
            f"{last_error(text)}{_judged(case, text)}"
        )


def _judged(case: Case, complaint: str) -> str:
    """Return how much a failure to find a name at the base is worth, for a category."""
    if not wrong_reason(complaint):
        return ""
    if case.task.category is Category.FEATURE:
        return " (right for a feature, whose names are not there yet)"
    return " - it fails for the wrong reason: test what is there at the base, or say the name"


def _wrong_reasons(case: Case, sides: Sides, compared: Compared) -> Iterator[str]:
    """Yield a note on tests that begin to pass only because a name is there at last."""
    if case.task.category is Category.FEATURE:
        return
    messages = _messages(sides.base)
    found = [test for test in compared.fail_to_pass if wrong_reason(messages.get(test, ""))]
    if found:
        complaint = last_error(messages[found[0]])
        what = _told(found, "fails for the wrong reason", "fail for the wrong reason")
        yield f"at the base {what} ({complaint})"


def _causes(sides: Sides, compared: Compared) -> Iterator[str]:
    """Yield a note with the mend for tests that want what the sandbox does not give."""
    messages = _messages(sides.solution)
    broken = (*compared.failing, *compared.unreliable, *compared.unstable)
    for cause, mend in _MENDS.items():
        found = [test for test in broken if cause_of(messages.get(test, "")) is cause]
        if found:
            yield f"{tests(found, 'needs', 'need')} {mend}: {first_words(found)}"


def _messages(runs: Sequence[TestRun]) -> Mapping[str, str]:
    return {test: text for run in runs for test, text in run.messages.items()}


def _dropped(sides: Sides, compared: Compared) -> Iterator[str]:
    told = (
        (compared.unstable, "is unstable and dropped", "are unstable and dropped"),
        (
            compared.renamed,
            "has another id in every run and is never counted",
            "have another id in every run and are never counted",
        ),
        (
            compared.skipped if compared.fail_to_pass else (),
            "is skipped at the solution and not counted",
            "are skipped at the solution and not counted",
        ),
        (
            compared.uncounted,
            "does not run at the solution and is not counted",
            "do not run at the solution and are not counted",
        ),
        (
            _order_dependent(sides, compared),
            "does not pass when the order is reversed: it depends on the order, or is unstable",
            "do not pass when the order is reversed: they depend on the order, or are unstable",
        ),
    )
    for names, one, more in told:
        if names:
            yield _told(names, one, more)


def _order_dependent(sides: Sides, compared: Compared) -> tuple[str, ...]:
    if sides.turned is None:
        return ()
    counted = sorted((*compared.fail_to_pass, *compared.pass_to_pass))
    return tuple(test for test in counted if sides.turned.outcome(test) in BROKEN)


def _same_as_commit(case: Case) -> Iterator[str]:
    """Yield a note when the hidden tests are the solved commit's own, byte for byte."""
    tree = case.repository.tree(case.repository.commit(case.task.solution).tree)
    wanted = set(case.test_files)
    entries = [entry for entry in tree if entry.path.decode(errors="replace") in wanted]
    contents = case.repository.blobs([entry.oid for entry in entries])
    same = [
        entry.path.decode()
        for entry, data in zip(entries, contents, strict=True)
        if case.material.hidden[entry.path.decode()] == data
    ]
    if wanted and len(same) == len(wanted):
        yield (
            "the hidden tests are the commit's own, unchanged: other inputs would tell a fix from "
            "one that fits these alone"
        )


def _first_complaint(runs: Sequence[TestRun], failing: Sequence[str]) -> str:
    messages = _messages(runs)
    first = next((messages[test] for test in failing if messages.get(test)), "")
    return f" ({last_error(first)})" if first else ""


def _told(names: Sequence[str], one: str, more: str) -> str:
    return f"{tests(names, one, more)}: {first_words(names)}"
