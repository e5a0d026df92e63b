"""What the documents promise is there: commands, files, exit codes, variables, links."""

import doctest
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli.labs import RUNS, Lab, Stages
from house import COMMANDS, ROOT, SOURCES

from labkit.errors import InputError, IntegrityError, PhaseError, ToolError

README = (ROOT / "README.md").read_text(encoding="utf-8")
FORMAT = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*/README.md")])
PLACES = {
    "<name>": "ana",
    "<member>": "ana",
    "<scorer>": "ana",
    "<id>": "greet-empty",
    "<task>": "greet-empty",
    "<A>": "A",
    "<run>": RUNS[0],
    "<team>": "blue",
    "B####": "B*",
}
ONLY_BESIDE = {
    "trap.txt": "a trap's",
    "transcript.txt": "another agent's",
    "transcript.json": "another agent's",
    "wire.jsonl": "an agent's that asks a model",
    "sessions.tar": "a real agent's",
    "stdout.txt": "an agent's whose transcript is a file",
    "missing": "broken runs",
    "manual": "runs by hand that are not finished",
    "voided": "broken tries",
    "raw-smoke": "reruns apart from the study",
    "plan-2.csv": "attempts that were added",
    "fixtures": "tasks without a history",
    "corrections": "hidden tests that were wrong",
}
"""Files of docs/format.md that a lab without traps, fixtures and broken runs does not have."""


@pytest.mark.parametrize(
    "name", [name for name, one in COMMANDS.items() if one.params and not hasattr(one, "commands")]
)
def test_every_command_stands_in_the_readme(name: str) -> None:
    documents = README + (ROOT / "instructor" / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"{name}\b", documents) or (name == "labkit demo" and "make demo" in README)


def test_every_target_of_make_in_the_readme_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"make ([a-z]+)`|^\$ make ([a-z]+)$", README, re.MULTILINE))
    targets = {one or other for one, other in named}
    assert "install" in targets
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in targets)
    assert "`. .venv/bin/activate`" in README


def test_the_readme_names_no_command_that_is_not_there() -> None:
    for words in re.findall(r"`labkit ([a-z ]+)", README):
        typed = words.split()
        assert any(
            f"labkit {' '.join(typed[:count])}" in COMMANDS for count in range(len(typed), 0, -1)
        ), words


def rows(heading: str) -> list[str]:
    """Return the first cells of the table below a heading of docs/format.md."""
    section = FORMAT.split(heading, 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)


def files(cell: str, places: Mapping[str, str] = PLACES) -> list[str]:
    """Return the paths that a cell names, as patterns."""
    found = []
    for path in re.findall(r"`([^`]+)`", cell):
        for word, instead in places.items():
            path = path.replace(word, instead)  # noqa: PLW2901 - one word after the other
        found.append(path)
    return found


@pytest.fixture(scope="module")
def finished(stages: Stages) -> Lab:
    """Return a lab that has been through every phase."""
    return stages.original("summarised")


@pytest.mark.parametrize("cell", rows("## `evals/`"))
def test_every_file_of_the_workspace_is_made(finished: Lab, cell: str) -> None:
    for path in files(cell):
        if not path.startswith(tuple(ONLY_BESIDE)):
            assert list(finished.workspace.evals.glob(path.rstrip("/"))), path


def test_every_file_of_a_run_and_of_a_pack_is_made(finished: Lab) -> None:
    listed = FORMAT.split("`raw/<run>/` holds")[1].split("A run is")[0]
    names = set(re.findall(r"`([a-z-]+\.[a-z]+)`", listed)) - set(ONLY_BESIDE)
    assert names == {path.name for path in (finished.workspace.raw / RUNS[0]).iterdir()}
    packs = re.search(r"^\| `blind/B####/` \| (.+?) \|", FORMAT, re.MULTILINE)
    assert packs
    names = set(re.findall(r"`([a-z-]+\.[a-z]+)`", packs[1])) - set(ONLY_BESIDE)
    for pack in finished.workspace.blind.glob("B*"):
        assert names == {path.name for path in pack.iterdir()}


