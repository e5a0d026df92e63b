"""Everything that the runs of a study say about what was declared to differ."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from labkit.configurations import Configuration
from labkit.effects.arms import Arms
from labkit.effects.between import between
from labkit.effects.finding import Finding, Weight
from labkit.effects.pairs import begun, one_line, pairs_of
from labkit.effects.within import Arm, within
from labkit.records import RunRecord

_ORDER = tuple(Weight)


def effects(
    configurations: Sequence[Configuration], records: Iterable[RunRecord]
) -> tuple[Finding, ...]:
    """Return what people should know before they say that the declared difference did something.

    Only runs of the same task and attempt are held against each other. What weighs most
    comes first.
    """
    in_order = sorted(records, key=lambda record: (begun(record), record.run))
    found = [
        finding
        for one, other in combinations(configurations, 2)
        for finding in between(
            Arms(one=one, other=other, pairs=pairs_of(in_order, one.id, other.id))
        )
    ]
    for configuration in configurations:
        mine = tuple(record for record in in_order if record.run.configuration == configuration.id)
        found += within(Arm(configuration=configuration, records=mine))
    plain = [replace(finding, text=one_line(finding.text)) for finding in found]
    return tuple(sorted(plain, key=lambda finding: _ORDER.index(finding.weight)))
