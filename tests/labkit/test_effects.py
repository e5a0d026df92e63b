"""What was declared to differ, held against what the runs show."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import A, B, a_configuration
from wires import PRINT, a_record, printed, study_of

from labkit.configurations import Configuration
from labkit.effects import (
    Finding,
    Kind,
    Weight,
    attributable,
    effects,
    same_answers,
    same_trees,
)
from labkit.model import ConfigurationId, RunId
from labkit.records import RunRecord
from labkit.summary import Topic

PLAIN: dict[str, Any] = {"agent": "claude-code", "agent_version": "2.1"}


def sides(**changes: Any) -> tuple[Configuration, Configuration]:
    """Return A, and B that differs from it in `changes`."""
    return a_configuration(A, **PLAIN), a_configuration(B, **(PLAIN | changes))


def told(found: tuple[Finding, ...]) -> list[tuple[Kind, Weight, str]]:
    return [(each.kind, each.weight, each.text) for each in found]


def with_params(**params: Any) -> dict[str, Any]:
    """Return what makes a record's fingerprint have more parameters."""
    return {"fingerprint": printed(params=params)}


LOW, HIGH = (
    with_params(output_config={"effort": "low"}),
    with_params(output_config={"effort": "high"}),
)


def test_one_thing_declared_and_seen_is_nothing_to_tell() -> None:
    assert effects(sides(effort="low"), study_of(3, 2, A=HIGH, B=LOW)) == ()
    assert attributable(()) is True


def test_an_effort_that_never_reached_the_wire_is_told() -> None:
    found = effects(sides(effort="low"), study_of(3, 2))
    assert told(found) == [
        (
            Kind.NO_EFFECT,
            Weight.BREAKS,
            "effort: none against low: declared of A and B, and seen in none of 6 pairs of runs: "
            "it did not reach the model.",
        )
    ]
    assert found[0].about == (A, B)
    assert attributable(found) is False


def test_an_effort_that_reached_the_wire_sometimes_is_a_caution() -> None:
    records = [
        replace(each, **LOW | {"fingerprint": {**LOW["fingerprint"], "messages": "bug-1"}})
        if each.run == RunId.parse("bug-1__B__1")
        else each
        for each in study_of(3)
    ]
    found = effects(sides(effort="low"), records)
    assert found[0].weight is Weight.CAUTION
    assert "not seen in 2 of 3 pairs of runs" in found[0].text


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"instructions": "rules"}, "the agent does not read these files"),
        ({"model": "n"}, "the runs ask the same model"),
    ],
)
def test_other_things_that_were_never_seen(changes: dict[str, str], says: str) -> None:
    found = effects(sides(**changes), study_of(1))
    assert (found[0].kind, found[0].weight) == (Kind.NO_EFFECT, Weight.BREAKS)
    assert f"not seen in the one pair of runs: {says}" in found[0].text


SEEN: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "instructions in the messages": ({"instructions": "rules"}, printed(messages="other")),
    "instructions in the system prompt": ({"instructions": "rules"}, printed(system="other")),
    "model": ({"model": "n"}, printed(model="n")),
    "harness": (
        {"agent": "codex"},
        printed(client="c", system="c", tools="c", messages="c", params={"x": 1}),
    ),
    "arguments": ({"arguments": ("--fast",)}, printed(tools="other")),
    "settings": ({"settings": {"K": "v"}}, printed(system="other")),
    "turn cap": ({"turn_cap": 9}, dict(PRINT)),
}


@pytest.mark.parametrize(("changes", "fingerprint"), SEEN.values(), ids=SEEN)
def test_what_a_declared_difference_may_change(
    changes: dict[str, Any], fingerprint: dict[str, Any]
) -> None:
    records = [
        a_record("bug-1__A__1", fingerprint=dict(PRINT)),
        a_record("bug-1__B__1", fingerprint=fingerprint, agent=changes.get("agent", "claude-code")),
    ]
    assert effects(sides(**changes), records) == ()


