"""Two configurations that are held against each other, with what they were declared to be."""

from dataclasses import dataclass

from labkit.configurations import Configuration, differences, differing
from labkit.effects.expected import Expected, expected_of
from labkit.effects.finding import Finding, Kind, Weight
from labkit.effects.pairs import Pair


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

    def finding(self, kind: Kind, weight: Weight, text: str, *, subject: str = "") -> Finding:
        """Return a finding about both."""
        about = (self.one.id, self.other.id)
        return Finding(kind=kind, weight=weight, about=about, text=text, subject=subject)
