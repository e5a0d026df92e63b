"""Two configurations side by side: whether what was declared is seen, and nothing else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from labkit.configurations import Configuration, differences, differing
from labkit.effects.expected import Expected, expected_of
from labkit.effects.finding import Finding, Kind, Weight
from labkit.effects.pairs import DATED, Pair, name_of, of_pairs, values_of
from labkit.records import RunRecord

_WORKSPACE = "/workspace/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """Two configurations that are declared to differ in one thing, and their pairs of runs."""

    one: Configuration
    other: Configuration
    pairs: tuple[Pair, ...]

    @property
    def names(self) -> str:
        """Return "A and B"."""
        return f"{self.one.id} and {self.other.id}"

    @property
    def declared(self) -> str:
        """Return the declared difference as a sentence without its end."""
        return "; ".join(differences(self.one, self.other))

    @property
    def field(self) -> str:
        """Return the name of the field that differs; where there are several, of no one."""
        names = differing(self.one, self.other)
        return names[0] if len(names) == 1 else ""

    @property
    def expected(self) -> Expected:
        """Return what the declared difference may change."""
        return expected_of(self.field)

    @property
    def known(self) -> tuple[Pair, ...]:
        """Return the pairs of which the first requests are known."""
        return tuple(pair for pair in self.pairs if pair.known)

    def finding(self, kind: Kind, weight: Weight, text: str) -> Finding:
        """Return a finding about both."""
        return Finding(kind=kind, weight=weight, about=(self.one.id, self.other.id), text=text)


def between(arms: Arms) -> Iterator[Finding]:
    """Yield what two configurations differ in beside what was declared, and what is not known."""
    if not arms.field:
        return  # `the_difference` refuses that before the first run
    yield from _unknown(arms)
    yield from _days(arms)
    yield from _missed(arms)
    yield from _more(arms)
    yield from _along(arms)
    yield from _beside(arms)


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
        )


def _along(arms: Arms) -> Iterator[Finding]:
    found = [
        f"{name_of(part)}{values_of(part, pairs)}"
        for part, pairs, _ in _parts(arms, arms.expected.along.fullmatch)
    ]
    if found:
        yield arms.finding(
            Kind.FOLLOWS,
            Weight.CAUTION,
            f"With {arms.field}, more differs between {arms.names}: {', '.join(found)}. If the "
            f"agent makes it so, the comparison is of {arms.field} with all of that.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """Something of the records that must not differ unless it was declared."""

    name: str
    words: str
    value: Callable[[RunRecord], object]
    short: bool = False
    """Whether the values can be shown."""


def _workspace_memory(record: RunRecord) -> object:
    return {path: digest for path, digest in record.memory.items() if path.startswith(_WORKSPACE)}


_BESIDES = (
    _Beside(
        name="agent_version",
        words="the agent's version",
        value=lambda r: r.agent_version,
        short=True,
    ),
    _Beside(name="binary_digest", words="the agent's program", value=lambda r: r.binary_digest),
    _Beside(name="image_digest", words="the image", value=lambda r: r.image_digest),
    _Beside(name="memory", words="the files that instruct the agent", value=_workspace_memory),
    _Beside(name="login", words="the login", value=lambda r: r.login, short=True),
    _Beside(name="manual", words="whether a person ran it", value=lambda r: bool(r.manual)),
)


def _beside(arms: Arms) -> Iterator[Finding]:
    """Yield what differs outside of the wire: versions, images, instruction files, logins."""
    for item in _BESIDES:
        if item.name in arms.expected.records:
            continue
        found = [
            pair for pair in arms.pairs
            if pair.one.sandbox == pair.other.sandbox or item.name != "image_digest"
            if item.value(pair.one) != item.value(pair.other)
        ]  # fmt: skip
        if found:
            values = {(str(item.value(p.one)), str(item.value(p.other))) for p in found}
            told = (
                " against ".join(each or "none" for each in values.pop())
                if item.short and len(values) == 1
                else ""
            )
            verb = "differ" if item.words.startswith("the files") else "differs"
            subject = item.words[0].upper() + item.words[1:]
            yield arms.finding(
                Kind.MORE,
                Weight.BREAKS,
                f"{subject} {verb}{f' ({told})' if told else ''} "
                f"{of_pairs(len(found), len(arms.pairs))} of {arms.names}, and only {arms.field} "
                "was declared to differ.",
            )
