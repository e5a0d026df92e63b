"""The page about graders: its examples are run, its tables name what is there."""

import doctest
import re

import yaml
from house import ROOT

from labkit.graders import GRADERS, Case, Output, Tools

PAGE = (ROOT / "docs" / "graders.md").read_text(encoding="utf-8")


def test_the_examples_are_true() -> None:
    found = doctest.DocTestParser().get_doctest(PAGE, {}, "graders.md", "docs/graders.md", 0)
    failures: list[str] = []
    doctest.DocTestRunner().run(found, out=failures.append)
    assert not failures, "".join(failures)
    assert len(found.examples) > 20


def test_the_mappings_can_be_built() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert blocks
    for block in blocks:
        grader = GRADERS.build(yaml.safe_load(block), tools=Tools())
        assert grader(Output(value="x"), Case(id="a")).passed is None


def test_every_grader_stands_in_both_tables() -> None:
    for name in GRADERS.names():
        assert len(re.findall(rf"^\| .*`{name}`", PAGE, re.MULTILINE)) >= 2, name
