"""The house's rules: small files and functions, quiet imports, help everywhere, a whole wheel."""

import ast
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import COMMANDS, PACKAGES, ROOT, SOURCES, TEMPLATES

import labkit

HEAVY = {"scipy", "numpy", "docker", "cryptography", "pyrage"}
BANNED = {"utils", "util", "helpers", "helper", "common", "constants", "manager", "misc"}
INSIDE = {"labkit_grader.plugin.labkit_report", "labkit_runner.agents.player"}
"""Programs that run inside the sandbox; they are never imported beside labkit."""


def modules() -> Iterator[str]:
    """Yield the name of every module, programs left out."""
    for name in SOURCES:
        module = name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        if module not in INSIDE and not module.endswith("__main__"):
            yield module


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines a function has, without its decorators."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


@pytest.mark.parametrize("name", SOURCES)
def test_files_and_functions_are_small(name: str) -> None:
    text = SOURCES[name].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    long = [
        f"{node.name}: {length(node)} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > 40
    ]
    assert not long


def test_modules_are_named_by_what_they_know() -> None:
    assert not [name for name in SOURCES if Path(name).stem in BANNED]


def python(code: str, folder: Path, *words: str) -> str:
    """Run code in an interpreter and an empty folder of its own, and return what it printed."""
    environment = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder), "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_every_module_writes_and_prints_nothing(tmp_path: Path) -> None:
    code = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n"
    assert python(code, tmp_path, *modules()) == ""
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("words", [["--help"], ["task", "run", "--help"]], ids=["all", "one"])
def test_help_loads_nothing_heavy(tmp_path: Path, words: list[str]) -> None:
    code = (
        "import sys\nfrom labkit.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('loaded:', *sys.modules)\n"
    )
    shown, _, loaded = python(code, tmp_path, *words).partition("loaded:")
    assert "Usage: labkit " in shown
    names = {name.partition(".")[0] for name in loaded.split()}
    assert not names & (HEAVY | {"yaml", *PACKAGES} - {"labkit"})


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    assert len(command.help.splitlines()[0]) <= 80
    assert [
        parameter.name for parameter in command.params if not getattr(parameter, "help", None)
    ] == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """Give the wheel, built out of a copy of what belongs to the project."""
    copy = tmp_path_factory.mktemp("copy") / "labkit"
    copy.mkdir()
    rubbish = shutil.ignore_patterns("__pycache__")
    for name in ("labkit", "runner", "grader", "instructor", "templates"):
        shutil.copytree(ROOT / name, copy / name, ignore=rubbish)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (path,) = (copy / "dist").glob("labkit-*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_wheel_holds_code_and_data(wheel: zipfile.ZipFile) -> None:
    packed = set(wheel.namelist())
    expected = set(SOURCES)
    for folder in (*PACKAGES.values(), TEMPLATES):
        expected |= {
            path.relative_to(folder.parent).as_posix()
            for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
    assert expected <= packed
    for name in ("labkit_grader/plugin/labkit_report.py", "labkit_templates/init/rubric.yaml"):
        assert name in packed
    assert any(name.endswith("Dockerfile") for name in packed)
    tops = {name.partition("/")[0] for name in packed if ".dist-info/" not in name}
    assert tops == {*PACKAGES, "labkit_templates"}


def test_the_wheel_works_where_it_is_unpacked(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    site = tmp_path / "site"
    wheel.extractall(site)
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True)
    code = (
        f"import sys\nsys.path.insert(0, {str(site)!r})\nimport labkit\n"
        f"assert labkit.__file__.startswith({str(site)!r})\n"
        "from labkit.cli import main\nmain()\n"
    )
    python(code, folder, "init", "--team", "blue")
    assert (folder / "evals" / "labkit.yaml").is_file()
    assert (folder / "evals" / ".gitignore").is_file()


def test_the_package_says_its_version() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r'^version = "(.+)"$', text, re.MULTILINE) == [labkit.__version__]
