"""What a person declares of a run that they did by hand, and their signature of it.

A scripted run's isolation is labkit's own doing. A run by hand rests on somebody's word, so the
word is written down, and signed together with what it is about: the run, its tree, its evidence.
"""

from collections.abc import Mapping
from dataclasses import replace

from labkit.fields import canonical_json
from labkit.records import RunRecord
from labkit.signing import SigningKey, verify

_DOMAIN = b"labkit/by-hand/v1\0"
_SIGNATURE = "signature"


def signed(record: RunRecord, key: SigningKey) -> RunRecord:
    """Return the record of a run by hand with its runner's signature."""
    return replace(record, manual={**record.manual, _SIGNATURE: key.sign(_what(record))})


def is_signed(record: RunRecord, public: str) -> bool:
    """Whether what is declared of a run is signed by that key, for this very run."""
    return verify(public, _what(record), str(record.manual.get(_SIGNATURE, "")))


def _what(record: RunRecord) -> bytes:
    declared: Mapping[str, object] = {
        name: value for name, value in record.manual.items() if name != _SIGNATURE
    }
    return _DOMAIN + canonical_json(
        {
            "run": str(record.run),
            "runner": record.runner,
            "suite": record.suite_version,
            "base": record.base_tree,
            "result": record.result_tree,
            "seconds": record.seconds,
            "interventions": record.interventions,
            "digests": dict(record.digests),
            "declared": declared,
        }
    )
