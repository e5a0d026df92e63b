"""Runs a spec under bubblewrap: new namespaces on this machine, nothing of it visible but `/usr`.

There is no engine: the tree stands in a private scratch folder, which is read back by a second,
empty sandbox once every process of the first is gone, so that nothing follows a link on the host.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from labkit.model import Ended
from labkit.sandbox.bootstrap import bootstrap
from labkit.sandbox.bubblewrap_workshop import BubblewrapWorkshop, prepared_root
from labkit.sandbox.cgroup import Cgroup, find_cgroup, make_cgroup
from labkit.sandbox.container import RUN_LABEL
from labkit.sandbox.environment import Environment
from labkit.sandbox.interface import (
    Collect,
    Limits,
    Outcome,
    Sidecar,
    SidecarSpec,
    Spec,
    Streams,
    T,
)
from labkit.sandbox.keyboard import typing
from labkit.sandbox.namespace import started
from labkit.sandbox.packer import read_folder
from labkit.sandbox.place import Place, lay_out
from labkit.sandbox.process_beside import process_beside
from labkit.sandbox.scratch import (
    PREFIX,
    note_running,
    orphans,
    read_running,
    remove_folder,
    scratch_folder,
)
from labkit.sandbox.streams import Output, keep_whole, read_whole
from labkit.sandbox.view import command_view, limited
from labkit.sandbox.watching import watching

_KILLED = 137


class BubblewrapSandbox:
    """Namespaces of this machine; safe to use from several threads at once."""

    name = "bubblewrap"

    def __init__(
        self, bwrap: Path, environment: Environment, scratch_root: Path, *, roots: Path
    ) -> None:
        self._bwrap = bwrap
        self._environment = environment
        self._scratch_root = scratch_root
        self._roots = roots

    def workshop(self) -> BubblewrapWorkshop:
        """Return where the environments of this sandbox are made."""
        return BubblewrapWorkshop(self._bwrap, self._environment, self._roots)

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        """Run the command in fresh namespaces; see `Sandbox.run`."""
        environment = prepared_root(self._environment, self._roots, spec.image)
        with scratch_folder(self._scratch_root) as scratch:
            place = lay_out(scratch, spec)
            with _group(scratch.name, spec.limits) as group:
                outcome = self._execute(environment, spec, streams, _Where(place, group))
            self._read_home(place, spec, streams.home)
            return outcome, self._read_back(place, spec, collect)

    def sidecar(self, spec: SidecarSpec) -> AbstractContextManager[Sidecar]:
        """Start a process of this machine beside commands; see `SidecarSandbox.sidecar`."""
        return process_beside(self._scratch_root, spec)

    def leftovers(self) -> tuple[str, ...]:
        """Name the scratch folders whose labkit process is gone."""
        return tuple(_line(folder) for folder in self._orphans())

    def clean(self) -> tuple[str, ...]:
        """Remove those scratch folders."""
        lines = []
        for folder in self._orphans():
            lines.append(_line(folder))
            find_cgroup(folder.name).remove()
            remove_folder(folder)
        return tuple(lines)

    def kill(self, labels: Mapping[str, str]) -> int:
        """Kill, from outside, what runs with all of these labels; return how many that were."""
        found = 0
        for folder in self._scratch_root.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError, ValueError, LookupError):
                pid, written = read_running(folder)
                if labels.items() <= written.items():
                    os.kill(pid, signal.SIGKILL)
                    found += 1
        return found

    def _execute(
        self, environment: Environment, spec: Spec, streams: Streams, where: "_Where"
    ) -> Outcome:
        place, group = where.place, where.group
        sizes = (len(spec.returned_tar), len(spec.streamed_tar))
        typed = spec.keyboard is not None
        command = bootstrap(spec.argv, returned=spec.returned, sizes=sizes, typed=typed)
        view = command_view(environment, spec, place)
        output = Output(streams.stdout, streams.stderr, spec.limits.output_bytes)
        begun = time.monotonic()
        arguments = [*view, "--", *limited(spec.limits, command, memory=group is None)]
        with started(self._bwrap, arguments, group=group) as running:
            note_running(place.tree.parent, running.outer.pid, spec.labels)
            takers = ((running.stdout, output.out), (running.stderr, output.err))
            watched = watching(spec.limits.seconds, spec.halt, running.stop)
            with running.drained(*takers), watched:
                running.feed(spec.returned_tar, spec.streamed_tar)
                with typing(spec.keyboard, running.feed):
                    code = running.wait()
            seconds = time.monotonic() - begun
        ended = running.why or _how_ended(code, group)
        output.check_after(ended)
        return Outcome(
            ended=ended,
            exit_code=code if ended is Ended.EXITED else None,
            seconds=seconds,
            cut_bytes=output.cut,
            image_digest=environment.description,
        )

    def _read_back(self, place: Place, spec: Spec, collect: Collect[T]) -> T:
        most = spec.limits.returned_bytes
        return read_folder(
            self._bwrap,
            place.tree,
            spec.returned,
            lambda chunks: read_whole(chunks, most, collect),
        )

    def _read_home(self, place: Place, spec: Spec, target: IO[bytes] | None) -> None:
        if not spec.home or target is None:
            return
        most = spec.limits.returned_bytes
        read_folder(
            self._bwrap,
            place.home,
            spec.home,
            lambda chunks: (None, keep_whole(chunks, most, target)),
        )

    def _orphans(self) -> list[Path]:
        return [*orphans(self._scratch_root), *orphans(self._roots)]


@dataclass(frozen=True, slots=True)
class _Where:
    """Where one command works, and the group that limits it."""

    place: Place
    group: Cgroup | None


def _how_ended(code: int, group: Cgroup | None) -> Ended:
    """Tell how bubblewrap ended by itself; out of memory by the same rule as for a container."""
    # Also when the kernel chose bubblewrap itself: filling its memory folders must not look like
    # a machine that broke, or an agent could have its bad runs repeated.
    if (code == _KILLED or code < 0) and group is not None and group.ran_out_of_memory():
        return Ended.OUT_OF_MEMORY
    return Ended.KILLED if code < 0 else Ended.EXITED


def _line(scratch: Path) -> str:
    """Name a scratch folder for a person, with the run that it was for."""
    with contextlib.suppress(OSError, ValueError, LookupError):
        return f"scratch folder {scratch.name} ({read_running(scratch)[1][RUN_LABEL]})"
    return f"scratch folder {scratch.name} (no run named)"


@contextlib.contextmanager
def _group(name: str, limits: Limits) -> Iterator[Cgroup | None]:
    group = make_cgroup(name, limits)
    try:
        yield group
    finally:
        if group is not None:
            group.remove()
