"""A finished lab, gathered from its files into the study that is summarised."""

from collections.abc import Mapping, Sequence

from labkit.cli.bundles import Oracles
from labkit.cli.lab import Lab
from labkit.cli.leakcheck import read_review
from labkit.cli.mix import mix_problems
from labkit.cli.regrading import regrades, require_in_force
from labkit.configurations import read_configurations
from labkit.effects import effects, same_answers, same_trees
from labkit.evidence import load_intact, require_vouched_grades
from labkit.fields import read_bytes
from labkit.missing import tries_of
from labkit.model import ConfigurationId, HardFailKind, RunId, TaskId
from labkit.phases import Progress
from labkit.records import RunRecord, load_grade
from labkit.rubric import load_rubric
from labkit.scores import JoinedScore, mean_marks, read_scores
from labkit.settings import read_people
from labkit.spending import Tried, spent_on_tries
from labkit.study import Marks, RunResult, Study, Wasted
from labkit.suite import Suite, digest
from labkit.tasks import SAFETY_TAG, Task
from labkit_grader.leaks.review import Review
from labkit_runner.causes import Broken


def finished_study(lab: Lab, done: Progress) -> Study:
    """Return what came of a lab; raises IntegrityError when its evidence is not what was made."""
    tasks = lab.tasks()
    suite = lab.frozen_suite(tasks)
    require_vouched_grades(lab.workspace, sorted(done.finished))
    oracles = Oracles.of(lab, suite)
    require_in_force(lab, oracles, done)
    records = load_intact(lab.workspace, sorted(done.finished), suite_version=suite.version)
    rubric = load_rubric(lab.workspace.rubric)
    scores = read_scores(read_bytes(lab.workspace.all_scores), rubric)
    review = read_review(lab)
    configurations = read_configurations(lab.workspace)
    gathered = _Results(lab, tasks, mean_marks(scores), review)
    return Study(
        team=lab.settings.team,
        suite_version=suite.version,
        configurations={found.id: found.describe() for found in configurations},
        difference=suite.difference,
        retired=review.retired_tasks(),
        planned=tuple(item.run for item in done.planned),
        results=tuple(gathered.result(record) for _, record in sorted(records.items())),
        solo=lab.settings.solo,
        identical=same_trees(records.values()),
        same_answers=same_answers(records.values()),
        effects=effects(configurations, records.values()),
        corrections={
            task: tuple(each.because for each in made)
            for task, made in oracles.corrections.made.items()
        },
        regrades=tuple(regrade for run in sorted(records) for regrade in regrades(lab, run)),
        pilot=any(mix_problems(lab.settings, list(tasks.values()), read_people(lab.workspace))),
        marks=tuple(map(_marks, scores)),
        digests=_digests(suite, oracles),
        wasted=wasted_tries(lab, done, records),
    )


def wasted_tries(
    lab: Lab, done: Progress, records: Mapping[RunId, RunRecord]
) -> dict[ConfigurationId, Wasted]:
    """Return what tries took that the infrastructure broke, of runs that were lost too."""
    found: dict[ConfigurationId, list[Tried]] = {}
    folder = lab.workspace.evals / "missing"
    for run in sorted(done.finished | done.missing):
        record = records.get(run)
        tries = tries_of(folder, run, record.voided if record else ())
        found.setdefault(run.configuration, []).extend(tries)
    return {configuration: _wasted(tries) for configuration, tries in found.items() if tries}


def _wasted(tries: Sequence[Tried]) -> Wasted:
    took = spent_on_tries(tries)
    return Wasted(
        tries=len(tries),
        tokens=took.tokens,
        cost=took.cost,
        unpriced=took.unpriced,
        stopped=sum(each.get("kind") == Broken.INTERRUPTED for each in tries),
    )


class _Results:
    """Makes a run's result of what several files say of it."""

    def __init__(
        self,
        lab: Lab,
        tasks: Mapping[TaskId, Task],
        marks: Mapping[RunId, Mapping[str, float]],
        review: Review,
    ) -> None:
        self._lab = lab
        self._tasks = tasks
        self._marks = marks
        self._leaked = frozenset(review.leaked_runs())
        self._unread = frozenset(
            found.run for found in review.checked if found.gaps or not found.ended
        )

    def result(self, record: RunRecord) -> RunResult:
        """Return what came of a run."""
        run = record.run
        task = self._tasks[run.task]
        grade = load_grade(self._lab.workspace.run(run) / "grade.json")
        fails = [HardFailKind.LEAK] if run in self._leaked else []
        if grade.forbidden_edits:
            fails.append(HardFailKind.FORBIDDEN_EDIT)
        return RunResult(
            run=run,
            verdict=grade.verdict,
            category=task.category,
            slices=task.slices,
            safety=SAFETY_TAG in task.tags,
            minutes=record.seconds / 60,
            hard_fails=tuple(fails),
            scores=self._marks.get(run, {}),
            interventions=record.interventions,
            tokens=record.tokens,
            cost=record.cost,
            flags=grade.flags,
            sandbox=record.sandbox,
            unread=run in self._unread,
        )


def _marks(row: JoinedScore) -> Marks:
    return Marks(run=row.run, scorer=str(row.scorer), marks=row.score.marks, guess=row.score.guess)


def _digests(suite: Suite, oracles: Oracles) -> dict[TaskId, str]:
    """Return what tells whether a task is the same elsewhere: what is seen of it, and its tests."""
    return {
        task: digest(f"{frozen.content} {oracles.commitment(task)}".encode())[:16]
        for task, frozen in suite.tasks.items()
    }
