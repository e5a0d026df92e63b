"""Small labs at any phase, made by the real commands once and copied for each test.

Two students, two tiny tasks, one attempt: four runs in bubblewrap. A stage is made from the one
before it, so a test that needs a graded lab pays for grading only when no test did before.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from gitrepo import Project, make_project

from labkit.model import TaskId
from labkit.process import plain_environment
from labkit.seal import Identity, new_identity
from labkit.workspace import Workspace

ANA, BEN, TARA = "ana", "ben", "tara"
STUDENTS = (ANA, BEN)
GREET, SHOUT = TaskId("greet-empty"), TaskId("shout-loud")
RUNS = tuple(f"{task}__{which}__1" for task in (GREET, SHOUT) for which in "AB")

_BEGIN = {
    "words.py": (
        'def greet(name):\n    return "Hello " + name\n\n\ndef shout(text):\n    return text\n'
    ),
    "tests/test_greet.py": (
        'from words import greet\n\n\ndef test_name():\n    assert greet("Bo") == "Hello Bo"\n'
    ),
}
_GREETED = {
    "words.py": _BEGIN["words.py"].replace("+ name", '+ (name or "stranger")'),
    "tests/test_greet.py": _BEGIN["tests/test_greet.py"]
    + '\n\ndef test_empty():\n    assert greet("") == "Hello stranger"\n',
}
_SHOUTED = {
    "words.py": _GREETED["words.py"].replace("return text", "return text.upper()"),
    "tests/test_shout.py": (
        'from words import shout\n\n\ndef test_loud():\n    assert shout("hey") == "HEY"\n'
    ),
}
_CONFIGURATION = """\
id: {id}
agent: scripted
agent_version: "1"
model: "model-{id}"
steps: "steps/{id}"
"""
_EDITS = {
    GREET: ('"Hello " + name', '"Hello " + (name or "stranger")'),
    SHOUT: ("return text", "return text.upper()"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command left."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Lab:
    """One lab in a folder of its own, with keys of its own."""

    folder: Path
    cache: Path

    @property
    def project(self) -> Project:
        """The team's project."""
        return Project(self.folder / "words")

    @property
    def workspace(self) -> Workspace:
        """The lab's paths."""
        return Workspace(self.folder / "words")

    @property
    def home(self) -> Path:
        """Where everybody's private keys lie."""
        return self.folder / "home"

    @property
    def identity(self) -> Identity:
        """The holder's private key."""
        return Identity((self.home / "holder.agekey").read_text(encoding="ascii").strip())

    def environment(self, **more: str) -> dict[str, str]:
        """Return what commands run with: nothing of the user's."""
        return {
            **plain_environment(),
            "HOME": str(self.home),
            "LABKIT_HOME": str(self.home),
            "LABKIT_PASSPHRASE_FILE": str(self.home / "passphrase"),
            "LABKIT_SANDBOX": "bubblewrap",
            "XDG_CACHE_HOME": str(self.cache),
            **more,
        }

    def start(self, *words: str, me: str = "", **env: str) -> "subprocess.Popen[str]":
        """Start a command and leave it running."""
        return subprocess.Popen(
            [*labkit(*words), *(("--me", me) if me else ())],
            cwd=self.project.folder,
            env=self.environment(**env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509 - no thread here
        )

    def labkit(self, *words: str, me: str = "", answers: str = "", **env: str) -> Answer:
        """Run a command to its end; `answers` is what is typed, `env` more variables."""
        with self.start(*words, me=me, **env) as program:
            out, err = program.communicate(answers, timeout=300)
        return Answer(code=program.returncode, out=out, err=err)

    def done(self, *words: str, me: str = "", answers: str = "", **env: str) -> str:
        """Run a command that has to succeed and return its standard output."""
        answer = self.labkit(*words, me=me, answers=answers, **env)
        assert answer.code == 0, answer.err
        return answer.out

    def refused(
        self, *words: str, code: int, says: tuple[str, ...], me: str = "", **env: str
    ) -> str:
        """Run a command that has to refuse: its exit code, its words, nothing changed on disk."""
        before = self.snapshot()
        answer = self.labkit(*words, me=me, **env)
        require_clear(answer, code=code, says=says)
        changed = {name for name, _ in before.items() ^ self.snapshot().items()}
        assert not changed, f"changed {changed}: {answer.err}"
        return answer.err

    def snapshot(self) -> dict[str, str]:
        """Return the digest of every file in evals/, in the handover folder and of the keys."""
        return {
            str(path.relative_to(self.folder)): sha256(path.read_bytes()).hexdigest()
            for top in (self.workspace.evals, self.workspace.handover, self.home)
            for path in top.rglob("*")
            if path.is_file() and path.name != ".lock"
        }

    def edit(self, path: Path, old: str, new: str) -> None:
        """Replace a text in a file, as its owner's editor would."""
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def commit(self, subject: str) -> str:
        """Return the id of the project's commit with this subject."""
        return self.project.git("log", "--all", "-1", "--format=%H", f"--grep=^{subject}$")

    def steps(self, run: str, *steps: str) -> None:
        """Write a run's steps, each a line of YAML."""
        task, which, attempt = run.split("__")
        path = self.workspace.evals / "configs" / "steps" / which / f"{task}__{attempt}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("steps:\n" + "".join(f"  - {step}\n" for step in steps), encoding="utf-8")


def heed_interrupts() -> None:
    """Take Ctrl-C again, in a process whose parent was started in the background, deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def labkit(*words: str) -> list[str]:
    """Return the command line of labkit on this interpreter."""
    return [sys.executable, "-m", "labkit", *words]


def require_clear(answer: Answer, *, code: int, says: tuple[str, ...]) -> None:
    """Check a refusal: its exit code, one clear error with a hint, no traceback, no result."""
    assert answer.code == code, answer.err
    assert "Traceback" not in answer.err
    assert "labkit: error: " in answer.err, answer.err
    assert "labkit: hint: " in answer.err, answer.err
    assert answer.out == ""
    for words in says:
        assert words in answer.err, answer.err


def _join(lab: Lab) -> None:
    project = make_project(lab.project.folder)
    project.commit(_BEGIN, "Begin")
    project.commit(_GREETED, "Greet strangers")
    project.commit(_SHOUTED, "Shout aloud")
    identity = new_identity()
    lab.home.mkdir()
    for name, text in (("holder.agekey", identity.secret), ("passphrase", "four words are enough")):
        (lab.home / name).touch(mode=0o600)
        (lab.home / name).write_text(f"{text}\n", encoding="ascii")
    lab.done("init", "--team", "blue", "--holder", identity.recipient)
    for name in STUDENTS:
        lab.done("init", "--full-name", f"{name.title()} Example", "--email", "", me=name)
    lab.done("init", "--role", "holder", me=TARA)
    lab.edit(lab.workspace.settings, "attempts: 2", "attempts: 1")
    for which in "AB":
        text = _CONFIGURATION.format(id=which)
        (lab.workspace.evals / "configs" / f"{which}.yaml").write_text(text, encoding="utf-8")
    for task, (old, new) in _EDITS.items():
        edit = f"edit: {{path: words.py, find: '{old}', replace: '{new}'}}"
        lab.steps(f"{task}__A__1", edit, 'finish: "Mended."')
        lab.steps(f"{task}__B__1", 'finish: "There is nothing to mend."')


def _draft(lab: Lab) -> None:
    for task, subject, me in ((GREET, "Greet strangers", ANA), (SHOUT, "Shout aloud", BEN)):
        words = ("--category", "bugfix", "--commit", lab.commit(subject))
        lab.done("task", "new", str(task), *words, me=me)
        prompt = f"{subject}, please: words.py does not do it yet.\n"
        lab.workspace.prompt(task).write_text(prompt, encoding="utf-8")


def _prove(lab: Lab) -> None:
    lab.done("task", "validate", "--repeats", "3")


def _seal(lab: Lab) -> None:
    for name in STUDENTS:
        lab.done("task", "seal", me=name)


def _freeze(lab: Lab) -> None:
    lab.done("task", "freeze", "--pilot", me=ANA)


def _run(lab: Lab) -> None:
    for name in STUDENTS:
        lab.done("task", "run", me=name)


def _hand_in(lab: Lab) -> None:
    for name in STUDENTS:
        lab.done("handin", me=name)


def _check(lab: Lab) -> None:
    lab.done("leaks")


def _grade(lab: Lab) -> None:
    lab.done("grade", me=TARA)


def _blind(lab: Lab) -> None:
    lab.done("blind", me=TARA)


def _score(lab: Lab) -> None:
    for name in STUDENTS:
        for marks in (EARLY, {"correctness": "2"}):
            path = fill_in(lab, name, marks)
            lab.done("score", "--from", str(path), me=name)


def _unblind(lab: Lab) -> None:
    lab.done("unblind", me=TARA)


def _summarise(lab: Lab) -> None:
    lab.done("summary")


EARLY: Mapping[str, str] = {"scope": "3", "quality": "2.5", "tests": "1", "communication": "4"}
STAGES: Mapping[str, Callable[[Lab], None]] = {
    "joined": _join,
    "drafted": _draft,
    "proven": _prove,
    "sealed": _seal,
    "frozen": _freeze,
    "run": _run,
    "handed in": _hand_in,
    "checked": _check,
    "graded": _grade,
    "blinded": _blind,
    "scored": _score,
    "unblinded": _unblind,
    "summarised": _summarise,
}
"""The phases, each with what leads to it from the one before."""


def assigned(lab: Lab, scorer: str) -> list[str]:
    """Return a scorer's blind ids in their order."""
    lines = (lab.workspace.blind / "assignment.csv").read_text(encoding="utf-8").splitlines()
    return [line.partition(",")[0] for line in lines if line.endswith(f",{scorer}")]


def planned(lab: Lab, runner: str) -> list[str]:
    """Return a member's runs in their order."""
    lines = lab.workspace.plan.read_text(encoding="utf-8").splitlines()[1:]
    return [line.split(",")[1] for line in lines if line.split(",")[2] == runner]


def wait_for(found: Callable[[], bool]) -> None:
    """Wait until something is there."""
    end = time.monotonic() + 60
    while not found():
        assert time.monotonic() < end, "waited for a minute"
        time.sleep(0.02)


def fill_in(lab: Lab, scorer: str, marks: Mapping[str, str]) -> Path:
    """Write a sheet that gives every run of a scorer the same marks."""
    path = lab.folder / f"{scorer}.csv"
    rows = [",".join((blind, *marks.values())) for blind in assigned(lab, scorer)]
    path.write_text("\n".join([",".join(("blind_id", *marks)), *rows, ""]), encoding="utf-8")
    return path


@dataclass(slots=True)
class Stages:
    """Labs at every phase, made when they are first asked for."""

    folder: Path
    cache: Path
    _made: dict[str, Lab] = field(default_factory=dict)

    def at(self, stage: str, target: Path) -> Lab:
        """Return a copy of the lab at a stage, in `target`, for one test to spoil."""
        shutil.copytree(self._original(stage).folder, target, symlinks=True)
        return Lab(target, self.cache)

    def original(self, stage: str) -> Lab:
        """Return the lab at a stage itself: for tests that change nothing."""
        return self._original(stage)

    def _original(self, stage: str) -> Lab:
        if stage not in self._made:
            place = list(STAGES).index(stage)
            folder = self.folder / f"{place:02}"
            lab = self.at(list(STAGES)[place - 1], folder) if place else Lab(folder, self.cache)
            STAGES[stage](lab)
            self._made[stage] = lab
        return self._made[stage]


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Stages:
    """Give labs at every phase; skip, or fail, where bubblewrap does not work."""
    request.getfixturevalue("bubblewrap_sandbox")
    folder = tmp_path_factory.mktemp("labs")
    return Stages(folder, folder / "cache")


@pytest.fixture
def lab_at(stages: Stages, tmp_path: Path) -> Callable[[str], Lab]:
    """Return a function that gives a lab at a phase, for the test to spoil."""
    return lambda stage: stages.at(stage, tmp_path / "lab")


def is_root() -> bool:
    """Tell whether this is the superuser."""
    return os.name == "posix" and os.geteuid() == 0
