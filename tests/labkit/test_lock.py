import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.errors import PhaseError
from labkit.lock import only_one
from labkit.workspace import Workspace

HOLD = (
    "import pathlib, sys, time; from labkit.lock import only_one; "
    "from labkit.workspace import Workspace\n"
    "with only_one(Workspace(pathlib.Path(sys.argv[1])), 'a long run'):\n"
    "    print('held', flush=True); time.sleep(60)"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path)
    made.evals.mkdir()
    return made


def test_a_second_command_is_refused_and_told_what_the_first_does(workspace: Workspace) -> None:
    refused = pytest.raises(PhaseError, match="another labkit is at work here: labkit grade")
    with only_one(workspace, "labkit grade"), refused, only_one(workspace, "labkit task run"):
        pass
    with only_one(workspace, "labkit task run"):
        pass


def test_the_lock_of_a_killed_process_is_free(workspace: Workspace) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(workspace.project)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(PhaseError, match="a long run"), only_one(workspace, "x"):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with only_one(workspace, "next"):
        assert (workspace.evals / ".lock").read_text() == "next\n"


def test_an_error_inside_frees_the_lock(workspace: Workspace) -> None:
    with pytest.raises(ZeroDivisionError), only_one(workspace, "x"):
        _ = 1 / 0
    with only_one(workspace, "y"):
        pass
