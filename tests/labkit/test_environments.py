"""`environment:` as people write it, and how a task's own stands in place of the team's."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.environments import FIELDS, Recipe, read_recipe
from labkit.errors import InputError
from labkit.fields import Document
from labkit.nodes import dump_yaml


def read(folder: Path, text: str) -> Recipe:
    document = Document(text.encode(), "labkit.yaml")
    fields = document.mapping("environment")
    recipe = read_recipe(fields, folder)
    fields.done()
    document.finish()
    return recipe


def test_everything_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM x\n")
    found = read(
        tmp_path,
        "environment:\n  dockerfile: Dockerfile\n  setup: [pip install -e .]\n"
        "  files: [pyproject.toml, src/]\n  build: [make version]\n"
        '  variables: {TZ: "UTC", A: "1"}\n',
    )
    assert (found.dockerfile, found.setup, found.build) == (
        "Dockerfile",
        ("pip install -e .",),
        ("make version",),
    )
    assert found.files == ("pyproject.toml", "src/")
    assert found.variables == (("A", "1"), ("TZ", "UTC"))
    assert found.is_made
    assert tuple(found.facts()) == ("dockerfile", "setup", "files", "build", "variables")
    assert read(tmp_path, dump_yaml({"environment": found.facts()})) == found


def test_nothing_is_an_environment_too(tmp_path: Path) -> None:
    assert read(tmp_path, "environment: {}\n") == Recipe()
    assert not Recipe().is_made
    assert Recipe().facts() == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{image: a, dockerfile: Dockerfile}", 'write "image" or "dockerfile", not both'),
        ('{image: ""}', '"image" is empty'),
        ("{dockerfile: ../Dockerfile}", "'../Dockerfile' is not a path below evals/"),
        ("{dockerfile: /etc/passwd}", "'/etc/passwd' is not a path below evals/"),
        ("{dockerfile: Missing}", "there is no file evals/Missing"),
        ("{setup: pip install x}", '"setup" must be a list'),
        ('{setup: [" "]}', '"setup" holds an empty command'),
        ('{build: [""]}', '"build" holds an empty command'),
        ("{files: [../x]}", "'../x' is not a path inside the project"),
        ("{files: ['*.toml']}", "'*.toml' is no pattern"),
        ("{variables: [A]}", '"variables" must be a mapping'),
        ("{variables: {A: 1}}", '"A" must be a text: put it in quotes: "1"'),
        ("{variables: {a-b: x}}", "'a-b' is no name of a variable"),
        ("{variables: {PATH: /x}}", "PATH is set by labkit"),
        ("{variables: {LABKIT_REPORT: /x}}", "LABKIT_REPORT is set by labkit"),
        ("{set-up: [x]}", 'unknown field "set-up", did you mean "setup"?'),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "Dockerfile").write_text("FROM x\n")
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"environment:\n  {text}\n")
    assert caught.value.problems[0].startswith("labkit.yaml, environment")
    assert told in caught.value.problems[0]
    assert len(caught.value.problems) == 1


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "environment: {setup: [''], files: [/a], dockerfile: x, variables: {A: 1}}")
    assert len(caught.value.problems) == 4


texts = st.text("abc", min_size=1, max_size=3)
lists = st.lists(texts, max_size=2).map(tuple)


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    named = draw(st.frozensets(st.sampled_from(FIELDS)))
    if "image" in named:
        named -= {"dockerfile"}
    values = {
        "image": draw(texts),
        "dockerfile": draw(texts),
        "setup": draw(lists),
        "files": draw(lists),
        "build": draw(lists),
        "variables": tuple(sorted(draw(st.dictionaries(texts, texts, max_size=2)).items())),
    }
    return Recipe(**{name: values[name] for name in named}, named=named)  # type: ignore[arg-type] # by name


@given(team=recipes(), task=recipes())
def test_a_tasks_fields_stand_in_place_of_the_teams(team: Recipe, task: Recipe) -> None:
    both = task.over(team)
    for name in ("setup", "files", "build"):
        source = task if name in task.named else team
        assert getattr(both, name) == getattr(source, name)
    assert dict(both.variables) == dict(team.variables) | dict(task.variables)
    assert not (both.image and both.dockerfile)
    if "image" in task.named:
        assert both.image == task.image
    if "dockerfile" in task.named:
        assert both.dockerfile == task.dockerfile


@given(recipe=recipes())
def test_naming_nothing_changes_nothing(recipe: Recipe) -> None:
    assert Recipe().over(recipe) == recipe
    assert recipe.over(Recipe()).facts() == recipe.facts()
