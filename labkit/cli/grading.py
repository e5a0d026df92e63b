"""What `labkit grade` does: every finished run gets a verdict, in a fresh sandbox each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from labkit import sealrecord
from labkit.bundle import Bundle
from labkit.cli.console import Pace, say
from labkit.cli.handing import take_in
from labkit.cli.identity import open_identity
from labkit.cli.lab import Lab
from labkit.cli.leakcheck import require_decided
from labkit.cli.parallel import in_parallel
from labkit.cli.sandboxes import open_sandbox, provide
from labkit.errors import LabkitError, PhaseError
from labkit.evidence import LOGGED_GRADE, load_intact, unvouched_grades
from labkit.export import Base, read_base
from labkit.fields import read_bytes
from labkit.lock import only_one
from labkit.model import RunId, TaskId, Verdict
from labkit.phases import require_frozen, require_leaks_checked
from labkit.records import GradeRecord, RunRecord, load_grade, record_text
from labkit.seal import Identity
from labkit.settings import Person, Role, read_person
from labkit.suite import Suite, digest
from labkit.tasks import Task
from labkit.workspace import replace
from labkit_grader.execute import Bench
from labkit_grader.grade import RunEvidence, grade_run, ungraded
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.report import grade_text, result_text
from labkit_grader.submission import many_without
from labkit_grader.surroundings import bench_of_task
from labkit_instructor.custody import open_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Graders:
    """Everything that grading a lab needs: its tasks with their opened bundles."""

    benches: dict[TaskId, Bench]
    """Of each task whose environment is there."""
    without: dict[TaskId, LabkitError]
    """Why the others' is not."""
    suite: Suite
    records: dict[RunId, RunRecord]
    cases: dict[TaskId, Case]


def open_bench(lab: Lab, sandbox_name: str) -> Bench:
    """Return the bench that validation and grading run tests on."""
    sandbox = open_sandbox(sandbox_name, lab.settings)
    return Bench(sandbox=sandbox, image=lab.settings.image, limits=lab.settings.grade_limits)


def grade_all(me: str, key: str, sandbox_name: str, *, regrade: bool) -> int:
    """Grade what is not graded yet; return 1 when something stays ungraded."""
    lab = Lab.open()
    person = lab.person(me, role=Role.HOLDER)
    require_frozen(lab.workspace)
    lab.require_log(person)
    identity = open_identity(lab, key)
    with only_one(lab.workspace, f"labkit grade of {person.name}"):
        take_in(lab, identity)
        done = require_leaks_checked(lab.workspace)
        require_decided(lab, done)
        # A grade.json counts only where a holder's log tells of it: others can write files too.
        odd = unvouched_grades(lab.workspace, sorted(done.graded))
        todo = [
            run
            for run in sorted(done.finished)
            if run not in done.graded or run in odd or _again(lab, run, regrade=regrade)
        ]
        if todo:
            _grade(lab, person, _graders(lab, identity, todo, sandbox_name), todo)
        else:
            say("every run is graded already")
    _warn_of_empties(lab, sorted(done.finished))
    ungraded = [run for run in sorted(done.finished) if _verdict(lab, run) is Verdict.UNGRADED]
    for run in ungraded:
        say(f"ungraded: {run}: {load_grade(lab.workspace.run(run) / 'grade.json').reason}")
    if ungraded:
        say("labkit grade --regrade tries these again; until then they count as missing")
    return 1 if ungraded else 0


def _warn_of_empties(lab: Lab, runs: list[RunId]) -> None:
    tasks = lab.tasks()
    records = [load_grade(lab.workspace.run(run) / "grade.json") for run in runs]
    if warning := many_without(records, [tasks[run.task].category for run in runs]):
        say(f"warning: {warning}")


def _verdict(lab: Lab, run: RunId) -> Verdict:
    return load_grade(lab.workspace.run(run) / "grade.json").verdict


def _again(lab: Lab, run: RunId, *, regrade: bool) -> bool:
    return regrade and _verdict(lab, run) is Verdict.UNGRADED


def _graders(lab: Lab, identity: Identity, todo: list[RunId], sandbox_name: str) -> Graders:
    """Open the sealed bundles of the tasks to grade, checked against the frozen suite."""
    tasks = lab.tasks()
    suite = lab.frozen_suite(tasks)

    @cache
    def base(commit: str) -> Base:
        return read_base(lab.repository, commit)

    records = load_intact(lab.workspace, todo, suite_version=suite.version)
    bench = open_bench(lab, sandbox_name)
    names = sorted({run.task for run in todo})
    supplied = provide(lab, bench.sandbox, [tasks[name] for name in names])
    cases = {
        name: _case(
            lab, tasks[name], open_bundle(lab, suite, name, identity), base(tasks[name].base)
        )
        for name in names
    }
    return Graders(
        records=records,
        benches={
            name: bench_of_task(bench, cases[name], place) for name, place in supplied.ready.items()
        },
        without=supplied.failed,
        suite=suite,
        cases=cases,
    )


def _case(lab: Lab, task: Task, bundle: Bundle, base: Base) -> Case:
    material = read_material(bundle.files, task.category)
    return Case(task=task, repository=lab.repository, base=base, material=material)


def open_bundle(lab: Lab, suite: Suite, task: TaskId, identity: Identity) -> Bundle:
    """Open one task's bundle; raises IntegrityError when it is not the one that was frozen."""
    vault = lab.workspace.bundle(lab.settings.team, task)
    if not vault.is_file():
        raise PhaseError(
            f"no sealed bundle {vault}", hint=f"get it from {suite.tasks[task].author}"
        )
    record = sealrecord.load(lab.workspace.seal(task))
    if record.commitment != suite.tasks[task].commitment:
        raise PhaseError(
            f"task {task} was sealed again after the suite was frozen",
            hint="the runs belong to the frozen suite: restore its seal and bundle",
        )
    public = read_person(lab.workspace, record.sealed_by).signing_key
    return open_task(read_bytes(vault), record, identity=identity, public=public)


def _grade(lab: Lab, person: Person, graders: Graders, todo: list[RunId]) -> None:
    """Grade runs, as many at once as there are processors, and keep each verdict as it comes."""
    pace = Pace(len(todo))
    for place, record in enumerate(_graded(lab, graders, todo), 1):
        folder = lab.workspace.run(record.run)
        text = record_text(record)
        replace(folder / "grade.txt", grade_text(record))
        replace(folder / "result.txt", result_text(record))
        replace(folder / "grade.json", text)
        lab.log(
            person,
            LOGGED_GRADE,
            subject=str(record.run),
            digests={"grade.json": digest(text.encode())},
        )
        flags = f" ({', '.join(record.flags)})" if record.flags else ""
        say(f"[{place}/{len(todo)}] {record.run}: {record.verdict}{flags}{pace.left(place)}")


def _graded(lab: Lab, graders: Graders, todo: list[RunId]) -> Iterator[GradeRecord]:
    return in_parallel(lambda run: _grade_one(lab, graders, run), todo)


def _grade_one(lab: Lab, graders: Graders, run: RunId) -> GradeRecord:
    folder = lab.workspace.run(run)
    record = graders.records[run]
    evidence = RunEvidence(
        run=run,
        suite_version=graders.suite.version,
        commitment=graders.suite.tasks[run.task].commitment,
        diff=read_bytes(folder / "diff.patch"),
        transcript=read_bytes(folder / record.transcript),
        agent=record.agent,
    )
    if run.task in graders.without:
        return ungraded(evidence, graders.without[run.task].message)
    return grade_run(graders.benches[run.task], graders.cases[run.task], evidence)
