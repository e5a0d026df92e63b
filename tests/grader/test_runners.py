"""Which files steer the runners of a project's own, by what its grading command starts."""

import json
from pathlib import Path

import pytest
from gradings import FIXED, Files, bench_of, make_set

from labkit.model import Category
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_grader.runners import reached
from labkit_grader.validate import validate_task

from .test_protected import guarded, tree_of

NODE = "node --test --test-reporter-destination={report} {tests}"
NPM = "sh -c 'npm test -- --out {report}'"
MAKE = "make check REPORT={report}"
CARGO = "sh ci/run.sh {report}"
PACKAGE = {"name": "x", "scripts": {"test": "jest"}, "dependencies": {"a": "1"}}


@pytest.mark.parametrize(
    ("grading", "path"),
    [
        (NODE, "node_modules/assert/index.js"),
        (NODE, "pkg/node_modules/x.js"),
        (NODE, ".npmrc"),
        (NPM, "jest.config.js"),
        (NPM, ".mocharc.cjs"),
        (NPM, "web/vitest.config.ts"),
        ("npx ava --out {report}", "ava.config.js"),
        ("bun test --out {report}", "bunfig.toml"),
        ("deno test --junit-path={report}", "deno.jsonc"),
        (NPM, "src/calc.test.js"),
        (NPM, "spec/calc.js"),
        (MAKE, "GNUmakefile"),
        (MAKE, "rules.mk"),
        ("sh -c 'ctest --output-junit {report}'", "CTestTestfile.cmake"),
        ("tox -e py -- --junitxml={report}", "tox.ini"),
        ("nox -- {report}", "noxfile.py"),
        ("cargo nextest run --out {report}", ".cargo/config.toml"),
        ("cargo nextest run --out {report}", ".config/nextest.toml"),
        ("gotestsum --junitfile={report} ./...", "go.work"),
        ("gotestsum --junitfile={report} ./...", "vendor/x/y.go"),
        ("gotestsum --junitfile={report} ./...", "calc/main_test.go"),
        ("./mvnw -o test {report}", "pom.xml"),
        ("./gradlew test {report}", "sub/build.gradle.kts"),
        ("vendor/bin/phpunit --log-junit {report}", "phpunit.xml.dist"),
        ("bundle exec rspec --out {report}", ".rspec"),
        ("bundle exec rake {report}", "Rakefile"),
        ("prove --out {report}", ".proverc"),
        ("dotnet test --logger {report}", "x.runsettings"),
    ],
)
@pytest.mark.parametrize("allowed", [False, True])
def test_what_steers_a_runner_counts_only_where_the_task_allows_it(
    tmp_path: Path, grading: str, path: str, *, allowed: bool
) -> None:
    places = (path,) if allowed else ()
    files, named = guarded(
        tmp_path, {"calc.js": ""}, {path: "x"}, grading=grading, allowed=places, forbidden=()
    )
    assert (path in files) is allowed
    assert named == (() if allowed else (f"{path}: removed",))


@pytest.mark.parametrize(
    ("grading", "path"),
    [
        ("python -m pytest", "Makefile"),
        ("python -m unittest", "jest.config.js"),
        (NODE, "Makefile"),
        (NODE, "src/index.js"),
        (MAKE, "package.json"),
        (MAKE, "src/makefile.py"),
        (NODE, "vendor/x.js"),
        ("gotestsum --junitfile={report} ./...", "calc/calc.go"),
    ],
)
def test_what_the_runner_does_not_read_is_left_alone(
    tmp_path: Path, grading: str, path: str
) -> None:
    files, named = guarded(tmp_path, {"a": ""}, {path: '{"scripts": 1}'}, grading=grading)
    assert (path in files, named) == (True, ())


