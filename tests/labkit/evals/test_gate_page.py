"""The page about gates: its examples are run, its workflow and its table are true."""

import doctest
import re

import yaml
from house import COMMANDS, ROOT

from labkit.cli.gating import EXIT_CODES

PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")


def test_the_examples_are_true() -> None:
    found = doctest.DocTestParser().get_doctest(PAGE, {}, "gate.md", "docs/gate.md", 0)
    failures: list[str] = []
    doctest.DocTestRunner().run(found, out=failures.append)
    assert not failures, "".join(failures)
    assert len(found.examples) > 12


def test_the_workflow_can_be_read_and_tells_every_exit_code() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    steps = yaml.safe_load(block)["jobs"]["gate"]["steps"]
    scripts = "\n".join(step.get("run", "") for step in steps)
    assert all(f"{code}) " in scripts for code in EXIT_CODES.values())
    for command in ("labkit evaluate", "labkit gate"):
        known = {word for param in COMMANDS[command].params for word in param.opts}
        asked = re.split(r"\n(?! )|>>", scripts.split(command)[1])[0]
        typed = set(re.findall(r"(?<= )--?[a-z]+", asked))
        assert typed, command
        assert typed <= known


def test_every_option_stands_on_the_page() -> None:
    names = {word for param in COMMANDS["labkit gate"].params for word in param.opts}
    assert not {name for name in names if name.startswith("--") and f"`{name}" not in PAGE}


def test_the_exit_codes_are_those_of_the_page() -> None:
    told = dict(re.findall(r"^\| (PASS|BLOCK|INDECISIVE) \| (\d) \|", PAGE, re.MULTILINE))
    assert {str(outcome).upper(): str(code) for outcome, code in EXIT_CODES.items()} == told
