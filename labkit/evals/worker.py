"""The process in which a user's function answers: `python -m labkit.evals.worker READ WRITE`.

It reads what to import and then one sample a line from one pipe, and answers on another; standard
output and standard error are the function's own. What it says is checked by whoever reads it
(`labkit.evals.hosted`): the function can do in this process whatever it likes.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from labkit.errors import did_you_mean
from labkit.evals.answerfile import answer_values
from labkit.evals.case import EvalCase, Split
from labkit.evals.escape import watched
from labkit.evals.keeper import adopt_orphans
from labkit.evals.sample import Answer, Escaped, TimedOut, Trial
from labkit.evals.wire import UnfitError, pack, unpack
from labkit.graders.values import raised

Function = Callable[[EvalCase, Trial], object]


class _RefusedError(Exception):
    """There is no such function; the message and the hint are for the user."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def _function(target: str, folder: str) -> tuple[Function, str]:
    """Return the function, and the digest of the file that it was found in."""
    place, _, name = target.rpartition(":")
    sys.path.insert(0, folder)
    try:
        if place.endswith(".py"):
            code = _digest(Path(folder, place))
            module = _from_file(Path(folder, place))
        else:
            module = _named(place)
            code = _digest(Path(getattr(module, "__file__", None) or os.devnull))
    except _RefusedError:
        raise
    except BaseException as error:
        raise _RefusedError(
            f"{place} cannot be imported: {raised(error)}{_where(error, folder)}",
            "mend it, or install what it needs where labkit is installed",
        ) from error
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise _RefusedError(f"{place} has no {name}", _known(module, name))
        found = getattr(found, part)
    problem = _unfit(found)
    if problem:
        raise _RefusedError(
            f"{target} {problem}", "a candidate is a function of two arguments: case and trial"
        )
    return found, code


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _from_file(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise _RefusedError(f"no file {path}", "name a Python file: FILE.py:FUNCTION")
    sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _named(name: str) -> object:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise _RefusedError(
                f"there is no module {error.name}", f"a file is written {name}.py:FUNCTION"
            ) from error
        raise


def _known(module: object, name: str) -> str:
    names = [key for key, each in vars(module).items() if inspect.isfunction(each)]
    own = [key for key in names if not key.startswith("_")]
    return f"its functions: {', '.join(own[:8]) or 'none'}{did_you_mean(name, own)}"


def _unfit(found: object) -> str:
    if not callable(found):
        return "is not a function"
    if inspect.iscoroutinefunction(found):
        return "is async: call it with asyncio.run in a plain function"
    try:
        inspect.signature(found).bind(None, None)
    except TypeError:
        return "cannot be called with two arguments"
    except ValueError:
        return ""  # built-in: nobody knows
    return ""


def _where(error: BaseException, folder: str) -> str:
    """Return the last line of the user's own code that an exception went through."""
    if isinstance(error, SyntaxError):
        return ""  # it names its own
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    for frame in reversed(own or frames):
        return f" ({Path(frame.filename).name}, line {frame.lineno})"
    return ""


def _answer(function: Function, asked: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return what is said of one sample."""
    case = EvalCase(**(asked["case"] | {"split": Split(asked["case"]["split"])}))
    trial = Trial(**(asked["trial"] | {"scratch": Path(asked["trial"]["scratch"])}))
    os.chdir(trial.scratch)
    with contextlib.suppress(OSError):  # an earlier sample may have closed it
        os.write(1, f"\n{asked['token']}\n".encode())
    begun = time.monotonic()
    try:
        found = function(case, trial)
    except Escaped as error:
        return {"escaped": str(error)}
    except TimedOut as error:
        return {"timed_out": str(error)}
    except BaseException as error:  # noqa: BLE001 - SystemExit is an answer like any other
        return {"raised": f"{raised(error)}{_where(error, folder)}"}
    answer = found if isinstance(found, Answer) else Answer(output=found)
    seconds = time.monotonic() - begun
    return {"answer": {"latency_ms": seconds * 1000} | answer_values(answer)}


def _said(function: Function, asked: Mapping[str, Any], folder: str) -> bytes:
    try:
        said = pack(_answer(function, asked, folder), "the answer")
    except UnfitError as error:
        said = pack({"raised": str(error)}, "it")
    except BaseException as error:  # noqa: BLE001 - a value's own code may do anything
        said = pack({"raised": f"the answer cannot be read: {raised(error)}"}, "it")
    about = pack({"token": asked["token"], "left": _left_something()}, "it")
    return said[:-1] + b"," + about[1:]


def _left_something() -> bool:
    """Return whether a process that the function started is still there."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _serve(asking: IO[bytes], answering: int) -> None:
    told = unpack(asking.readline())
    folder = told["folder"]
    try:
        function, code = _function(told["target"], folder)
    except _RefusedError as error:
        _write(answering, pack({"refused": str(error), "hint": error.hint}, "it"))
        return
    if told["allow"] is not None:
        allowed = [Path(each) for each in told["allow"]]
        function = watched(function, allow=allowed, everywhere=True)
    _write(answering, pack({"ready": True, "code": code}, "it"))
    me = os.getpid()
    for line in asking:
        said = _said(function, unpack(line), folder)
        if os.getpid() != me:
            os._exit(0)  # a child that the function forked, and that came back with it
        _write(answering, said)
        os.chdir(folder)


def _write(end: int, line: bytes) -> None:
    rest = line + b"\n"
    with contextlib.suppress(BrokenPipeError):
        while rest:
            rest = rest[os.write(end, rest) :]


if __name__ == "__main__":
    adopt_orphans()
    with os.fdopen(int(sys.argv[1]), "rb") as pipe:
        for descriptor in map(int, sys.argv[1:]):
            os.set_inheritable(descriptor, False)  # noqa: FBT003 - its only way
        _serve(pipe, int(sys.argv[2]))
