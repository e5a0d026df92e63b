"""The folder of one run: what was asked for, the samples, and in the end the report.

`run.json` says what the folder is for, so that a run that was cut short is only ever continued
with the same suite, candidate and settings.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import quote

from labkit.errors import InputError
from labkit.evals.junit import to_junit
from labkit.evals.markdown import to_markdown
from labkit.evals.report import RunReport
from labkit.evals.reportfile import NAME, to_dict
from labkit.fields import json_text, read_json
from labkit.suite import digest
from labkit.workspace import replace as replace_file
from labkit.workspace import write_new

SCHEMA = 1
MADE_OF = "run.json"
_LONGEST_NAME = 120
SHOWN = 8
"""How many digits of a code's digest people are shown."""
_WORDS = {
    "suite_version": "another suite version",
    "split": "another split",
    "candidate": "another candidate",
    "code": "other code of the candidate",
    "n": "another number of samples",
    "seed": "another seed",
    "ids": "other cases",
    "policy": "another policy",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """A folder that belongs to one run."""

    path: Path

    @classmethod
    def take(cls, path: Path, facts: Mapping[str, object]) -> Self:
        """Begin a run in a new folder, or go on with the same one.

        Raises InputError for a folder that holds anything else, and says in what it differs.
        """
        file = path / MADE_OF
        if not file.is_file():
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise InputError(
                    f"{path} holds something else than a run", hint="choose a new folder"
                )
            path.mkdir(parents=True, exist_ok=True)
            write_new(file, json_text({"schema": SCHEMA, **facts}))
            return cls(path=path)
        differs = [*differences(read_json(file, schema=SCHEMA), facts)]
        if differs:
            raise InputError(
                f"{path} holds a run of {'; '.join(differs)}", hint="choose a new folder"
            )
        return cls(path=path)

    def finish(self, report: RunReport) -> None:
        """Write the report in each of its forms."""
        replace_file(self.path / NAME, json_text(to_dict(report)))
        replace_file(self.path / "report.md", to_markdown(report))
        replace_file(self.path / "junit.xml", to_junit(report))


def differences(there: Mapping[str, object], wanted: Mapping[str, object]) -> Iterator[str]:
    """Yield in what a run differs from the one that is wanted: what there is, not what should be.

    What a run does not say of itself differs from everything but nothing.
    """
    for name, what in _WORDS.items():
        if name in wanted and there.get(name) != wanted[name]:
            yield f"{what}: {_shown(there.get(name), name)}, not {_shown(wanted[name], name)}"
    before, now = there.get("settings"), wanted.get("settings")
    earlier = before if isinstance(before, dict) else {}
    for name, value in now.items() if isinstance(now, Mapping) else ():
        if earlier.get(name) != value:
            yield f"another {name}: {_shown(earlier.get(name))}, not {_shown(value)}"


def _shown(value: object, name: str = "") -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "all"
    if value is None or value == "":
        return "none"
    return str(value)[:SHOWN] if name == "code" else str(value)


def rollout_of(case: str, number: int) -> str:
    """Return where the files of a sample are kept, relative to the run's folder."""
    return f"rollouts/{folder_name(case)}/{number}"


def folder_name(case: str) -> str:
    """Return a case's id as a folder may be called, different for different ids."""
    name = quote(case, safe="")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    return name if len(name) <= _LONGEST_NAME else f"{name[:80]}-{digest(case.encode())[:16]}"
