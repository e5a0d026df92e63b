"""Step files of the scripted agent: reading and checking them on the host."""

from pathlib import Path

from labkit.errors import InputError
from labkit.fields import Document, Fields
from labkit.model import RunId

Step = dict[str, object]


def steps_path(folder: Path, run: RunId) -> Path:
    """Return the step file of a run: its attempt's own, else the task's."""
    own = folder / f"{run.task}__{run.attempt}.yaml"
    return own if own.is_file() else folder / f"{run.task}.yaml"


def read_steps(path: Path) -> tuple[Step, ...]:
    """Read a step file; raises InputError with every problem in it."""
    if not path.is_file():
        raise InputError(f"no step file {path}", hint="write one, or use another agent")
    document = Document.read(path)
    steps = tuple(_step(fields) for fields in document.mappings("steps"))
    if not steps:
        document.problem("steps", "there are no steps")
    document.finish()
    return steps


def _step(fields: Fields) -> Step:
    names = fields.names()
    if len(names) != 1:
        fields.problem(names[0] if names else "step", "a step does exactly one thing")
        return {}
    name = names[0]
    value = _value(fields, name)
    fields.done()
    return {name: value}


def _value(fields: Fields, name: str) -> object:
    match name:
        case "say" | "run" | "delete" | "finish":
            return fields.text(name)
        case "wait":
            return fields.number(name, default=0.0)
        case "exit":
            return fields.whole(name, default=0)
        case "edit":
            return _texts(fields.mapping(name), "path", "find", "replace")
        case "write":
            return _texts(fields.mapping(name), "path", "text")
        case _:
            return None  # Fields.done names the unknown step


def _texts(fields: Fields, *names: str) -> dict[str, str]:
    values = {name: fields.text(name) for name in names}
    fields.done()
    return values