BASE: Files = {
    "ci/run.sh": '#!/bin/sh\n# make is not used\n. ci/env.sh\nsh ci/deep.sh "$1"\n',
    "ci/env.sh": "export PYTHONPATH=lib\n",
    "ci/deep.sh": (
        "cd app && npm test -- --require ./hook.js; ./tools/report > $1\n"
        "python3 -I ci/sum.py\npython -m calc\n"
    ),
    "hook.js": "old",
    "ci/sum.py": "old",
    "calc.py": "old",
    "tools/report": "#!/usr/bin/env python\n",
    "package.json": json.dumps(PACKAGE | {"scripts": {"test": "node scripts/go.js && mocha"}}),
    "src/app.js": "old",
    "ci/other.sh": "old",
}


def test_scripts_are_followed_into_what_they_start() -> None:
    found = reached(("sh", "ci/run.sh", "{report}"), tree_of(BASE))
    wanted = {
        "ci/run.sh",
        "ci/env.sh",
        "ci/deep.sh",
        "hook.js",
        "tools/report",
        "package.json",
        "ci/sum.py",
    }
    assert found.files == wanted
    assert {"npm", "mocha", "node"} <= found.programs
    assert "make" not in found.programs


def test_what_a_script_starts_runs_as_at_the_base(tmp_path: Path) -> None:
    changes: Files = {
        path: "new"
        for path in BASE
        if path not in ("package.json", "src/app.js", "ci/other.sh", "calc.py")
    }
    kept: Files = {"calc.py": "new", "src/app.js": "new", "ci/other.sh": "new"}
    files, named = guarded(
        tmp_path, BASE, {**changes, **kept, ".mocharc.json": "{}"}, grading="sh ci/run.sh {report}"
    )
    assert files == {**BASE, **kept}
    assert len(named) == len(changes) + 1


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("tests/run.sh", 'got=$(sh add.sh "$left" "$right")'),
        ("tests/run.sh", "test -f src/add.sh && ./src/add.sh 1 2"),
        ("run.sh", "python add.py 2 3; node src/add.js"),
        ("ci/run.sh", "cat add.sh | sh; ./bin/add 1 2"),
    ],
)
def test_the_program_that_a_script_tests_is_not_taken_for_a_part_of_it(
    script: str, line: str
) -> None:
    code = ("add.sh", "add.py", "src/add.sh", "src/add.js", "bin/add")
    files = tree_of({script: line + "\n", **dict.fromkeys(code, "")})
    for command in (("sh", script, "{report}"), ("sh", "-c", f"sh {script}; {line}", "{report}")):
        assert reached(command, files).files <= {script}


def test_a_link_or_a_loop_of_scripts_ends() -> None:
    loop: Files = {"a.sh": ". ./b.sh\n", "b.sh": "source a.sh\n", "c.sh": "-> a.sh"}
    assert reached(("sh", "a.sh"), tree_of(loop)).files == {"a.sh", "b.sh"}
    assert reached(("sh", "c.sh"), tree_of(loop)).files == {"c.sh"}


@pytest.mark.parametrize(
    ("new", "kept", "told"),
    [
        (PACKAGE | {"dependencies": {"a": "2"}}, None, ()),
        (PACKAGE | {"exports": "./x.js", "type": "module"}, None, ()),
        (
            PACKAGE | {"scripts": {"test": "true"}, "version": "2"},
            PACKAGE | {"version": "2"},
            ("package.json: scripts put back as at the base",),
        ),
        (
            PACKAGE | {"jest": {"setupFiles": ["./x"]}, "mocha": {}},
            PACKAGE,
            ("package.json: jest, mocha put back as at the base",),
        ),
        ({"name": "x"}, {"name": "x", "scripts": PACKAGE["scripts"]},
         ("package.json: scripts put back as at the base",)),
    ],
    ids=["dependencies", "what people import", "scripts", "settings", "lost"],
)  # fmt: skip
def test_only_the_steering_parts_of_package_json_are_put_back(
    tmp_path: Path, new: dict[str, object], kept: dict[str, object] | None, told: tuple[str, ...]
) -> None:
    files, named = guarded(
        tmp_path, {"package.json": json.dumps(PACKAGE)}, {"package.json": json.dumps(new)},
        grading=NPM, allowed=(), forbidden=(),
    )  # fmt: skip
    assert json.loads(files["package.json"]) == (new if kept is None else kept)
    assert named == told


