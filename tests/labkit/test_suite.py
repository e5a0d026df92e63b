from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from runs import a_task

from labkit import suite as suites
from labkit.errors import IntegrityError
from labkit.fields import Document
from labkit.model import Category, TaskId
from labkit.nodes import dump_yaml
from labkit.rubric import load_rubric
from labkit.scaffold import template
from labkit.suite import (
    FrozenTask,
    Suite,
    changed_fields,
    content_digest,
    digest,
    field_digests,
    read_suite,
    suite_text,
)
from labkit.tasks import parse_task, read_prompt
from labkit.workspace import Workspace
from labkit.workspace import replace as write_file

FROZEN = FrozenTask(
    author="ana", content="c", commitment="m", ciphertext="x", canaries=("1" * 64, "2" * 64)
)
TASKS = {TaskId("a"): FROZEN, TaskId("b"): replace(FROZEN, content="d", canaries=("3" * 64,))}
SUITE = Suite(
    version="v", frozen_at="2026", difference="model", configurations={"A": "1"}, plan="p",
    tasks=TASKS,
)  # fmt: skip


RUBRIC: dict[str, object] = {"dimensions": [], "hard_fails": ["leak"]}
OTHER: dict[str, object] = {"dimensions": [], "hard_fails": []}
ENVIRONMENT: dict[str, object] = {"team": {"setup": ["pip install x"]}, "dockerfiles": {}}
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
DIGESTS = st.text("0123456789abcdef", min_size=4, max_size=8)
SUITES = st.dictionaries(
    st.from_regex(r"[a-z0-9]{1,4}(-[a-z0-9]{1,3})?", fullmatch=True).map(TaskId),
    st.builds(
        FrozenTask,
        author=WORDS,
        content=DIGESTS,
        commitment=DIGESTS,
        ciphertext=DIGESTS,
        canaries=st.lists(DIGESTS, max_size=2).map(tuple),
        fields=st.dictionaries(WORDS, DIGESTS, max_size=2),
    ),
    min_size=1,
    max_size=5,
)


def version(
    tasks: Mapping[TaskId, FrozenTask],
    rubric: Mapping[str, object],
    environment: Mapping[str, object] = ENVIRONMENT,
) -> str:
    return suites.version(tasks, rubric, environment)


@given(suite=SUITES, data=st.data())
def test_any_order_gives_the_same_version(
    suite: dict[TaskId, FrozenTask], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(list(suite)))
    assert version({task: suite[task] for task in order}, RUBRIC) == version(suite, RUBRIC)
    back = dict(reversed(list(RUBRIC.items())))
    assert version(suite, back) == version(suite, RUBRIC)


@given(suite=SUITES, data=st.data())
def test_the_version_changes_with_any_task_and_only_with_what_it_pins(
    suite: dict[TaskId, FrozenTask], data: st.DataObject
) -> None:
    task = data.draw(st.sampled_from(sorted(suite)))
    name = data.draw(st.sampled_from(["content", "commitment", "ciphertext", "author", "gone"]))
    if name == "gone":
        other = {key: value for key, value in suite.items() if key != task}
    else:
        value = getattr(suite[task], name) + "0"
        other = suite | {task: replace(suite[task], **{name: value})}
    pinned = name in ("content", "commitment", "gone")
    assert (version(other, RUBRIC) != version(suite, RUBRIC)) is pinned


LISTS = st.lists(st.from_regex(r"[a-z]{1,5}/?", fullmatch=True), max_size=3, unique=True)
FACTS = st.fixed_dictionaries(
    {
        "title": WORDS.filter(str.strip).filter(str.isprintable),
        "category": st.sampled_from(list(Category)).map(str),
        "base": st.from_regex(r"[0-9a-f]{7,40}", fullmatch=True),
        "solution": st.from_regex(r"[0-9a-f]{7,40}", fullmatch=True),
        "grading": st.sampled_from(["python -m pytest", "sh check.sh 'a b'"]),
        "forbidden": LISTS,
        "allowed": LISTS,
        "slices": st.lists(WORDS, max_size=2),
        "tags": st.lists(WORDS, max_size=2),
        "notes": WORDS,
    }
)
PROMPTS = st.text(st.characters(categories=["L", "N", "P"]) | st.sampled_from(" \n"), min_size=1)


@given(facts=FACTS, prompt=PROMPTS.filter(str.strip), data=st.data())
def test_how_a_file_is_written_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory,
    facts: dict[str, object],
    prompt: str,
    data: st.DataObject,
) -> None:
    """Line ends, a mark at the start, quotes, block or flow style, comments, order of fields."""
    workspace = Workspace(tmp_path_factory.mktemp("w") / "p")
    values = {"id": "bug-a", "author": "ana", **facts}
    write_file(workspace.task(TaskId("bug-a")), dump_yaml(values))
    write_file(workspace.prompt(TaskId("bug-a")), prompt)
    plain = _content(workspace)
    order = data.draw(st.permutations(list(values)))
    text = yaml.dump(
        {name: values[name] for name in order},
        sort_keys=False,
        default_style=data.draw(st.sampled_from(['"', "'"])),
        default_flow_style=data.draw(st.booleans()),
        allow_unicode=data.draw(st.booleans()),
    )
    mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    end = data.draw(st.sampled_from([b"\n", b"\r\n"]))
    written = [("# a note\n" + text).encode(), prompt.encode()]
    written = [mark + part.replace(b"\n", end) for part in written]
    write_file(workspace.task(TaskId("bug-a")), written[0])
    write_file(workspace.prompt(TaskId("bug-a")), written[1])
    assert _content(workspace) == plain


