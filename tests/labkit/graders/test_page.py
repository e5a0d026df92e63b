"""The page about graders: its mappings can be built, its tables name what is there."""

import re

import yaml
from house import ROOT

from labkit.graders import GRADERS, Case, Output, Tools

PAGE = (ROOT / "docs" / "graders.md").read_text(encoding="utf-8")


def test_the_mappings_can_be_built() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert blocks
    for block in blocks:
        grader = GRADERS.build(yaml.safe_load(block), tools=Tools())
        assert grader(Output(value="x"), Case(id="a")).passed is None


def test_every_grader_stands_in_both_tables() -> None:
    for name in GRADERS.names():
        assert len(re.findall(rf"^\| .*`{name}`", PAGE, re.MULTILINE)) >= 2, name
