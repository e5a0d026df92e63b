"""What a diff changes of a project's dependencies: told for every ecosystem, installed for none."""

import json
import time
from pathlib import Path

import pytest
from gradings import CALC, FIXED, bench_of, make_set, validated
from hypothesis import given
from hypothesis import strategies as st

from labkit.model import Flag, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_grader.dependencies import changes
from labkit_grader.report import grade_text

from .test_protected import tree_of


def told(path: str, old: str | None, new: str | None) -> str:
    before, after = (tree_of({path: text}) for text in (old, new))
    sentences = changes(before, after, [path.encode()])
    assert len(sentences) <= 1
    return "".join(sentences).removeprefix(f"{path}: ")


PYPROJECT = """
[build-system]
requires = ["hatchling>=1"]
[project]
name = "x"
version = "1"
requires-python = ">=3.9"
dependencies = ["a>=1", "b"]
[project.optional-dependencies]
dev = ["c"]
[tool.poetry.group.test.dependencies]
d = {version = "1", extras = ["y"]}
[tool.ruff]
line-length = 80
"""
GO = "module x\n\ngo 1.21\n\nrequire (\n\ta.org/b v1.0.0\n\tc.org/d v1.0.0 // indirect\n)\n"
MAVEN = (
    "<project><version>1</version><dependencies><dependency><groupId>g</groupId>"
    "<artifactId>junit</artifactId><version>4</version></dependency></dependencies></project>"
)


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        ("requirements.txt", "a==1\n# c\nb\n", "a==2\nd>=1  # why\n", "adds d; drops b; changes a"),
        ("requirements-dev.txt", "a\n", "a\n\n# only words\n", ""),
        ("requirements/test.in", None, "a[x]>1\n-r base.txt\n", "adds -r base.txt, a"),
        ("constraints.txt", "a==1\n", None, "drops a"),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace("80", "99"), ""),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"1"\nreq', '"2"\nreq'), ""),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"b"', '"b>2", "e"'),
         "adds e (project.dependencies); changes b (project.dependencies)"),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace("hatchling", "flit_core"),
         "adds flit_core (build-system.requires); drops hatchling (build-system.requires)"),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"1", extras', '"2", extras'),
         "changes d (tool.poetry.group.test.dependencies)"),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"c"', '"c", "z"'),
         "adds z (project.optional-dependencies.dev)"),
        ("pyproject.toml", PYPROJECT, "[", "changed, and it cannot be read"),
        ("setup.cfg", "[options]\ninstall_requires =\n  a\n",
         "[options]\ninstall_requires =\n  a>1\n  b\n",
         "adds b (install_requires); changes a (install_requires)"),
        ("setup.cfg", "[flake8]\nx = 1\n", "[flake8]\nx = 2\n", ""),
        ("setup.py", "setup(install_requires=['a'])",
         "setup(name='x', install_requires=['a', 'b'])",
         "adds b (install_requires)"),
        ("setup.py", "setup(install_requires=read())", "setup(install_requires=other())",
         "changes install_requires"),
        ("setup.py", "setup(version='1')", "setup(version='2')", ""),
        ("setup.py", "setup()", "setup(", "changed, and it cannot be read"),
        ("Pipfile", "[packages]\na = '*'\n", "[packages]\na = '*'\n[dev-packages]\nb = '1'\n",
         "adds b (dev-packages)"),
        ("package.json", '{"dependencies": {"a": "1"}}',
         '{"dependencies": {"a": "2"}, "devDependencies": {"b": "1"}}',
         "adds b (devDependencies); changes a (dependencies)"),
        ("package.json", '{"scripts": {}}', '{"scripts": {"a": "b"}}', ""),
        ("web/package-lock.json", "{}", "{ }", "changed"),
        ("yarn.lock", None, "x", "added"),
        ("pnpm-lock.yaml", "x", None, "removed"),
        ("uv.lock", "x", "y", "changed"),
        ("Cargo.toml", "[dependencies]\na = '1'\n", "[dependencies]\na = {version = '2'}\n",
         "changes a (dependencies)"),
        ("Cargo.toml", "[package]\nversion='1'\n", "[package]\nversion='2'\n", ""),
        ("go.mod", GO,
         GO.replace("c.org/d v1.0", "c.org/d v1.2").replace("a.org/b v1", "e.org/f v2"),
         "adds e.org/f; drops a.org/b; changes c.org/d"),
        ("go.mod", GO, GO.replace("go 1.21", "go 1.22"), "changes go"),
        ("go.mod", GO, GO.replace("module x", "module y"), ""),
        ("Gemfile", "gem 'a'\n", "gem 'a', '~> 2'\ngem \"b\"\n", "adds b; changes a"),
        ("composer.json", '{"require": {"a/b": "1"}}', '{"require": {"a/b": "2"}}',
         "changes a/b (require)"),
        ("pom.xml", MAVEN, MAVEN.replace(">4<", ">5<"), "changes junit"),
        ("pom.xml", MAVEN, MAVEN.replace(">1<", ">2<"), ""),
        ("build.gradle.kts", 'plugins { java }\n',
         'plugins { java }\ndependencies {\n  testImplementation("a:b:1")\n}\n',
         'adds testImplementation("a:b:1")'),
        ("x.csproj", "<a/>", '<PackageReference Include="N.J" Version="1" />\n', "adds N.J"),
        ("mix.exs", "{:a, \"1\"}", "{:a, \"2\"}", "changes a"),
        ("environment.yml", "x", "y", "changed"),
        ("calc.py", "a", "b", ""),
        ("docs/requirements.md", "a", "b", ""),
        ("requirements.txt", "a\n", "-> other.txt", "changed, and it cannot be read"),
        ("package.json", "{}", "[" * 100_000, "changed, and it cannot be read"),
    ],
)  # fmt: skip
def test_each_change_is_told(path: str, old: str | None, new: str | None, said: str) -> None:
    assert told(path, old, new) == said
    assert told(path, old, old) == "" or path.endswith((".lock", ".json", ".yml", ".yaml"))


