"""What `labkit task import` does: the instances of a benchmark's file as drafts of tasks."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.archive import Kind
from labkit.bundle import INSTANCE
from labkit.cli.authoring import write_task
from labkit.cli.console import say
from labkit.cli.fixturefolder import Folder, Spec
from labkit.cli.fixtures import add_task
from labkit.cli.lab import Lab
from labkit.errors import InputError, LabkitError, did_you_mean, refuse
from labkit.evals.swebench import Instance, named_text, read_swebench
from labkit.export import Base, object_id, read_base, tree_id
from labkit.fields import counted, first_words
from labkit.fixtures import MOST_BYTES, Fixture
from labkit.git import EXECUTABLE, REGULAR, SYMLINK, Commit, Repository, TreeEntry
from labkit.model import Category, TaskId
from labkit.patch.place import Applied, NotApplied, apply_to_base
from labkit.phases import require_authoring
from labkit.scaffold import require_free, template
from labkit.settings import Person
from labkit.solved import HiddenDraft, draft_of, places_at, require_whole
from labkit.tasks import DEFAULT_GRADING, Task

_MODES = {Kind.FILE: REGULAR, Kind.EXECUTABLE: EXECUTABLE, Kind.SYMLINK: SYMLINK}
_LONGEST_ID = 60
_LONGEST_TITLE = 100
_SHORT = 10
_MOST_TOLD = 3
"""So many instances of one foreign project are told one by one."""


class NotHereError(InputError):
    """An instance's base commit is not in this repository: it is another project's, most likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """An instance in this repository: where it starts, what solves it, and its tests."""

    base: Commit
    content: Base
    patched: Applied
    """The base with the solution, without its tests."""
    tests: Applied
    """The base with the tests alone."""
    hidden: HiddenDraft


def import_instances(path: Path, ids: Sequence[str], category: str, me: str) -> int:
    """Make a draft of each instance that this repository can hold; return 2 when one was refused.

    An instance whose base commit is not here is told, and is no fault of the file.
    """
    chosen = _category(category)
    lab = Lab.open()
    require_authoring(lab.workspace)
    person = lab.person(me)
    read = read_swebench(path)
    instances = _chosen(read.found, ids, path)
    made = 0
    foreign: list[Instance] = []
    problems = [] if ids else list(read.problems)
    for instance in instances:
        try:
            _add(lab, instance, chosen, person)
            made += 1
        except NotHereError:
            foreign.append(instance)
        except LabkitError as error:
            problems += [f"{instance.place}: {instance.id}: {each}" for each in error.problems]
    for line in (*problems, *_foreign(foreign)):
        say(f"not made: {line}")
    total = len(instances) + (0 if ids else len(read.problems))
    say(f"made {made} of {counted(total, 'task')}")
    if made:
        say("  check each prompt, then: labkit task validate")
    return 2 if problems or not made else 0


def _category(word: str) -> Category:
    if word not in list(Category) or word == Category.TRAP:
        others = [each for each in Category if each is not Category.TRAP]
        raise InputError(
            f"an instance cannot be a task of category {word!r}",
            hint=f"one of: {', '.join(others)}",
        )
    return Category(word)


def _chosen(found: Sequence[Instance], ids: Sequence[str], path: Path) -> list[Instance]:
    known = [each.id for each in found]
    refuse(
        [
            f"{path.name} has no readable instance {name}{did_you_mean(name, known)}"
            for name in ids
            if name not in known
        ],
        hint="leave out --ids to hear what is wrong with each of the file's instances",
    )
    return [each for each in found if not ids or each.id in ids]


def _foreign(instances: Sequence[Instance]) -> Iterator[str]:
    """Yield which instances have their base elsewhere; many of one project are told together."""
    counts = Counter(each.repo for each in instances)
    for each in instances:
        if counts[each.repo] <= _MOST_TOLD:
            of = f" of {each.repo}" if each.repo else ""
            yield (
                f"{each.place}: {each.id}: no commit {each.base[:_SHORT]}{of} in this repository"
            )
    for repo, count in counts.items():
        if count > _MOST_TOLD:
            yield f"{count} instances of {repo or 'no named project'}: their bases are not here"


def _add(lab: Lab, instance: Instance, category: Category, person: Person) -> None:
    """Make one task: all of it, or nothing."""
    task = TaskId(_slug(instance.id))
    require_free(lab.workspace, task)
    work = _work(lab.repository, instance)
    commit = _commit_of(lab.repository, work)
    made = _task(lab.repository, instance, work, category, author=str(person.name), task=task)
    beside = {INSTANCE: named_text(instance).encode()}
    if commit:
        write_task(lab.workspace, replace(made, solution=commit), work.hidden, beside=beside)
    else:
        add_task(lab, task, _folder(made, work, beside), person)
    _tell(instance, made, work, commit)