MORE: Mapping[str, tuple[dict[str, Any], str]] = {
    "tools": ({"tools": "t"}, "The tools differ in the one pair"),
    "system": ({"system": "s"}, "The system prompt differs in"),
    "messages": ({"messages": "s"}, "The first messages differ in"),
    "model": ({"model": "x"}, "The model asked for differs (m against x) in"),
    "client": ({"client": "cli/2"}, "The client's name differs (cli/1.0 against cli/2) in"),
    "a parameter": (
        {"params": {"max_tokens": 9}},
        "The parameter max_tokens differs (32000 against 9) in",
    ),
    "a new parameter": (
        {"params": {"seed": 9}},
        "The parameter seed differs (none against 9) in",
    ),
}


@pytest.mark.parametrize(("fingerprint", "says"), MORE.values(), ids=MORE)
def test_more_than_was_declared_is_told(fingerprint: dict[str, Any], says: str) -> None:
    declared = {"params": {"output_config": {"effort": "low"}} | fingerprint.pop("params", {})}
    one = a_record("bug-1__A__1", fingerprint=printed())
    other = a_record("bug-1__B__1", fingerprint=printed(**declared, **fingerprint))
    found = effects(sides(effort="low"), [one, other])
    assert (found[0].kind, found[0].weight) == (Kind.MORE, Weight.BREAKS)
    assert found[0].text.startswith(says)
    assert found[0].text.endswith("of A and B, and only effort was declared to differ.")


def test_a_harness_that_asks_another_model_is_told() -> None:
    records = study_of(2, B={"fingerprint": printed(model="x"), "agent": "codex"})
    found = effects(sides(agent="codex"), records)
    assert [each.kind for each in found] == [Kind.MORE, Kind.OTHER_MODEL]
    assert "B is declared to ask m, and 2 runs (bug-1__B__1, bug-2__B__1) asked x." in found[1].text


def test_a_model_that_was_asked_beside_the_conversation_is_told() -> None:
    arm = a_configuration(B, **PLAIN)
    unseen = a_record("bug-1__B__1", fingerprint={}, asked={"x": 2, "m": 1}, manual={"by": "ana"})
    found = [each for each in effects((arm,), [unseen]) if each.kind is Kind.OTHER_MODEL]
    assert [(each.weight, each.text) for each in found] == [
        (
            Weight.BREAKS,
            "B is declared to ask m, and in 1 run (bug-1__B__1) 2 requests asked x.",
        )
    ]
    aside = a_record("bug-1__B__1", asked={"small": 1, "m": 3})
    assert told(effects((arm,), [aside])) == [
        (
            Kind.OTHER_MODEL,
            Weight.CAUTION,
            "B is declared to ask m, and in 1 run (bug-1__B__1) 1 request beside it asked small.",
        )
    ]
    assert effects((arm,), [a_record("bug-1__B__1", asked={"m": 3})]) == ()


def test_a_prompt_that_names_its_model_is_a_note_with_nothing_to_do() -> None:
    other = {"fingerprint": printed(model="n", system="s")}
    found = effects(sides(model="n"), study_of(1, B=other))
    assert told(found) == [
        (
            Kind.FOLLOWS,
            Weight.NOTE,
            "The system prompt and the first messages differ too between A and B: agents tell a "
            "model its own name there, and some fit their words to it. Nothing to do; labkit "
            "config diff A B shows the lines.",
        )
    ]
    assert attributable(found) is True


def test_what_a_model_brings_along_is_a_caution() -> None:
    records = study_of(2, B={"fingerprint": printed(model="n", tools="t", messages="bug-1")})[:2]
    assert told(effects(sides(model="n"), records)) == [
        (
            Kind.FOLLOWS,
            Weight.CAUTION,
            "With model, more differs between A and B: the tools. If the agent makes it so, the "
            "comparison is of model with all of that.",
        )
    ]


