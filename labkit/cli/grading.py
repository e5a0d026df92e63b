"""What `labkit grade` does: finished runs get a verdict, in a fresh sandbox each."""

import secrets
import threading
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from dataclasses import replace as changed
from functools import cache

from labkit.bundle import Bundle
from labkit.cli.bundles import Oracles, open_bundle
from labkit.cli.console import Pace, say
from labkit.cli.handing import take_in
from labkit.cli.identity import open_identity
from labkit.cli.lab import Lab
from labkit.cli.leakcheck import require_decided
from labkit.cli.parallel import as_finished, room_for
from labkit.cli.regrading import (
    NOT_OURS,
    Asked,
    Change,
    Due,
    behind,
    due_runs,
    grade_of,
    sentences,
    tell_changes,
)
from labkit.cli.sandboxes import open_sandbox, provide
from labkit.errors import LabkitError, ToolError
from labkit.evidence import LOGGED_GRADE, load_intact, told_grades
from labkit.export import Base, read_base
from labkit.fields import counted, read_bytes
from labkit.lock import only_one
from labkit.model import RunId, TaskId, Verdict
from labkit.phases import Progress, require_frozen, require_leaks_checked
from labkit.records import GradeRecord, RunRecord, record_text
from labkit.sandbox.container import RUN_LABEL
from labkit.seal import Identity
from labkit.settings import Person, Role
from labkit.suite import digest
from labkit.tasks import Task
from labkit.verdicts import GRADE, keep_earlier, superseded
from labkit.workspace import replace
from labkit_grader.execute import Bench
from labkit_grader.grade import RETRIES, Patience, RunEvidence, grade_run, ungraded
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.report import grade_text, result_text
from labkit_grader.submission import many_without
from labkit_grader.surroundings import bench_of_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Graders:
    """Everything that grading a lab needs: its tasks with their opened bundles."""

    benches: dict[TaskId, Bench]
    """Of each task whose environment is there."""
    without: dict[TaskId, LabkitError]
    """Why the others' is not."""
    oracles: Oracles
    records: dict[RunId, RunRecord]
    cases: dict[TaskId, Case]
    bench: Bench
    interrupted: threading.Event

    def stop(self) -> None:
        """End what is being graded, without another try."""
        self.interrupted.set()
        with suppress(ToolError):
            self.bench.sandbox.kill(self.bench.labels)


def open_bench(lab: Lab, sandbox_name: str) -> Bench:
    """Return the bench that validation and grading run tests on."""
    sandbox = open_sandbox(sandbox_name, lab.settings)
    return Bench(sandbox=sandbox, image=lab.settings.image, limits=lab.settings.grade_limits)


def grade_runs(me: str, key: str, sandbox_name: str, asked: Asked) -> int:
    """Grade what is asked for; return 1 when something stays ungraded, or a grade is flaky."""
    lab = Lab.open()
    person = lab.person(me, role=Role.HOLDER)
    require_frozen(lab.workspace)
    lab.require_log(person)
    identity = open_identity(lab, key)
    with only_one(lab.workspace, f"labkit grade of {person.name}"):
        take_in(lab, identity)
        done = require_leaks_checked(lab.workspace)
        require_decided(lab, done)
        tasks = lab.tasks()
        oracles = Oracles.of(lab, lab.frozen_suite(tasks))
        due = due_runs(lab, oracles, done, asked)
        changes: list[Change] = []
        if due.reasons:
            graders = _graders(lab, oracles, tasks, (list(due.reasons), identity, sandbox_name))
            changes = _grade(lab, person, graders, due.reasons, asked.jobs)
        else:
            say(f"graded already: {counted(len(due.chosen), 'run')}")
        flaky = tell_changes(changes)
        done = require_leaks_checked(lab.workspace)
        _warn_of_empties(lab, tasks, done)
        outdated = behind(lab, oracles, done)
    for sentence in sentences(outdated):
        say(sentence)
    if outdated:
        say(f"labkit grade --regrade {' '.join(map(str, outdated))} grades all of them again")
    return max(flaky, bool(outdated), _tell_ungraded(lab, due))


def _tell_ungraded(lab: Lab, due: Due) -> int:
    grades = [grade_of(lab, run) for run in due.chosen]
    ungraded = [grade for grade in grades if grade.verdict is Verdict.UNGRADED]
    for grade in ungraded:
        say(f"ungraded: {grade.run}: {grade.reason}")
    if ungraded:
        say("labkit grade --regrade tries these again; until then they count as missing")
    return 1 if ungraded else 0


