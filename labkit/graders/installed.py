"""Graders that installed packages offer, by entry points."""

import functools
from importlib.metadata import EntryPoint, entry_points

from labkit.errors import InputError, ToolError
from labkit.fields import first_words
from labkit.graders.tools import Builder
from labkit.graders.values import raised

_GROUP = "labkit.graders"


class Installed:
    """The entry points of the group, read once, each loaded when its grader is asked for."""

    @functools.cached_property
    def _offers(self) -> dict[str, list[EntryPoint]]:
        offers: dict[str, list[EntryPoint]] = {}
        for each in entry_points(group=_GROUP):
            # A folder that stands on the path twice shows its packages twice.
            known = offers.setdefault(each.name, [])
            if (_package(each), each.value) not in [(_package(one), one.value) for one in known]:
                known.append(each)
        return offers

    def names(self) -> tuple[str, ...]:
        """Return the names that are offered."""
        return tuple(self._offers)

    def refuse_taken(self, name: str, *, taken: bool) -> None:
        """Raise InputError for a name of several owners: nobody could say which one graded."""
        offers = self._offers.get(name, [])
        if len(offers) + taken > 1:
            owners = [*(["labkit"] if taken else []), *map(_package, offers)]
            raise InputError(
                f"several offer a grader called {name}: {first_words(owners)}",
                hint="uninstall all but one",
            )

    def load(self, name: str) -> Builder:
        """Return an offered builder; raises ToolError when its package is broken."""
        (offer,) = self._offers[name]
        try:
            found = offer.load()
        except Exception as error:
            raise ToolError(
                f"the grader {name} of {_package(offer)} cannot be loaded: {raised(error)}",
                hint=f"reinstall {_package(offer)}, or use another grader",
            ) from error
        if not callable(found):
            raise ToolError(
                f"the grader {name} of {_package(offer)} is no builder",
                hint=f"tell the authors of {_package(offer)}",
            )
        builder: Builder = found
        return builder


def _package(offer: EntryPoint) -> str:
    return offer.dist.name if offer.dist is not None else offer.value
