import pytest
from typer.testing import CliRunner

from labkit.cli import byhandoptions
from labkit.cli.app import app
from labkit.errors import InputError


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "--manual x --dry-run --jobs 2 --yes --all --notes a --smoke --budget-cost 1",
            "--all, --smoke, --jobs, --dry-run, --budget-cost, --yes and --notes "
            "do not go with --manual",
        ),
        ("--finish x --smoke --because y", "--smoke and --because do not go with --finish"),
        ("--finish x --export y", "--export does not go with --finish"),
        ("--finish x --sandbox docker", "--sandbox does not go with --finish"),
        ("--abandon x --because y --mine", "--mine does not go with --abandon"),
        ("--manual x --export y --sandbox docker", "--sandbox does not go with --manual"),
        ("--manual= --smoke", "--smoke does not go with --manual"),
        ("--manual a --finish b", "--manual and --finish exclude each other"),
        ("--minutes 3", "--minutes does nothing without a run by hand"),
        (
            "--export a --transcript b --minutes 1 --interventions 0 --intervention c "
            "--workspace d --notes e --because f",
            "--export, --workspace, --transcript, --minutes, --interventions, --intervention, "
            "--notes and --because do nothing without a run by hand",
        ),
    ],
)
def test_options_that_would_do_nothing_are_refused(words: str, says: str) -> None:
    found = CliRunner().invoke(app, ["task", "run", *words.split()])
    assert isinstance(found.exception, InputError)
    assert says in found.exception.message
    assert found.exception.hint


def test_options_that_go_together_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def start(*told: object) -> int:
        asked.append(told)
        return 0

    monkeypatch.setattr(byhandoptions, "start", start)
    for words in (
        "--manual x --sandbox docker --me ana",
        "--manual x --export y",
        "--finish x --workspace d --transcript b --minutes 1 --interventions 0 --notes e",
        "--abandon x --because y",
    ):
        found = CliRunner().invoke(app, ["task", "run", *words.split()])
        assert found.exit_code == 0, found.exception
    assert len(asked) == 4
