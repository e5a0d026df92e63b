"""What `labkit summary` does: gathers a finished study from its files, and writes the result."""

from collections.abc import Mapping
from itertools import combinations

from labkit.cli.bundles import Oracles
from labkit.cli.console import data, say
from labkit.cli.lab import Lab
from labkit.cli.leakcheck import read_review
from labkit.cli.regrading import regrades, require_in_force
from labkit.configurations import read_configurations
from labkit.evidence import load_intact, require_vouched_grades
from labkit.fields import read_bytes
from labkit.model import HardFailKind, RunId, TaskId
from labkit.phases import Progress, require_graded, require_unblinded
from labkit.records import RunRecord, load_grade
from labkit.report import explain, reports
from labkit.rubric import load_rubric
from labkit.scores import mean_marks, read_scores
from labkit.study import RunResult, Study
from labkit.summary import summarise
from labkit.tasks import SAFETY_TAG, Task
from labkit.workspace import replace


def summarise_lab(*, as_json: bool) -> None:
    """Write the summary in every form, and print its Markdown or its JSON."""
    lab = Lab.open()
    done = require_graded(lab.workspace)
    require_unblinded(lab.workspace)
    summary = summarise(_study(lab, done))
    written = []
    for ending, content in reports(summary):
        path = lab.workspace.summary(ending)
        replace(path, content)
        written.append(path.name)
        if ending == ("json" if as_json else "md"):
            data(content)
    say(f"written to {lab.workspace.evals}: {', '.join(written)}")


def explain_term(word: str) -> None:
    """Print what a word of the reports means."""
    data(explain(word))


def _study(lab: Lab, done: Progress) -> Study:
    tasks = lab.tasks()
    suite = lab.frozen_suite(tasks)
    require_vouched_grades(lab.workspace, sorted(done.finished))
    oracles = Oracles.of(lab, suite)
    require_in_force(lab, oracles, done)
    records = load_intact(lab.workspace, sorted(done.finished), suite_version=suite.version)
    rubric = load_rubric(lab.workspace.rubric)
    marks = mean_marks(read_scores(read_bytes(lab.workspace.all_scores), rubric))
    review = read_review(lab)
    leaked = review.leaked_runs()
    return Study(
        team=lab.settings.team,
        suite_version=suite.version,
        configurations={found.id: found.describe() for found in read_configurations(lab.workspace)},
        difference=suite.difference,
        retired=review.retired_tasks(),
        planned=tuple(item.run for item in done.planned),
        results=tuple(
            _result(lab, tasks, record, marks=marks.get(run, {}), leaked=run in leaked)
            for run, record in sorted(records.items())
        ),
        solo=lab.settings.solo,
        identical=_identical(records),
        corrections={
            task: tuple(each.because for each in made)
            for task, made in oracles.corrections.made.items()
        },
        regrades=tuple(regrade for run in sorted(records) for regrade in regrades(lab, run)),
    )


def _result(
    lab: Lab,
    tasks: Mapping[TaskId, Task],
    record: RunRecord,
    *,
    marks: Mapping[str, float],
    leaked: bool,
) -> RunResult:
    task = tasks[record.run.task]
    grade = load_grade(lab.workspace.run(record.run) / "grade.json")
    fails = [HardFailKind.LEAK] if leaked else []
    if grade.forbidden_edits:
        fails.append(HardFailKind.FORBIDDEN_EDIT)
    return RunResult(
        run=record.run,
        verdict=grade.verdict,
        category=task.category,
        slices=task.slices,
        safety=SAFETY_TAG in task.tags,
        minutes=record.seconds / 60,
        hard_fails=tuple(fails),
        scores=marks,
        interventions=record.interventions,
        tokens=record.tokens,
        cost=record.cost,
    )


def _identical(records: Mapping[RunId, RunRecord]) -> tuple[tuple[RunId, RunId], ...]:
    """Return pairs of attempts that left the same tree: they are not independent draws."""
    return tuple(
        (first, second)
        for first, second in combinations(sorted(records), 2)
        if (first.task, first.configuration) == (second.task, second.configuration)
        and records[first].result_tree == records[second].result_tree
        and records[first].result_tree != records[first].base_tree
    )
