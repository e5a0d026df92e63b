"""Suites, candidates and reports of the development loop for the tests."""

from labkit.evals import CaseResult, EvalCase, EvalSuite, RunReport, Status, TrialResult
from labkit.evals.sample import Trial

CAPITALS = {"france": "Paris", "italy": "Rome", "spain": "Madrid", "japan": "Tokyo"}


def capitals(**more: EvalCase) -> EvalSuite:
    """Return a suite of four questions with one right answer each."""
    cases = [
        EvalCase(
            id=name,
            inputs=f"the capital of {name}",
            reference=answer,
            grader_spec={"name": "exact"},
            slices=("asia" if name == "japan" else "europe",),
        )
        for name, answer in CAPITALS.items()
    ]
    return EvalSuite([*cases, *more.values()], "capitals")


def knows(case: EvalCase, trial: Trial) -> str:
    """Answer every question rightly."""
    del trial
    return CAPITALS[case.id]


def trial_of(sign: str, number: int) -> TrialResult:
    """Return a trial: `+` passed, `-` failed, `?` errored, `u` ungraded, `F` a forbidden edit."""
    passed = {"+": True, "-": False, "F": False}.get(sign)
    status = {"?": Status.ERRORED, "u": Status.UNGRADED, "F": Status.FORBIDDEN}
    return TrialResult(
        number=number,
        status=status.get(sign, Status.GRADED),
        passed=passed,
        score=None if passed is None else float(passed),
        forbidden=sign == "F",
    )


def case_of(name: str, signs: str, *, tags: tuple[str, ...] = (), **more: object) -> CaseResult:
    """Return a case's result of signs: `++-`."""
    trials = tuple(trial_of(sign, number) for number, sign in enumerate(signs, 1))
    return CaseResult(id=name, planned=len(signs), trials=trials, tags=tags, **more)  # type: ignore[arg-type]


def report_of(cases: dict[str, str], *, n: int | None = None, **more: object) -> RunReport:
    """Return a report of signs by case: `{"a": "++", "b": "-+"}`."""
    made = tuple(case_of(name, signs) for name, signs in sorted(cases.items()))
    longest = max((len(signs) for signs in cases.values()), default=1)
    facts: dict[str, object] = {
        "suite": "suite",
        "suite_version": "0123456789abcdef",
        "candidate": "one",
        "n": n or longest,
        "cases": made,
    }
    return RunReport(**(facts | more))  # type: ignore[arg-type]
