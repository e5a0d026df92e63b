"""What two configurations must not differ in outside of the wire: versions, images, logins."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from labkit.effects.arms import Arms
from labkit.effects.finding import Finding, Kind, Weight
from labkit.effects.pairs import Pair, of_pairs, sandbox_of
from labkit.records import RunRecord

_WORKSPACE = "/workspace/"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """Something of the records that must not differ unless it was declared."""

    name: str
    words: str
    value: Callable[[RunRecord], object]
    """None or empty text: it is not known of that run."""
    short: bool = False
    """Whether the values can be shown."""

    def verb(self, one: str, many: str) -> str:
        """Return the verb that fits its words."""
        return many if self.words.startswith("the files") else one


def _workspace_memory(record: RunRecord) -> object:
    if not sandbox_of(record):
        return None
    return {path: digest for path, digest in record.memory.items() if path.startswith(_WORKSPACE)}


_BESIDES = (
    _Beside(
        name="agent_version",
        words="the agent's version",
        value=lambda r: r.agent_version,
        short=True,
    ),
    _Beside(name="binary_digest", words="the agent's program", value=lambda r: r.binary_digest),
    _Beside(
        name="sandbox",
        words="the kind of sandbox",
        value=sandbox_of,
        short=True,
    ),
    _Beside(name="image_digest", words="the image", value=lambda r: r.image_digest),
    _Beside(name="memory", words="the files that instruct the agent", value=_workspace_memory),
    _Beside(name="login", words="the login", value=lambda r: r.login, short=True),
    _Beside(name="manual", words="whether a person ran it", value=lambda r: bool(r.manual)),
)


def beside(arms: Arms) -> Iterator[Finding]:
    """Yield what differs outside of the wire: versions, images, instruction files, logins."""
    items = [item for item in _BESIDES if item.name not in arms.expected.records]
    for item in items:
        yield from _differing(arms, item)
    yield from _half_known(arms, items)


def _comparable(pair: Pair) -> tuple[_Beside, ...]:
    """Return what can be compared of a pair: images of one kind of sandbox only."""
    same = pair.one.sandbox == pair.other.sandbox
    return tuple(item for item in _BESIDES if same or item.name != "image_digest")


def _values(item: _Beside, pair: Pair) -> tuple[object, object]:
    return item.value(pair.one), item.value(pair.other)


def _is_known(value: object) -> bool:
    return value is not None and value != ""


def _differing(arms: Arms, item: _Beside) -> Iterator[Finding]:
    both = [
        pair for pair in arms.pairs
        if item in _comparable(pair) and all(map(_is_known, _values(item, pair)))
    ]  # fmt: skip
    found = [pair for pair in both if item.value(pair.one) != item.value(pair.other)]
    if not found:
        return
    values = {tuple(map(str, _values(item, pair))) for pair in found}
    told = f" ({' against '.join(values.pop())})" if item.short and len(values) == 1 else ""
    yield arms.finding(
        Kind.MORE,
        Weight.BREAKS,
        f"{item.words[0].upper()}{item.words[1:]} {item.verb('differs', 'differ')}{told} "
        f"{of_pairs(len(found), len(arms.pairs))} of {arms.names}, and only {arms.field} was "
        "declared to differ.",
        subject=item.name,
    )


def _half_known(arms: Arms, items: Sequence[_Beside]) -> Iterator[Finding]:
    """Yield what is known of one side only; what no agent of the kind has is known of neither."""
    together: dict[tuple[int, ...], list[_Beside]] = {}
    for item in items:
        found = [
            place for place, pair in enumerate(arms.pairs)
            if item in _comparable(pair) and len(set(map(_is_known, _values(item, pair)))) > 1
        ]  # fmt: skip
        if found:
            together.setdefault(tuple(found), []).append(item)
    for places, unknown in together.items():
        words = " and ".join(filter(None, (
            ", ".join(item.words for item in unknown[:-1]), unknown[-1].words,
        )))  # fmt: skip
        one = len(unknown) == 1
        yield arms.finding(
            Kind.UNKNOWN,
            Weight.UNKNOWN,
            f"{words[0].upper()}{words[1:]} {unknown[0].verb('is', 'are') if one else 'are'} known "
            f"of one side only {of_pairs(len(places), len(arms.pairs))} of {arms.names}: whether "
            f"{unknown[0].verb('it differs', 'they differ') if one else 'they differ'} there, "
            "nobody can say.",
            subject=words,
        )