def _warn_of_empties(lab: Lab, tasks: Mapping[TaskId, Task], done: Progress) -> None:
    """Say when so many runs handed in nothing that the set-up is in doubt."""
    runs = sorted(done.graded)
    records = [grade_of(lab, run) for run in runs]
    if warning := many_without(records, [tasks[run.task].category for run in runs]):
        say(f"warning: {warning}")


def _graders(
    lab: Lab,
    oracles: Oracles,
    tasks: Mapping[TaskId, Task],
    wanted: tuple[list[RunId], Identity, str],
) -> Graders:
    """Open the sealed bundles of the tasks to grade, checked against what is in force."""
    todo, identity, sandbox_name = wanted

    @cache
    def base(commit: str) -> Base:
        return read_base(lab.repository, commit)

    records = load_intact(lab.workspace, todo, suite_version=oracles.suite.version)
    names = sorted({run.task for run in todo})
    cases = {
        name: _case(
            lab, tasks[name], open_bundle(lab, oracles, name, identity), base(tasks[name].base)
        )
        for name in names
    }
    labels = {"labkit.lab": lab.workspace.label, RUN_LABEL: f"grading-{secrets.token_hex(4)}"}
    bench = changed(open_bench(lab, sandbox_name), labels=labels)
    for line in bench.sandbox.clean():
        say(f"removed what a killed labkit left: {line}")
    supplied = provide(lab, bench.sandbox, [tasks[name] for name in names])
    return Graders(
        records=records,
        benches={
            name: bench_of_task(bench, cases[name], place) for name, place in supplied.ready.items()
        },
        without=supplied.failed,
        oracles=oracles,
        cases=cases,
        bench=bench,
        interrupted=threading.Event(),
    )


def _case(lab: Lab, task: Task, bundle: Bundle, base: Base) -> Case:
    material = read_material(bundle.files, task.category)
    return Case(task=task, repository=lab.repository, base=base, material=material)


def _grade(
    lab: Lab, person: Person, graders: Graders, reasons: Mapping[RunId, str], jobs: int
) -> list[Change]:
    """Grade runs, several at once, and keep each verdict as it comes; return what was replaced."""
    todo = list(reasons)
    jobs = min(jobs or room_for(graders.bench.limits.memory), len(todo))
    say(f"{counted(len(todo), 'run')} in {graders.bench.sandbox.name}, {jobs} at once")
    pace = Pace(len(todo))
    told = told_grades(lab.workspace)
    changes: list[Change] = []
    with closing(
        as_finished(
            lambda run: _grade_one(lab, graders, run), todo, workers=jobs, stop=graders.stop
        )
    ) as results:
        for place, found in enumerate(results, 1):
            earlier = keep_earlier(lab.workspace.run(found.run), told.get(found.run, ()))
            because = (reasons[found.run] or NOT_OURS) if earlier else ""
            record = changed(found, supersedes=earlier, because=because)
            _keep(lab, person, record)
            if earlier:
                before = superseded(lab.workspace.run(record.run))[0]
                changes.append(Change(before=before, after=record))
            flags = f" ({', '.join(record.flags)})" if record.flags else ""
            say(f"[{place}/{len(todo)}] {record.run}: {record.verdict}{flags}{pace.left(place)}")
    return changes


def _keep(lab: Lab, person: Person, record: GradeRecord) -> None:
    """Write a grade and tell of it in the holder's log."""
    folder = lab.workspace.run(record.run)
    text = record_text(record)
    replace(folder / "grade.txt", grade_text(record))
    replace(folder / "result.txt", result_text(record))
    replace(folder / GRADE, text)
    digests = {GRADE: digest(text.encode())}
    if record.supersedes:
        digests["supersedes"] = record.supersedes
    lab.log(person, LOGGED_GRADE, subject=str(record.run), digests=digests)


def _grade_one(lab: Lab, graders: Graders, run: RunId) -> GradeRecord:
    folder = lab.workspace.run(run)
    record = graders.records[run]
    evidence = RunEvidence(
        run=run,
        suite_version=graders.oracles.suite.version,
        commitment=graders.oracles.commitment(run.task),
        diff=read_bytes(folder / "diff.patch"),
        transcript=read_bytes(folder / record.transcript),
        agent=record.agent,
        final_message=record.final_message,
    )
    if run.task in graders.without:
        return ungraded(evidence, graders.without[run.task].message)
    patience = Patience(pauses=RETRIES, rest=graders.interrupted.wait)
    return grade_run(graders.benches[run.task], graders.cases[run.task], evidence, patience)
