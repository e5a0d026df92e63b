"""Graders by name: labkit's own, those that code registers, and those of installed packages.

A package offers graders by entry points of the group `labkit.graders`: the name is the grader's,
the object its builder. They are looked for when a name is asked for, and loaded one by one.
"""

import re
from collections.abc import Mapping
from functools import partial

from labkit.errors import InputError, LabkitError, did_you_mean, refuse
from labkit.fields import Fields
from labkit.graders import compose
from labkit.graders.execution import shell_exit_zero
from labkit.graders.files import file_equals
from labkit.graders.harbor import harbor_tests
from labkit.graders.installed import Installed
from labkit.graders.interface import Grader
from labkit.graders.predicate import predicate
from labkit.graders.pytests import pytest_passes
from labkit.graders.rubric import rubric
from labkit.graders.text import contains_all, exact, regex_match
from labkit.graders.tools import Builder, Tools
from labkit.graders.values import raised
from labkit.nodes import plain_node

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_OWN: Mapping[str, Builder] = {
    "exact": exact,
    "contains_all": contains_all,
    "regex_match": regex_match,
    "file_equals": file_equals,
    "shell_exit_zero": shell_exit_zero,
    "pytest_passes": pytest_passes,
    "harbor_tests": harbor_tests,
    "predicate": predicate,
    "rubric": rubric,
}


class Registry:
    """Builders of graders by name. A name is given once, and never taken over."""

    def __init__(self) -> None:
        self._builders = dict(_OWN)
        self._builders["all_of"] = partial(compose.all_of, self.built)
        self._builders["any_of"] = partial(compose.any_of, self.built)
        self._installed = Installed()

    def register(self, name: str, builder: Builder) -> None:
        """Add a grader; raises InputError when the name is taken, or is no plain word."""
        if not _NAME.fullmatch(name):
            raise InputError(
                f"a grader cannot be called {name[:80]!r}",
                hint="use lower-case letters, digits and underscores: json_equals",
            )
        if name in self.names():
            raise InputError(f"there is already a grader called {name}", hint="choose another name")
        self._builders[name] = builder

    def names(self) -> tuple[str, ...]:
        """Return the names of all graders, sorted; nothing is loaded."""
        return tuple(sorted({*self._builders, *self._installed.names()}))

    def find(self, name: str) -> Builder:
        """Return the builder of a name.

        Raises InputError that lists the names when there is none, and when several packages, or a
        package and labkit, offer the same one; ToolError when a package's cannot be loaded.
        """
        self._installed.refuse_taken(name, taken=name in self._builders)
        if name in self._builders:
            return self._builders[name]
        names = self.names()
        if name not in names:
            raise InputError(
                f"there is no grader called {name[:80]!r}{did_you_mean(name, names)}",
                hint=f"the graders are {', '.join(names)}",
            )
        return self._installed.load(name)

    def build(self, spec: Mapping[str, object], *, tools: Tools, place: str = "grader") -> Grader:
        """Make a grader of a plain mapping, such as `{"name": "contains_all", "words": ["yes"]}`.

        Raises one InputError that tells every problem of the mapping; `place` says where it stands.
        """
        problems: list[str] = []
        made = self.built(Fields(plain_node(spec, place, problems), place, problems), tools)
        refuse(problems)
        return made

    def built(self, fields: Fields, tools: Tools) -> Grader:
        """Make a grader of a mapping inside a file; its problems are noted there."""
        name = fields.word("name", self.names(), instead="")
        if not name:
            return compose.never
        try:
            builder = self.find(name)
        except LabkitError as error:
            fields.problem("name", f"{error.message} ({error.hint})")
            return compose.never
        try:
            made = builder(fields, tools)
        except Exception as error:  # noqa: BLE001 - a builder that somebody else wrote
            fields.problem("name", f"the grader {name} could not be built: {raised(error)}")
            return compose.never
        fields.done()
        return made


GRADERS = Registry()
"""The graders that labkit uses."""
