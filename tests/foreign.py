"""The packages whose formats labkit writes, in a folder of their own beside the test environment.

They are large (a third of a gigabyte) and belong to nobody's environment here; the folder is made
when a test first asks for it, and kept for as long as the environment is.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from sandboxes import missing

INSPECT = "inspect-ai==0.3.285"
HARBOR = "harbor==0.26.0"
_PATIENCE = 600


@pytest.fixture(scope="session")
def foreign() -> "Foreign":
    """Give an interpreter that has Inspect and Harbor's models."""
    name = "-".join(each.replace("==", "-") for each in (INSPECT, HARBOR))
    folder = Path(sys.prefix, "foreign", name)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        _install(made, INSPECT, "toml")
        # Harbor as a whole wants a newer Python; the models of its formats do not.
        _install(made, "--no-deps", "--ignore-requires-python", HARBOR)
        try:
            made.rename(folder)
        except OSError:  # another test process was faster
            shutil.rmtree(made)
    return Foreign(folder)


def _install(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), *words],
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode != 0:
        shutil.rmtree(folder)
        missing("registry", f"pip install {words[-1]}: {done.stderr[-300:]}")


class Foreign:
    """Runs pieces of Python with those packages."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ask(self, program: str, *words: str) -> Any:
        """Return what a program prints as JSON on its last line."""
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(self._folder),
                "HOME": "/nonexistent",
            },
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])
