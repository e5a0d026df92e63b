"""Graders by name: built from mappings with every problem told, registered once, installed too."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError, ToolError
from labkit.fields import Document, Fields
from labkit.graders import (
    GRADERS,
    AllOf,
    Case,
    ContainsAll,
    Criterion,
    Exact,
    FileEquals,
    Form,
    Grader,
    Likeness,
    LineEnds,
    Output,
    PredicateGrader,
    RegexMatch,
    Registry,
    RubricGrader,
    ShellExitZero,
    Tools,
    Verdict,
    Whitespace,
)
from labkit.graders.likeness import EXACT_BYTES
from labkit.nodes import plain_node
from labkit.sandbox.interface import Limits, Sandbox

OWN = (
    *("all_of", "any_of", "contains_all", "exact", "file_equals", "harbor_tests", "predicate"),
    *("pytest_passes", "regex_match", "rubric", "shell_exit_zero"),
)
CASE = Case(id="a", reference="yes")


def judge(criterion: Criterion, output: Output, case: Case) -> object:
    del criterion, output, case
    return 1


def even(output: Output, case: Case) -> bool:
    del case
    return output.value == 2


TOOLS = Tools(judge=judge, predicates={"even": even})


def build(spec: dict[str, object], tools: Tools = TOOLS) -> Grader:
    """Build a grader by the registry that labkit uses."""
    return GRADERS.build(spec, tools=tools)


def problems(spec: dict[str, object], tools: Tools = TOOLS) -> list[str]:
    """Return what is told about a mapping."""
    with pytest.raises(InputError) as caught:
        build(spec, tools)
    return list(caught.value.problems)


def test_labkits_own_graders() -> None:
    assert GRADERS.names() == OWN


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"name": "exact"}, Exact()),
        (
            {"name": "exact", "expected": "4", "whitespace": "all", "ignore_case": True},
            Exact(expected="4", likeness=Likeness(whitespace=Whitespace.ALL, ignore_case=True)),
        ),
        ({"name": "exact", "expected": ""}, Exact(expected="")),
        ({"name": "contains_all", "words": ["a", "b"]}, ContainsAll(words=("a", "b"))),
        (
            {"name": "contains_all", "words": ("a",), "path": "b/c"},
            ContainsAll(words=("a",), path="b/c"),
        ),
        (
            {"name": "regex_match", "pattern": "a+", "whole": True, "unicode": "nfkc"},
            RegexMatch(pattern="a+", whole=True, likeness=Likeness(unicode=Form.NFKC)),
        ),
        (
            {"name": "file_equals", "path": "a", "expected": "b", "line_ends": "lf"},
            FileEquals(
                path="a",
                expected="b",
                likeness=Likeness(unicode=Form.KEEP, line_ends=LineEnds.LF),
            ),
        ),
        ({"name": "file_equals", "path": "a"}, FileEquals(path="a", likeness=EXACT_BYTES)),
        ({"name": "predicate", "function": "even"}, PredicateGrader(function=even)),
        (
            {
                "name": "rubric",
                "threshold": 0.7,
                "criteria": [
                    {"name": "right", "question": "is it?", "weight": 3},
                    {"name": "tidy", "question": "is it?", "weight": 0.25},
                ],
            },
            RubricGrader(
                criteria=(
                    Criterion(name="right", question="is it?", weight=3.0),
                    Criterion(name="tidy", question="is it?", weight=0.25),
                ),
                judge=judge,
                threshold=0.7,
            ),
        ),
        (
            {
                "name": "all_of",
                "graders": [
                    {"name": "exact"},
                    {"name": "all_of", "graders": [{"name": "regex_match", "pattern": "y"}]},
                ],
            },
            AllOf(graders=(Exact(), AllOf(graders=(RegexMatch(pattern="y"),)))),
        ),
    ],
)
def test_a_mapping_becomes_a_grader(spec: dict[str, object], expected: Grader) -> None:
    assert build(spec) == expected


def test_a_command_gets_the_sandbox_and_its_limits(bubblewrap_sandbox: Sandbox) -> None:
    tools = Tools(sandbox=bubblewrap_sandbox, image="i", limits=Limits(seconds=9, memory=77))
    made = build({"name": "shell_exit_zero", "command": "true", "timeout": 5}, tools)
    assert made == ShellExitZero(
        command="true",
        sandbox=bubblewrap_sandbox,
        image="i",
        limits=Limits(seconds=5, memory=77),
    )
    plain = build({"name": "shell_exit_zero", "command": "true"}, tools)
    assert isinstance(plain, ShellExitZero)
    assert plain.limits == tools.limits


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({}, ['grader: no "name:"']),
        ({"name": "sql"}, [f"grader: \"name\" is 'sql': use one of {', '.join(OWN)}"]),
        ({"name": 4}, ['grader: "name" must be a text: put it in quotes: "4"']),
        (
            {"name": "exactly"},
            ['grader: "name" is \'exactly\': did you mean "exact"?'],
        ),
        (
            {
                "name": "exact",
                "expected": 4,
                "whitespce": "all",
                "unicode": "nfd",
                "ignore_case": "y",
            },
            [
                'grader: "expected" must be a text: put it in quotes: "4"',
                'grader: "unicode" is \'nfd\': did you mean "nfc"?',
                'grader: "ignore_case" must be true or false',
                'grader: unknown field "whitespce", did you mean "whitespace"?',
            ],
        ),
        (
            {"name": "contains_all", "words": [], "path": "../x"},
            [
                'grader: "words" is empty: every answer would pass',
                "grader: \"path\" is '../x': "
                "write it relative to the folder, with no . or .. in it",
            ],
        ),
        (
            {"name": "contains_all", "words": ["a", ""]},
            ['grader: one of the "words" is empty: every text has it'],
        ),
        (
            {"name": "contains_all", "words": ["a", " "], "whitespace": "all"},
            ['grader: one of the "words" is empty: every text has it'],
        ),
        (
            {"name": "regex_match", "pattern": "(?!a)", "whitespace": "all"},
            [
                'grader: "whitespace" always counts here: write it into the pattern',
                'grader: "pattern" cannot be used: invalid perl operator: (?! (labkit uses RE2, '
                "which knows no look-around and no back references: combine graders)",
            ],
        ),
        ({"name": "file_equals"}, ['grader: no "path:"']),
        ({"name": "file_equals", "path": ""}, ['grader: "path" must name a file']),
        (
            {"name": "predicate", "function": "odd"},
            ["grader: \"function\" is 'odd': use one of even"],
        ),
        (
            {"name": "shell_exit_zero", "command": " ", "timeout": 4000},
            [
                'grader: "command" is empty',
                'grader: "timeout" is at most 3600 seconds',
                "grader: shell_exit_zero needs a sandbox, and none is given",
            ],
        ),
        (
            {"name": "rubric", "criteria": [{"name": "a", "weight": 0, "wieght": 1}, 4]},
            [
                'grader: "criteria" must be a list of mappings',
                'grader, criteria 1: no "question:"',
                'grader, criteria 1: unknown field "wieght", did you mean "weight"?',
                'grader: the "weight" of a must be more than 0',
            ],
        ),
        (
            {"name": "rubric", "threshold": 0},
            [
                'grader: there are no "criteria"',
                'grader: "threshold" must be more than 0 and at most 1',
            ],
        ),
        ({"name": "any_of"}, ['grader: there are no "graders"']),
        (
            {"name": "all_of", "graders": [{"name": "exat"}, {"name": "file_equals"}]},
            [
                'grader, graders 1: "name" is \'exat\': did you mean "exact"?',
                'grader, graders 2: no "path:"',
            ],
        ),
        (
            {"name": "exact", "expected": even, 4: "a"},
            [
                "grader, expected: a value of type function cannot be used here",
                "grader: the name 4 must be a text",
                'grader: "expected" is empty',
            ],
        ),
        (
            {"name": "rubric", "threshold": 10**400, "criteria": [{"name": "a", "question": "?"}]},
            [
                "grader, threshold: such a number cannot be used here",
                'grader: "threshold" must be a number, 0 or more',
            ],
        ),
    ],
)
def test_every_problem_of_a_mapping_is_told(spec: dict[str, object], told: list[str]) -> None:
    assert problems(spec) == told


def test_missing_tools_are_told() -> None:
    nothing = Tools()
    assert problems({"name": "predicate", "function": "even"}, nothing) == [
        "grader: predicate needs functions, and none is given"
    ]
    spec: dict[str, object] = {"name": "rubric", "criteria": [{"name": "a", "question": "?"}]}
    assert problems(spec, nothing) == ["grader: rubric needs a judge, and none is given"]


def test_a_mapping_in_itself_is_told() -> None:
    spec: dict[str, object] = {"name": "all_of"}
    spec["graders"] = [spec]
    assert any("nested too deeply" in problem for problem in problems(spec))


def test_problems_in_a_file_name_their_lines() -> None:
    text = """\
    id: a
    grader:
      name: all_of
      graders:
        - name: contains_all
          words: []
        - name: regexmatch
    """
    document = Document(textwrap.dedent(text).encode(), "a.yaml")
    document.text("id")
    GRADERS.built(document.mapping("grader"), TOOLS)
    with pytest.raises(InputError) as caught:
        document.finish()
    first, second = caught.value.problems
    assert first == ('a.yaml, grader, graders 1, line 6: "words" is empty: every answer would pass')
    assert second == (
        'a.yaml, grader, graders 2, line 7: "name" is \'regexmatch\': did you mean "regex_match"?'
    )


def test_a_name_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(
        InputError, match="no grader called 'exat'; did you mean \"exact\""
    ) as caught:
        GRADERS.find("exat")
    assert caught.value.hint == f"the graders are {', '.join(OWN)}"
    assert GRADERS.find("exact")(Fields(plain_node({}, "a", []), "a", []), TOOLS) == Exact()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    (
        *("words", "expected", "path", "pattern", "whole", "command", "timeout", "function"),
        *("criteria", "threshold", "graders", "whitespace", "line_ends", "unicode", "ignore_case"),
    )
)


@given(name=st.sampled_from(OWN) | st.text(), fields=st.dictionaries(FIELDS, JSON))
def test_any_mapping_is_a_grader_or_an_input_error(name: str, fields: dict[str, object]) -> None:
    try:
        grader = build({**fields, "name": name})
    except InputError:
        return
    assert isinstance(grader(Output(value="x"), CASE), Verdict)
    assert build({**fields, "name": name}) == grader


def shout(fields: Fields, _: Tools) -> Grader:
    """Build a grader that somebody else wrote."""
    return Exact(expected=fields.text("word").upper())


def test_a_registered_grader_is_built_by_its_name() -> None:
    registry = Registry()
    registry.register("shout", shout)
    assert "shout" in registry.names()
    assert registry.build({"name": "shout", "word": "yes"}, tools=TOOLS) == Exact(expected="YES")
    spec = {"name": "any_of", "graders": [{"name": "shout", "word": "a"}, {"name": "exact"}]}
    assert registry.build(spec, tools=TOOLS)(Output(value="A"), CASE).passed
    with pytest.raises(InputError, match="unknown field"):
        registry.build({"name": "shout", "word": "yes", "loud": True}, tools=TOOLS)
    assert "shout" not in Registry().names()


@given(names=st.lists(st.from_regex("[a-z][a-z0-9_]{0,3}", fullmatch=True), max_size=12))
def test_names_are_unique(names: list[str]) -> None:
    registry = Registry()
    kept: list[str] = []
    for name in names:
        if name in kept:
            with pytest.raises(InputError, match="already a grader"):
                registry.register(name, shout)
        else:
            registry.register(name, shout)
            kept.append(name)
    assert registry.names() == tuple(sorted({*OWN, *kept}))


@pytest.mark.parametrize("name", [*OWN, "", "A", "a b", "4", "a-b", "\u00e9"])
def test_a_name_that_is_taken_or_no_word_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"already a grader|cannot be called"):
        Registry().register(name, shout)


def test_a_builder_that_raises_is_a_problem_of_the_mapping() -> None:
    def broken(*_: object) -> Grader:
        raise KeyError("x")

    registry = Registry()
    registry.register("broken", broken)
    with pytest.raises(InputError, match="the grader broken could not be built: KeyError: 'x'"):
        registry.build({"name": "broken"}, tools=TOOLS)


def install(folder: Path, package: str, offers: dict[str, str], code: str = "") -> None:
    """Install a package that offers graders, as pip leaves it."""
    (folder / f"{package}.py").write_text(code, encoding="utf-8")
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {target}" for name, target in offers.items()]
    (info / "entry_points.txt").write_text("\n".join(["[labkit.graders]", *lines, ""]))


CODE = """\
from labkit.graders import Exact
def build(fields, tools):
    return Exact(expected=fields.text("word")[::-1])
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that packages can be installed into."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_an_installed_grader_is_found_by_its_name(site: Path) -> None:
    install(site, "pkg_mirror", {"mirror": "pkg_mirror:build"}, CODE)
    registry = Registry()
    assert "mirror" in registry.names()
    assert registry.build({"name": "mirror", "word": "on"}, tools=TOOLS) == Exact(expected="no")
    with pytest.raises(InputError, match="already a grader"):
        registry.register("mirror", shout)


