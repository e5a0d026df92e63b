"""What `labkit task mine` does: the best commits, why, and whether their tests prove it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from labkit.cli.console import Pace, data, say
from labkit.cli.grading import open_bench
from labkit.cli.lab import Lab
from labkit.cli.parallel import in_parallel
from labkit.errors import LabkitError, PhaseError
from labkit.export import read_base
from labkit.fields import Document, counted, json_text
from labkit.fitness import Candidate
from labkit.git import Repository
from labkit.mining import Mined, mine
from labkit.model import Category, TaskId
from labkit.solved import hidden_draft, protected_places, solved_by
from labkit.tasks import DEFAULT_GRADING, Task
from labkit.workspace import Workspace
from labkit_grader.execute import Bench
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.oracles.registry import oracle_for
from labkit_grader.repeats import Repeats

SCHEMA = 1
_SHOWN, _CHECKED = 20, 5
_SHORT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is looked for, as typed."""

    limit: int = 0
    since: str = ""
    path: str = ""
    merges: bool = False
    as_json: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a candidate's own tests did on both sides."""

    problems: tuple[str, ...] = ()
    fail_to_pass: int = 0
    pass_to_pass: int = 0
    broken: str = ""
    """Why nothing could be measured, if so."""

    @property
    def fits(self) -> bool:
        """Whether the tests fail before and pass after."""
        return not self.problems and not self.broken

    @property
    def words(self) -> str:
        """The verdict in words."""
        if self.broken:
            return f"not checked: {self.broken}"
        counts = f"{self.fail_to_pass} begin to pass, {self.pass_to_pass} keep passing"
        return f"fits: {counts}" if self.fits else f"does not fit: {'; '.join(self.problems)}"


def mine_history(asked: Asked, *, check: str) -> int:
    """Show the best commits; with `check` (a sandbox's name) prove them; return 1 if none fits.

    Nothing is written. Listing needs no lab, checking takes the lab's image and limits.
    """
    lab = Lab.open() if check else None
    repository = lab.repository if lab else Repository.discover(Path.cwd())
    found = mine(repository, merges=asked.merges, since=asked.since, path=asked.path)
    best = found.candidates[: asked.limit or (_CHECKED if check else _SHOWN)]
    checked = _check_all(lab, best, check) if lab and best else {}
    used = _used()
    if asked.as_json:
        data(json_text(_json(found, best, used, checked)))
    else:
        for line in _table(best, used, checked):
            data(line)
        _tell(found, [one for one in best if _would_do(one, used, checked)])
    return 1 if check and not any(one.fits for one in checked.values()) else 0


def _used() -> dict[str, TaskId]:
    """Return the commits that tasks of the lab are made from; none where there is no lab."""
    try:
        workspace = Workspace.find(Path.cwd())
    except PhaseError:
        return {}
    used: dict[str, TaskId] = {}
    for task in workspace.task_ids():
        try:
            used[Document.read(workspace.task(task)).text("solution", default="")] = task
        except LabkitError as error:
            say(f"labkit: note: {error.message}; its commit is not marked")
    return used


def _check_all(lab: Lab, best: Sequence[Candidate], sandbox: str) -> dict[str, Checked]:
    bench = open_bench(lab, sandbox)
    commits = counted(len(best), "commit")
    say(f"checking {commits} in {bench.sandbox.name}: their own tests, before and after")
    pace = Pace(len(best))
    checked: dict[str, Checked] = {}
    results = in_parallel(lambda one: _check(lab.repository, bench, one), best)
    for place, (one, result) in enumerate(zip(best, results, strict=True), 1):
        checked[one.commit.oid] = result
        say(f"[{place}/{len(best)}] {one.commit.oid[:_SHORT]}: {result.words}{pace.left(place)}")
    return checked


def _check(repository: Repository, bench: Bench, one: Candidate) -> Checked:
    """Run a commit's own tests on both sides, as a task of it would; a failure is a value."""
    try:
        proof = oracle_for(Category.BUGFIX).prove(
            bench, _case(repository, one), repeats=Repeats.exactly(1, thorough=False)
        )
    except LabkitError as error:
        return Checked(broken=error.message)
    return Checked(
        problems=proof.problems,
        fail_to_pass=len(proof.expected.fail_to_pass),
        pass_to_pass=len(proof.expected.pass_to_pass),
    )