def test_a_setting_that_shows_nothing_is_a_caution_only() -> None:
    found = effects(sides(settings={"K": "v"}), study_of(2))
    assert [(each.kind, each.weight) for each in found] == [(Kind.NO_EFFECT, Weight.CAUTION)]
    assert "settings.K: none against v" in found[0].text
    assert attributable(found) is True


BESIDE: Mapping[str, tuple[dict[str, Any], str]] = {
    "version": ({"agent_version": "2.1 x"}, "The agent's version differs (2.1 against 2.1 x)"),
    "program": ({"binary_digest": "c"}, "The agent's program differs in"),
    "image": ({"image_digest": "sha256:b"}, "The image differs in"),
    "instructions": (
        {"memory": {"/workspace/AGENTS.md": "1"}},
        "The files that instruct the agent differ in",
    ),
    "login": ({"login": "subscription"}, "The login differs (key against subscription)"),
}


@pytest.mark.parametrize(("changes", "says"), BESIDE.values(), ids=BESIDE)
def test_what_differs_beside_the_wire_is_told(changes: dict[str, Any], says: str) -> None:
    found = effects(sides(effort="low"), study_of(2, A=HIGH, B=LOW | changes))
    assert (found[0].kind, found[0].weight) == (Kind.MORE, Weight.BREAKS)
    assert found[0].text.startswith(says)
    assert "in both pairs of runs of A and B, and only effort" in found[0].text


def test_what_is_known_of_one_side_only_is_never_called_different() -> None:
    elsewhere = HIGH | {
        "sandbox": "declared", "image_digest": "", "binary_digest": "", "agent_version": "2.1",
    }  # fmt: skip
    seen = LOW | {"memory": {"/workspace/AGENTS.md": "1"}}
    records = study_of(3, A=HIGH | {"memory": seen["memory"]}, B=seen)
    records[0] = a_record("bug-1__A__1", **elsewhere)
    assert told(effects(sides(effort="low"), records)) == [
        (
            Kind.UNKNOWN,
            Weight.UNKNOWN,
            "The agent's program, the kind of sandbox and the files that instruct the agent "
            "are known of one side only in 1 of 3 pairs of runs of A and B: whether they differ "
            "there, nobody can say.",
        )
    ]


@pytest.mark.parametrize("name", ["agent_version", "binary_digest", "image_digest"])
def test_no_empty_value_is_a_difference(name: str) -> None:
    found = effects(sides(effort="low"), study_of(1, A=HIGH | {name: ""}, B=LOW))
    assert [each.weight for each in found] == [Weight.UNKNOWN]
    # What no run of an agent has, as a scripted one has no program, is nothing to tell.
    assert effects(sides(effort="low"), study_of(1, A=HIGH | {name: ""}, B=LOW | {name: ""})) == ()


@pytest.mark.parametrize("changes", [{"effort": "low"}, {"agent": "codex"}])
def test_another_kind_of_sandbox_is_more_than_was_declared(changes: dict[str, Any]) -> None:
    other = LOW | {"sandbox": "bubblewrap", "image_digest": "Linux; Python 3.11.2; environment e1"}
    found = effects(sides(**changes), study_of(1, A=HIGH, B=other))
    assert [(each.kind, each.weight, each.text) for each in found] == [
        (
            Kind.MORE,
            Weight.BREAKS,
            "The kind of sandbox differs (docker against bubblewrap) in the one pair of runs of A "
            f"and B, and only {next(iter(changes))} was declared to differ.",
        )
    ]


def test_what_a_version_brings_along_is_no_news() -> None:
    other = {
        "agent_version": "2.2", "binary_digest": "c", "image_digest": "sha256:b",
        "memory": {"/workspace/A.md": "1"}, "fingerprint": printed(system="n", client="cli/2"),
    }  # fmt: skip
    records = [a_record("bug-1__A__1", fingerprint=printed()), a_record("bug-1__B__1", **other)]
    assert effects(sides(agent_version="2.2"), records) == ()