@pytest.mark.parametrize("new", ["{", "[]", "[" * 100_000, "-> ci/x.json", None])
def test_a_package_json_that_cannot_be_read_is_put_back_whole(
    tmp_path: Path, new: str | None
) -> None:
    base: Files = {"package.json": json.dumps(PACKAGE)}
    files, named = guarded(tmp_path, base, {"package.json": new}, grading=NPM)
    assert files == base
    assert named[0] == "package.json: put back as at the base"


@pytest.mark.parametrize(
    ("grading", "path", "old", "new", "counts"),
    [
        (
            "cargo test {report}",
            "Cargo.toml",
            "[package]\n",
            "[package]\n[[test]]\nname='x'",
            False,
        ),
        ("cargo test {report}", "Cargo.toml", "[package]\n", "[dependencies]\na='1'\n", True),
        ("cargo test {report}", "Cargo.toml", "[package]\n", "[pack", False),
        ("go test {report}", "go.mod", "module x\n", "module x\nreplace a => ./b\n", False),
        ("go test {report}", "go.mod", "module x\n", "module x\nrequire a v1.0.0\n", True),
        ("phpunit {report}", "composer.json", "{}", '{"scripts": {"test": "true"}}', False),
    ],
)
def test_of_other_shared_files_the_steering_parts_count(
    tmp_path: Path,
    grading: str,
    path: str,
    old: str,
    new: str,
    counts: bool,  # noqa: FBT001
) -> None:
    files, named = guarded(tmp_path, {path: old}, {path: new}, grading=grading)
    assert (files[path].strip() == new.strip()) is counts
    assert (named == ()) is counts


@pytest.mark.parametrize(
    ("grading", "path", "stays"),
    [
        ("PYTHONPATH=lib python -m pytest", "lib/json.py", False),
        ("PYTHONPATH=./lib/:x python -m pytest", "x/random/__init__.py", False),
        ("python -m pytest", "lib/json.py", True),
        ("python -m pytest", "calc.pyc", False),
        ("python -m pytest", "pkg/old.pyc", False),
        ("python -m pytest", "calc.cpython-311-x86_64-linux-gnu.so", False),
        ("python -m pytest", "pkg.abi3.so", False),
        ("python -m pytest", "fast.so", True),
        ("python -m pytest", "__editable___x_finder.py", False),
        ("python -m pytest", "x.egg-link", False),
        ("python -m pytest -p dotenv", ".env", False),
        ("python -m pytest", ".env", True),
    ],
)
def test_python_imports_nothing_else_than_people_read(
    tmp_path: Path, grading: str, path: str, *, stays: bool
) -> None:
    base: Files = {"calc.py": "", "pkg/__init__.py": ""}
    files, named = guarded(tmp_path, base, {path: "x"}, grading=grading)
    assert (path in files) is stays
    assert (named == ()) is stays


def test_tests_beside_sources_are_the_work_in_a_tests_task(tmp_path: Path) -> None:
    files, _ = guarded(
        tmp_path, {"a.js": ""}, {"a.test.js": "x"}, grading=NODE, category=Category.TESTS,
        forbidden=(),
    )  # fmt: skip
    assert "a.test.js" in files


def test_an_author_is_told_what_of_the_solution_grading_undoes(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    solution: Files = {
        "calc.py": FIXED, "pytest.ini": "[pytest]\n", "tests/test_calc.py": "x = 1\n",
    }  # fmt: skip
    made = make_set(tmp_path, solution=solution)
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=1)
    assert evidence.problems == ()
    said = "grading undoes a part of the solution, as of every run: pytest.ini: removed"
    assert said in evidence.notes
