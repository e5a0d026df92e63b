"""Secrets in what a person brings to a run by hand: the login's own, and what looks like one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from labkit.configurations import SUBSCRIPTION, Configuration
from labkit.errors import LabkitError
from labkit.fields import counted
from labkit_runner.logins import read_login
from labkit_runner.manual import Told
from labkit_runner.masking import Masker

_SHAPES: Mapping[str, re.Pattern[bytes]] = {
    "claude-code": re.compile(rb"sk-ant-[a-z]{2,10}[0-9]{2}-[A-Za-z0-9_-]{20,}")
}
"""Tokens and keys as agents' vendors write them: on another machine there is another login."""
_ANY_TIME = datetime.fromtimestamp(0, UTC)
"""A login that is over by now is masked like any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Veil:
    """What is known of the secrets that may stand in what a person brings."""

    secrets: tuple[str, ...] = field(default=(), repr=False)
    shape: re.Pattern[bytes] | None = None
    remarks: tuple[str, ...] = ()
    """What people should know of it."""

    def over(self, pieces: Iterable[bytes], known: Iterable[bytes] = ()) -> Masker:
        """Return what masks all secrets of some pieces; what only looks like one may be `known`."""
        if self.shape is None:
            return Masker(self.secrets)
        found = {token for piece in pieces for token in self.shape.findall(piece)}
        if found:
            found -= {token for piece in known for token in self.shape.findall(piece)}
        return Masker([*self.secrets, *sorted(found)])

    def told(self, told: Told) -> Told:
        """Return what a person told, without secrets, and with a remark where there were some."""
        texts = (*told.interventions, told.notes)
        masker = self.over([*told.transcripts.values(), *map(str.encode, texts)])
        masked = {name: masker.mask(data) for name, data in told.transcripts.items()}
        hits = sum(count for _, count in masked.values())
        said = f"the transcript held {counted(hits, 'secret')} of a login, masked now: revoke it"
        return replace(
            told,
            transcripts={name: data for name, (data, _) in masked.items()},
            interventions=tuple(_masked(line, masker) for line in told.interventions),
            notes=_masked(told.notes, masker),
            remarks=(*told.remarks, *self.remarks, *([said] if hits else [])),
        )


def _masked(text: str, masker: Masker) -> str:
    return masker.mask(text.encode())[0].decode()


def veil_of(configuration: Configuration, home: Path) -> Veil:
    """Return what is known of the secrets of a configuration's runs; `home` is the person's."""
    secrets, remarks = tuple[str, ...](), tuple[str, ...]()
    if configuration.login == SUBSCRIPTION:
        try:
            login = read_login(configuration.agent, home=home, now=_ANY_TIME)
            secrets = login.secrets
        except LabkitError:
            remarks = (
                "the login could not be read when the run was finished: only what looks like a "
                "token of its vendor was masked",
            )
    return Veil(secrets=secrets, shape=_SHAPES.get(configuration.agent), remarks=remarks)
