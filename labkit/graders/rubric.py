"""`rubric`: a judge scores an output by weighted criteria, and a threshold decides."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from labkit.errors import InputError, LabkitError
from labkit.fields import Fields
from labkit.graders.interface import Case, Output, Verdict, total
from labkit.graders.tools import Criterion, Judge, Tools
from labkit.graders.values import raised, shown, shown_type

_THRESHOLD = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricGrader:
    """`rubric`: the score is the weighted mean of a judge's scores; passes from `threshold` on.

    The judge is asked once for each criterion, in their order. When it raises, or answers anything
    but a number from 0 to 1 (or True or False), the output is not graded: an outage of the judge is
    no worse candidate. Sums and the threshold are compared exactly, as decimal numbers, so 0.7
    reaches 0.7 whatever the weights. Raises InputError for weights or a threshold that make no
    sense, and for criteria of one name.

    A judge that is a model can be talked to by the output. It is the weakest rung but one.
    """

    criteria: tuple[Criterion, ...]
    judge: Judge
    threshold: float = _THRESHOLD
    """More than 0, at most 1."""

    def __post_init__(self) -> None:
        problems = [what for _, what in _problems(self.criteria, self.threshold)]
        if problems:
            raise InputError(problems[0], more=problems[1:])

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        scores: list[Fraction] = []
        for criterion in self.criteria:
            score = self._asked(criterion, output, case)
            if isinstance(score, str):
                return Verdict.ungraded(f"the judge {score} for {criterion.name}")
            scores.append(score)
        weights = [_exact(criterion.weight) for criterion in self.criteria]
        mean = sum(map(Fraction.__mul__, weights, scores)) / sum(weights)
        detail = ", ".join(
            f"{criterion.name} {float(score):g}"
            for criterion, score in zip(self.criteria, scores, strict=True)
        )
        passed = mean >= _exact(self.threshold)
        return Verdict(passed=passed, score=float(mean), detail=detail)

    def _asked(self, criterion: Criterion, output: Output, case: Case) -> Fraction | str:
        """Return the judge's score, or what it did instead."""
        try:
            answer = self.judge(criterion, output, case)
        except KeyboardInterrupt:
            raise
        except LabkitError as error:
            return f"failed ({error.message})"
        except BaseException as error:  # noqa: BLE001 - a judge that fails is a missing measurement
            return f"raised {raised(error)}"
        if type(answer) not in (bool, int, float):
            return f"answered {shown_type(answer)}"
        if not 0 <= answer <= 1:  # type: ignore[operator] # a number, NaN among them
            return f"answered {shown(answer)}"
        return _exact(answer)  # type: ignore[arg-type]


def _exact(number: float) -> Fraction:
    """Return a number as it is written, 0.1 as one tenth."""
    return Fraction(repr(float(number)))


def _problems(criteria: tuple[Criterion, ...], threshold: float) -> Iterator[tuple[str, str]]:
    """Yield what makes no sense: the field, and a sentence."""
    if not criteria:
        yield "criteria", 'there are no "criteria"'
    names = [criterion.name for criterion in criteria]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "criteria", f'there are several "criteria" called {name}'
    for criterion in criteria:
        if not 0 < criterion.weight < math.inf:
            yield "criteria", f'the "weight" of {criterion.name} must be more than 0'
    if not 0 < threshold <= 1:
        yield "threshold", '"threshold" must be more than 0 and at most 1'


def rubric(fields: Fields, tools: Tools) -> RubricGrader:
    """Build `rubric` from its mapping: criteria with `name`, `question` and `weight`."""
    criteria = tuple(_criterion(each) for each in fields.mappings("criteria"))
    threshold = fields.number("threshold", default=_THRESHOLD)
    sound = True
    for name, what in _problems(criteria, threshold):
        fields.problem(name, what)
        sound = False
    if tools.judge is None:
        fields.problem("name", "rubric needs a judge, and none is given")
    return RubricGrader(
        criteria=criteria if sound else (Criterion(name="unknown", question=""),),
        judge=tools.judge or _nobody,
        threshold=threshold if sound else _THRESHOLD,
    )


def _criterion(fields: Fields) -> Criterion:
    made = Criterion(
        name=fields.filled("name"),
        question=fields.filled("question"),
        weight=fields.number("weight", default=1.0),
    )
    fields.done()
    return made


def _nobody(criterion: Criterion, output: Output, case: Case) -> object:
    """Stand in for a judge that is not there."""
    del criterion, output, case
    return None
