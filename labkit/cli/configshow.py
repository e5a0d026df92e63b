"""What `labkit config show` does: configurations as declared, as started, and as seen in runs."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from labkit.cli.configmade import Made, make
from labkit.cli.console import data
from labkit.cli.lab import Lab
from labkit.cli.seen import finished_records
from labkit.configurations import Configuration, read_configuration
from labkit.effects import effort_of, one_line, short
from labkit.errors import InputError
from labkit.fields import Document, counted, json_text
from labkit.model import ConfigurationId
from labkit.records import RunRecord
from labkit.sandbox.making import shown as command_line

SCHEMA = 1
_DIGITS = 12
_WIDTH = 16


def show(names: Sequence[str], *, as_json: bool) -> int:
    """Print configurations; return 1 when one could not be started as it is.

    Raises InputError when one is not there or cannot be read.
    """
    lab = Lab.open()
    records = finished_records(lab)
    shown = [
        described(lab, make(lab, read_configuration(lab.workspace, name)), records)
        for name in chosen(lab, names)
    ]
    if as_json:
        data(json_text({"schema": SCHEMA, "configurations": shown}))
    else:
        data("\n\n".join("\n".join(_lines(each)) for each in shown))
    return 1 if any(each["problems"] for each in shown) else 0


def chosen(lab: Lab, names: Sequence[str]) -> tuple[ConfigurationId, ...]:
    """Return the configurations that are meant: all where none is named."""
    found = lab.workspace.configuration_ids()
    if not found:
        raise InputError("there are no configurations", hint="write evals/configs/A.yaml")
    return tuple(ConfigurationId(name) for name in names) or tuple(found)


def described(lab: Lab, made: Made, records: Iterable[RunRecord]) -> dict[str, Any]:
    """Return everything that is known of a configuration, as plain values."""
    configuration = made.configuration
    mine = [record for record in records if record.run.configuration == configuration.id]
    return {
        "id": str(configuration.id),
        "description": configuration.describe(),
        "declared": _declared(lab, configuration),
        "started": dict(made.values),
        "problems": list(made.problems),
        "seen": _seen(mine) if mine else None,
    }


def _declared(lab: Lab, configuration: Configuration) -> dict[str, dict[str, object]]:
    """Return each field with its value, and whether it stands in the file."""
    written = Document.read(lab.workspace.configuration(configuration.id)).names()
    values = {
        **{name: value for name, value in configuration.facts().items() if name != "id"},
        "notes": configuration.notes,
    }
    settings = {name: values.pop(name) for name in tuple(values) if name.startswith("settings.")}
    values["settings"] = {name.partition(".")[2]: value for name, value in settings.items()}
    return {
        name: {"value": value, "default": name not in written} for name, value in values.items()
    }


def _seen(records: Sequence[RunRecord]) -> dict[str, Any]:
    turns = [record.turns for record in records if record.turns is not None]
    tokens = [record.tokens for record in records if record.tokens is not None]
    return {
        "runs": len(records),
        "versions": _tally(records, lambda r: r.agent_version),
        "programs": _tally(records, lambda r: r.binary_digest),
        "images": _tally(records, lambda r: r.image_digest),
        "logins": _tally(records, lambda r: r.login),
        "models_asked": _tally(records, _asked),
        "models_answering": _tally(records, lambda r: " and ".join(r.answered_by)),
        "efforts": _tally(records, lambda r: effort_of(r.fingerprint)),
        "endings": _tally(records, lambda r: str(r.ending)),
        "requests_known": sum(bool(record.fingerprint) for record in records),
        "turns": {"runs": len(turns), "least": min(turns, default=None),
                  "most": max(turns, default=None)},
        "tokens": {"runs": len(tokens), "all": sum(tokens) if tokens else None},
    }  # fmt: skip


def _asked(record: RunRecord) -> str:
    """Return the models that were asked, the side requests' too; empty where nobody saw it."""
    return " and ".join(record.asked) or str(record.fingerprint.get("model", ""))


def _tally(records: Iterable[RunRecord], value: Callable[[RunRecord], str]) -> dict[str, int]:
    return dict(Counter(found for record in records if (found := value(record))))