def test_an_installed_grader_takes_no_other_name(site: Path) -> None:
    install(site, "pkg_thief", {"exact": "pkg_thief:build", "one": "pkg_thief:build"}, CODE)
    install(site, "pkg_other", {"one": "pkg_other:build"}, CODE)
    registry = Registry()
    with pytest.raises(InputError, match="called exact: labkit, pkg_thief"):
        registry.build({"name": "exact"}, tools=TOOLS)
    with pytest.raises(InputError, match=r"called one: pkg_(other, pkg_thief|thief, pkg_other)"):
        registry.find("one")
    assert registry.build({"name": "contains_all"}, tools=TOOLS) == ContainsAll()


@pytest.mark.parametrize(
    ("target", "code", "why"),
    [
        ("pkg_broken:build", "import nothing_there", "ModuleNotFoundError"),
        ("pkg_broken:build", "def build(", "SyntaxError"),
        ("pkg_broken:missing", "", "AttributeError"),
        ("pkg_broken:build", "build = 4", "is no builder"),
    ],
)
def test_a_broken_package_is_told_and_hurts_no_other(
    site: Path, monkeypatch: pytest.MonkeyPatch, target: str, code: str, why: str
) -> None:
    monkeypatch.delitem(sys.modules, "pkg_broken", raising=False)
    install(site, "pkg_broken", {"broken": target}, code)
    registry = Registry()
    assert "broken" in registry.names()
    with pytest.raises(ToolError, match=why):
        registry.find("broken")
    with pytest.raises(InputError, match=why):
        registry.build({"name": "broken"}, tools=TOOLS)
    assert registry.build({"name": "exact"}, tools=TOOLS) == Exact()


def test_importing_graders_loads_no_engine(tmp_path: Path) -> None:
    code = "import sys, labkit.graders; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True, text=True
    )
    assert not {"re2", "docker", "cryptography", "scipy"} & set(done.stdout.split())
