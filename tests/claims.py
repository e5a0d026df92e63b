"""Studies that labelled sentences speak of, and how a check does on the sentences."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from studies import A, B, results, study, tasks

from labkit.model import Category
from labkit.overclaim import Facts, check, facts_of
from labkit.report import to_json
from labkit.stats import Interval, wilson_interval
from labkit.study import RunResult, Study
from labkit.summary import summarise

SENTENCES = Path(__file__).parent / "labkit" / "overclaim"
HONEST = "honest"
_MINUTES = {A: 4.0, B: 6.0}
_COST = {A: 0.30, B: 0.20}


def measured(*parts: Iterable[RunResult]) -> Study:
    """Make a study in which A (swift) takes 4 minutes and $0.30 a run, and B (oak) 6 and $0.20."""
    known = (
        replace(
            each,
            minutes=_MINUTES[each.run.configuration],
            cost=_COST[each.run.configuration],
            scores={"clarity": 3.0},
        )
        for part in parts
        for each in part
    )
    return study(known, configurations={A: "scripted 1 swift", B: "scripted 1 oak"})


STUDIES: Mapping[str, Study] = {
    # A 6.5 of 9, B 5.5 of 9: no detectable difference.
    "tie": measured(
        results({"half": "+- ++"}, category=Category.REFACTOR),
        results(tasks(3, "++ ++", "both"), category=Category.BUGFIX),
        results(tasks(3, "++ +-", "a"), category=Category.FEATURE),
        results(tasks(2, "-- --", "no"), category=Category.TRAP),
    ),
    # A 3 of 9, B 9 of 9: B is detectably ahead.
    "win": measured(results(tasks(6, "-- ++")), results(tasks(3, "++ ++", "same"))),
    # B is detectably ahead on 7 tasks; two more of its tasks are missing, and could turn it.
    "gap": measured(
        results(tasks(5, "-- ++")),
        results(tasks(2, "++ ++", "same")),
        results(tasks(2, "++ ??", "lost")),
    ),
}
FACTS: Mapping[str, Facts] = {
    name: facts_of(to_json(summarise(made))) for name, made in STUDIES.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A sentence about a study: honest, or with the rule that it breaks."""

    study: str
    label: str
    text: str

    @property
    def found(self) -> tuple[str, ...]:
        """The rules that the check says it breaks."""
        return tuple(str(each.rule) for each in check(self.text, FACTS[self.study]))


def labelled(name: str) -> tuple[Labelled, ...]:
    """Read a file of labelled sentences."""
    with (SENTENCES / name).open(encoding="utf-8", newline="") as file:
        return tuple(
            Labelled(study=row["study"], label=row["label"], text=row["sentence"])
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How a check did on labelled sentences."""

    flagged: int
    rightly: int
    overclaims: int
    by_its_rule: int
    """Overclaims that were flagged by the very rule of their label."""

    @property
    def precision(self) -> Interval:
        """Of what was flagged, how much is no honest sentence."""
        return wilson_interval(self.rightly / self.flagged, self.flagged)

    @property
    def recall(self) -> Interval:
        """Of what should be flagged, how much was."""
        return wilson_interval(self.rightly / self.overclaims, self.overclaims)

    def __str__(self) -> str:
        precision, recall = self.precision, self.recall
        return (
            f"precision {self.rightly} of {self.flagged} "
            f"({precision.low:.0%} to {precision.high:.0%}), recall {self.rightly} of "
            f"{self.overclaims} ({recall.low:.0%} to {recall.high:.0%}), "
            f"{self.by_its_rule} of them by the rule of the label"
        )


def score(sentences: Iterable[Labelled]) -> Score:
    """Check labelled sentences."""
    known = [(each.label, each.found) for each in sentences]
    return Score(
        flagged=sum(bool(found) for _, found in known),
        rightly=sum(bool(found) and label != HONEST for label, found in known),
        overclaims=sum(label != HONEST for label, _ in known),
        by_its_rule=sum(label in found for label, found in known),
    )
