"""What a path is by its name: the conventions of several languages, and names that only look so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.testpaths import PathKind, is_test, path_kind, place_of_test, places_of_tests

TESTS = (
    b"tests/test_a.py", b"tests/data/x.txt", b"pkg/test/a.py", b"test_a.py", b"a_test.py",
    b"conftest.py", b"pkg/conftest.py", b"test.py", b"tests.py", b"app/tests.py", b"unitTests.py",
    b"simple_unit_tests.py", b"tinytag/tests/samples/x.mp3", b"tests/sheet.xlsx",
    b"web/cart.test.js", b"web/cart.spec.ts", b"web/cart.test.tsx", b"web/cart.test.mjs",
    b"web/__tests__/cart.js", b"web/__snapshots__/cart.snap", b"pkg/slug_test.go",
    b"pkg/testdata/in.json", b"src/test/java/CartTest.java", b"CartTests.cs", b"spec/cart_spec.rb",
    b"testing/helper.py", b"t/basic.t", b"run.bats", b"\xe9/tests/\xe9", b"tests",
)[:-1]  # fmt: skip
NOT_TESTS = (
    b"src/latest/a.py", b"test_a.txt", b"testing.py", b"numpy/testing/fine.py", b"contest.py",
    b"latest.py", b"attest.js", b"src/spec/model.py", b"testimony/a.py", b"tests", b"protest.go",
    b"testdata.py", b"pkg/t/a.py",
)  # fmt: skip


@pytest.mark.parametrize("path", TESTS, ids=repr)
def test_what_looks_like_a_test(path: bytes) -> None:
    assert is_test(path)
    assert path_kind(path) is PathKind.TEST


@pytest.mark.parametrize("path", NOT_TESTS, ids=repr)
def test_what_only_sounds_like_a_test(path: bytes) -> None:
    assert not is_test(path)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (b"a/b.py", PathKind.SOURCE),
        (b"main.go", PathKind.SOURCE),
        (b"lib/x.tsx", PathKind.SOURCE),
        (b"README.md", PathKind.DOCS),
        (b"docs/conf.py", PathKind.DOCS),
        (b"CHANGES", PathKind.DOCS),
        (b"HISTORY.txt", PathKind.DOCS),
        (b"history.py", PathKind.SOURCE),
        (b"vendor/x/a.py", PathKind.VENDORED),
        (b"pip/_vendor/rich/a.py", PathKind.VENDORED),
        (b"poetry.lock", PathKind.VENDORED),
        (b"static/jquery.min.js", PathKind.VENDORED),
        (b"pkg/_version.py", PathKind.VERSION),
        (b"setup.cfg", PathKind.OTHER),
        (b"pkg/data.json", PathKind.OTHER),
    ],
    ids=lambda value: value.decode() if isinstance(value, bytes) else str(value),
)
def test_what_else_a_path_is(path: bytes, kind: PathKind) -> None:
    assert path_kind(path) is kind


def test_places_are_the_uppermost_folders_or_the_files() -> None:
    paths = [b"tests/a/tests/b.py", b"tests/c.py", b"pkg/tests/data/x", b"test_x.py", b"spec/y.rb"]
    assert places_of_tests(paths) == (b"pkg/tests/", b"spec/", b"test_x.py", b"tests/")


@given(st.lists(st.sampled_from([b"tests", b"pkg", b"test", b"a.py", b"test_a.py"]), min_size=1))
def test_a_test_lies_in_its_place(parts: list[bytes]) -> None:
    path = b"/".join(parts)
    place = place_of_test(path)
    assert path == place or (place.endswith(b"/") and path.startswith(place))
    assert is_test(path) or place == path
