"""Where the demo plays: its folder, the project in it, and real `labkit` commands."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labkit.cli.console import say
from labkit.errors import InputError, ToolError
from labkit.process import plain_environment, show
from labkit.sandbox.interface import Sandbox
from labkit.seal import Identity, read_identity
from labkit.workspace import HOME_VARIABLE, Workspace

TEAM = "ladle"
HOLDER = "tara"
_MARK = ".labkit-demo"
_PASSPHRASE = "correct horse battery staple"  # the demo's own, of a key that protects nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One demo in one folder."""

    folder: Path
    sandbox: Sandbox

    @property
    def workspace(self) -> Workspace:
        """The sample project's lab."""
        return Workspace(self.folder / TEAM)

    @property
    def _home(self) -> Path:
        return self.folder / "home"

    def labkit(self, *words: str, expect: tuple[int, ...] = (0,)) -> str:
        """Show a command line, run it and return what it printed as its result.

        Raises ToolError when it ends as it should not.
        """
        say(f"\n$ labkit {shlex.join(words)}")
        program = [sys.executable, "-m", "labkit", *words]
        done = show(program, cwd=self.workspace.project, env=self._environment())
        if done.returncode not in expect:
            raise ToolError(
                f"labkit {words[0]} ended in {done.returncode}: the demo stops here",
                hint=f"its folder is kept: {self.folder}",
            )
        return done.stdout

    def _environment(self) -> Mapping[str, str]:
        """Return what the commands run with: keys of their own, nothing of the user's."""
        keep = {name: os.environ[name] for name in ("HOME", "DOCKER_HOST") if name in os.environ}
        return {
            **plain_environment(),
            **keep,
            HOME_VARIABLE: str(self._home),
            "LABKIT_SANDBOX": self.sandbox.name,
            "LABKIT_PASSPHRASE_FILE": str(self._home / "passphrase"),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }

    def holder_identity(self) -> Identity:
        """Return the demo holder's private key: the demo plays the holder too."""
        return read_identity(self._home / "holder.agekey", passphrase=_PASSPHRASE)

    def prepare(self) -> None:
        """Make the folder; an earlier demo in it is removed, anything else is refused."""
        if self.folder.exists() and any(self.folder.iterdir()):
            if not (self.folder / _MARK).is_file():
                raise InputError(
                    f"{self.folder} is not empty", hint="labkit demo FOLDER builds it elsewhere"
                )
            shutil.rmtree(self.folder)
        self._home.mkdir(parents=True)
        (self.folder / _MARK).touch()
        passphrase = self._home / "passphrase"
        passphrase.touch(mode=0o600)
        passphrase.write_text(f"{_PASSPHRASE}\n", encoding="utf-8")


def heading(text: str) -> None:
    """Say which part of the lab begins."""
    say(f"\n{'-' * 88}\n{text}\n{'-' * 88}")


def by_hand(text: str) -> None:
    """Say what people do between two commands, which the demo does for them."""
    say(f"\n(by hand: {text})")
