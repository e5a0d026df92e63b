"""Which commits make a task, which do not and why, and what moves a commit up and down."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.fitness import Unfit, judged, unfit
from labkit.gitlog import Logged, Touched

DAY = 24 * 3600


def touched(path: str, added: int | None = 10, deleted: int | None = 2) -> Touched:
    return Touched(path=path.encode(), added=added, deleted=deleted)


GOOD = Logged(
    oid="1" * 40,
    parents=("2" * 40,),
    time=2_000_000_000,
    message="Fix the slug of an empty title",
    touched=(touched("src/slug.py"), touched("tests/test_slug.py")),
)


def files(*paths: str) -> tuple[Touched, ...]:
    return tuple(touched(path) for path in paths)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"parents": ()}, Unfit.FIRST),
        ({"parents": ("2", "3")}, Unfit.MERGE),
        ({"touched": ()}, Unfit.EMPTY),
        ({"touched": files(*(f"s{n}.py" for n in range(99)))}, Unfit.HUGE),
        ({"touched": (touched("a.py", 5000), touched("tests/test_a.py"))}, Unfit.HUGE),
        ({"message": 'Revert "Fix the slug"'}, Unfit.REVERT),
        ({"message": "Back out\n\nThis reverts commit 123."}, Unfit.REVERT),
        ({"message": "Bump version to 1.2"}, Unfit.RELEASE),
        ({"message": "Release 1.2.2 (#625)"}, Unfit.RELEASE),
        ({"message": "v1.2.3"}, Unfit.RELEASE),
        ({"message": "Bump pytest from 7 to 8"}, Unfit.RELEASE),
        ({"message": "Run black"}, Unfit.FORMATTING),
        ({"message": "Strip trailing whitespace"}, Unfit.FORMATTING),
        ({"touched": files("docs/a.md", "README.rst")}, Unfit.DOCS),
        ({"touched": files("tests/test_a.py")}, Unfit.TESTS),
        ({"touched": files("vendor/x/a.py", "poetry.lock")}, Unfit.VENDORED),
        ({"touched": files("pkg/_version.py", "CHANGES")}, Unfit.RELEASE),
        ({"touched": files("a.py", "README.md")}, Unfit.NO_TESTS),
        ({"touched": files("setup.cfg", "tests/test_a.py")}, Unfit.NO_SOURCE),
        ({"touched": files("vendor/a.py", "tests/test_a.py")}, Unfit.NO_SOURCE),
        ({}, None),
        ({"message": "Support version 2 of the format"}, None),
        ({"message": "Fix release of locks"}, None),
        ({"message": ""}, None),
    ],
)
def test_why_a_commit_makes_no_task(changes: dict[str, object], why: Unfit | None) -> None:
    assert unfit(replace(GOOD, **changes), merges=False) is why  # type: ignore[arg-type] # a table


def test_a_merge_is_fit_where_merges_are_wanted() -> None:
    merge = replace(GOOD, parents=("2", "3"))
    assert unfit(merge, merges=True) is None
    assert "a merge" in judged(merge, GOOD.time).reasons


def test_the_best_says_why() -> None:
    found = judged(GOOD, GOOD.time)
    assert found.score == 100
    assert found.reasons == (
        "small", "one source file", "tests grow by 10 lines", "recent", 'its message says "fix"',
    )  # fmt: skip
    assert (found.source_files, found.source_lines, found.test_lines) == (1, 12, 12)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"touched": (touched("a.py", 90), touched("tests/test_a.py"))}, "middle-sized"),
        ({"touched": (touched("a.py", 300), touched("tests/test_a.py"))}, "large"),
        ({"touched": (touched("a.py", 1, 0), touched("tests/test_a.py"))}, "hardly a change"),
        ({"touched": files("a.py", "b.py", "c.py", "tests/test_a.py")}, "3 source files"),
        ({"touched": (touched("a.py"), touched("tests/test_a.py", 0))}, "adds no line of a test"),
        ({"touched": (touched("a.py"), touched("tests/x.mp3", None, None))}, "binary files"),
        ({"touched": (*GOOD.touched, touched("setup.cfg"))}, "touches settings or data"),
        ({"touched": (*GOOD.touched, touched("pkg/_version.py"))}, "bumps the version"),
        ({"message": "Fix #12"}, "its message says little"),
        ({"message": "Various small fixes for the slug"}, 'its message says "various"'),
        ({"time": GOOD.time - 800 * DAY}, "2 years older than the newest"),
        ({"time": GOOD.time - 400 * DAY}, "1 year older than the newest"),
    ],
)
def test_what_moves_a_commit_down_is_said(changes: dict[str, object], reason: str) -> None:
    found = judged(replace(GOOD, **changes), GOOD.time)  # type: ignore[arg-type] # a table
    assert found.score < 100
    assert reason in found.reasons


paths = st.sampled_from(["a.py", "b.go", "tests/test_a.py", "x.bin", "vendor/a.py", "README", "c"])
lines = st.none() | st.integers(0, 10**7)


@given(
    st.lists(st.builds(touched, paths, lines, lines), max_size=70),
    st.text(),
    st.integers(-(10**12), 10**12),
)
def test_every_commit_is_judged(some: list[Touched], message: str, time: int) -> None:
    commit = replace(GOOD, touched=tuple(some), message=message, time=time)
    if unfit(commit, merges=False) is None:
        found = judged(commit, GOOD.time)
        assert 0 <= found.score <= 100
        assert found.reasons