def test_a_version_that_was_not_installed_is_told() -> None:
    found = effects(sides(agent_version="2.2"), study_of(2))
    assert [(each.kind, each.weight) for each in found] == [
        (Kind.NO_EFFECT, Weight.BREAKS),
        (Kind.NO_EFFECT, Weight.CAUTION),
        (Kind.OTHER_VERSION, Weight.CAUTION),
    ]
    assert "both ran as 2.1 in both pairs" in found[0].text
    assert found[2].text == (
        "B is declared to be claude-code 2.2, and 2 runs (bug-1__B__1, bug-2__B__1) had 2.1."
    )


@pytest.mark.parametrize("version", ["2.1", "2.1 (Claude Code)", "codex-cli 2.1", ""])
def test_a_version_is_read_out_of_what_the_program_says(version: str) -> None:
    records = study_of(1, A=HIGH | {"agent_version": version}, B=LOW | {"agent_version": version})
    assert effects(sides(effort="low"), records) == ()


def test_a_longer_version_is_another_one() -> None:
    records = study_of(1, A=HIGH | {"agent_version": "2.1.9"}, B=LOW | {"agent_version": "2.1.9"})
    assert [each.kind for each in effects(sides(effort="low"), records)] == 2 * [Kind.OTHER_VERSION]


def test_what_is_not_known_is_never_called_equal() -> None:
    bare = {"fingerprint": {}, "agent": "scripted"}
    found = effects(sides(effort="low"), study_of(2, A=bare, B=bare))
    assert told(found) == [
        (
            Kind.UNKNOWN,
            Weight.UNKNOWN,
            "What the model was asked is unknown in both pairs of runs of A and B (no request "
            "of the scripted agent was seen): whether they differ there in effort, and in nothing "
            "else, nobody can say.",
        )
    ]
    assert attributable(found) is None
    paid = {"fingerprint": {}, "login": "subscription"}
    records = study_of(1, A=HIGH, B=LOW) + study_of(2, A=paid, B=paid)[2:]
    one = effects(sides(effort="low"), records)
    assert "unknown in 1 of 2 pairs of runs of A and B (a subscription's requests" in one[0].text


LATER = {"started": "2026-01-03T10:00:00+00:00"}


def test_another_day_clouds_what_holds_the_date() -> None:
    other = LOW | LATER | {"fingerprint": printed(**LOW["fingerprint"] | {"system": "later"})}
    found = effects(sides(effort="low"), study_of(2, A=HIGH, B=other))
    assert [(each.kind, each.weight) for each in found] == [(Kind.DAYS, Weight.UNKNOWN)]
    assert "different days in both pairs of runs" in found[0].text
    # Where the parts are the same all the same, the date is not in them.
    assert effects(sides(effort="low"), study_of(2, A=HIGH, B=LOW | LATER)) == ()


def test_another_day_is_no_proof_of_instructions() -> None:
    other = {"fingerprint": printed(messages="later")} | LATER
    found = effects(sides(instructions="rules"), study_of(1, B=other))
    assert [each.kind for each in found] == [Kind.DAYS]


@pytest.mark.parametrize(
    ("started", "kind"),
    [
        ("2026-01-03T00:30:00+02:00", Kind.MORE),  # the same day, as a machine on UTC has it
        ("2026-01-02T23:30:00-05:00", Kind.DAYS),
    ],
)
def test_days_are_days_of_one_zone(started: str, kind: Kind) -> None:
    other = {"fingerprint": printed(**LOW["fingerprint"] | {"system": "x"}), "started": started}
    found = effects(sides(effort="low"), study_of(1, A=HIGH, B=other))
    assert kind in {each.kind for each in found}
    assert not {Kind.MORE, Kind.DAYS} - {kind} & {each.kind for each in found}


