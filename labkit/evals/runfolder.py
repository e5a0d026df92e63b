"""The folder of one run: what was asked for, the samples, and in the end the report.

`run.json` says what the folder is for, so that a run that was cut short is only ever continued
with the same suite, candidate and settings.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from labkit.errors import InputError
from labkit.evals.junit import to_junit
from labkit.evals.markdown import to_markdown
from labkit.evals.report import RunReport
from labkit.evals.reportfile import NAME, to_dict
from labkit.fields import json_text, read_json
from labkit.workspace import replace as replace_file
from labkit.workspace import write_new

SCHEMA = 1
MADE_OF = "run.json"
_WORDS = {
    "suite_version": "another suite version",
    "split": "another split",
    "candidate": "another candidate",
    "n": "another number of samples",
    "seed": "another seed",
    "ids": "other cases",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """A folder that belongs to one run."""

    path: Path

    @classmethod
    def take(cls, path: Path, report: RunReport, ids: tuple[str, ...] = ()) -> Self:
        """Begin a run in a new folder, or go on with the same one.

        Raises InputError for a folder that holds anything else.
        """
        wanted = _facts(report, ids)
        file = path / MADE_OF
        if not file.is_file():
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise InputError(
                    f"{path} holds something else than a run", hint="choose a new folder"
                )
            path.mkdir(parents=True, exist_ok=True)
            write_new(file, json_text(wanted))
            return cls(path=path)
        there = read_json(file, schema=SCHEMA)
        for name, what in _WORDS.items():
            if there.get(name) != wanted[name]:
                raise InputError(
                    f"{path} holds a run of {what}: {_shown(there.get(name))}, "
                    f"not {_shown(wanted[name])}",
                    hint="choose a new folder",
                )
        return cls(path=path)

    def finish(self, report: RunReport) -> None:
        """Write the report in each of its forms."""
        replace_file(self.path / NAME, json_text(to_dict(report)))
        replace_file(self.path / "report.md", to_markdown(report))
        replace_file(self.path / "junit.xml", to_junit(report))


def _facts(report: RunReport, ids: tuple[str, ...]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "suite": report.suite,
        "suite_version": report.suite_version,
        "split": report.split,
        "candidate": report.candidate,
        "n": report.n,
        "seed": report.seed,
        "ids": sorted(ids),
    }


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) or "all" if isinstance(value, list) else str(value)
