"""Whatever a grade ran in is gone, with its volume, before the next sandbox begins."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, TypeVar

import pytest
from gradings import CALC, FIXED, bench_of, make_set, validated

from labkit.model import Verdict
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Collect, Outcome, Spec, Streams

T = TypeVar("T")
LABELS = {"labkit.run": "grades-in-a-row"}
pytestmark = pytest.mark.docker


@dataclass(slots=True)
class Watched:
    """A sandbox that looks, before and after each command, at what the engine still has."""

    real: DockerSandbox
    name: str = "docker"
    seen: set[str] = field(default_factory=set)
    """Containers and volumes of commands so far."""
    commands: int = 0

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        """Run the command; fail when anything of an earlier one is there."""
        assert not self.present()
        self.commands += 1

        def looking(stream: IO[bytes]) -> T:
            for each in self.containers():
                mounts = [mount["Name"] for mount in each["Mounts"] if "Name" in mount]
                assert mounts
                self.seen |= {each["Id"], *mounts}
            return collect(stream)

        answer = self.real.run(spec, streams, looking)
        assert not self.present()
        return answer

    def containers(self) -> list[dict[str, Any]]:
        """Return the containers of these tests."""
        label = [f"{name}={value}" for name, value in LABELS.items()]
        return list(self.real.api.containers(all=True, filters={"label": label}))

    def present(self) -> set[str]:
        """Return what the engine has of these tests."""
        volumes = {each["Name"] for each in self.real.api.volumes()["Volumes"] or []}
        return {str(each["Id"]) for each in self.containers()} | (volumes & self.seen)

    def kill(self, labels: Mapping[str, str]) -> int:
        """Kill from outside."""
        return self.real.kill(labels)

    def leftovers(self) -> tuple[str, ...]:
        """Return what killed programs left."""
        return self.real.leftovers()

    def clean(self) -> tuple[str, ...]:
        """Remove what killed programs left."""
        return self.real.clean()


def test_nothing_of_a_grade_is_there_when_the_next_begins(
    tmp_path: Path, docker_sandbox: DockerSandbox
) -> None:
    watched = Watched(docker_sandbox)
    bench = replace(bench_of(docker_sandbox, seconds=4), sandbox=watched, labels=LABELS)
    task = validated(make_set(tmp_path), bench)
    before = watched.commands
    for code, verdict in (
        (FIXED, Verdict.PASS),
        (CALC + "while True: pass\n", Verdict.FAIL),
        (CALC + "import os; os.fork() or os._exit(0)\n", Verdict.FAIL),
        (FIXED, Verdict.PASS),
    ):
        assert task.graded(bench, task.diff({"calc.py": code})).verdict is verdict
    assert watched.commands >= before + 4
    assert len(watched.seen) >= 2 * 4
    assert not watched.present()