FILES = ("pyproject.toml", "setup.cfg", "setup.py", "package.json", "go.mod", "pom.xml", "Gemfile",
         "requirements.txt", "build.gradle", "Pipfile", "Cargo.toml")  # fmt: skip


@given(st.sampled_from(FILES), st.text(max_size=80), st.text(max_size=80))
def test_any_text_has_an_answer(path: str, old: str, new: str) -> None:
    said = told(path, old.removeprefix("-> "), new.removeprefix("-> "))
    assert isinstance(said, str)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=3) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["dependencies", "a", "version"]), inner)
        ),
    )
)
def test_any_json_has_an_answer(values: object) -> None:
    assert isinstance(told("package.json", "{}", json.dumps(values)), str)


def test_a_changed_dependency_is_flagged_and_no_part_of_the_verdict(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    bench = bench_of(bubblewrap_sandbox, seconds=20)
    task = validated(make_set(tmp_path), bench)
    changed = {"requirements.txt": "left-pad==1\n", "uv.lock": "x"}
    good = task.graded(bench, task.diff({"calc.py": FIXED, **changed}))
    assert (good.verdict, good.flags) == (Verdict.PASS, (Flag.DEPENDENCIES,))
    assert good.dependencies == ("requirements.txt: adds left-pad", "uv.lock: added")
    assert "changed dependencies (nothing was installed)\n  requirements.txt: adds" in grade_text(
        good
    )
    needs = task.graded(bench, task.diff({"calc.py": "import left_pad\n" + FIXED, **changed}))
    assert (needs.verdict, needs.flags) == (Verdict.FAIL, (Flag.DEPENDENCIES,))
    assert task.graded(bench, task.diff({"calc.py": CALC + "\n"})).dependencies == ()


LONG = 250_000
HOSTILE = {
    "pom.xml": "<dependency>" * (LONG // 12),
    "a/pom.xml": "<dependency><artifactId>" + " " * LONG + "</dependency>",
    "build.gradle": "\n" * LONG,
    "go.mod": "\n" * LONG,
    "Gemfile": " " * (LONG // 2) + "\n" * (LONG // 2),
    "mix.exs": "{:a," * (LONG // 4),
    "Package.swift": ".package(" * (LONG // 9),
    "setup.cfg": "[a]\n" + "x=1\n" * (LONG // 4),
    "pyproject.toml": "\n".join(f"[a{number}.b]" for number in range(LONG // 12)),
}


@pytest.mark.parametrize("path", HOSTILE)
def test_a_file_made_to_take_long_is_read_in_seconds(path: str) -> None:
    begun = time.process_time()
    told(path, None, HOSTILE[path])
    assert time.process_time() - begun < 5


def test_a_large_file_is_said_to_be_unread_and_a_long_name_is_cut() -> None:
    assert "cannot be read" in told("requirements.txt", None, "a\n" * LONG)
    assert told("requirements.txt", None, "a" * 5000) == f"adds {'a' * 80}..."
