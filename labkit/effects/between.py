"""Two configurations side by side: whether what was declared is seen, and nothing else."""

from collections.abc import Callable, Iterator

from labkit.effects.arms import Arms
from labkit.effects.beside import beside
from labkit.effects.finding import Finding, Kind, Weight
from labkit.effects.pairs import DATED, Pair, name_of, of_pairs, values_of
from labkit.records import RunRecord


def between(arms: Arms) -> Iterator[Finding]:
    """Yield what two configurations differ in beside what was declared, and what is not known."""
    if not arms.field:
        return  # `the_difference` refuses that before the first run
    yield from _unknown(arms)
    yield from _days(arms)
    yield from _missed(arms)
    yield from _more(arms)
    yield from _along(arms)
    yield from beside(arms)


def _unknown(arms: Arms) -> Iterator[Finding]:
    unseen = [pair for pair in arms.pairs if not pair.known]
    if unseen:
        records = [record for pair in unseen for record in (pair.one, pair.other)]
        why = "; ".join(sorted({_blind(record) for record in records if not record.fingerprint}))
        yield arms.finding(
            Kind.UNKNOWN,
            Weight.UNKNOWN,
            f"What the model was asked is unknown {of_pairs(len(unseen), len(arms.pairs))} of "
            f"{arms.names} ({why}): whether they differ there in {arms.field}, and in nothing "
            "else, nobody can say.",
        )


def _blind(record: RunRecord) -> str:
    if record.login == "subscription":
        return "a subscription's requests cannot be read"
    if record.manual:
        return "runs by hand outside the sandbox are not seen"
    return f"no request of the {record.agent} agent was seen"


def _usable(arms: Arms, part: str) -> tuple[Pair, ...]:
    """Return the pairs that tell of a part: the date alone may change some, from day to day."""
    if part not in DATED:
        return arms.known
    return tuple(pair for pair in arms.known if pair.same_day or part not in pair.differing())


def _clouded(arms: Arms) -> tuple[Pair, ...]:
    free = {part for part in DATED if arms.expected.may.fullmatch(part)}
    return tuple(
        pair for pair in arms.known if not pair.same_day and pair.differing() & (DATED - free)
    )


def _days(arms: Arms) -> Iterator[Finding]:
    clouded = _clouded(arms)
    if clouded:
        rest = len(clouded) < len(arms.known)
        yield arms.finding(
            Kind.DAYS,
            Weight.CAUTION if rest else Weight.UNKNOWN,
            f"The runs of {arms.names} are of different days "
            f"{of_pairs(len(clouded), len(arms.pairs))}, and their system prompts or first "
            "messages differ: that may be the date alone, or more.",
        )


def _missed(arms: Arms) -> Iterator[Finding]:
    """Yield that what was declared to differ did not, or not always."""
    if arms.field == "agent_version":
        yield from _same_version(arms)
    expected = arms.expected
    pairs = [pair for pair in arms.known if pair not in _clouded(arms)]
    if expected.missed:
        without = [
            pair for pair in pairs if not any(map(expected.must.fullmatch, pair.differing()))
        ]
        if without:
            yield arms.finding(
                Kind.NO_EFFECT,
                Weight.BREAKS if len(without) == len(pairs) else Weight.CAUTION,
                f"{arms.declared}: declared of {arms.names}, and "
                f"{_not_seen(len(without), len(pairs))}: {expected.missed}.",
            )
    elif expected.shows and pairs and not any(pair.differing() for pair in pairs):
        yield arms.finding(
            Kind.NO_EFFECT,
            Weight.CAUTION,
            f"{arms.declared}: declared of {arms.names}, and nothing of the first request "
            f"differs {of_pairs(len(pairs), len(pairs))}: what effect it has, if any, cannot be "
            "seen there.",
        )


def _not_seen(count: int, of: int) -> str:
    if count < of:
        return f"not seen {of_pairs(count, of)}"
    return "not seen in the one pair of runs" if of == 1 else f"seen in none of {of} pairs of runs"


def _same_version(arms: Arms) -> Iterator[Finding]:
    same = [
        pair for pair in arms.pairs
        if pair.one.agent_version and pair.one.agent_version == pair.other.agent_version
    ]  # fmt: skip
    if same:
        yield arms.finding(
            Kind.NO_EFFECT,
            Weight.BREAKS,
            f"{arms.declared}: declared of {arms.names}, and both ran as "
            f"{same[0].one.agent_version} {of_pairs(len(same), len(arms.pairs))}.",
        )


def _parts(arms: Arms, wanted: Callable[[str], object]) -> Iterator[tuple[str, list[Pair], int]]:
    """Yield parts that differ somewhere, with the pairs where they do, of how many."""
    for part in sorted({part for pair in arms.known for part in pair.differing()}):
        usable = _usable(arms, part)
        found = [pair for pair in usable if part in pair.differing()]
        if found and wanted(part):
            yield part, found, len(usable)


def _more(arms: Arms) -> Iterator[Finding]:
    expected = arms.expected
    allowed = (expected.must, expected.may, expected.along)

    def unforeseen(part: str) -> bool:
        return not any(pattern.fullmatch(part) for pattern in allowed)

    for part, found, of in _parts(arms, unforeseen):
        name = name_of(part)
        verb = "differ" if part in ("tools", "messages") else "differs"
        yield arms.finding(
            Kind.MORE,
            Weight.BREAKS,
            f"{name[0].upper()}{name[1:]} {verb}{values_of(part, found)} "
            f"{of_pairs(len(found), of)} of {arms.names}, and only {arms.field} was declared to "
            "differ.",
            subject=part,
        )


def _along(arms: Arms) -> Iterator[Finding]:
    """Yield what a difference brings along: that agents tell a model its name is no news."""
    usual = DATED if arms.field == "model" else frozenset[str]()
    found = list(_parts(arms, arms.expected.along.fullmatch))
    noted = [name_of(part) for part, *_ in found if part in usual]
    more = [f"{name_of(part)}{values_of(part, p)}" for part, p, _ in found if part not in usual]
    if more:
        yield arms.finding(
            Kind.FOLLOWS,
            Weight.CAUTION,
            f"With {arms.field}, more differs between {arms.names}: {', '.join(more)}. If the "
            f"agent makes it so, the comparison is of {arms.field} with all of that.",
            subject=", ".join(part for part, *_ in found if part not in usual),
        )
    if noted:
        verb = "differs" if noted == [name_of("system")] else "differ"
        text = f"{' and '.join(reversed(noted))} {verb} too between {arms.names}"
        yield arms.finding(
            Kind.FOLLOWS,
            Weight.NOTE,
            f"{text[0].upper()}{text[1:]}: agents tell a model its own name there, and some fit "
            f"their words to it. Nothing to do; labkit config diff {arms.one.id} {arms.other.id} "
            "shows the lines.",
            subject=", ".join(noted),
        )
