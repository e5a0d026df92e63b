"""What a path of a project is, by its name alone: a test, source, documentation, somebody else's.

Names are bytes, as git has them. What people call their tests differs from language to language;
a wrong guess costs a line of the author's time, so the common conventions are enough.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

TEST_FOLDERS = frozenset(
    {b"test", b"tests", b"__tests__", b"__snapshots__", b"__mocks__", b"testdata", b"unittests"}
)
_TOP_TEST_FOLDERS = TEST_FOLDERS | {b"testing", b"spec", b"specs", b"t", b"unit_tests"}
_TEST_NAME = re.compile(
    rb"""(?: conftest\.py
      | tests?\.py | test_[^/]*\.py | [^/]*_tests?\.py | [^/]*[a-z0-9]Tests?\.py
      | [^/]+[._-](?:test|spec|tests)\.[cm]?[jt]sx?
      | [^/]+_test\.(?:go|rb|exs?|cc|cpp|c|dart|clj|sh) | [^/]+_spec\.rb
      | [^/]*[a-z0-9]Tests?\.(?:java|kt|cs|php|swift|scala|groovy)
      | test_[^/]*\.(?:c|cc|cpp|rb|sh|R|jl) | [^/]+\.bats
    )""",
    re.VERBOSE,
)
_SOURCE = re.compile(
    rb".+\.(?:pyx?|pyi|[cm]?[jt]sx?|go|rs|rb|java|kt|kts|scala|groovy|clj|cs|fs|vb|c|cc|cpp|cxx|h|hh"
    rb"|hpp|m|mm|swift|php|pl|pm|lua|ex|exs|erl|hs|ml|r|R|jl|sh|bash|vue|svelte|dart|sql|zig|nim)"
)
_DOCS = re.compile(
    rb"(?:.*/)?(?:docs?|documentation|man|changelog\.d|news|newsfragments)/.*"
    rb"|.*\.(?:md|rst|adoc|markdown)|(?:.*/)?(?:readme|changelog|changes|history|news|authors"
    rb"|contributors|license|licence|copying|todo|notice)(?:\.txt)?",
    re.IGNORECASE,
)
_VENDORED = re.compile(
    rb"(?:.*/)?(?:_?vendor(?:ed)?|third_?party|node_modules|bower_components|extern(?:al)?s?|dist"
    rb"|site-packages)/.*|.*\.min\.(?:js|css)|.*_pb2(?:_grpc)?\.py|.*\.lock|(?:.*/)?package-lock\.json"
)
_VERSION = re.compile(rb"(?:.*/)?(?:_?version|__about__|__version__|_?versioneer)\.(?:py|go|js|ts)")


class PathKind(StrEnum):
    """What a path is."""

    TEST = "test"
    SOURCE = "source"
    DOCS = "docs"
    VENDORED = "vendored"
    VERSION = "version"
    OTHER = "other"
    """Settings, data, a build's files."""


def is_test(path: bytes) -> bool:
    """Return whether a path looks like a test or belongs to one: by its folder, or by its name."""
    *folders, name = path.split(b"/")
    return (
        not TEST_FOLDERS.isdisjoint(folders)
        or bool(folders and folders[0] in _TOP_TEST_FOLDERS)
        or _TEST_NAME.fullmatch(name) is not None
    )


@lru_cache(maxsize=1 << 16)
def path_kind(path: bytes) -> PathKind:
    """Return what a path is; tests come first, whatever they are written in."""
    if is_test(path):
        return PathKind.TEST
    patterns = {
        PathKind.VENDORED: _VENDORED,
        PathKind.VERSION: _VERSION,
        PathKind.DOCS: _DOCS,
        PathKind.SOURCE: _SOURCE,
    }
    return next((kind for kind, name in patterns.items() if name.fullmatch(path)), PathKind.OTHER)


def place_of_test(path: bytes) -> bytes:
    """Return the uppermost test folder that a test lies in, with a final slash, or the test."""
    folders = path.split(b"/")[:-1]
    for count, folder in enumerate(folders, 1):
        if folder in TEST_FOLDERS or (count == 1 and folder in _TOP_TEST_FOLDERS):
            return b"/".join(folders[:count]) + b"/"
    return path


def places_of_tests(paths: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the places of some tests, each once, sorted."""
    return tuple(sorted({place_of_test(path) for path in paths}))
