"""What `labkit task freeze` does: one suite version, one plan, before the first run."""

from collections import Counter

from labkit.cli.console import named, say
from labkit.cli.lab import Lab, now
from labkit.cli.survey import Finding, Survey, Weight, survey
from labkit.configurations import the_difference
from labkit.errors import IntegrityError, PhaseError, refuse
from labkit.fields import counted
from labkit.model import Member, TaskId
from labkit.phases import progress, require_authoring
from labkit.plan import interleave, plan_text
from labkit.settings import Role
from labkit.suite import (
    FrozenTask,
    Suite,
    content_digest,
    digest,
    field_digests,
    suite_text,
    version,
)
from labkit.tasks import write_table
from labkit.workspace import replace
from labkit_runner.preflight import configuration_digest

_SHOWN = 2
"""So many mends stand in one hint."""


def freeze(me: str, *, again: bool, pilot: bool) -> None:
    """Freeze the suite and the plan; refuses what `labkit task check` calls an error."""
    lab = Lab.open()
    require_authoring(lab.workspace)
    person = lab.person(me)
    _require_unfrozen(lab, again=again, pilot=pilot)
    if not lab.workspace.task_ids():
        raise PhaseError("there are no tasks", hint="run: labkit task new")
    found = survey(lab, frozen=False)
    _refuse(found.of(Weight.ERROR), [] if pilot else found.of(Weight.MIX))
    frozen = frozen_tasks(found)
    rubric = found.rubric.facts() if found.rubric else {}
    plan = _plan(found)
    suite = Suite(
        version=version(frozen, rubric, lab.pinned_environment(found.tasks)),
        frozen_at=now().isoformat(timespec="seconds"),
        difference=the_difference(found.configurations),
        configurations={
            str(each.id): configuration_digest(lab.workspace, each) for each in found.configurations
        },
        plan=digest(plan.encode()),
        tasks=frozen,
        smoke=lab.settings.smoke,
    )
    write_table(lab.workspace, tuple(found.tasks.values()))
    replace(lab.workspace.plan, plan)
    replace(lab.workspace.suite, suite_text(suite))
    lab.log(person, "freeze", subject=suite.version, digests={"plan": suite.plan})
    _tell(lab, suite)


def _require_unfrozen(lab: Lab, *, again: bool, pilot: bool) -> None:
    """Refuse what would replace a frozen suite, unless that is what was asked for."""
    if lab.workspace.further_plans():
        raise PhaseError(
            "attempts were added to the frozen plan already: the study has begun",
            hint="start a new lab for new tasks",
        )
    if lab.workspace.suite.exists() and not again:
        raise PhaseError(
            "the suite is frozen already",
            hint=f"before the first run: labkit task freeze --again{' --pilot' if pilot else ''}",
        )


def _refuse(errors: list[Finding], mix: list[Finding]) -> None:
    """Raise one error with everything that has to be done first."""
    problems = [finding.what for finding in (*errors, *mix)]
    mends = list(dict.fromkeys(finding.mend for finding in errors if finding.mend))
    rest = "; labkit task check says what to do about each" if len(mends) > _SHOWN else ""
    lacking = [mix[0].mend] if mix else []
    hint = "; ".join([*mends[:_SHOWN], *lacking]) + rest or None
    if any(finding.damaged for finding in errors):
        raise IntegrityError(problems[0], more=problems[1:], hint=hint)
    refuse(problems, hint=hint)


def _tell(lab: Lab, suite: Suite) -> None:
    planned = progress(lab.workspace).planned
    named("suite version", suite.version)
    tasks, runs = counted(len(suite.tasks), "task"), counted(len(planned), "run")
    say(f"frozen: {tasks}, {runs}; {suite.difference}")
    for runner, count in sorted(Counter(item.runner for item in planned).items()):
        say(f"  {runner} runs {count}")
    say("commit and push evals/; then everybody: labkit task run")


def frozen_tasks(found: Survey) -> dict[TaskId, FrozenTask]:
    """Return what the suite pins of each task; tasks that are not sealed are left out."""
    return {
        task: FrozenTask(
            author=found.tasks[task].author,
            content=content_digest(found.tasks[task].facts(), found.tasks[task].prompt),
            commitment=record.commitment,
            ciphertext=record.ciphertext_sha256,
            canaries=record.canary_digests,
            fields=field_digests(found.tasks[task].facts(), found.tasks[task].prompt),
        )
        for task, record in found.seals.items()
    }


def _plan(found: Survey) -> str:
    runners = [person.name for person in found.people if person.role is Role.STUDENT]
    settings = found.lab.settings
    planned = interleave(
        [(task.id, Member(task.author)) for task in found.tasks.values()],
        [each.id for each in found.configurations],
        {
            task: 2 if task in settings.second_attempts else settings.attempts
            for task in found.tasks
        },
        runners,
    )
    return plan_text(planned)
