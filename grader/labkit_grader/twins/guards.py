"""What guards a task's verdicts: which wrong expectations validation saw the right code notice."""

import codecs
import io
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from labkit_grader.pysource import Source, UnreadableError, parse
from labkit_grader.testrun import TestRun
from labkit_grader.twins.edits import edited
from labkit_grader.twins.sites import Site, find_sites
from labkit_grader.twins.text import wrong_text

Noticed = Mapping[str, Mapping[str, tuple[int, ...]]]
"""By test and by file, the places of the sites whose wrong expectation was noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """Found at validation, and sealed with the draft."""

    noticed: Noticed = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    """Tests that notice when every expectation that can be told is wrong at once."""
    sentinel: tuple[str, ...] = ()
    """The kinds of the sentinel's tests that were seen to fail."""

    @property
    def tests(self) -> frozenset[str]:
        """Every test that has a wrong counterpart."""
        return frozenset({*self.noticed, *self.whole})

    def values(self) -> dict[str, object]:
        """Return plain values for evidence.json; empty when there are no guards."""
        if self == Guards():
            return {}
        noticed = {
            test: {file: list(sites) for file, sites in by_file.items()}
            for test, by_file in self.noticed.items()
        }
        listed = {"whole": list(self.whole), "sentinel": list(self.sentinel)}
        return {"guards": {"noticed": noticed, **listed}}


def read_guards(values: Mapping[str, Any]) -> Guards:
    """Read back what `Guards.values` wrote; raises ValueError, KeyError or TypeError."""
    if "guards" not in values:
        return Guards()
    guards = values["guards"]
    return Guards(
        noticed={
            str(test): {str(file): tuple(map(int, sites)) for file, sites in by_file.items()}
            for test, by_file in guards["noticed"].items()
        },
        whole=tuple(map(str, guards["whole"])),
        sentinel=tuple(map(str, guards["sentinel"])),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """Hidden test files with wrong expectations."""

    files: Mapping[str, bytes]
    tests: tuple[str, ...]
    """Those that cannot pass, by their ids with the right expectations."""


def trial_files(files: Mapping[str, bytes], seed: str) -> dict[str, bytes]:
    """Return those Python files in which all wrong expectations are tried out."""
    found: dict[str, bytes] = {}
    for path, data in files.items():
        sites = _sites(path, data, seed)
        if sites:
            found[path] = edited(data, (edit for site in sites for edit in site.trial))
    return {path: data for path, data in found.items() if _is_python(path, data)}


def python_twin(
    files: Mapping[str, bytes],
    noticed: Noticed,
    tests: Sequence[str],
    seed: str,
    *,
    quiet: bool = False,
) -> Twin:
    """Return a twin in which each test function asks for one wrong thing, chosen by `seed`.

    A quiet one has nothing that no right test would have; functions that ask for nothing but loud
    things stay right in it.
    """
    changed: dict[str, bytes] = {}
    chosen: dict[str, frozenset[int]] = {}
    for path, data in files.items():
        sites = _sites(path, data, seed)
        known = {place for test in tests for place in noticed.get(test, {}).get(path, ())}
        usable = [s for s in sites if s.place in known and (s.is_quiet or not quiet)]
        picked = _picked(usable, Random(f"{seed} {path} choice"))  # noqa: S311 - a secret seed
        made = edited(data, (edit for site in picked for edit in site.wrong))
        if picked and _is_python(path, made):
            changed[path], chosen[path] = made, frozenset(site.place for site in picked)
    guarded = tuple(
        test
        for test in tests
        if any(
            not chosen.get(path, frozenset()).isdisjoint(places)
            for path, places in noticed.get(test, {}).items()
        )
    )
    return Twin(files=changed, tests=guarded)


def text_twin(files: Mapping[str, bytes], tests: Sequence[str], seed: str) -> Twin:
    """Return a twin in which every expectation that can be told asks for something wrong."""
    changed = {
        path: made
        for path, data in files.items()
        if (made := wrong_text(path, data, Random(f"{seed} {path}"))) is not None  # noqa: S311
    }
    return Twin(files=changed, tests=tuple(tests) if changed else ())


def aligned(real: TestRun, other: TestRun) -> dict[str, str]:
    """Return the test of `real` that each test of a twin is: ids tell of parameters that differ.

    Empty where the two runs did not collect the same functions in the same order.
    """
    if len(real.collected) != len(other.collected):
        return {}
    pairs = list(zip(other.collected, real.collected, strict=True))
    same = all(function_of(one) == function_of(two) for one, two in pairs)
    return dict(pairs) if same else {}


def function_of(test: str) -> str:
    """Return a test's id without its parameters."""
    return test.partition("[")[0]


def _sites(path: str, data: bytes, seed: str) -> tuple[Site, ...]:
    if not path.endswith(".py") or not _is_utf_8(data):
        return ()  # places are counted in bytes
    try:
        source = Source(path=path, data=data, module=parse(data, path))
        return find_sites(source, Random(f"{seed} {path}"))  # noqa: S311 - any value will do
    except (UnreadableError, RecursionError):
        return ()


def _is_utf_8(data: bytes) -> bool:
    try:
        name = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return codecs.lookup(name).name in ("utf-8", "utf-8-sig")
    except (SyntaxError, LookupError):
        return False


def _picked(sites: Sequence[Site], chance: Random) -> list[Site]:
    """Return one site of each function."""
    by_owner: dict[str, list[Site]] = {}
    for site in sites:
        by_owner.setdefault(site.owner, []).append(site)
    return [chance.choice(of_one) for of_one in by_owner.values()]


def _is_python(path: str, data: bytes) -> bool:
    try:
        parse(data, path)
    except UnreadableError:
        return False
    return True
