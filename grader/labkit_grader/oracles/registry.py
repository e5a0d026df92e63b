"""Which oracle a category of task has."""

from typing import assert_never

from labkit.model import Category
from labkit_grader.oracles.behaviour import Behaviour
from labkit_grader.oracles.interface import Oracle
from labkit_grader.oracles.mutation import Mutation
from labkit_grader.oracles.refactor import Refactor
from labkit_grader.oracles.trap import Trap


def oracle_for(category: Category) -> Oracle:
    """Return the oracle that proves and grades tasks of a category."""
    match category:
        case Category.BUGFIX | Category.FEATURE | Category.OTHER:
            return Behaviour()
        case Category.REFACTOR:
            return Refactor()
        case Category.TESTS:
            return Mutation()
        case Category.TRAP:
            return Trap()
        case _:
            assert_never(category)
