"""Runs pytest in many folders: pytest is imported once, then every folder gets a fork of its own.

Usage: fork_pytest.py JOBS, a JSON file {name: [folder, file, ...]}. Prints {name: {test: outcome}};
null stands for a pytest that never reached its own end, as after an early os._exit.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

AT_ONCE = 2


class Outcomes:
    """Writes down what became of every test once the session is over."""

    def __init__(self, report: Path) -> None:
        self.report = report
        self.found: dict[str, str] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.found[report.nodeid] = "error"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            self.found[report.nodeid] = report.outcome

    def pytest_sessionfinish(self) -> None:
        self.report.write_text(json.dumps(self.found), encoding="utf-8")


def start(folder: str, files: list[str], report: Path) -> None:
    """Fork a pytest in `folder`; it leaves its outcomes in `report`."""
    if os.fork():
        return
    os.chdir(folder)
    sys.path.insert(0, folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={folder}"]
    os._exit(int(pytest.main([*options, *files], plugins=[Outcomes(report)])))


def main() -> None:
    """Run all jobs, a few at once."""
    jobs: dict[str, list[str]] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as reports:
        for number, (folder, *files) in enumerate(jobs.values()):
            if number >= AT_ONCE:
                os.wait()
            start(folder, files, Path(reports, str(number)))
        for _ in range(min(AT_ONCE, len(jobs))):
            os.wait()
        found = {}
        for number, name in enumerate(jobs):
            report = Path(reports, str(number))
            found[name] = json.loads(report.read_bytes()) if report.exists() else None
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
