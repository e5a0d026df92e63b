"""The page about candidates: its tables are true."""

import json
import re
import shlex
from pathlib import Path

from candidates import trial
from house import ROOT
from sandboxes import IMAGE

from labkit.evals import Answer, EvalCase, open_candidate
from labkit.evals.answerfile import FIELDS
from labkit.evals.command import COMMAND_LIMITS
from labkit.evals.commandfiles import MOST_OUTPUT
from labkit.evals.kept import HostLimits
from labkit.evals.named import FORMS, Options
from labkit.evals.pipes import MOST_LINE
from labkit.evals.wire import DEEPEST
from labkit.graders.folder import MOST_FILE_BYTES
from labkit.sandbox.interface import Sandbox

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


def test_the_command_of_the_page_runs_as_it_stands_there(
    bubblewrap_sandbox: Sandbox, tmp_path: Path
) -> None:
    (code,) = re.findall(r"```python\n(# solve\.py\n.*?)```", PAGE, re.DOTALL)
    (line,) = re.findall(r"^\$ (labkit evaluate .*)$", PAGE, re.MULTILINE)
    words = shlex.split(line)
    (tmp_path / "solve.py").write_text(code)
    options = Options(
        folder=tmp_path,
        sandbox=lambda: bubblewrap_sandbox,
        image=IMAGE,
        files=(Path(words[words.index("--files") + 1]),),
    )
    with open_candidate(words[words.index("--candidate") + 1], options) as candidate:
        answer = candidate(EvalCase(id="a", inputs="shout"), trial(tmp_path))
    assert isinstance(answer, Answer)
    assert answer.output == "SHOUT"