def _case(repository: Repository, one: Candidate) -> Case:
    solved = solved_by(repository, one.commit.oid, parent=1)
    task = Task(
        id=TaskId("mined"),
        title=one.headline,
        author="mined",
        category=Category.BUGFIX,
        base=solved.base.oid,
        solution=solved.solution.oid,
        prompt="",
        grading=DEFAULT_GRADING,
        forbidden=protected_places(repository, solved),
        allowed=(),
        slices=(),
        tags=(),
        notes="",
    )
    drafted = hidden_draft(repository, solved).as_draft()
    return Case(
        task=task,
        repository=repository,
        base=read_base(repository, solved.base.oid),
        material=read_material(drafted, Category.BUGFIX),
    )


def _table(
    best: Sequence[Candidate], used: Mapping[str, TaskId], checked: Mapping[str, Checked]
) -> Iterator[str]:
    """Yield the table's lines; the second line of each commit says why it stands there."""
    if best:
        yield "score  commit      date        category  source lines  test lines  what"
    for one in best:
        oid = one.commit.oid
        yield (
            f"{one.score:5}  {oid[:_SHORT]}  {_date(one)}  {one.guess.category:<8}"
            f"  {one.source_lines:12}  {one.test_lines:10}  {_plain(one.headline)[:70]}"
        )
        yield f"       {'; '.join(one.reasons)}"
        if oid in used:
            yield f"       used already: {used[oid]}"
        if oid in checked:
            yield f"       {_plain(checked[oid].words)}"


def _plain(text: str) -> str:
    """Return a text without what could steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _date(one: Candidate) -> str:
    return datetime.fromtimestamp(max(0, one.commit.time), UTC).date().isoformat()


def _would_do(one: Candidate, used: Mapping[str, TaskId], checked: Mapping[str, Checked]) -> bool:
    oid = one.commit.oid
    return oid not in used and (not checked or checked[oid].fits)


def _tell(found: Mined, best: Sequence[Candidate]) -> None:
    counts = ", ".join(f"{count} {why}" for why, count in found.unfit.most_common())
    commits = counted(found.read, "commit")
    say(f"{commits} read; left out: {counts or 'none'}")
    if found.candidates:
        count, hidden = len(found.candidates), len(found.candidates) > len(best)
        more = "; --limit N shows more of them" if hidden else ""
        say(f"{count} {'touches' if count == 1 else 'touch'} both source and tests{more}")
    if best:
        parent = " --parent 1" if len(best[0].commit.parents) > 1 else ""
        say(f"next: labkit task new --from {best[0].commit.oid[:_SHORT]}{parent}")
    elif not found.candidates:
        say("no commit touches both source and tests; labkit task new --blank starts without one")


def _json(
    found: Mined,
    best: Sequence[Candidate],
    used: Mapping[str, TaskId],
    checked: Mapping[str, Checked],
) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "read": found.read,
        "fit": len(found.candidates),
        "left_out": {str(why): count for why, count in found.unfit.most_common()},
        "commits": [_facts(one, used, checked.get(one.commit.oid)) for one in best],
    }


def _facts(
    one: Candidate, used: Mapping[str, TaskId], checked: Checked | None
) -> dict[str, object]:
    task = used.get(one.commit.oid)
    facts: dict[str, object] = {
        "commit": one.commit.oid,
        "score": one.score,
        "date": _date(one),
        "headline": one.headline,
        "category": str(one.guess.category),
        "category_reason": one.guess.reason,
        "source_files": one.source_files,
        "source_lines": one.source_lines,
        "test_files": one.test_files,
        "test_lines": one.test_lines,
        "merge": len(one.commit.parents) > 1,
        "reasons": list(one.reasons),
        "used_by": str(task) if task else None,
    }
    if checked:
        facts["check"] = {
            "fits": None if checked.broken else checked.fits,
            "fail_to_pass": None if checked.broken else checked.fail_to_pass,
            "pass_to_pass": None if checked.broken else checked.pass_to_pass,
            "problems": list(checked.problems) or ([checked.broken] if checked.broken else []),
        }
    return facts
