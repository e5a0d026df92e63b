"""One configuration by itself: whether it is what was declared, and the same in every run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from labkit.configurations import Configuration
from labkit.effects.finding import Finding, Kind, Weight
from labkit.effects.pairs import DATED, day_of, name_of, parts_of, sandbox_of, short
from labkit.fields import counted, first_words
from labkit.records import RunRecord

_SHOWN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A configuration and its runs, in the order in which they were begun."""

    configuration: Configuration
    records: tuple[RunRecord, ...]

    def finding(
        self, kind: Kind, text: str, weight: Weight = Weight.CAUTION, *, subject: str = ""
    ) -> Finding:
        """Return a finding about it."""
        about = (self.configuration.id,)
        return Finding(kind=kind, weight=weight, about=about, text=text, subject=subject)


def within(arm: Arm) -> Iterator[Finding]:
    """Yield where a configuration was not what was declared, or not the same all along."""
    yield from _other_model(arm)
    yield from _other_version(arm)
    yield from _changed(arm)
    yield from _inconstant(arm)
    yield from _by_hand(arm)


def _runs(records: Sequence[RunRecord]) -> str:
    names = first_words([str(record.run) for record in records], _SHOWN)
    return f"{counted(len(records), 'run')} ({names})"


def _other_model(arm: Arm) -> Iterator[Finding]:
    wanted, name = arm.configuration.model, arm.configuration.id
    asked = [record for record in arm.records if record.fingerprint.get("model")]
    other = [r for r in asked if not _is_called(str(r.fingerprint["model"]), wanted)]
    if other:
        yield arm.finding(
            Kind.OTHER_MODEL,
            f"{name} is declared to ask {wanted}, and {_runs(other)} asked "
            f"{other[0].fingerprint['model']}.",
            Weight.BREAKS,
        )
    yield from _asked_beside(arm)
    renamed = [
        record for record in arm.records
        if any(not each.startswith(str(record.fingerprint.get("model", each)))
               for each in record.answered_by)
    ]  # fmt: skip
    if renamed:
        names = first_words(sorted({each for record in renamed for each in record.answered_by}))
        yield arm.finding(
            Kind.OTHER_MODEL,
            f"{name} asked {renamed[0].fingerprint['model']}, and in {_runs(renamed)} {names} "
            "answered.",
        )


def _asked_beside(arm: Arm) -> Iterator[Finding]:
    """Yield that requests beside the first main one asked another model, or all did."""
    wanted, name = arm.configuration.model, arm.configuration.id
    by_weight: dict[Weight, dict[str, list[RunRecord]]] = {}
    for record in arm.records:
        known = str(record.fingerprint.get("model", ""))
        weight = Weight.CAUTION if known else Weight.BREAKS
        for model in record.asked:
            if model != known and not _is_called(model, wanted):
                by_weight.setdefault(weight, {}).setdefault(model, []).append(record)
    for weight, models in by_weight.items():
        for model, records in sorted(models.items()):
            count = counted(sum(record.asked[model] for record in records), "request")
            yield arm.finding(
                Kind.OTHER_MODEL,
                f"{name} is declared to ask {wanted}, and in {_runs(records)} {count} "
                f"{'asked' if weight is Weight.BREAKS else 'beside it asked'} {model}.",
                weight,
                subject=model,
            )


def _is_called(asked: str, declared: str) -> bool:
    """Return whether a name on the wire is a declared one, which may name a provider first."""
    return declared in ("", asked) or declared.endswith(f"/{asked}")


def _other_version(arm: Arm) -> Iterator[Finding]:
    declared = arm.configuration.agent_version
    other = [r for r in arm.records if not _holds(r.agent_version, declared)]
    if declared and other:
        yield arm.finding(
            Kind.OTHER_VERSION,
            f"{arm.configuration.id} is declared to be {arm.configuration.agent} {declared}, and "
            f"{_runs(other)} had {other[0].agent_version}.",
        )


