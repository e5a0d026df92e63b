import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.model import BlindId, ConfigurationId, Member, RunId, TaskId

IDS = st.from_regex(r"[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,4}", fullmatch=True).filter(
    lambda text: (
        text not in ("con", "prn", "aux", "nul")
        and not (len(text) == 4 and text[:3] in ("com", "lpt") and text[3].isdigit())
    )
)


@given(IDS, st.sampled_from("ABCXYZ"), st.integers(1, 9))
def test_a_run_id_reads_back(task: str, configuration: str, attempt: int) -> None:
    run = RunId(TaskId(task), ConfigurationId(configuration), attempt)
    assert RunId.parse(str(run)) == run


@pytest.mark.parametrize(
    "text",
    ["", "a:b", "a/b", "..", ".", "CON", "con", "com1", "nul", "Fix-1", "fix_1", "a__b", "a--b",
     "-a", "a-", "é", "e\u0301", "a b", "a\n", "a" * 300, "a" * 61, "٣", "a.yaml", "$(x)"],
    ids=lambda text: ascii(text)[:12],
)  # fmt: skip
@pytest.mark.parametrize("kind", [TaskId, Member])
def test_awkward_ids_are_refused(kind: type[TaskId] | type[Member], text: str) -> None:
    with pytest.raises(InputError) as caught:
        kind(text)
    assert caught.value.hint
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", ["", "a", "AA", "1", "É", "A\n", " A"])
def test_a_configuration_is_one_capital_letter(text: str) -> None:
    with pytest.raises(InputError):
        ConfigurationId(text)


@pytest.mark.parametrize(
    "text",
    ["", "a", "a__A", "a__A__0", "a__A__10", "a__a__1", "__A__1", "a__A__1\n", "a__A__x",
     "a__b__A__1",
     "../a__A__1", "a__A__1__B__2"],
)  # fmt: skip
def test_what_is_no_run_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        RunId.parse(text)


@pytest.mark.parametrize("attempt", [0, 10, -1])
def test_attempts_are_one_digit(attempt: int) -> None:
    with pytest.raises(InputError):
        RunId(TaskId("a"), ConfigurationId("A"), attempt)


@pytest.mark.parametrize("text", ["42", "B42", "b0042", "B004200", "B00 42", "1e3"])
def test_a_changed_blind_id_is_noticed(text: str) -> None:
    with pytest.raises(InputError, match="is not a blind id"):
        BlindId(text)


def test_ids_sort_by_their_text() -> None:
    assert sorted([TaskId("b"), TaskId("a-1"), TaskId("a")]) == [
        TaskId("a"), TaskId("a-1"), TaskId("b")
    ]  # fmt: skip
    assert str(BlindId("B0042")) == "B0042"
