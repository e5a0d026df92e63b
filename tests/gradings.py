"""Small git projects, tasks and drafts for tests of grading, as a team would have them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sandboxes import IMAGE

from labkit.export import read_base
from labkit.git import Repository
from labkit.model import Category, RunId, TaskId
from labkit.records import GradeRecord
from labkit.sandbox.interface import Limits, Sandbox
from labkit.tasks import Task
from labkit_grader.execute import Bench
from labkit_grader.grade import RunEvidence, grade_run
from labkit_grader.material import EVIDENCE, read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.validate import Evidence, validate_task

Files = Mapping[str, str | bytes | None]
"""Contents by path; None removes a file, `-> target` makes a link."""

CALC = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a + a\n"
FIXED = CALC.replace("a - b", "a + b")
VISIBLE = "from calc import double\n\n\ndef test_double():\n    assert double(4) == 8\n"
HIDDEN = (
    "from calc import add, double\n\n\n"
    "def test_add():\n    assert add(2, 3) == 5\n\n\n"
    "def test_negative():\n    assert add(-1, -1) == -2\n\n\n"
    "def test_double():\n    assert double(21) == 42\n"
)
BASE: Files = {"calc.py": CALC, "tests/test_calc.py": VISIBLE, "README.md": "calc\n"}
DRAFT: Files = {"hidden/tests/test_hidden.py": HIDDEN}


@dataclass(slots=True)
class Project:
    """A bare repository that grows by commits."""

    repository: Repository
    files: dict[str, str | bytes] = field(default_factory=dict)

    @classmethod
    def start(cls, folder: Path, files: Files) -> "Project":
        """Make a repository with one commit."""
        project = cls(Repository.create_bare(folder / "project.git"))
        project.commit(files)
        return project

    def tree(self, files: Files) -> str:
        """Return the id of the tree that the newest files and these changes make."""
        wanted = {**self.files, **files}
        index = {"GIT_INDEX_FILE": str(self.repository.git_dir / "test-index")}
        self.repository.git("read-tree", "--empty", extra=index)
        lines = []
        for path, content in wanted.items():
            if content is not None:
                mode, data = _stored(content)
                oid = self.repository.git("hash-object", "-w", "--stdin", stdin=data).stdout
                lines.append(f"{mode} {oid.decode().strip()}\t{path}\0".encode())
        stdin = b"".join(lines)
        self.repository.git("update-index", "-z", "--index-info", stdin=stdin, extra=index)
        return self.repository.git("write-tree", extra=index).stdout.decode().strip()

    def commit(self, files: Files) -> str:
        """Commit changes on the newest files and return the commit."""
        tree = self.tree(files)
        for path, content in files.items():
            if content is None:
                self.files.pop(path)
            else:
                self.files[path] = content
        done = self.repository.git("commit-tree", tree, "-m", "change")
        return done.stdout.decode().strip()

    def diff(self, base: str, files: Files) -> bytes:
        """Return the diff from a base commit to it with these changes."""
        return self.repository.diff(base, self.tree(files))


def _stored(content: str | bytes) -> tuple[str, bytes]:
    if isinstance(content, str) and content.startswith("-> "):
        return "120000", content.removeprefix("-> ").encode()
    return "100644", content.encode() if isinstance(content, str) else content


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
    """A project with one task, and its draft."""

    project: Project
    case: Case
    draft: Mapping[str, bytes]

    def diff(self, files: Files) -> bytes:
        """Return the diff of a run that made these changes."""
        return self.project.diff(self.case.task.base, files)

    def sealed(self, evidence: Evidence) -> "Set":
        """Return the same task as grading gets it: with the evidence in the bundle."""
        files = {**self.draft, EVIDENCE: evidence.draft_text.encode()}
        material = read_material(files, self.case.task.category)
        return replace(self, draft=files, case=replace(self.case, material=material))

    def graded(self, bench: Bench, diff: bytes, *, message: str = "Done.") -> GradeRecord:
        """Grade a diff as the first run of configuration A."""
        run = RunId.parse(f"{self.case.task.id}__A__1")
        evidence = RunEvidence(
            run=run,
            suite_version="v",
            commitment="c",
            diff=diff,
            transcript=message.encode(),
        )
        return grade_run(bench, self.case, evidence)


def make_set(
    folder: Path,
    *,
    base: Files = BASE,
    solution: Files | None = None,
    draft: Files = DRAFT,
    **task: object,
) -> Set:
    """Make a repository with a base and a solution, and a task on it."""
    project = Project.start(folder, base)
    first = project.commit({})
    start = dict(project.files)
    changes = {"calc.py": FIXED} if solution is None else solution
    second = project.commit(changes) if changes else ""
    project.files = start
    plain = Task(
        id=TaskId("bug-1"),
        title="a task",
        author="ana",
        category=Category.BUGFIX,
        base=first,
        solution=second,
        prompt="Adding two numbers gives a wrong sum.\n",
        grading="python -m pytest",
        forbidden=("tests/", "evals/"),
        allowed=(),
        slices=(),
        tags=(),
        notes="",
    )
    made = replace(plain, **task)  # type: ignore[arg-type] # a test's own typing errors show
    files = {
        path: content.encode() if isinstance(content, str) else content
        for path, content in draft.items()
        if content is not None
    }
    case = Case(
        task=made,
        repository=project.repository,
        base=read_base(project.repository, first),
        material=read_material(files, made.category),
    )
    return Set(project=project, case=case, draft=files)


def bench_of(sandbox: Sandbox, **limits: float) -> Bench:
    """Return a bench with small limits."""
    chosen = {"seconds": 60, "memory": 1024, "processes": 64, "scratch": 128, **limits}
    return Bench(sandbox=sandbox, image=IMAGE, limits=Limits(**chosen))  # type: ignore[arg-type] # numbers of a test


def validated(made: Set, bench: Bench, *, repeats: int = 1) -> Set:
    """Validate a task that must be valid and return it as grading gets it."""
    evidence = validate_task(bench, made.case, repeats=repeats)
    assert evidence.problems == ()
    return made.sealed(evidence)
