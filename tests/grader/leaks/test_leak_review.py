import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labkit.canary import digest, find, token
from labkit.errors import InputError, IntegrityError
from labkit.model import Member, RunId, TaskId
from labkit.workspace import write_new
from labkit_grader.leaks.canary import sightings
from labkit_grader.leaks.hits import Hit, Rule
from labkit_grader.leaks.report import render
from labkit_grader.leaks.review import Review, review
from labkit_grader.leaks.rules import Evidence, Rules, RunCheck, check_run
from labkit_grader.leaks.store import load_review, review_text

TOKEN = token(bytes(range(80, 96)))
TASK = TaskId("slug-empty")
RULES = Rules.of_team({digest(TOKEN): TASK}, protected=("evals",), handover="slug-handover")
START = {"type": "start", "agent": "scripted", "version": "1", "seed": 7, "cwd": "/workspace"}
FINISH = {"type": "finish", "text": "Done."}
TRIED = {
    "type": "run",
    "command": "cat ../evals/p",
    "exit_code": 1,
    "output": "cat: ../evals/p: No such file or directory\n",
}
LEAKED = {"type": "run", "command": "./x", "exit_code": 0, "output": f"# {TOKEN} `<b>`\n"}
BY, AT = Member("ana"), "2026-03-01T10:00:00+00:00"
LEAKY, TRYING, CLEAN = (RunId.parse(f"slug-{name}__A__1") for name in ("empty", "title", "join"))


def scripted(run: RunId, *events: dict[str, Any]) -> RunCheck:
    data = "".join(json.dumps(event) + "\n" for event in events).encode()
    return check_run(Evidence(run=run, transcript=data, agent="scripted"), RULES)


def plain(run: str, text: str = "I did it.") -> RunCheck:
    evidence = Evidence(run=RunId.parse(run), transcript=text.encode(), agent="command")
    return check_run(evidence, RULES)


def lab() -> tuple[RunCheck, ...]:
    return (
        scripted(CLEAN, START, FINISH),
        scripted(LEAKY, START, LEAKED, FINISH),
        scripted(TRYING, START, TRIED, FINISH),
    )


@pytest.fixture
def joined() -> Review:
    return review(lab(), suite_version="v1")


def only(hits: tuple[Hit, ...]) -> Hit:
    (hit,) = hits
    return hit


def test_hard_hits_count_and_review_hits_are_open(joined: Review) -> None:
    assert [check.run for check in joined.checked] == [LEAKY, CLEAN, TRYING]
    assert only(joined.open_hits()).rule is Rule.ATTEMPT
    assert joined.leaked_runs() == (LEAKY,)
    assert list(joined.retired_tasks()) == [TASK]
    assert "slug-empty__A__1" in joined.retired_tasks()[TASK]


def test_cleared_hard_hit_no_longer_counts(joined: Review) -> None:
    hard = next(hit for hit in joined.hits if hit.rule is Rule.CANARY)
    cleared = joined.clear(hard.id, by=BY, at=AT, reason="planted by me for a trial")
    assert cleared.leaked_runs() == ()
    assert cleared.retired_tasks() == {}
    again = cleared.confirm(hard.id, by=BY, at=AT, reason="no, it was the real one")
    assert again.leaked_runs() == (LEAKY,)
    assert "ana: no, it was the real one" in again.retired_tasks()[TASK]


def test_review_hit_counts_once_confirmed(joined: Review) -> None:
    attempt = only(joined.open_hits())
    confirmed = joined.confirm(attempt.id, by=BY, at=AT, reason="it read the prompt")
    assert confirmed.open_hits() == ()
    assert confirmed.leaked_runs() == (LEAKY, TRYING)
    assert set(confirmed.retired_tasks()) == {TASK, TaskId("slug-title")}
    cleared = joined.clear(attempt.id, by=BY, at=AT, reason="nothing was there")
    assert (cleared.open_hits(), cleared.leaked_runs()) == ((), (LEAKY,))


@pytest.mark.parametrize("reason", ["", " \n"])
def test_decision_needs_a_reason(joined: Review, reason: str) -> None:
    with pytest.raises(InputError, match="without a reason"):
        joined.clear(only(joined.open_hits()).id, by=BY, at=AT, reason=reason)


def test_decision_needs_a_known_hit(joined: Review) -> None:
    with pytest.raises(InputError, match="no leak hit 'abc'"):
        joined.confirm("abc", by=BY, at=AT, reason="x")


def test_repeating_the_check_keeps_decisions(joined: Review) -> None:
    decided = joined.clear(only(joined.open_hits()).id, by=BY, at=AT, reason="harmless")
    assert review(reversed(lab()), suite_version="v1", earlier=decided) == decided


