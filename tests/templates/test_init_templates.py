"""What `labkit init` and `labkit task new` copy out can be read, and says what it must."""

from importlib.resources import files
from pathlib import Path
from string import Template

import pytest
import yaml

TEMPLATES = Path(str(files("labkit_templates")))
CATEGORIES = ("bugfix", "feature", "refactor", "tests", "trap", "other")


def text(*names: str) -> str:
    return TEMPLATES.joinpath(*names).read_text(encoding="utf-8")


@pytest.mark.parametrize("solo", ["true", "false"])
def test_settings_are_yaml_once_filled_in(solo: str) -> None:
    filled = Template(text("init", "labkit.yaml.tmpl")).substitute(
        team="blue", holder="age1holder", backup="", solo=solo
    )
    settings = yaml.safe_load(filled)
    assert (settings["team"], settings["holder"], settings["backup"]) == ("blue", "age1holder", "")
    assert settings["solo"] is (solo == "true")
    assert settings["limits"] == {
        "minutes": 10,
        "grade_minutes": 5,
        "memory": 2048,
        "processes": 256,
    }


def test_the_example_configurations_differ_in_one_field() -> None:
    first, second = (yaml.safe_load(text("init", "configs", f"{name}.yaml")) for name in "AB")
    assert first.keys() == second.keys()
    assert {name for name in first if first[name] != second[name]} == {"id", "model", "notes"}


def test_the_rubric_has_an_anchor_for_every_mark() -> None:
    rubric = yaml.safe_load(text("init", "rubric.yaml"))
    dimensions = {item["name"]: item for item in rubric["dimensions"]}
    assert set(dimensions) == {"correctness", "scope", "quality", "tests", "communication"}
    assert all(len(set(item["levels"])) == 5 for item in dimensions.values())
    assert [name for name, item in dimensions.items() if "after_results" in item] == ["correctness"]


def test_both_forms_of_the_rubric_say_the_same() -> None:
    rubric, readable = yaml.safe_load(text("init", "rubric.yaml")), text("init", "rubric.md")
    for item in rubric["dimensions"]:
        section = readable.split(f"## {item['name'].capitalize()}\n")[1].split("\n## ")[0]
        rows = [line for line in section.splitlines() if line[2:3].isdigit()]
        assert rows == [f"| {mark} | {anchor} |" for mark, anchor in enumerate(item["levels"])]
    assert all(f"- {sentence}\n" in readable for sentence in rubric["hard_fails"])


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_prompt_skeleton_has_something_to_replace(category: str) -> None:
    assert "[" in text("task", f"prompt-{category}.txt")


@pytest.mark.parametrize(
    ("category", "fields"),
    [("refactor", {"structure"}), ("tests", set()), ("trap", {"edits", "must_name", "must_ask"})],
)
def test_an_oracle_has_the_fields_of_its_category(category: str, fields: set[str]) -> None:
    oracle = text("task", f"oracle-{category}.yaml")
    assert yaml.safe_load(oracle).keys() == fields
    assert oracle.startswith("#")


def test_no_template_would_be_compiled_or_taken_for_a_setting() -> None:
    paths = [path for path in TEMPLATES.rglob("*") if "__pycache__" not in path.parts]
    names = {path.name for path in paths}
    assert [path for path in paths if path.suffix == ".py"] == [TEMPLATES / "__init__.py"]
    assert ".gitignore" not in names
    assert "dot_gitignore" in names
