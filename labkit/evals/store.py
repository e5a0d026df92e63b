"""Where samples go: to a file of lines, so that a run of any length fits into memory.

`samples.jsonl` has one line a sample, in the order in which they ended; of two lines for the same
sample the later one counts. A line cut short by a crash is no line.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, overload

from labkit.errors import IntegrityError, PhaseError, not_written
from labkit.evals.reportcases import trial_problem
from labkit.evals.results import TrialResult
from labkit.evals.sample import Sample, Status
from labkit.graders import Verdict
from labkit.lock import is_free

NAME = "samples.jsonl"
_Key = tuple[str, int]
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class StoredSamples(Sequence[Sample]):
    """Samples that are read from the disk one by one when they are asked for."""

    def __init__(self, path: Path, places: Sequence[int]) -> None:
        self._path = path
        self._places = tuple(places)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        if isinstance(index, slice):
            return StoredSamples(self._path, self._places[index])
        with self._path.open("rb") as file:
            file.seek(self._places[index])
            return _sample(json.loads(file.readline()))


class Store:
    """The samples of one run on the disk; not for several threads at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[_Key, int] = {}
        self._trials: dict[_Key, TrialResult] = {}
        self._file: BinaryIO | None = None
        self._end = 0
        self._size = 0
        """How long the file was when it was read; the end of it may be no whole line."""
        if path.exists():
            self._read()

    def _read(self) -> None:
        """Take up what an earlier run wrote, without what it did not finish writing."""
        place = 0
        with self._path.open("rb") as file:
            self._size = os.fstat(file.fileno()).st_size
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    self._know(_checked(_sample(json.loads(line))), place)
                except (ValueError, KeyError, TypeError, RecursionError) as error:
                    raise IntegrityError(
                        f"{self._path}, line {number} is damaged: {error}",
                        hint="remove the line: its sample is then taken again",
                    ) from error
                place += len(line)
        self._end = place

    def _know(self, sample: Sample, place: int) -> None:
        self._places[sample.case, sample.number] = place
        self._trials[sample.case, sample.number] = TrialResult.of(sample)

    def __contains__(self, key: object) -> bool:
        return key in self._trials

    def forget_missing(self) -> None:
        """Let samples without a verdict be taken again."""
        for key, trial in list(self._trials.items()):
            if trial.passed is None:
                del self._trials[key], self._places[key]

    def add(self, sample: Sample) -> None:
        """Write one sample.

        Raises ToolError when the disk does not take it, PhaseError when another run writes there.
        """
        line = _encode(_values(sample)).encode() + b"\n"
        try:
            file = self._file = self._file or self._open()
            file.write(line)
            file.flush()
        except OSError as error:
            raise not_written(self._path, error) from error
        self._know(sample, self._end)
        self._end += len(line)

    def _open(self) -> BinaryIO:
        """Open the file for writing where its last whole line ends."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch()
        file = self._path.open("r+b")
        if not is_free(file) or os.fstat(file.fileno()).st_size != self._size:
            file.close()
            raise PhaseError(
                f"somebody else writes to {self._path}", hint="wait until that run has ended"
            )
        file.truncate(self._end)
        file.seek(self._end)
        return file

    def of(self, case: str, planned: int) -> tuple[tuple[TrialResult, ...], Sequence[Sample]]:
        """Return the trials of a case, by number, and its samples."""
        keys = [(case, number) for number in range(1, planned + 1) if (case, number) in self]
        places = [self._places[key] for key in keys]
        return tuple(self._trials[key] for key in keys), StoredSamples(self._path, places)

    def samples(self) -> Sequence[Sample]:
        """Return all samples, in the order in which they were written."""
        return StoredSamples(self._path, sorted(self._places.values()))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class Memory:
    """The samples of one run in memory, for short ones."""

    def __init__(self) -> None:
        self._samples: dict[_Key, Sample] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._samples

    def add(self, sample: Sample) -> None:
        """Keep one sample."""
        self._samples[sample.case, sample.number] = sample

    def of(self, case: str, planned: int) -> tuple[tuple[TrialResult, ...], Sequence[Sample]]:
        """Return the trials of a case, by number, and its samples."""
        found = [
            self._samples[case, number]
            for number in range(1, planned + 1)
            if (case, number) in self._samples
        ]
        return tuple(map(TrialResult.of, found)), tuple(found)

    def close(self) -> None:
        """Nothing is open."""


def _checked(sample: Sample) -> Sample:
    if problem := trial_problem(TrialResult.of(sample), sys.maxsize):
        raise ValueError(f"sample {sample.number!r} of {sample.case} {problem}")
    return sample


def _values(sample: Sample) -> dict[str, Any]:
    verdict = sample.verdict
    return {
        "case": sample.case,
        "number": sample.number,
        "seed": sample.seed,
        "status": sample.status,
        "passed": verdict.passed,
        "score": verdict.score,
        "detail": verdict.detail,
        "output": sample.output,
        "trace": list(sample.trace),
        "latency_ms": sample.latency_ms,
        "cost": sample.cost,
        "edits": sample.edits,
        "forbidden_edits": sample.forbidden_edits,
        "success_self_reported": sample.success_self_reported,
        "rollout": sample.rollout,
    }


def _sample(values: Mapping[str, Any]) -> Sample:
    rest = dict(values)
    verdict = Verdict(passed=rest.pop("passed"), score=rest.pop("score"), detail=rest.pop("detail"))
    edits = rest.pop("edits")
    return Sample(
        verdict=verdict,
        status=Status(rest.pop("status")),
        edits=None if edits is None else tuple(edits),
        forbidden_edits=tuple(rest.pop("forbidden_edits")),
        trace=tuple(rest.pop("trace")),
        **rest,
    )
