"""What `labkit task run` does for runs by hand: --manual, --export, --finish, --abandon."""

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from labkit.archive import Kind, read_tar
from labkit.cli.console import ask, say
from labkit.cli.lab import Lab, now
from labkit.cli.running import catch_up, open_session, record, require_runnable
from labkit.configurations import read_configuration
from labkit.errors import InfrastructureError, InputError, PhaseError, ToolError
from labkit.fields import counted
from labkit.graders.folder import Unreadable, read_inside
from labkit.lock import only_one
from labkit.model import RunId
from labkit.phases import progress
from labkit.plan import PlannedRun
from labkit.preview import shown
from labkit.records import RunRecord
from labkit.settings import Person
from labkit.suite import Suite
from labkit_runner import manualexport as export
from labkit_runner.attempt import perform
from labkit_runner.manual import (
    Begun,
    ByHand,
    Told,
    Way,
    abandon,
    begin,
    finish_session,
    forget,
    read_begun,
    require_lines,
    session_of,
)
from labkit_runner.ownterminal import OwnTerminal
from labkit_runner.preflight import require_nothing_readable
from labkit_runner.voided import void, void_partial
