"""Installed Python distributions with all that they need, as files for another Python."""

from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from labkit.errors import ToolError

_PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
"""What the other Python may be: needs that only one of them has are taken where they are here."""


def closure(names: Iterable[str]) -> tuple[Distribution, ...]:
    """Return the named distributions and all that they need, sorted by name.

    Raises ToolError when one of the named is not installed beside labkit.
    """
    found: dict[str, Distribution] = {}
    for name in names:
        try:
            _add(distribution(name), found)
        except PackageNotFoundError as error:
            raise ToolError(
                f"the Python package {name} is not installed beside labkit",
                hint="install labkit anew, with all that it needs",
            ) from error
    return tuple(found[name] for name in sorted(found))


def files_of(one: Distribution) -> Iterator[tuple[str, Path]]:
    """Yield the place below a site folder, and the source, of every file of a distribution."""
    for file in one.files or ():
        if ".." not in file.parts and file.suffix != ".pyc":
            yield file.as_posix(), Path(str(file.locate()))


def _add(one: Distribution, found: dict[str, Distribution]) -> None:
    name = canonicalize_name(one.metadata["Name"])
    if name in found:
        return
    found[name] = one
    for line in one.requires or ():
        requirement = Requirement(line)
        if _is_needed(requirement):
            try:
                needed = distribution(requirement.name)
            except PackageNotFoundError:
                continue  # it is not needed under this Python, and may not be under the other
            _add(needed, found)


def _is_needed(requirement: Requirement) -> bool:
    marker = requirement.marker
    return marker is None or any(
        marker.evaluate(
            {"extra": "", "python_version": python, "python_full_version": f"{python}.0"}
        )
        for python in _PYTHONS
    )
