"""Every path of a lab, and the only code that joins them.

A workspace is the folder `evals/` inside the project's checkout. Sealed things and the author's
drafts lie beside the project, in the handover folder; private keys lie in the user's own folder.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import TypeVar

from labkit.errors import InputError, PhaseError, refuse
from labkit.model import BlindId, ConfigurationId, Member, RunId, TaskId
from labkit.wholefile import whole_file

HOME_VARIABLE = "LABKIT_HOME"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The paths of one lab. `project` is the root of the project's checkout."""

    project: Path

    @classmethod
    def find(cls, start: Path) -> "Workspace":
        """Return the workspace that `start` lies in; raises PhaseError when there is none."""
        for folder in (start, *start.parents):
            if (folder / "evals" / "labkit.yaml").is_file():
                return cls(folder)
            if folder.name == "evals" and (folder / "labkit.yaml").is_file():
                return cls(folder.parent)
        raise PhaseError(
            f"no evals/labkit.yaml in {start} or above it",
            hint="go into the project and run: labkit init",
        )

    @property
    def evals(self) -> Path:
        """The workspace folder itself."""
        return self.project / "evals"

    @property
    def label(self) -> str:
        """A short name of this very folder, written on whatever an engine keeps for it."""
        return hashlib.sha256(os.fsencode(self.evals)).hexdigest()[:12]

    @property
    def handover(self) -> Path:
        """Where sealed bundles and unsealed drafts lie, outside both histories."""
        return self.project.parent / f"{self.project.name}-handover"

    @property
    def settings(self) -> Path:
        """The team's settings, labkit.yaml."""
        return self.evals / "labkit.yaml"

    def member(self, name: Member) -> Path:
        """One person's public facts."""
        return self.evals / "members" / f"{name}.yaml"

    def task(self, task: TaskId) -> Path:
        """The task file."""
        return self.evals / "tasks" / f"{task}.yaml"

    def prompt(self, task: TaskId) -> Path:
        """What the agent is asked."""
        return self.evals / "prompts" / f"{task}.txt"

    def fixture(self, task: TaskId) -> Path:
        """The trees of a task that was made from a folder instead of a history."""
        return self.evals / "fixtures" / f"{task}.tar"

    def seal(self, task: TaskId) -> Path:
        """The author's signed seal record: digests only."""
        return self.evals / "seals" / f"{task}.json"

    def validation(self, task: TaskId) -> Path:
        """The evidence that a task is sound: counts and digests only."""
        return self.evals / "validation" / f"{task}.json"

    @property
    def tasks_table(self) -> Path:
        """Every task as one line for scripts."""
        return self.evals / "tasks.tsv"

    def configuration(self, configuration: ConfigurationId) -> Path:
        """A configuration's file."""
        return self.evals / "configs" / f"{configuration}.yaml"

    @property
    def suite(self) -> Path:
        """The frozen suite."""
        return self.evals / "suite.json"

    @property
    def plan(self) -> Path:
        """The frozen order of runs."""
        return self.evals / "plan.csv"

    def further_plan(self, number: int) -> Path:
        """Attempts that were added after the freeze; the first such plan is number 2."""
        return self.evals / f"plan-{number}.csv"

    def further_plans(self) -> tuple[Path, ...]:
        """Every further plan, in the order in which they were made."""
        paths = (self.further_plan(number) for number in count(2))
        return tuple(takewhile(Path.is_file, paths))

    @property
    def raw(self) -> Path:
        """The evidence of every run."""
        return self.evals / "raw"

    def run(self, run: RunId) -> Path:
        """The evidence of one run."""
        return self.raw / str(run)

    @property
    def by_hand(self) -> Path:
        """The runs that somebody has begun by hand, as long as they are not finished."""
        return self.evals / "manual"

    def missing(self, run: RunId) -> Path:
        """The record that a run is missing: what broke it, attempt by attempt."""
        return self.evals / "missing" / f"{run}.json"

    def smoke(self, number: int) -> Path:
        """A rerun of the smoke subset: runs that are no part of the study."""
        return self.evals / "raw-smoke" / str(number)

    def smokes(self) -> tuple[Path, ...]:
        """Every rerun of the smoke subset, the earliest first."""
        return tuple(takewhile(Path.is_dir, map(self.smoke, count(1))))

    @property
    def voided(self) -> Path:
        """What tries of runs left that the infrastructure broke."""
        return self.evals / "voided"

    def correction(self, task: TaskId, number: int) -> Path:
        """The signed record that a task's hidden tests were corrected after the freeze."""
        return self.evals / "corrections" / f"{task}-{number}.json"

    @property
    def leaks(self) -> Path:
        """The leak check's findings and people's decisions."""
        return self.evals / "leaks.json"

    @property
    def leak_notes(self) -> Path:
        """The leak check, readable."""
        return self.evals / "leaks.md"

    @property
    def rubric(self) -> Path:
        """The rubric."""
        return self.evals / "rubric.yaml"

    @property
    def blind(self) -> Path:
        """What scorers see."""
        return self.evals / "blind"

    def pack(self, blind_id: BlindId) -> Path:
        """What scorers see of one run."""
        return self.blind / str(blind_id)

    def scores(self, scorer: Member) -> Path:
        """One scorer's marks."""
        return self.evals / "scores" / f"{scorer}.csv"

    @property
    def all_scores(self) -> Path:
        """Every scorer's marks joined with their runs, after unblinding."""
        return self.evals / "scores.csv"

    def log(self, member: Member) -> Path:
        """One person's signed record of what they did."""
        return self.evals / "log" / f"{member}.jsonl"

    def summary(self, ending: str) -> Path:
        """The result: `md`, `json`, `html`, `csv` or `junit.xml`."""
        return self.evals / f"summary.{ending}"

    def reviews(self) -> tuple[Path, ...]:
        """What members wrote about the runs and the result, sorted."""
        return _files(self.evals / "reviews", "*.md")

    def draft(self, task: TaskId) -> Path:
        """The author's unsealed hidden tests and oracle."""
        return self.handover / "drafts" / str(task)

    def bundle(self, team: str, task: TaskId) -> Path:
        """A task's sealed hidden tests."""
        return self.handover / f"{team}-{task}.age"

    def corrected_bundle(self, team: str, task: TaskId, number: int) -> Path:
        """A task's sealed hidden tests after a correction; those before it stay where they are."""
        return self.handover / f"{team}-{task}.correction-{number}.age"

    def handin(self, team: str, member: Member) -> Path:
        """One member's sealed runs, for the holder."""
        return self.handover / f"{team}-raw-{member}.age"

    def blinding_key(self, team: str) -> Path:
        """The sealed blinding key."""
        return self.handover / f"{team}-blind.age"

    def task_ids(self) -> tuple[TaskId, ...]:
        """Every task that has a file, sorted; a file whose name is no id is an InputError."""
        return _ids(self.evals / "tasks", TaskId)

    def configuration_ids(self) -> tuple[ConfigurationId, ...]:
        """Every configuration that has a file, sorted."""
        return _ids(self.evals / "configs", ConfigurationId)

    def member_names(self) -> tuple[Member, ...]:
        """Everybody who has joined, sorted."""
        return _ids(self.evals / "members", Member)

    def correction_names(self) -> tuple[tuple[TaskId, int], ...]:
        """Every correction that has a file, as task and number; another name is an InputError."""
        found = []
        for path in _files(self.evals / "corrections", "*.json"):
            task, _, number = path.stem.rpartition("-")
            if not number.isdecimal() or path.stem != f"{task}-{int(number)}":
                raise InputError(
                    f"corrections/{path.name} is not called <task>-<number>.json",
                    hint="move it elsewhere",
                )
            found.append((TaskId(task), int(number)))
        return tuple(sorted(found))

    def handed_in(self, team: str) -> tuple[Path, ...]:
        """Every sealed hand-in that lies in the handover folder."""
        return _files(self.handover, f"{team}-raw-*.age")