def _slug(name: str) -> str:
    """Return an instance's id as a task's: the rest of it is cut where it is too long."""
    words = re.findall("[a-z0-9]+", name.lower())
    slug = "-".join(words)
    if len(slug) > _LONGEST_ID:  # its number stands at the end
        last = words[-1][-_LONGEST_ID // 2 :]
        slug = f"{slug[: _LONGEST_ID - len(last) - 1].rstrip('-')}-{last}"
    return slug


def _work(repository: Repository, instance: Instance) -> Work:
    try:
        base = repository.commit(instance.base)
    except InputError as error:
        raise NotHereError(error.message) from error
    require_whole(repository, base)
    content = read_base(repository, base.oid)
    patched = _applied(repository, content, "patch", instance.patch)
    tests = _applied(repository, content, "test_patch", instance.test_patch)
    if both := sorted(set(patched.changed) & set(tests.changed)):
        named = first_words([path.decode(errors="backslashreplace") for path in both])
        raise InputError(f"patch and test_patch both change {named}")
    hidden = draft_of((path, tests.tree.get(path)) for path in tests.changed)
    return Work(base=base, content=content, patched=patched, tests=tests, hidden=hidden)


def _applied(repository: Repository, base: Base, what: str, patch: str) -> Applied:
    done = apply_to_base(repository, base, patch.encode("utf-8", "surrogatepass"))
    if isinstance(done, NotApplied):
        raise InputError(f"its {what} does not apply to its base: {done.reason}")
    if what == "patch" and not done.changed:
        raise InputError("its patch changes nothing")
    return done


def _commit_of(repository: Repository, work: Work) -> str:
    """Return the commit of this repository that is solution and tests exactly; empty for none."""
    digest = repository.object_format()
    entries = {entry.path: entry for entry in work.content.entries}
    for applied in (work.patched, work.tests):
        for path in applied.changed:
            entries.pop(path, None)
            if found := applied.tree.get(path):
                oid = object_id("blob", found.data, digest)
                entries[path] = TreeEntry(path=path, mode=_MODES[found.kind], oid=oid)
    tree = tree_id(tuple(entry for _, entry in sorted(entries.items())), digest)
    listed = repository.git(
        "log", "--format=%H %T", "--ancestry-path", "--branches", "--remotes", "--tags",
        f"^{work.base.oid}", "HEAD", "--", check=False,
    ).stdout.decode()  # fmt: skip
    commits = [line.split() for line in listed.splitlines()]
    return next((oid for oid, found in reversed(commits) if found == tree), "")


def _task(
    repository: Repository,
    instance: Instance,
    work: Work,
    category: Category,
    *,
    author: str,
    task: TaskId,
) -> Task:
    places = places_at(repository, work.base, work.tests.changed) or ("tests/",)
    writing = category is Category.TESTS
    return Task(
        id=task,
        title=_title(instance),
        author=author,
        category=category,
        base=work.base.oid,
        solution="",
        prompt=instance.problem.replace("\r\n", "\n").rstrip() + "\n",
        grading=DEFAULT_GRADING,
        forbidden=() if writing else (*places, "evals/"),
        allowed=places if writing else (),
        slices=(),
        tags=(),
        notes=f"instance {instance.id}" + (f" of {instance.repo}" if instance.repo else ""),
    )


def _title(instance: Instance) -> str:
    """Return the first line of what was asked, as a title can hold it."""
    line = next(line.strip() for line in instance.problem.splitlines() if line.strip())
    plain = "".join(letter if letter.isprintable() else " " for letter in line.lstrip("# "))
    return plain.strip()[:_LONGEST_TITLE] or instance.id


def _folder(made: Task, work: Work, beside: Mapping[str, bytes]) -> Folder:
    """Return base and solution as a fixture: the trees that no commit of the project has."""
    start = tuple(work.content.files())
    if modules := [entry.path for entry in start if entry.kind is Kind.FOLDER]:
        named = first_words([path.decode(errors="backslashreplace") for path in modules])
        raise InputError(
            f"its base has a submodule ({named}), which a task without a commit cannot have"
        )
    if (size := sum(len(entry.data) for entry in start)) > MOST_BYTES // 2:
        raise InputError(
            f"no commit here is its solution, and its base is too large to keep ({size:,} bytes)"
        )
    draft = {**work.hidden.as_draft(), **beside}
    blank = template("task", f"oracle-{made.category}.yaml")
    if blank.is_file():
        draft["oracle.yaml"] = blank.read_bytes()
    spec = Spec(title=made.title, forbidden=made.forbidden, allowed=made.allowed, notes=made.notes)
    solution = tuple(entry for _, entry in sorted(work.patched.tree.items()))
    fixture = Fixture(start=start, solution=solution)
    return Folder(
        spec=spec, category=made.category, fixture=fixture, prompt=made.prompt, draft=draft
    )


def _tell(instance: Instance, task: Task, work: Work, commit: str) -> None:
    solved = f"solved by {commit[:_SHORT]}" if commit else "solved by no commit here: a fixture"
    say(f"made task {task.id} from {instance.id}, {solved}: {task.title}")
    if not work.hidden.files and not work.hidden.links:
        say("  its test_patch gives no hidden test: write some")
    for what in work.hidden.left_out:
        say(f"  left out of the draft: {what}")
