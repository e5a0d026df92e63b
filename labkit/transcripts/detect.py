"""Which reader a transcript belongs to."""

from labkit.transcripts.model import Reader, Transcript
from labkit.transcripts.plain import Plain
from labkit.transcripts.scripted import Scripted

_FIRST_BYTES = 64 * 1024
READERS: tuple[Reader, ...] = (Scripted(), Scripted("callable"))


def read_transcript(data: bytes, *, agent: str | None = None) -> Transcript:
    """Read a transcript with the reader that claims it; whatever the bytes are, it never raises.

    `agent` is the agent that is known to have run. Then only that agent's reader is asked: any
    program can print lines in the format of another, and so look completely understood.
    """
    first_lines = data[:_FIRST_BYTES]
    for reader in READERS:
        if agent in (None, reader.name) and reader.claims(first_lines):
            return reader.read(data)
    return Plain().read(data)
