"""What `labkit suite check` looks at: every case, every grader, the sealed test split."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from labkit.errors import LabkitError
from labkit.evals.case import EvalCase, Split
from labkit.evals.one import as_graded
from labkit.evals.sealedsplit import SealedSplit, sealed_split
from labkit.evals.suitefile import SuiteFile
from labkit.graders import GRADERS, Registry, Tools, lacking


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCheck:
    """What a suite is, and what is wrong with it."""

    found: SuiteFile
    problems: tuple[str, ...]
    sealed: SealedSplit | None

    def versions(self) -> Mapping[Split, str]:
        """Return the version of each split that has cases."""
        suite = self.found.suite
        return {split: suite.only(split).version for split in Split if suite.only(split).cases}

    def slices(self) -> Mapping[str, Mapping[Split, int]]:
        """Return how many cases of each split are in each slice; `""` are those in none."""
        counts: dict[str, Counter[Split]] = {}
        for case in self.found.suite.cases:
            for name in case.slices or ("",):
                counts.setdefault(name, Counter())[case.split] += 1
        return dict(sorted(counts.items()))


def check_suite(found: SuiteFile, tools: Tools, *, graders: Registry = GRADERS) -> SuiteCheck:
    """Look at a suite; raises IntegrityError for a broken seal."""
    problems = [*found.problems, *_grader_problems(found.suite.cases, tools, graders)]
    return SuiteCheck(found=found, problems=tuple(problems), sealed=sealed_split(found.path))


def _grader_problems(cases: tuple[EvalCase, ...], tools: Tools, graders: Registry) -> Iterator[str]:
    for case in cases:
        if not case.problem:
            try:
                made = graders.build(case.grader_spec, tools=tools, place=f"{case.id}: grader")
                if why := lacking(made, as_graded(case)):
                    yield f"{case.id}: grader: {why}"
            except LabkitError as error:
                yield from error.problems
