"""A person at a desk with a folder of suites and a key of their own; no lab around."""

import subprocess
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cli.labs import Answer, heed_interrupts, labkit, require_clear

from labkit.process import plain_environment
from labkit.seal import Identity, new_identity

CASES = """\
name: mine
grader: {name: exact}
cases:
  - {id: one, inputs: 1, reference: "1", slices: [small], split: train}
  - {id: two, inputs: 2, reference: "2", slices: [small]}
  - {id: three, inputs: 3, reference: "3", slices: [small, odd]}
  - {id: four, inputs: 4, reference: "4"}
  - {id: five, inputs: 5, reference: "5"}
  - {id: six, inputs: 6, reference: "6"}
  - {id: seven, inputs: swordfish, reference: swordfish, split: test}
  - {id: eight, inputs: 8, reference: "8", folder: eight, split: test}
"""
ECHO = '''\
import pathlib
import time

LOG = pathlib.Path(__file__).with_name("asked.txt").open("a", buffering=1)


def echo(case, trial):
    """Answer what was asked, and say that it was."""
    LOG.write(f"{case.id} {trial.number} {trial.seed}\\n")
    return str(case.inputs)


def small(case, trial):
    """Answer numbers below five."""
    return str(case.inputs if case.inputs in (1, 2, 3, 4) else 0)


def slow(case, trial):
    """Answer after a while."""
    time.sleep(0.4)
    return echo(case, trial)


def by_seed(case, trial):
    return str(case.inputs if trial.seed % 2 else 0)


def down(case, trial):
    raise ConnectionError("no answer from the model")


def half(case, trial):
    if case.inputs in (2, 4, 6):
        raise ConnectionError("no answer from the model")
    return str(case.inputs)


def once(case, trial):
    """Be away until a file says that it is back."""
    if not pathlib.Path(__file__).with_name("back").exists():
        raise ConnectionError("no answer from the model")
    return str(case.inputs)
'''


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder, and commands run in it with nothing of the user's."""

    folder: Path
    identity: Identity

    @classmethod
    def at(cls, folder: Path) -> "Desk":
        """Set one up with a suite, candidates and a key."""
        desk = cls(folder / "desk", new_identity())
        desk.folder.mkdir(parents=True)
        desk.write("suite.yaml", CASES)
        desk.write("mine.py", ECHO)
        desk.write("asked.txt", "")
        desk.write("eight/notes.txt", "swordfish\n")
        for name, text in (("holder.agekey", desk.identity.secret), ("passphrase", "four words")):
            path = desk.home / name
            path.parent.mkdir(exist_ok=True)
            path.touch(mode=0o600)
            path.write_text(f"{text}\n", encoding="ascii")
        return desk

    @property
    def home(self) -> Path:
        """Where the private key lies."""
        return self.folder.parent / "home"

    @property
    def suite(self) -> Path:
        """The suite's file."""
        return self.folder / "suite.yaml"

    def write(self, name: str, text: str) -> Path:
        """Write a file below the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start a command and leave it running."""
        return subprocess.Popen(
            labkit(*words),
            cwd=self.folder,
            env={
                **plain_environment(),
                "HOME": str(self.home),
                "LABKIT_HOME": str(self.home),
                "LABKIT_PASSPHRASE_FILE": str(self.home / "passphrase"),
                "LABKIT_SANDBOX": "bubblewrap",
                "TMPDIR": str(self.temporary),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509 - no thread here
        )

    @property
    def temporary(self) -> Path:
        """Where commands put what is only for a while."""
        path = self.folder.parent / "tmp"
        path.mkdir(exist_ok=True)
        return path

    def labkit(self, *words: str) -> Answer:
        """Run a command to its end."""
        with self.start(*words) as program:
            out, err = program.communicate(timeout=120)
        return Answer(code=program.returncode, out=out, err=err)

    def done(self, *words: str, code: int = 0) -> Answer:
        """Run a command that has to end with this code."""
        answer = self.labkit(*words)
        assert answer.code == code, answer.err
        return answer

    def refused(self, *words: str, code: int = 2, says: tuple[str, ...]) -> None:
        """Run a command that has to refuse, clearly, with nothing changed on disk."""
        before = self.snapshot()
        answer = self.labkit(*words)
        require_clear(answer, code=code, says=says)
        assert self.snapshot() == before

    def snapshot(self) -> dict[str, str]:
        """Return the digest of every file."""
        return {
            str(path.relative_to(self.folder.parent)): sha256(path.read_bytes()).hexdigest()
            for path in self.folder.parent.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    def asked(self) -> list[str]:
        """Return the samples that a candidate says it was asked for, sorted."""
        path = self.folder / "asked.txt"
        return sorted(path.read_text().splitlines()) if path.exists() else []

    def runs(self) -> list[Path]:
        """Return the folders of all runs, by name."""
        return sorted(
            path for path in (self.folder.parent / "desk-runs").glob("*") if path.is_dir()
        )

    def holding(self, text: str) -> list[str]:
        """Return the files that have a text in them or in their name."""
        return sorted(
            str(path.relative_to(self.folder.parent))
            for path in self.folder.parent.rglob("*")
            if path.is_file() and (text in path.name or text.encode() in path.read_bytes())
        )
