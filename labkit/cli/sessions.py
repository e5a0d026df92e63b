"""What every kind of run starts from: who may run, in which sandbox, with which environments."""

from labkit.cli.arming import ready_arms, require_subscriptions_allowed
from labkit.cli.console import say
from labkit.cli.lab import Lab, now
from labkit.cli.sandboxes import open_sandbox, provide
from labkit.errors import PhaseError
from labkit.phases import require_frozen
from labkit.plan import PlannedRun
from labkit.sandbox.interface import Sandbox
from labkit.settings import Person, Role
from labkit_runner.job import Bench
from labkit_runner.preflight import require_nothing_readable
from labkit_runner.session import Session
from labkit_runner.tries import Listener


def runner(lab: Lab, me: str, *, adds: bool = True, logs: bool = True) -> Person:
    """Return who runs; refuses before the freeze, and without a whole log where it `logs`.

    After blinding no run is added to the study; one that `adds` none may be made.
    """
    require_frozen(lab.workspace)
    person = lab.person(me, role=Role.STUDENT)
    if logs:  # an unsigned run is worth nothing: find out before the first one
        lab.require_log(person)
    blinded = (lab.workspace.blind / "assignment.csv").exists()
    if adds and (blinded or lab.workspace.all_scores.exists()):
        raise PhaseError(
            "the runs are blinded already: no run can be added",
            hint="labkit status says what is next",
        )
    return person


def open_session(
    lab: Lab,
    person: Person,
    planned: tuple[PlannedRun, ...],
    sandbox_name: str,
    listener: Listener,
    *,
    frozen_arms: bool = True,
) -> tuple[Session, tuple[PlannedRun, ...]]:
    """Return a session for some runs, and those of them whose environment there is.

    Without `frozen_arms` configurations may be others than those that were frozen.
    """
    require_subscriptions_allowed(lab, planned, person)
    tasks = lab.tasks()
    suite = lab.frozen_suite(tasks, configurations_too=frozen_arms)
    require_nothing_readable(lab.workspace, suite)
    sandbox = open_sandbox(sandbox_name, lab.settings)
    _clear(sandbox)
    mine = {item.run.task for item in planned}
    supplied = provide(lab, sandbox, [task for name, task in tasks.items() if name in mine])
    ready = tuple(item for item in planned if item.run.task in supplied.ready)
    bench = Bench(
        sandbox=sandbox,
        image=lab.settings.image,
        limits=lab.settings.run_limits,
        repository=lab.repository,
        suite_version=suite.version,
        workspace_id=lab.workspace.label,
        now=now,
    )
    session = Session(
        workspace=lab.workspace,
        bench=bench,
        tasks=tasks,
        arms=ready_arms(lab, sandbox, ready, supplied),
        listener=listener,
        surroundings=supplied.ready,
    )
    return session, ready


def _clear(sandbox: Sandbox) -> None:
    for line in sandbox.clean():
        say(f"removed what a killed labkit left: {line}")