def test_decision_vanishes_with_its_hit_and_comes_back_with_it(joined: Review) -> None:
    decided = joined.clear(only(joined.open_hits()).id, by=BY, at=AT, reason="harmless")
    without = review(lab()[:2], suite_version="v1", earlier=decided)
    assert without.decisions == ()
    assert [decision.reason for decision in without.vanished] == ["harmless"]
    assert "no longer found" in render(without)
    assert review(lab(), suite_version="v1", earlier=without) == decided


def test_prompt_with_a_canary_retires_the_task_and_blames_no_run() -> None:
    data = "".join(json.dumps(event) + "\n" for event in (START, FINISH)).encode()
    evidence = Evidence(run=TRYING, transcript=data, prompt=TOKEN.encode())
    joined = review([check_run(evidence, RULES)], suite_version="v1")
    assert joined.leaked_runs() == ()
    assert set(joined.retired_tasks()) == {TASK, TaskId("slug-title")}


@pytest.mark.parametrize(
    "events",
    [(START,), (START, TRIED, {"type": "new"}, FINISH), (START, FINISH, FINISH)],
    ids=["no-end", "unknown-event", "after-the-end"],
)
def test_transcript_that_is_not_whole_is_never_clear(events: tuple[dict[str, Any], ...]) -> None:
    joined = review([scripted(CLEAN, *events)], suite_version="v1")
    assert Rule.COVERAGE in {hit.rule for hit in joined.open_hits()}


def test_coverage_decision_does_not_pass_to_another_transcript() -> None:
    said = {"type": "say", "text": "x"}
    first = review([scripted(CLEAN, START)], suite_version="v1")
    second = review([scripted(CLEAN, START, said)], suite_version="v1")
    assert only(first.hits).id != only(second.hits).id


def test_plain_output_asks_once_for_each_configuration() -> None:
    checks = [plain("a__A__1"), plain("a__B__1"), plain("a__A__2", "Other."), plain("b__A__1")]
    joined = review(checks, suite_version="v1")
    assert [[str(run) for run in hit.runs] for hit in joined.open_hits()] == [
        ["a__A__1", "a__A__2", "b__A__1"],
        ["a__B__1"],
    ]
    fewer = review(checks[:3], suite_version="v1")
    assert fewer.hits[0].id != joined.hits[0].id
    assert fewer.hits[1].id == joined.hits[1].id


def test_review_comes_back_from_its_file(joined: Review, tmp_path: Path) -> None:
    hit = only(joined.open_hits())
    decided = joined.clear(hit.id, by=BY, at=AT, reason="harmless")
    everything = replace(decided, vanished=decided.decisions)
    write_new(tmp_path / "leaks.json", review_text(everything))
    assert load_review(tmp_path / "leaks.json") == everything


@pytest.mark.parametrize(
    "change",
    [
        {"hits": [{}]},
        {"hits": None},
        {"checked": {"no-run": {"gaps": []}}},
        {"decisions": [{"decision": "perhaps"}]},
        {"schema": 2},
    ],
    ids=["hit", "none", "run", "decision", "schema"],
)
def test_damaged_file_is_an_integrity_error(
    joined: Review, tmp_path: Path, change: dict[str, Any]
) -> None:
    values = json.loads(review_text(joined)) | change
    path = tmp_path / "leaks.json"
    path.write_text(json.dumps(values))
    with pytest.raises(IntegrityError):
        load_review(path)


def test_report_tells_what_was_checked_found_and_decided(joined: Review) -> None:
    hit = only(joined.open_hits())
    text = render(joined)
    assert "3 runs checked, 2 hits, 1 still to be decided, 1 runs count as leaked." in text
    assert f"### {hit.id}: A protected path was tried (R-a, for review)" in text
    assert "- Where: slug-title__A__1: transcript.jsonl, line 2" in text
    assert "      cat ../evals/p => cat: ../evals/p: No such file or directory" in text
    assert "| slug-join__A__1 | scripted | 0 | yes | nothing |" in text
    decided = render(joined.clear(hit.id, by=BY, at=AT, reason="see `x`"))
    assert f"- Cleared by ana, {AT}: see \\`x\\`" in decided


def test_kits_own_reports_show_no_canary(joined: Review) -> None:
    for text in (render(joined), review_text(joined)):
        assert not find(text)
        assert not sightings(text)
    evidence = Evidence(run=CLEAN, transcript=b"", files={"leaks.md": render(joined).encode()})
    assert check_run(evidence, RULES).hits == ()