@pytest.mark.parametrize("cell", rows("## `<project>-handover/`"))
def test_every_file_of_the_handover_is_made(stages: Stages, finished: Lab, cell: str) -> None:
    drafted = stages.original("drafted")
    for path in files(cell):
        if ".correction-" in path:
            continue  # of hidden tests that were wrong
        lab = drafted if path.startswith("drafts/") else finished
        assert list(lab.workspace.handover.glob(path.rstrip("/"))), path


def test_every_file_of_the_workspace_is_documented(finished: Lab) -> None:
    cells = " ".join(rows("## `evals/`"))
    patterns = [re.sub("<.+?>", "*", path) for path in files(cells, places={"B####": "B*"})]
    told = {found for path in patterns for found in finished.workspace.evals.glob(path.rstrip("/"))}
    forgotten = [
        path.relative_to(finished.workspace.evals).as_posix()
        for path in finished.workspace.evals.rglob("*")
        if path.is_file()
        and not path.relative_to(finished.workspace.evals).parts[0].startswith(".git")
        and path.name not in (".lock", "README.md")
        and "steps" not in path.parts
        and not told & {path, *path.parents}
    ]
    assert not forgotten


def codes() -> dict[int, str]:
    """Return the README's exit codes with their meanings."""
    return {int(code): what for code, what in re.findall(r"^\| (\d+) \| (.+) \|$", README, re.M)}


def test_the_exit_codes_are_those_of_the_errors() -> None:
    assert set(codes()) == {0, 1, 2, 3, 70, 130}
    assert {InputError.exit_code, PhaseError.exit_code} == {2}
    assert {ToolError.exit_code, IntegrityError.exit_code} == {3}


@pytest.mark.parametrize("code", codes())
def test_every_exit_code_is_tested(code: int) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "cli").glob("*.py")]
    asserted = rf"code=={code}\b|code={code}\b|returncode=={code}\b|wait\(\d+\)=={code}\b"
    assert any(re.search(asserted, text.replace(" ", "")) for text in texts)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert "://" in target or (document.parent / target).exists(), target


def test_every_variable_is_read_and_every_read_one_is_told() -> None:
    section = FORMAT.split("## Variables")[1].split("\n## ")[0]
    told = set(re.findall(r"`(LABKIT_[A-Z_]+)`", section))
    # Those inside a sandbox are an agent's, told beside its configuration, and the report's.
    inside = {
        "LABKIT_REPORT",
        "LABKIT_LEAVE_OUT",
        "LABKIT_REVERSED",
        "LABKIT_TRIAL",
        "LABKIT_MODEL",
        "LABKIT_EFFORT",
        "LABKIT_PROMPT",
        "LABKIT_TURN_CAP",
        "LABKIT_SEED",
        "LABKIT_NUMBER",
        "LABKIT_INPUT",
        "LABKIT_ANSWER",
        "LABKIT_CANDIDATE",
        "LABKIT_VENV",
        "LABKIT_KEEPS",
        "LABKIT_AGENT",
        "LABKIT_GATEWAY_KEY",
    }
    read = {
        name
        for path in SOURCES.values()
        for name in re.findall(r"\"(LABKIT_[A-Z_]+)\"", path.read_text(encoding="utf-8"))
    }
    assert read - inside == told


@pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if ">>> " in path.read_text("utf-8")],
    ids=lambda path: path.name,
)
def test_the_examples_in_python_are_true(path: Path) -> None:
    page = path.read_text("utf-8")
    found = doctest.DocTestParser().get_doctest(page, {}, path.name, str(path), 0)
    failures: list[str] = []
    doctest.DocTestRunner().run(found, out=failures.append)
    assert not failures, "".join(failures)