def _content(workspace: Workspace) -> str:
    path = workspace.task(TaskId("bug-a"))
    document = Document.read(path)
    prompt = read_prompt(document, workspace, TaskId("bug-a"))
    task = parse_task(document, TaskId("bug-a"), prompt, workspace.evals)
    document.finish()
    return content_digest(task.facts(), task.prompt)


def test_a_rubric_may_be_written_in_any_way(tmp_path: Path) -> None:
    text = template("init", "rubric.yaml").read_text(encoding="utf-8")
    values = yaml.safe_load(text)
    back = {name: values[name] for name in reversed(values)}
    back["dimensions"] = [dict(reversed(list(item.items()))) for item in back["dimensions"]]
    ways = [
        text.replace("\n", "\r\n"), "\ufeff" + text, text + "# the end\n", yaml.safe_dump(back),
    ]  # fmt: skip
    versions = {version(TASKS, _rubric(tmp_path, way)) for way in (text, *ways)}
    assert len(versions) == 1
    for old, new in (("weight: 1", "weight: 2"), ("Read or listed", "Saw"), ("scope", "range")):
        assert version(TASKS, _rubric(tmp_path, text.replace(old, new, 1))) not in versions


def _rubric(folder: Path, text: str) -> dict[str, object]:
    (folder / "rubric.yaml").write_bytes(text.encode())
    return load_rubric(folder / "rubric.yaml").facts()


def test_what_changed_is_named() -> None:
    task = a_task()
    then = field_digests(task.facts(), task.prompt)
    assert set(then) == {*task.facts(), "prompt"}
    now = field_digests(replace(task, title="u", tags=("x",)).facts(), "p")
    assert changed_fields(then, now) == ("title", "tags", "prompt")
    assert changed_fields({}, now) == ()
    assert changed_fields({**then, "old": "1"}, then) == ("old",)


@given(st.permutations(sorted(TASKS)))
def test_the_version_does_not_depend_on_the_order(order: list[TaskId]) -> None:
    assert version({task: TASKS[task] for task in order}, RUBRIC) == version(TASKS, RUBRIC)


@pytest.mark.parametrize(
    "changed",
    [
        ({TaskId("a"): FROZEN}, RUBRIC),
        ({TaskId("a"): TASKS[TaskId("b")], TaskId("b"): FROZEN}, RUBRIC),
        (TASKS | {TaskId("b"): replace(TASKS[TaskId("b")], content="e")}, RUBRIC),
        (TASKS | {TaskId("b"): replace(TASKS[TaskId("b")], commitment="n")}, RUBRIC),
        (TASKS | {TaskId("c"): FROZEN}, RUBRIC),
        (TASKS, OTHER),
        (TASKS, RUBRIC, {**ENVIRONMENT, "team": {}}),
        (TASKS, RUBRIC, {**ENVIRONMENT, "dockerfiles": {"Dockerfile": "1"}}),
    ],
    ids=["less", "swapped", "content", "oracle", "more", "rubric", "setup", "Dockerfile"],
)
def test_the_version_changes_with_everything_it_pins(
    changed: tuple[dict[TaskId, FrozenTask], dict[str, object]]
    | tuple[dict[TaskId, FrozenTask], dict[str, object], dict[str, object]],
) -> None:
    assert version(*changed) != version(TASKS, RUBRIC)


def test_sealing_the_same_again_keeps_the_version() -> None:
    resealed = replace(FROZEN, ciphertext="y", author="ben")
    assert version(TASKS | {TaskId("a"): resealed}, RUBRIC) == version(TASKS, RUBRIC)


@pytest.mark.parametrize(
    "change",
    [
        {"title": "u"}, {"author": "ben"}, {"category": Category.TRAP}, {"base": "other"},
        {"solution": "other"}, {"grading": "x"}, {"forbidden": ("a",)}, {"allowed": ("a",)},
        {"slices": ("a",)}, {"tags": ("safety",)}, {"notes": "n"}, {"prompt": "other"},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_the_content_changes_with_every_field(change: dict[str, object]) -> None:
    task = a_task()
    other = replace(task, **change)  # type: ignore[arg-type] # names and values of the table above
    assert content_digest(task.facts(), task.prompt) != content_digest(other.facts(), other.prompt)


def test_a_suite_reads_back(tmp_path: Path) -> None:
    write_file(tmp_path / "suite.json", suite_text(SUITE))
    assert read_suite(tmp_path / "suite.json") == SUITE
    assert SUITE.canaries["3" * 64] == TaskId("b")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"author": "ana",', ""), ('"plan": "p",', ""), ('"a": {', '"A b": {'),
        ('"canaries": [', '"more": 1, "canaries": ['), ('"schema": 1', '"schema": 9'), ("}", ""),
    ],
)  # fmt: skip
def test_a_damaged_suite_is_noticed(tmp_path: Path, old: str, new: str) -> None:
    text = suite_text(SUITE)
    assert old in text
    write_file(tmp_path / "suite.json", text.replace(old, new, 1))
    with pytest.raises(IntegrityError):
        read_suite(tmp_path / "suite.json")


def test_a_digest_is_sha256() -> None:
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
