"""A whole lab on real history: releases of a published package, its own fixes, its own tests.

Everything is fetched by name from the package index and nothing of it is kept. What labkit says of
each run is compared with plain pytest on the same files, outside labkit.
"""

import csv
import json
import shutil
from pathlib import Path

import pytest
from cli.labs import ANA, BEN, TARA, Lab, fill_in
from e2e.outside import Outside
from e2e.releases import as_history, download
from e2e.start import hide, new_task, patch_of, plays, start, text_at

from labkit.sandbox.docker import DockerSandbox

pytestmark = [pytest.mark.docker, pytest.mark.registry, pytest.mark.slow]

VERSIONS = ("0.13.0", "0.14.0", "0.14.1", "0.14.2", "0.15.0")
TESTS = ("tests/test_xmltodict.py", "tests/test_dicttoxml.py")
TASKS = {
    "pretty-indent": ("feature", "0.13.0", "0.14.0", ANA),
    "white-space": ("bugfix", "0.14.1", "0.14.2", ANA),
    "bad-names": ("bugfix", "0.14.2", "0.15.0", BEN),
}
EARLY = {"scope": "3", "quality": "3", "tests": "1", "communication": "3"}


@pytest.fixture
def lab(tmp_path: Path, docker_sandbox: DockerSandbox) -> Lab:
    """Return a lab with its drafts: A applies each real fix, B leaves out the last one."""
    assert docker_sandbox.name == "docker"
    lab = Lab(tmp_path / "lab", tmp_path / "cache")
    lab.folder.mkdir()
    releases = download("xmltodict", VERSIONS, tmp_path / "index")
    as_history(lab.project, releases, keep=("xmltodict.py", "tests", "README.md", "LICENSE"))
    start(lab, "xml")
    for task, (category, _, fixed, author) in TASKS.items():
        new_task(lab, task, category, fixed, author)
        # The whole suite of the release, whichever files it changed.
        hide(lab, task, {name: text_at(lab, fixed, name) for name in TESTS})
        solution = {"xmltodict.py": text_at(lab, fixed, "xmltodict.py")}
        plays(lab, "A", task, solution)
        plays(lab, "B", task, {} if task == "bad-names" else solution)
    return lab


def test_a_lab_on_the_history_of_a_published_package(lab: Lab, tmp_path: Path) -> None:
    here = ("--sandbox", "docker")
    lab.done("task", "validate", "--repeats", "3", *here)
    for name in (ANA, BEN):
        lab.done("task", "seal", me=name)
    lab.done("task", "freeze", "--pilot", me=ANA)
    for name in (ANA, BEN):
        lab.done("task", "run", *here, me=name)
        lab.done("handin", me=name)
    lab.done("leaks")
    shutil.rmtree(lab.workspace.raw)  # the holder has what was handed in, and nothing else
    lab.done("grade", *here, me=TARA)
    lab.done("blind", me=TARA)
    for name in (ANA, BEN):
        for marks in (EARLY, {"correctness": "2"}):
            lab.done("score", "--from", str(fill_in(lab, name, marks)), me=name)
    lab.done("unblind", me=TARA)
    lab.done("summary")
    summary = json.loads(lab.workspace.summary("json").read_text(encoding="utf-8"))
    assert [one["rate"]["passed"] for one in summary["configurations"]] == [3.0, 2.0]
    with lab.workspace.all_scores.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 12
    for run, expected in verdicts(lab, tmp_path / "outside").items():
        assert (lab.workspace.raw / run / "result.txt").read_text() == f"{expected}\n", run


def verdicts(lab: Lab, folder: Path) -> dict[str, str]:
    """Return what plain pytest says of each run; both attempts have to be the same."""
    outside = Outside(lab.project, folder)
    said = {}
    for task, (_, base, fixed, _) in TASKS.items():
        for letter in "AB":
            one, two = (f"{task}__{letter}__{attempt}" for attempt in "12")
            patch = patch_of(lab, one)
            assert patch == patch_of(lab, two)
            solved = outside.solves(patch, base=f"v{base}", fixed=f"v{fixed}", tests=TESTS)
            said[one] = said[two] = "PASS" if solved else "FAIL"
    return said
