"""The page about candidates: its tables are true."""

import json
import re

from house import ROOT

from labkit.evals.answerfile import FIELDS
from labkit.evals.command import COMMAND_LIMITS
from labkit.evals.commandfiles import MOST_OUTPUT
from labkit.evals.kept import HostLimits
from labkit.evals.named import FORMS
from labkit.evals.pipes import MOST_LINE
from labkit.evals.wire import DEEPEST
from labkit.graders.folder import MOST_FILE_BYTES

PAGE = (ROOT / "docs" / "candidates.md").read_text(encoding="utf-8")
MIB = 1024 * 1024


def test_every_form_has_its_row() -> None:
    named = re.findall(r"([a-z]+:)[A-Z]|(known-fixes|nothing)|([A-Z]+[.:a-z]*FUNCTION)", FORMS)
    words = [next(filter(None, each)) for each in named]
    assert len(words) == 8
    assert all(f"`{word}" in PAGE for word in words)


def test_every_field_of_an_answer_stands_there() -> None:
    (row,) = re.findall(r"^\| `/labkit/answer.json` \| `(.*?)`", PAGE, re.MULTILINE)
    shown = re.findall(r'"(\w+)": ', row)
    assert {*FIELDS} == {*shown} - {"path", "search", "replace"}


def test_the_limits_are_those_of_the_page() -> None:
    assert f"at most {MOST_LINE // MIB} MiB and {DEEPEST} levels deep" in PAGE
    assert f"at most {MOST_OUTPUT // MIB} MiB" in PAGE
    assert f"than {MOST_FILE_BYTES // MIB} MiB, or {COMMAND_LIMITS.returned_bytes // MIB}" in (
        " ".join(PAGE.split())
    )
    assert f"a file of more than {HostLimits().file} MiB" in PAGE


def test_recorded_answers_are_json() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert [len(json.loads(line)) >= 2 for line in block.strip().split("\n")] == [True] * 3
