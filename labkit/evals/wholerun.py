"""A run that was kept, with its samples: for whoever wants more than figures."""

from dataclasses import replace
from pathlib import Path

from labkit.evals.report import RunReport
from labkit.evals.reportfile import read_report
from labkit.evals.store import NAME, Store


def read_run(path: Path) -> RunReport:
    """Read a report as `read_report` does, and what is kept of its samples beside it.

    Samples are read from the disk one by one when they are asked for.
    """
    report = read_report(path)
    file = report.folder / NAME if report.folder else None
    if file is None or not file.is_file():
        return report
    store = Store(file)
    cases = tuple(
        replace(case, samples=store.of(case.id, case.planned)[1]) for case in report.cases
    )
    return replace(report, cases=cases)