def _lines(shown: Mapping[str, Any]) -> Iterator[str]:
    yield f"{shown['id']}: {shown['description']}"
    yield "  declared:"
    for name, field in shown["declared"].items():
        default = " (default)" if field["default"] else ""
        yield _line(name, f"{_plain(field['value'])}{default}")
    yield "  started as:"
    yield from _started(shown["started"])
    for problem in shown["problems"]:
        yield _line("problem", problem)
    yield from _as_seen(shown["seen"])


def _line(name: str, value: str) -> str:
    return one_line(f"    {name.ljust(_WIDTH)} {value}").rstrip()


def _plain(value: object) -> str:
    match value:
        case dict():
            return ", ".join(f"{name}={each}" for name, each in value.items()) or "none"
        case list():
            return shlex.join(map(str, value)) or "none"
        case _:
            return str(value) if value not in ("", None) else "none"


def _started(values: Mapping[str, Any]) -> Iterator[str]:
    yield from (_line(name, values[name]) for name in ("version", "program") if values.get(name))
    for command in values.get("install", ()):
        yield _line("install", command_line(command))
    if "argv" in values:
        yield _line("command line", shlex.join(values["argv"]))
        yield _line("variables", ", ".join(values["variables"]) or "none")
    yield from _files(values)
    if "turn_cap" in values:
        yield _line("turn cap", _turn_cap(values["turn_cap"]))
        yield _line("seed", _SEEDS[values["seed"]["forwarded"]])
    if "model" in values:
        yield _line("model", _model(values["model"]))
        yield from _key(values["model"])


_SEEDS = {
    True: "forwarded",
    False: "not forwarded: attempts differ by chance alone",
    None: "not known",
}
_TOLD = {True: "told to the agent", False: "not told to the agent", None: "told or not"}


def _files(values: Mapping[str, Any]) -> Iterator[str]:
    for name, title in (("files", "file"), ("instructions", "instructions")):
        for path, digest in values.get(name, {}).items():
            yield _line(title, f"{path} {digest[:_DIGITS]}")
    yield _line("reads", ", ".join(values.get("reads", ())) or "no file that labkit knows of")


def _turn_cap(found: Mapping[str, Any]) -> str:
    by = "enforced by the gateway" if found["enforced"] else "not enforced from outside"
    return f"{found['turns']}, {_TOLD[found['told']]}, {by}"


def _model(found: Mapping[str, Any]) -> str:
    if found["provider"] is None:
        return f"{found['name']}, asked by nobody that labkit sees"
    return (
        f"{found['name']} of {found['provider']}, {found['api']} at {found['url']}, price "
        f"{found['price']}"
    )


def _key(found: Mapping[str, Any]) -> Iterator[str]:
    if found.get("login") == "subscription":
        yield _line("login", "subscription")
    elif found.get("key") == "not needed":
        yield _line("key", "not needed")
    elif found.get("key"):
        is_set = found["key"] == "set"
        told = f"{found['key_variable']} is set" if is_set else found["key_problem"].split(":")[0]
        yield _line("key", told)


def _as_seen(seen: Mapping[str, Any] | None) -> Iterator[str]:
    if seen is None:
        yield "  not seen: there are no runs here yet"
        return
    yield f"  seen in {counted(seen['runs'], 'run')}:"
    for name, title in (
        ("versions", "version"), ("programs", "program"), ("images", "image"), ("logins", "login"),
        ("models_asked", "model asked"), ("models_answering", "model answering"),
        ("efforts", "effort"), ("endings", "ended"),
    ):  # fmt: skip
        told = ", ".join(f"{short(value)} ({runs})" for value, runs in seen[name].items())
        yield _line(title, told or "not known")
    turns, tokens = seen["turns"], seen["tokens"]
    yield _line("turns", _span(turns) if turns["runs"] else "not known")
    total = f"{tokens['all']:,} in {counted(tokens['runs'], 'run')}" if tokens["runs"] else ""
    yield _line("tokens", total or "not known")
    if seen["requests_known"] < seen["runs"]:
        unknown = counted(seen["runs"] - seen["requests_known"], "run")
        yield _line("not known", f"what the model was asked in {unknown}")


def _span(turns: Mapping[str, Any]) -> str:
    """Return "2 a run", "2 to 9 a run", with how many runs tell of it."""
    least, most = turns["least"], turns["most"]
    span = str(least) if least == most else f"{least} to {most}"
    return f"{span} a run ({counted(turns['runs'], 'run')})"
