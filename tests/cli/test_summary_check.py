"""`labkit summary check`: files in, findings out, and what cannot be read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import Answer, Lab, Stages


@pytest.fixture
def lab(lab_at: Callable[[str], Lab]) -> Lab:
    return lab_at("summarised")


def check(lab: Lab, *words: str, answers: str = "") -> Answer:
    answer = lab.labkit("summary", "check", *words, answers=answers)
    assert "Traceback" not in answer.err
    return answer


def test_what_labkit_wrote_itself_is_fine(lab: Lab) -> None:
    before = lab.snapshot()
    answer = check(lab)
    assert answer.code == 0
    assert answer.out == f"nothing found in {lab.workspace.summary('md')}\n"
    assert lab.snapshot() == before


def test_words_of_the_team_and_half_pages_are_checked(lab: Lab) -> None:
    page = lab.workspace.summary("md")
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("*In our words:* ...", "*In our words:* B is better than A.", 1))
    review = lab.workspace.evals / "reviews" / "ana.md"
    review.parent.mkdir(exist_ok=True)
    review.write_text("A beats B.\n", encoding="utf-8")
    answer = check(lab)
    assert answer.code == 1
    line = text[: text.index("*In our words:*")].count("\n") + 1
    assert f"{page}:{line}: winner: In our words: B is better than A.\n" in answer.out
    assert f"{review}:1: winner: A beats B.\n" in answer.out
    assert '  "beats": no detectable difference between A and B' in answer.out
    assert "  better: " in answer.out
    assert "2 sentences to look at" in answer.err


def test_findings_as_json(lab: Lab, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("One.\n\nA beats B.\n", encoding="utf-8")
    answer = check(lab, str(page), "--json")
    assert answer.code == 1
    found = json.loads(answer.out)
    assert (found["schema"], found["files"]) == (1, [str(page)])
    (finding,) = found["findings"]
    assert finding.keys() == {"file", "rule", "line", "sentence", "words", "data", "instead"}
    assert (finding["file"], finding["rule"], finding["line"]) == (str(page), "winner", 3)


def test_a_sentence_that_breaks_several_rules_counts_once(lab: Lab) -> None:
    answer = check(lab, "-", answers="A clearly beats B.")
    assert answer.out.count("-:1: ") == 2
    assert "1 sentence to look at in -" in answer.err


def test_standard_input_is_a_page(lab: Lab) -> None:
    assert check(lab, "-", answers="A beats B.").out.startswith("-:1: winner: A beats B.\n")
    assert check(lab, "-", answers="").code == 0


def test_every_page_that_cannot_be_read_is_named(lab: Lab, tmp_path: Path) -> None:
    latin, absent = tmp_path / "latin.md", tmp_path / "absent.md"
    latin.write_bytes(b"one\ntwo \xe9\n")
    answer = check(lab, str(latin), str(absent), str(tmp_path))
    assert answer.code == 2
    assert f"{latin}, line 2: not UTF-8" in answer.err
    assert f"no file {absent}" in answer.err
    assert f"{tmp_path} cannot be read" in answer.err
    assert "hint: give Markdown files, in UTF-8" in answer.err
    assert not answer.out


def test_the_summary_comes_first(stages: Stages) -> None:
    answer = check(stages.original("unblinded"))
    assert answer.code == 2
    assert "summary.json" in answer.err
    assert "hint: write it first: labkit summary" in answer.err


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": 999}', '{"schema": 1}'])
def test_a_damaged_summary_is_not_believed(lab: Lab, content: str) -> None:
    lab.workspace.summary("json").write_text(content, encoding="utf-8")
    answer = check(lab)
    assert answer.code == 3
    assert "summary.json is " in answer.err


def test_the_word_may_be_left_out_of_writing_only(lab: Lab) -> None:
    assert json.loads(lab.done("summary", "--json"))["schema"] == 2
    assert lab.done("summary") == lab.done("summary", "write")
    assert lab.labkit("summary", "chekc").code == 2
    help_text = lab.done("summary", "--help")
    assert "check [OPTIONS] [FILE]..." in help_text
    assert "--json" in help_text