def test_nothing_that_an_agent_wrote_acts_on_a_page_or_a_terminal() -> None:
    hostile = printed(params={"x\x1b[2J\n# Title\u202e": 1}, model="m\x07")
    found = effects(sides(effort="low"), study_of(1, B={"fingerprint": hostile}))
    assert any("The parameter x\\x1b[2J\\n# Title\\u202e differs" in each.text for each in found)
    assert all(each.text.isprintable() for each in found)
    long = printed(params={"x" * 10_000: 1})
    found = effects(sides(effort="low"), study_of(1, B={"fingerprint": long}))
    assert max(len(each.text) for each in found) < 2100


def test_only_the_same_task_and_attempt_are_compared() -> None:
    records = [a_record("bug-1__A__1"), a_record("bug-2__B__1"), a_record("bug-1__B__2")]
    assert effects(sides(effort="low"), records) == ()


def test_a_change_in_mid_study_is_told_with_the_runs_around_it() -> None:
    names = [f"bug-{number}__A__1" for number in (1, 2, 3)]
    # In the order in which they were begun, whatever the zones and the order of the records.
    times = ("T08:00:00-02:00", "T11:00:00+00:00", "T13:00:00+01:00")
    records = [
        a_record(name, started=f"2026-01-02{time}", agent_version=version)
        for name, time, version in zip(names, times, ("2.1", "2.1", "2.2"), strict=True)
    ][::-1]
    found = effects((a_configuration(A, agent="claude-code", agent_version=""),), records)
    assert told(found) == [
        (
            Kind.CHANGED,
            Weight.CAUTION,
            "The version of A changed in mid-study: 2.1 in bug-1__A__1 to bug-2__A__1, then 2.2 in "
            "bug-3__A__1.",
        )
    ]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"binary_digest": "c"}, "program"),
        ({"image_digest": "sha256:b"}, "image"),
        ({"login": "subscription"}, "login"),
        ({"answered_by": ("m-2",)}, "answering model"),
        ({"sandbox": "bubblewrap"}, "kind of sandbox"),
    ],
)
def test_what_else_may_change(change: dict[str, Any], what: str) -> None:
    first = a_record("bug-1__A__1", answered_by=("m-1",))
    second = a_record("bug-2__A__1", **({"answered_by": ("m-1",)} | change))
    found = effects(sides()[:1], [first, second])
    assert [each.text.partition(" changed")[0] for each in found] == [f"The {what} of A"]


def test_images_of_other_environments_are_no_change() -> None:
    first = a_record("bug-1__A__1", environment="e1")
    second = a_record("bug-2__A__1", environment="e2", image_digest="sha256:b")
    assert effects(sides()[:1], [first, second]) == ()


def test_another_environment_of_one_task_is_a_change() -> None:
    first = a_record("bug-1__A__1", environment="e1")
    second = a_record("bug-1__A__2", environment="e2", image_digest="sha256:b")
    assert [each.text for each in effects(sides()[:1], [first, second])] == [
        "The environment of A changed in mid-study: e1 in bug-1__A__1, then e2 in bug-1__A__2."
    ]


def test_a_long_name_of_an_image_is_shortened_but_compared_whole() -> None:
    image = "Linux-6.1-x86_64-{}; Python 3.11.7; environment-f7e2; environment 66e6"
    first = a_record("bug-1__A__1", image_digest=image.format("a"))
    second = a_record("bug-2__A__1", image_digest=image.format("b"))
    assert [each.text for each in effects(sides()[:1], [first, second])] == [
        "The image of A changed in mid-study: environment 66e6 on Linux-6.1-x86_64-a in "
        "bug-1__A__1, then environment 66e6 on Linux-6.1-x86_64-b in bug-2__A__1."
    ]


def test_another_model_that_answers_is_told() -> None:
    records = [a_record("bug-1__A__1", answered_by=("m", "small"))]
    assert [each.text for each in effects(sides()[:1], records)] == [
        "A asked m, and in 1 run (bug-1__A__1) m, small answered."
    ]
    assert effects(sides()[:1], [a_record("bug-1__A__1", answered_by=("m-2026",))]) == ()


