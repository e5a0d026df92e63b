"""Verifiers of fixture tasks: graders, filled with what lies in the task's folder."""

from collections.abc import Callable, Mapping
from pathlib import Path

from labkit.errors import InputError
from labkit.evals.digests import files_of
from labkit.fields import Fields
from labkit.graders import Builder, Grader, PredicateGrader, Registry, Tools
from labkit.graders.folder import path_problem

BUGGY, EXPECTED = "buggy", "expected"
Check = Callable[[Path], object]
"""Looks at what a candidate left in its folder; returns True when it is right."""


class VerifierRegistry(Registry):
    """Verifiers by name: every grader of labkit's, and those that are registered here.

    `file_equals`, `regex_match`, `shell_exit_zero` and `pytest_passes` suit tasks of a folder best.
    """

    def register_check(self, name: str, check: Check) -> None:
        """Add a function of the folder as a verifier without fields; raises as `register` does.

        It runs in labkit's own process, and passes only where it returns True.
        """
        self.register(name, _builder_of(check))


def _builder_of(check: Check) -> Builder:
    def build(fields: Fields, tools: Tools) -> Grader:
        del fields, tools
        return PredicateGrader(
            function=lambda output, _: output.folder is not None and check(output.folder)
        )

    return build


def filled_in(
    spec: Mapping[str, object], folder: Path, problems: list[str]
) -> Mapping[str, object]:
    """Return a grader's mapping with the content of the files that it means in a task's folder.

    `tests` of a `pytest_passes` become `files`, and a `file_equals` without `expected` gets what
    lies in `expected/`; so whatever decides a verdict is part of the suite's version. What cannot
    be read is noted in `problems`.
    """
    match spec.get("name"):
        case "pytest_passes" if "tests" in spec:
            return _with_tests(spec, folder, problems)
        case "file_equals" if "expected" not in spec and isinstance(spec.get("path"), str):
            return _with_expected(spec, folder, problems)
        case "all_of" | "any_of" if isinstance(children := spec.get("graders"), list | tuple):
            filled = [
                filled_in(each, folder, problems) if isinstance(each, Mapping) else each
                for each in children
            ]
            return {**spec, "graders": filled}
        case _:
            return spec


def _with_tests(
    spec: Mapping[str, object], folder: Path, problems: list[str]
) -> Mapping[str, object]:
    named = spec["tests"]
    if "files" in spec:
        problems.append("pytest_passes: write tests or files, not both")
    elif not isinstance(named, list | tuple) or not all(isinstance(each, str) for each in named):
        problems.append('pytest_passes: "tests" must be a list of paths: [tests]')
    else:
        files: dict[str, str] = {}
        for path in named:
            _add(path, folder, files, problems)
        return {**{key: value for key, value in spec.items() if key != "tests"}, "files": files}
    return spec


def _add(path: str, folder: Path, files: dict[str, str], problems: list[str]) -> None:
    """Add a file, or all files of a folder, to those that go over the candidate's."""
    plain = path.rstrip("/")
    if problem := path_problem(plain):
        problems.append(f"pytest_passes: a path in tests {problem}")
        return
    if plain.split("/")[0] in (BUGGY, EXPECTED):
        problems.append(
            f"pytest_passes: {path} must lie beside {BUGGY}/, where no candidate sees it"
        )
        return
    at = folder / plain
    try:
        found = files_of(at) if at.is_dir() else [("", at)]
    except InputError as error:
        problems.append(f"pytest_passes: {error.message}")
        return
    for name, file in found:
        text = _text(file, f"{plain}/{name}" if name else plain, "pytest_passes", problems)
        files[f"{plain}/{name}" if name else plain] = text


def _with_expected(
    spec: Mapping[str, object], folder: Path, problems: list[str]
) -> Mapping[str, object]:
    path = str(spec["path"])
    if path_problem(path):
        return spec  # the grader tells what is wrong with it
    text = _text(folder / EXPECTED / path, f"{EXPECTED}/{path}", "file_equals", problems)
    return {**spec, "expected": text}


def _text(file: Path, name: str, verifier: str, problems: list[str]) -> str:
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        problems.append(f"{verifier}: {name} is no UTF-8 text")
    except OSError as error:
        problems.append(f"{verifier}: {name} cannot be read: {error.strerror}")
    return ""
