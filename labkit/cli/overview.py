"""What `labkit status` says: the phase, what is missing, whose turn it is."""

from collections import Counter
from collections.abc import Iterator, Mapping

from labkit.cli.lab import Lab
from labkit.cli.seen import seen
from labkit.cli.states import NEXT, State, standing
from labkit.configurations import read_configurations
from labkit.errors import LabkitError
from labkit.fields import counted, first_words
from labkit.model import TaskId
from labkit.phases import Progress, progress
from labkit.settings import Role, read_people
from labkit.suite import Suite, read_suite
from labkit.tasks import read_task


def overview(lab: Lab) -> str:
    """Return the state of a lab as lines for people."""
    done = progress(lab.workspace)
    lines = [f"team {lab.settings.team}, {lab.workspace.project}", *_people(lab)]
    if not lab.workspace.suite.is_file():
        states = _states(lab)
        lines += [*_authoring(states), "phase: writing tasks"]
        return "\n".join([*lines, f"next: {_authoring_next(lab, states)}"])
    suite = read_suite(lab.workspace.suite)
    lines.append(f"suite {suite.version}: {counted(len(suite.tasks), 'task')}; {suite.difference}")
    lines += [*_changed(lab, suite), *_runs(lab, done), *_by_hand(lab)]
    lines += [f"  {sentence.text}" for sentence in seen(lab)]
    phase, turn = next(_open_steps(lab, done))
    return "\n".join([*lines, f"phase: {phase}", f"next: {turn}"])


def _people(lab: Lab) -> Iterator[str]:
    people = read_people(lab.workspace)
    for role in Role:
        names = [str(person.name) for person in people if person.role is role]
        yield f"{role}s: {', '.join(names) or 'nobody has joined yet'}"


def _authoring(states: Mapping[TaskId, State]) -> Iterator[str]:
    for task, state in states.items():
        yield f"  {task}: {state}{f': {NEXT[state]}' if NEXT[state] else ''}"


def _states(lab: Lab) -> dict[TaskId, State]:
    found: dict[TaskId, State] = {}
    for task in lab.workspace.task_ids():
        try:
            read = read_task(lab.workspace, task, lab.repository)
            found[task] = standing(lab.workspace, read, None).state
        except LabkitError:
            found[task] = State.BROKEN
    return found


def _authoring_next(lab: Lab, states: Mapping[TaskId, State]) -> str:
    if not states:
        return "labkit task new"
    if not lab.settings.holder:
        return "labkit holder keygen (the holder), then holder: in evals/labkit.yaml"
    wrong = [str(task) for task, state in states.items() if NEXT[state] == "labkit task check"]
    if wrong:
        return f"labkit task check: {first_words(wrong, 4)}"
    open_tasks = [str(task) for task, state in states.items() if state is not State.SEALED]
    if open_tasks:
        return f"labkit task validate and labkit task seal: {first_words(open_tasks, 4)}"
    return "labkit task freeze"


def _runs(lab: Lab, done: Progress) -> Iterator[str]:
    yield (
        f"runs: {len(done.planned)} planned, {len(done.finished)} here, "
        f"{len(done.missing)} missing, {len(done.graded)} graded"
    )
    left = Counter(str(item.runner) for item in done.outstanding)
    again = Counter(str(item.runner) for item in done.planned if item.run in done.missing)
    for runner in sorted(left.keys() | again.keys()):
        told = [f"{left[runner]} to do or to hand in"] if left[runner] else []
        if again[runner]:
            told.append(f"{again[runner]} missing, which labkit task run tries again")
        yield f"  {runner}: {', '.join(told)}"
    yield from _why_missing(lab, done)


def _why_missing(lab: Lab, done: Progress) -> Iterator[str]:
    from labkit_runner.tries import Shelf

    shelf = Shelf.of(lab.workspace)
    for item in done.planned:
        if item.run in done.missing:
            yield f"  missing: {item.run}: {shelf.before(item.run, str(item.runner)).reasons[-1]}"


def _changed(lab: Lab, suite: Suite) -> Iterator[str]:
    """Yield what is not as it was frozen, as the next run will refuse it."""
    from labkit_runner.preflight import changed_since

    try:
        tasks, arms = lab.tasks(), read_configurations(lab.workspace)
        changed = changed_since(lab.workspace, suite, tasks, arms)
    except LabkitError as error:
        yield f"cannot be read: {error}"
        return
    if changed:
        yield f"changed since the suite was frozen: {first_words(changed)}; labkit task check"


def _by_hand(lab: Lab) -> Iterator[str]:
    from labkit_runner.manual import begun_runs

    for each in begun_runs(lab.workspace):
        yield (
            f"  begun by hand: {each.run} ({each.way}, {each.runner}, {each.started}): "
            "labkit task run --finish, or --abandon"
        )


def _open_steps(lab: Lab, done: Progress) -> Iterator[tuple[str, str]]:
    """Yield each phase that is not over, in order, with its next step and whose turn it is."""
    workspace = lab.workspace
    if done.outstanding:
        who = sorted({str(item.runner) for item in done.outstanding})
        yield "running", f"{', '.join(who)}: labkit task run, then labkit handin"
    if not workspace.leaks.is_file():
        yield "leak check", "labkit leaks"
    elif problem := _undecided(lab):
        yield "leak check", f"{problem}: labkit leaks --confirm or --clear"
    if command := _grading_next(lab, done):
        yield "grading", f"the holder: {command}"
    if not (workspace.blind / "assignment.csv").is_file():
        yield "blinding", "the holder: labkit blind"
    elif not workspace.all_scores.is_file():
        yield "scoring", _scoring_next(lab)
    if not workspace.summary("md").is_file():
        yield "summary", "labkit summary"
    yield "done", f"read {workspace.summary('md')}"


def _grading_next(lab: Lab, done: Progress) -> str:
    """Return how to grade what has no grade, or one by hidden tests that were corrected since."""
    if done.finished - done.graded:
        return "labkit grade"
    if not lab.workspace.correction_names():
        return ""
    from labkit.cli.bundles import Oracles
    from labkit.cli.regrading import behind

    oracles = Oracles.of(lab, read_suite(lab.workspace.suite))
    outdated = " ".join(map(str, behind(lab, oracles, done)))
    return f"labkit grade --regrade {outdated}" if outdated else ""


def _undecided(lab: Lab) -> str:
    from labkit.cli.leakcheck import read_review

    count = len(read_review(lab).open_hits())
    return f"{counted(count, 'hit')} to decide about" if count else ""


def _scoring_next(lab: Lab) -> str:
    from labkit.cli.scoring import outstanding_scores

    try:
        left = outstanding_scores(lab)
    except LabkitError as error:
        return f"mend the scores: {error}"
    if not left:
        return "the holder: labkit unblind"
    who = ", ".join(f"{scorer} ({count})" for scorer, count in left.items())
    return f"labkit score: {who}"
