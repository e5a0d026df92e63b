"""The bench of one task: its own environment, variables and build commands."""

from dataclasses import replace

from labkit.building import Surroundings, Workbench
from labkit.patch.place import base_tree
from labkit_grader.builder import Builder
from labkit_grader.execute import Bench
from labkit_grader.oracles.interface import Case
from labkit_grader.protected import own_runner


def bench_of_task(bench: Bench, case: Case, place: Surroundings) -> Bench:
    """Return the bench that the trees of one task are graded on."""
    own = replace(bench, image=place.image, environment=place.key, variables=place.variables)
    if not place.build:
        return own
    workbench = Workbench(
        sandbox=bench.sandbox, surroundings=place, limits=bench.limits, labels=bench.labels
    )
    hidden = frozenset(entry.path for entry in case.material.hidden_entries)
    base = base_tree(case.base)
    builder = Builder(
        workbench, base=base, hidden=hidden, solved=_solved(case), own=own_runner(case.task, base)
    )
    return replace(own, builder=builder)


def _solved(case: Case) -> frozenset[bytes]:
    """Return the paths that the solution changes."""
    if not case.task.solution:
        return frozenset()
    solution = case.repository.commit(case.task.solution).tree
    return frozenset(case.repository.changed_paths(case.base.tree, solution))
