"""task.toml of a Harbor task: what of it counts here, and what nobody can do here."""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from labkit.errors import InputError
from labkit.fields import first_words, read_bytes

_SIZES = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}


def read_config(path: Path) -> "Config":
    """Read a task.toml; raises InputError when it is missing or not TOML."""
    try:
        return Config(tomllib.loads(read_text(path)))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path.name} is not TOML: {error}") from error


def read_text(path: Path) -> str:
    """Return a file that must say something; raises InputError."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8") from error
    except InputError as error:
        raise InputError(f"it has no {path.name}") from error
    if not text.strip():
        raise InputError(f"{path.name} is empty")
    return text


class Config:
    """task.toml; getters note problems and return a stand-in value."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.problems: list[str] = []

    def section(self, name: str) -> Mapping[str, Any]:
        """Return a section; a missing one is empty."""
        value = self._values.get(name, {})
        if isinstance(value, dict):
            return value
        self.problems.append(f"[{name}] is no section")
        return {}

    def unsupported(self) -> Iterator[str]:
        """Yield what a task can ask for and nobody does here."""
        verifier, environment = self.section("verifier"), self.section("environment")
        if self._values.get("steps"):
            yield "it has several steps, each with tests of its own"
        if verifier.get("environment_mode") == "separate" or verifier.get("environment"):
            yield "its tests run in an environment of their own"
        if str(environment.get("os", "linux")).lower() != "linux":
            yield f"it is for {environment['os']}"
        if environment.get("gpus") or environment.get("tpu"):
            yield "it needs an accelerator"

    def variables(self, section: Mapping[str, Any], name: str) -> dict[str, str]:
        """Return a section's `env`; what is to come from the host is a problem."""
        values = section.get("env", {})
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            self.problems.append(f"[{name}] env is no table of texts")
            return {}
        hosts = [key for key, value in values.items() if "${" in value]
        if hosts:
            self.problems.append(f"[{name}] env takes {first_words(hosts)} from the machine")
        return values

    def limits(self) -> Iterator[tuple[str, float]]:
        """Yield the limits of the tests."""
        verifier, environment = self.section("verifier"), self.section("environment")
        yield "timeout", self._number(verifier, "timeout_sec", 600.0)
        memory = environment.get("memory")
        if isinstance(memory, str):
            yield "memory", self._size(memory)
        elif "memory_mb" in environment:
            yield "memory", self._number(environment, "memory_mb", 16.0)
        if "cpus" in environment:
            yield "cpus", self._number(environment, "cpus", 1.0)

    def _number(self, section: Mapping[str, Any], name: str, instead: float) -> float:
        value = section.get(name, instead)
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        if plain and math.isfinite(value) and value > 0:
            return float(value)
        self.problems.append(f"{name} must be a number above 0")
        return instead

    def _size(self, text: str) -> float:
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)([GMK])\s*", text.upper())
        if found:
            return float(math.ceil(float(found[1]) * _SIZES[found[2]]))
        self.problems.append(f"memory {text[:20]!r} must be like 2G or 512M")
        return 16.0

    def slices(self) -> tuple[str, ...]:
        """Return the groups that a task is reported in."""
        metadata = self.section("metadata")
        values = [metadata.get(name) for name in ("category", "difficulty")]
        return tuple(value for value in values if isinstance(value, str) and value)
