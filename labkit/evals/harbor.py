"""Harbor's task folders as cases: what is asked, the files to start from, the tests.

A task is a folder with task.toml, instruction.md, environment/, tests/ and perhaps solution/.
Harbor builds an image for each; nothing is built here. The files that a Dockerfile copies are the
case's folder, and what only an image has is told, so that whoever has that image can name it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.errors import InputError, LabkitError, refuse
from labkit.evals.case import EvalCase, EvalSuite
from labkit.evals.digests import files_of
from labkit.evals.dockerfile import Laid, follow
from labkit.evals.harborconfig import read_config, read_text
from labkit.evals.laid import content_entry, laid_folder
from labkit.evals.scratch import Files
from labkit.fields import first_words, read_bytes
from labkit.graders.harbor import workdir_problem

CONFIG = "task.toml"
SCRIPT, SOLVE = "test.sh", "solve.sh"
_MOST_TESTS = 4 * 1024 * 1024
_EXECUTABLE = 0o755
_PLAIN = 0o644
_COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "singularity-compose.yaml")


def read_harbor(path: Path, *, cache: Path, image: str = "") -> EvalSuite:
    """Read a task, or a folder of tasks, as a suite; a bad one is a case with a `problem`.

    The files of cases are laid below `cache`. `image` says that whoever runs them has an image with
    everything that their Dockerfiles install: then that is no problem. Raises InputError when there
    is no task at all.
    """
    folders = task_folders(path)
    return EvalSuite([_case(folder, cache, image) for folder in folders], path.resolve().name)


def is_harbor(path: Path) -> bool:
    """Return whether a path is a task of Harbor's or holds some."""
    return path.is_dir() and bool(_tasks(path))


def task_folders(path: Path) -> list[Path]:
    """Return the folders of the tasks; raises InputError when there is none."""
    if not path.is_dir():
        raise InputError(f"no folder {path}", hint=f"give a folder with {CONFIG} in it")
    found = _tasks(path)
    if not found:
        raise InputError(
            f"{path} holds no task: no {CONFIG} in it or in a folder of it",
            hint="give a task of Harbor's, or the folder that its tasks lie in",
        )
    return found


def _tasks(path: Path) -> list[Path]:
    if (path / CONFIG).is_file():
        return [path.resolve()]
    return sorted(each.parent for each in path.resolve().glob(f"*/{CONFIG}") if each.is_file())


@dataclass(frozen=True, slots=True, kw_only=True)
class HarborTask:
    """What task.toml and the environment of one task say, as far as it counts here."""

    workdir: str
    files: Files
    """What lies in `workdir`."""
    variables: Mapping[str, str]
    limits: Mapping[str, float]
    """`timeout` in seconds, `memory` in MiB, `cpus`; only what is said."""
    solution_variables: Mapping[str, str]
    slices: tuple[str, ...]


def _case(folder: Path, cache: Path, image: str) -> EvalCase:
    try:
        task = read_task(folder, image=image)
        instruction = read_text(folder / "instruction.md")
        return EvalCase(
            id=folder.name,
            inputs={"instruction": instruction, "workdir": task.workdir},
            grader_spec={
                "name": "harbor_tests",
                "workdir": task.workdir,
                "files": list(_tests(folder / "tests")),
                "environment": dict(task.variables),
                **task.limits,
            },
            slices=task.slices,
            folder=laid_folder(task.files, cache),
        )
    except LabkitError as error:
        return EvalCase(id=folder.name, problem="; ".join(error.problems))


def read_task(folder: Path, *, image: str = "") -> HarborTask:
    """Read one task, without its instruction and tests; raises InputError with every problem."""
    config = read_config(folder / CONFIG)
    environment = config.section("environment")
    laid = _environment(folder / "environment", environment)
    workdir = str(environment.get("workdir") or laid.workdir)
    problems = [
        *config.unsupported(),
        *laid.problems,
        *_missing(laid, workdir, environment, image),
    ]
    if what := workdir_problem(workdir):
        problems.append(f"its working folder: {what}")
    variables = {
        **laid.variables,
        **config.variables(environment, "environment"),
        **config.variables(config.section("verifier"), "verifier"),
    }
    limits = dict(config.limits())
    solution = config.variables(config.section("solution"), "solution")
    slices = config.slices()
    refuse(problems + config.problems)
    return HarborTask(
        workdir=workdir,
        files=_below(laid, workdir),
        variables=variables,
        limits=limits,
        solution_variables={**variables, **solution},
        slices=slices,
    )


def _environment(folder: Path, section: Mapping[str, Any]) -> Laid:
    """Return what the environment lays out; one without a Dockerfile lays out nothing."""
    if compose := [name for name in _COMPOSE if (folder / name).is_file()]:
        return Laid(workdir="/", problems=(f"it needs several services: {compose[0]}",))
    if (folder / "Dockerfile").is_file():
        return follow(folder / "Dockerfile")
    if section.get("docker_image"):
        return Laid(workdir="/")
    return Laid(workdir="/", problems=("it has no environment/Dockerfile",))


def _missing(laid: Laid, workdir: str, section: Mapping[str, Any], image: str) -> Iterator[str]:
    """Yield what only an image has; nothing when there is one."""
    if image:
        return
    needs = [*laid.needs]
    if section.get("docker_image"):
        needs.append(f"the image {section['docker_image']}")
    outside = [name for name in laid.files if not name.startswith(f"{workdir}/")]
    if outside:
        needs.append(f"files outside of {workdir}: {first_words(outside, most=3)}")
    if needs:
        yield (
            f"it needs an image, which is not built here ({first_words(needs, most=3)}): build "
            "its environment/ yourself and name the image"
        )


def _below(laid: Laid, workdir: str) -> Files:
    """Return the files that lie in the working folder, by their place in it."""
    prefix = f"{workdir}/"
    return {
        name.removeprefix(prefix): (
            read_bytes(path),
            _EXECUTABLE if path.stat().st_mode & 0o100 else _PLAIN,
        )
        for name, path in laid.files.items()
        if name.startswith(prefix) and "__pycache__" not in name.split("/")
    }


def _tests(folder: Path) -> Iterator[dict[str, object]]:
    """Yield the files of the tests as the grader's mapping has them."""
    files = files_of(folder) if folder.is_dir() else []
    if SCRIPT not in {name for name, _ in files}:
        raise InputError(f"it has no tests/{SCRIPT}")
    if sum(path.stat().st_size for _, path in files) > _MOST_TESTS:
        raise InputError(f"its tests are larger than {_MOST_TESTS:,} bytes")
    for name, path in files:
        data = path.read_bytes()
        entry: dict[str, object] = {"path": name}
        if path.stat().st_mode & 0o100:
            entry["executable"] = True
        yield entry | content_entry(data)
