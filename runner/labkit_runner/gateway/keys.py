"""The keys of models: read where they are used, and nowhere else."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from labkit.errors import InputError
from labkit.privatefile import read_private
from labkit.providers import Provider

_FILE = "_FILE"
_KEY = re.compile(r"[!-~]+")


def key_of(provider: Provider, environ: Mapping[str, str] = os.environ) -> str:
    """Return a provider's key, from its variable or from the file that the variable's twin names.

    Empty where the provider needs none. Raises InputError when it is not set, or is no key.
    """
    name = provider.key
    if not name:
        return ""
    place = environ.get(name + _FILE, "")
    key = environ.get(name, "").strip()
    if key and place:
        raise InputError(f"both {name} and {name}{_FILE} are set", hint="unset one of them")
    if place:
        key = read_private(Path(place).expanduser()).decode(errors="replace").strip()
    where = f"the file {place}" if place else f"the variable {name}"
    if not key:
        what = f"{where} is empty" if place else f"{where} is not set"
        raise InputError(
            f"{what}: the key of the provider {provider.name} is needed",
            hint=f"export {name}=..., or write the key to a file that only you can read "
            f"(chmod 600) and export {name}{_FILE}=FILE",
        )
    if not _KEY.fullmatch(key):
        raise InputError(
            f"{where} holds no key: there are spaces or odd characters in it",
            hint="copy the key again, without anything around it",
        )
    return key
