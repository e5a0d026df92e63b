"""hidden.yaml: modes, links and removed paths, and how grading lays them."""

from pathlib import Path

import pytest
from gradings import BASE, bench_of, make_set, validated

from labkit.archive import Kind
from labkit.errors import InputError
from labkit.model import Category
from labkit.nodes import dump_yaml
from labkit.patch.place import base_tree
from labkit.sandbox.interface import Sandbox
from labkit_grader.material import read_material
from labkit_grader.oracles.sides import stage

LAYOUT = dump_yaml(
    {"executable": ["tests/go.sh"], "links": {"tests/l": "../a"}, "removed": ["test/old.py"]}
)
FILES = {"hidden/tests/go.sh": b"#!/bin/sh\n", "hidden.yaml": LAYOUT.encode()}


def test_hidden_files_have_their_modes_and_links() -> None:
    material = read_material(FILES, Category.BUGFIX)
    found = {entry.path: (entry.kind, entry.data) for entry in material.hidden_entries}
    assert found == {
        b"tests/go.sh": (Kind.EXECUTABLE, b"#!/bin/sh\n"),
        b"tests/l": (Kind.SYMLINK, b"../a"),
    }
    assert material.layout.removed == ("test/old.py",)


def test_it_is_part_of_what_was_proven() -> None:
    changed = {**FILES, "hidden.yaml": b"removed: [x.py]\n"}
    before, after = (read_material(files, Category.BUGFIX) for files in (FILES, changed))
    assert before.digest != after.digest


@pytest.mark.parametrize("text", ["", "# removed: [x]\n"], ids=["empty", "comment"])
def test_it_may_say_nothing(text: str) -> None:
    material = read_material({"hidden.yaml": text.encode()}, Category.BUGFIX)
    assert material.hidden_entries == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("executable: [tests/no.sh]\n", "there is no hidden/tests/no.sh"),
        ("removed: [../up]\n", "'../up' is not a path inside the project"),
        ("removed: [.git/config]\n", "'.git/config' is not a path inside the project"),
        ("removed: ['']\n", "'' is not a path inside the project"),
        ("removed: [tests/go.sh]\n", "hidden/tests/go.sh is a file of the draft as well"),
        ("links: {tests/l: /etc/passwd}\n", "tests/l would lead out of the project: /etc/passwd"),
        ("links: {tests/l: ../../x}\n", "tests/l would lead out of the project: ../../x"),
        ("remove: [x]\n", 'unknown field "remove", did you mean "removed"?'),
    ],
)
def test_a_layout_that_is_wrong_says_why(text: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        read_material({**FILES, "hidden.yaml": text.encode()}, Category.BUGFIX)
    assert problem in "\n".join(error.value.problems)
    assert "hidden.yaml, line 1" in error.value.message


MOVED = (
    "from pathlib import Path\n\n\n"
    "def test_it_moved():\n    assert not Path('tests/test_calc.py').exists()\n\n\n"
    "def test_script():\n    assert Path('tests/go.sh').stat().st_mode & 0o111\n\n\n"
    "def test_link():\n    assert Path('tests/link').resolve().name == 'calc.py'\n\n\n"
    "def test_add():\n    from calc import add\n    assert add(2, 3) == 5\n"
)


def test_a_moved_test_is_gone_when_the_hidden_ones_run(tmp_path: Path, sandbox: Sandbox) -> None:
    layout = dump_yaml(
        {
            "executable": ["tests/go.sh"],
            "links": {"tests/link": "../calc.py"},
            "removed": ["tests/test_calc.py"],
        }
    )
    draft = {
        "hidden/tests/test_moved.py": MOVED,
        "hidden/tests/go.sh": "#!/bin/sh\n",
        "hidden.yaml": layout,
    }
    made = validated(make_set(tmp_path, draft=draft), bench_of(sandbox))
    expected = made.case.material.evidence
    assert expected
    assert expected.fail_to_pass == ("tests/test_moved.py::test_add",)
    assert len(expected.pass_to_pass) == 3
    assert "tests/test_calc.py" in BASE
    assert b"tests/test_calc.py" not in stage(made.case, base_tree(made.case.base)).tree