_Id = TypeVar("_Id", TaskId, ConfigurationId, Member)


def _ids(folder: Path, kind: Callable[[str], _Id]) -> tuple[_Id, ...]:
    """Return the ids that the YAML files of a folder are named by; tells every bad name at once."""
    found: list[_Id] = []
    problems: list[str] = []
    for path in _files(folder, "*.y*ml"):
        if path.name.startswith("."):
            continue  # an editor's or a system's own
        try:
            found.append(kind(path.stem))
        except InputError as error:
            problems.append(f"{folder.name}/{path.name}: {error}")
        if path.suffix != ".yaml":
            problems.append(f"{folder.name}/{path.name}: the ending must be .yaml")
    refuse(problems, hint="rename the file, or move it elsewhere")
    return tuple(sorted(found))


def _files(folder: Path, pattern: str) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.glob(pattern) if path.is_file()))


def user_folder() -> Path:
    """Return the folder of the user's keys: $LABKIT_HOME, else the platform's own."""
    if chosen := os.environ.get(HOME_VARIABLE):
        return Path(chosen)
    base = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA")
    return (Path(base) if base else Path.home() / ".config") / "labkit"


def cache_folder() -> Path:
    """Return the folder for what can be made again: prepared environments."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "labkit"


def replace(path: Path, content: str | bytes) -> None:
    """Write a whole file or nothing: to a temporary name beside it, then renamed."""
    _write(path, content, new=False)


def write_new(path: Path, content: str | bytes) -> None:
    """Write a file that must not be there yet; raises InputError when it is."""
    _write(path, content, new=True)


def _write(path: Path, content: str | bytes, *, new: bool) -> None:
    with whole_file(path, new=new) as file:
        file.write(content.encode() if isinstance(content, str) else content)