def test_a_provider_before_the_models_name_is_no_other_model() -> None:
    arm = a_configuration(A, **PLAIN, model="openai/m")
    assert effects((arm,), [a_record("bug-1__A__1")]) == ()


def test_parts_that_are_not_constant_within_one_configuration() -> None:
    first, second = a_record("bug-1__A__1"), a_record("bug-1__A__2")
    changed = replace(second, fingerprint=printed(tools="t", messages="x"))
    assert [each.text for each in effects(sides()[:1], [first, changed])] == [
        "Within A, the first messages differed between attempts at bug-1.",
        "Within A, the tools had 2 forms in 2 runs.",
    ]
    other_task = replace(changed, run=RunId.parse("bug-2__A__1"), fingerprint=printed(messages="x"))
    assert effects(sides()[:1], [first, other_task]) == ()


def test_runs_by_hand_are_told() -> None:
    records = study_of(1, A=HIGH, B=LOW | {"manual": {"by": "ana"}})
    assert [(each.kind, each.text) for each in effects(sides(effort="low"), records)] == [
        (
            Kind.MORE,
            "Whether a person ran it differs in the one pair of runs of A and B, and only effort "
            "was declared to differ.",
        ),
        (Kind.BY_HAND, "1 run (bug-1__B__1) of B was made by hand."),
    ]


def test_three_configurations_are_held_against_each_other() -> None:
    third = a_configuration(ConfigurationId("C"), **PLAIN, effort="high")
    records = study_of(1, A=with_params(), B=LOW, C=LOW)
    found = effects((*sides(effort="low"), third), records)
    assert [each.about for each in found] == [(B, ConfigurationId("C"))]


def test_equal_answers_and_equal_trees_are_told() -> None:
    def record(run: str, **more: Any) -> RunRecord:
        return a_record(run, **more)

    records = [
        record("a__A__1", answers_digest="x", result_tree="t1"),
        record("a__A__2", answers_digest="x", result_tree="t2"),
        record("a__A__3", answers_digest="", result_tree="t1"),
        record("a__B__1", answers_digest="x", result_tree="t1"),
        record("b__A__1", answers_digest="", result_tree="b"),
        record("b__A__2", answers_digest="", result_tree="b"),
    ]
    run = RunId.parse
    assert same_answers(records) == ((run("a__A__1"), run("a__A__2")),)
    assert same_trees(records) == ((run("a__A__1"), run("a__A__3")),)


@given(st.sampled_from(sorted(set(MORE) - {"a new parameter"})), st.permutations(range(8)))
def test_the_order_of_records_never_counts(part: str, order: list[int]) -> None:
    fingerprint = {"tools": "t", "system": "s"} if part == "tools" else {"client": part}
    records = study_of(4, B={"fingerprint": printed(**fingerprint)})
    shuffled = [records[place] for place in order]
    assert effects(sides(effort="low"), shuffled) == effects(sides(effort="low"), records)


@given(
    st.sampled_from(["effort", "instructions", "model", "agent_version", "turn_cap"]),
    st.dictionaries(st.sampled_from(sorted(PRINT)), st.sampled_from(["x", "y"])),
)
def test_nothing_is_told_of_a_configuration_against_itself(
    field: str, parts: dict[str, str]
) -> None:
    """Two arms that ask the same have no more than what was declared between them."""
    same = {"fingerprint": {**PRINT, **parts}}
    changes: Any = {field: 9 if field == "turn_cap" else "other"}
    found = effects(sides(**changes), study_of(2, A=same, B=same))
    assert not [each for each in found if each.kind is Kind.MORE]


def test_every_kind_is_a_topic_of_the_summary() -> None:
    assert {str(kind) for kind in Kind} <= {str(topic) for topic in Topic}