def _holds(found: str, declared: str) -> bool:
    """Return whether what a program said of its version holds the declared one as a word."""
    return not found or declared in (found, *found.replace("(", " ").replace(")", " ").split())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steady:
    """Something that should stay in all runs of a group."""

    name: str
    value: Callable[[RunRecord], str]
    group: Callable[[RunRecord], str] = lambda _: ""


_STEADY = (
    _Steady(name="version", value=lambda r: r.agent_version),
    _Steady(name="program", value=lambda r: r.binary_digest),
    _Steady(name="kind of sandbox", value=sandbox_of),
    _Steady(
        name="image",
        value=lambda r: r.image_digest,
        group=lambda r: f"{r.sandbox} {r.environment}",
    ),
    _Steady(
        name="environment",
        value=lambda r: r.environment,
        group=lambda r: f"{r.sandbox} {r.run.task}",
    ),
    _Steady(name="login", value=lambda r: r.login),
    _Steady(name="answering model", value=lambda r: " and ".join(r.answered_by)),
)


def _changed(arm: Arm) -> Iterator[Finding]:
    for steady in _STEADY:
        groups: dict[str, list[RunRecord]] = {}
        for record in arm.records:
            if steady.value(record):
                groups.setdefault(steady.group(record), []).append(record)
        for records in groups.values():
            if len({steady.value(record) for record in records}) > 1:
                yield arm.finding(
                    Kind.CHANGED,
                    f"The {steady.name} of {arm.configuration.id} changed in mid-study: "
                    f"{_stretches(records, steady.value)}.",
                    subject=steady.name,
                )


def _stretches(records: Sequence[RunRecord], value: Callable[[RunRecord], str]) -> str:
    """Return what it was from which run to which: the runs before and after each change."""
    told: list[tuple[str, list[RunRecord]]] = []
    for record in records:
        if told and told[-1][0] == value(record):
            told[-1][1].append(record)
        else:
            told.append((value(record), [record]))
    return ", then ".join(
        f"{short(what)} in {_from_to(found)}" for what, found in told[: _SHOWN + 1]
    ) + (f", and so on ({len(told) - 1} changes)" if len(told) > _SHOWN + 1 else "")


def _from_to(records: Sequence[RunRecord]) -> str:
    first, last = records[0].run, records[-1].run
    return str(first) if first == last else f"{first} to {last}"


def _inconstant(arm: Arm) -> Iterator[Finding]:
    known = [record for record in arm.records if record.fingerprint]
    parts = sorted({part for record in known for part in parts_of(record.fingerprint)})
    for part in parts:
        if part in DATED:
            yield from _by_task(arm, part, known)
        elif part != "model":
            forms = {parts_of(record.fingerprint).get(part, "") for record in known}
            if len(forms) > 1:
                yield arm.finding(
                    Kind.INCONSTANT,
                    f"Within {arm.configuration.id}, {name_of(part)} had {len(forms)} forms in "
                    f"{counted(len(known), 'run')}.",
                    subject=part,
                )


def _by_task(arm: Arm, part: str, known: Sequence[RunRecord]) -> Iterator[Finding]:
    """Yield that attempts at one task, on one day, were not asked alike."""
    forms: dict[tuple[str, date], set[str]] = {}
    for record in known:
        place = (str(record.run.task), day_of(record))
        forms.setdefault(place, set()).add(parts_of(record.fingerprint).get(part, ""))
    tasks = sorted({task for (task, _), found in forms.items() if len(found) > 1})
    if tasks:
        yield arm.finding(
            Kind.INCONSTANT,
            f"Within {arm.configuration.id}, {name_of(part)} differed between attempts at "
            f"{first_words(tasks, _SHOWN)}.",
            subject=part,
        )


def _by_hand(arm: Arm) -> Iterator[Finding]:
    found = [record for record in arm.records if record.manual]
    if found:
        verb = "was" if len(found) == 1 else "were"
        yield arm.finding(
            Kind.BY_HAND,
            f"{_runs(found)} of {arm.configuration.id} {verb} made by hand.",
        )
