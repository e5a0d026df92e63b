"""A lab on a package with a `src` folder, whose tests need another package to be there.

Everything is fetched by name from the package index and nothing of it is kept. What labkit says of
each run is compared with plain pytest on the same files, outside labkit.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.labs import ANA, BEN, TARA, Lab
from e2e.outside import Outside
from e2e.releases import as_history, download, install
from e2e.start import hide, new_task, patch_of, plays, start, text_at

from labkit.model import TaskId
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG, derive_image
from labkit.sandbox.interface import Sandbox

pytestmark = [pytest.mark.registry, pytest.mark.slow]

VERSIONS = ("4.11.0", "4.12.0", "4.12.1")
LISTS, NUMBERS, SIZES = (f"src/humanize/{name}.py" for name in ("lists", "number", "filesize"))
STRUCTURE = """\
import ast
from pathlib import Path


def test_numbers_import_nothing_heavy_at_the_top():
    tree = ast.parse(Path("src/humanize/number.py").read_text(encoding="utf-8"))
    found = {name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names}
    assert not found & {"math", "re"}
"""
# The fault and its catch: the package's own tests never name more than three things.
RIGHT, WRONG = "items[:-1]", "items[:2]"
CATCHES = """\
from humanize import natural_list


def test_many():
    assert natural_list([1, 2, 3, 4]) == "1, 2, 3 and 4"
"""
MISSES = CATCHES.replace('[1, 2, 3, 4]) == "1, 2, 3 and 4"', '[1, 4]) == "1 and 4"')


@pytest.fixture
def supplied(sandbox: Sandbox, tmp_path: Path) -> Iterator[tuple[Sandbox, Path, str]]:
    """Give each sandbox with what the package's tests need: a folder, and an image made of it."""
    site = install(("freezegun", "coverage"), tmp_path / "site")
    if not isinstance(sandbox, DockerSandbox):
        yield sandbox, site, BASE_TAG
        return
    image = "labkit-test-freezegun:local"
    derive_image(sandbox.api, image, base=BASE_TAG, site=site)
    yield sandbox, site, image
    sandbox.api.remove_image(image, force=True)


def human_tasks(lab: Lab) -> None:
    """Draft a refactoring, a repair and a task of test writing."""
    new_task(lab, "lazy-imports", "refactor", "4.12.0")
    behaviour = {"tests/test_number.py": text_at(lab, "4.12.0", "tests/test_number.py")}
    hide(lab, "lazy-imports", {**behaviour, "tests/test_lazy.py": STRUCTURE})
    oracle = lab.workspace.draft(TaskId("lazy-imports")) / "oracle.yaml"
    oracle.write_text('structure: ["tests/test_lazy.py"]\n', encoding="utf-8")
    new_task(lab, "float-bytes", "bugfix", "4.12.1")
    new_task(lab, "more-tests", "tests", "4.12.1", BEN)
    hide(lab, "more-tests", {"tests/test_more.py": CATCHES})
    faults = lab.workspace.draft(TaskId("more-tests")) / "mutations"
    shutil.rmtree(faults, ignore_errors=True)
    faults.mkdir()
    (faults / "01-two-of-many.patch").write_bytes(fault(lab))
    refactored = {NUMBERS: text_at(lab, "4.12.0", NUMBERS)}
    repaired = {SIZES: text_at(lab, "4.12.1", SIZES)}
    half = {SIZES: repaired[SIZES].replace('f"{int(bytes_)}B"', 'f"{bytes_}B"')}
    for letter, repair, tests in (("A", repaired, CATCHES), ("B", half, MISSES)):
        plays(lab, letter, "lazy-imports", refactored)
        plays(lab, letter, "float-bytes", repair)
        plays(lab, letter, "more-tests", {"tests/test_more.py": tests})


def fault(lab: Lab) -> bytes:
    """Return the planted fault as a diff against the release that it is planted in."""
    lab.project.git("checkout", "--quiet", "v4.12.0")
    lab.edit(lab.project.folder / LISTS, RIGHT, WRONG)
    made = lab.project.git("diff")
    lab.project.git("checkout", "--quiet", "--force", "main")
    return f"{made}\n".encode()


def test_a_source_layout_with_packages_that_its_tests_need(
    supplied: tuple[Sandbox, Path, str], tmp_path: Path
) -> None:
    """humanize: ids with blanks and signs, warnings as errors, a written version, translations."""
    sandbox, site, image = supplied
    lab = Lab(tmp_path / "lab", tmp_path / "cache")
    lab.folder.mkdir()
    releases = download("humanize", VERSIONS, tmp_path / "index")
    as_history(lab.project, releases, keep=("src", "tests", "pyproject.toml", "LICENCE"))
    start(lab, "human")
    for old, new in (
        ("attempts: 2", "attempts: 1"),
        (BASE_TAG, image),
        ('site: ""', f"site: {site}"),
    ):
        if old != new:
            lab.edit(lab.workspace.settings, old, new)
    human_tasks(lab)
    here = {"LABKIT_SANDBOX": sandbox.name}
    lab.done("task", "validate", "--repeats", "3", **here)
    for name in (ANA, BEN):
        lab.done("task", "seal", me=name)
    lab.done("task", "freeze", "--pilot", me=ANA)
    for name in (ANA, BEN):
        lab.done("task", "run", me=name, **here)
        lab.done("handin", me=name)
    lab.done("leaks")
    lab.done("grade", me=TARA, **here)
    for run, expected in human_verdicts(lab, site, tmp_path / "outside").items():
        assert (lab.workspace.raw / run / "result.txt").read_text() == f"{expected}\n", run


def human_verdicts(lab: Lab, site: Path, folder: Path) -> dict[str, str]:
    """Return what plain pytest says of each run, and check that it says what was planned."""
    outside = Outside(lab.project, folder, roots=("src", "."), site=site)
    verdicts = {}
    for letter in "AB":
        patch = patch_of(lab, f"lazy-imports__{letter}__1")
        tests = ("tests/test_number.py",)
        solved = outside.solves(patch, base="v4.11.0", fixed="v4.12.0", tests=tests)
        tree = outside.tree("v4.11.0", patch)
        (tree / "tests/test_lazy.py").write_text(STRUCTURE, encoding="utf-8")
        verdicts[f"lazy-imports__{letter}__1"] = (
            solved and len(outside.passing(tree, "tests/test_lazy.py")) == 1
        )
        patch = patch_of(lab, f"float-bytes__{letter}__1")
        tests = ("tests/test_filesize.py",)
        solved = outside.solves(patch, base="v4.12.0", fixed="v4.12.1", tests=tests)
        verdicts[f"float-bytes__{letter}__1"] = solved
        patch = patch_of(lab, f"more-tests__{letter}__1")
        real, planted = (outside.tree("v4.12.0", patch) for _ in range(2))
        lab.edit(planted / LISTS, RIGHT, WRONG)
        right, wrong = (outside.passing(tree, "tests/test_more.py") for tree in (real, planted))
        verdicts[f"more-tests__{letter}__1"] = len(right) == 1 and not wrong
    assert [run for run, solved in verdicts.items() if not solved] == [
        "float-bytes__B__1",
        "more-tests__B__1",
    ]
    return {run: "PASS" if solved else "FAIL" for run, solved in verdicts.items()}
