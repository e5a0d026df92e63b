import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from candidates import CASE, hosted, trial, write

from labkit.evals import Escaped, EvalCase, Trial
from labkit.evals.answerfile import CandidateError
from labkit.evals.escape import watched
from labkit.evals.hosted import Hosted


def run(action: Callable[[Path], object], folder: Path, *, allow: tuple[Path, ...] = ()) -> object:
    """Run an action, given the scratch folder, as a watched candidate."""

    def candidate(case: EvalCase, trial: Trial) -> object:
        del case
        return action(trial.scratch)

    return watched(candidate, allow=allow)(CASE, trial(folder / "samples"))


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a file in it; it does not lie in the temporary folder."""
    (tmp_path / "temporary" / "others").mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    made = tmp_path / "outside"
    (made / "folder").mkdir(parents=True)
    (made / "there").write_text("old", encoding="utf-8")
    return made


ESCAPES: dict[str, Callable[[Path, Path], object]] = {
    "open new": lambda _, out: (out / "new").open("w"),
    "open there": lambda _, out: (out / "there").open("a"),
    "open both": lambda _, out: (out / "there").open("r+"),
    "os.open": lambda _, out: os.open(out / "there", os.O_RDWR),
    "write_text": lambda _, out: (out / "there").write_text("new"),
    "bytes path": lambda _, out: os.mkdir(os.fsencode(out / "new")),  # noqa: PTH102 - bytes
    "mkdir": lambda _, out: (out / "new").mkdir(),
    "rmdir": lambda _, out: (out / "folder").rmdir(),
    "remove": lambda _, out: (out / "there").unlink(),
    "rename away": lambda scratch, out: (out / "there").rename(scratch / "there"),
    "rename there": lambda scratch, out: (scratch / "calc.py").rename(out / "there"),
    "link": lambda scratch, out: os.link(scratch / "calc.py", out / "new"),
    "link to what is there": lambda scratch, out: os.link(out / "there", scratch / "new"),
    "symlink": lambda scratch, out: (out / "new").symlink_to(scratch),
    "truncate": lambda _, out: os.truncate(out / "there", 0),
    "chmod": lambda _, out: (out / "there").chmod(0o777),
    "utime": lambda _, out: os.utime(out / "there"),
    "rmtree": lambda _, out: shutil.rmtree(out),
    "copytree": lambda scratch, out: shutil.copytree(scratch, out / "new"),
    "sqlite": lambda _, out: sqlite3.connect(out / "new.db"),
    "above": lambda scratch, out: (scratch / os.path.relpath(out, scratch) / "new").open("w"),
    "scratch itself": lambda scratch, _: scratch.rename(scratch.with_name("other")),
    "scratch removed": lambda scratch, _: shutil.rmtree(scratch),
    "a neighbour": lambda scratch, _: (scratch.parent / "new").open("w"),
    "temporary of another": lambda _, __: (_others() / "new").open("w"),
}


def _others() -> Path:
    return Path(tempfile.gettempdir(), "others")


@pytest.mark.parametrize("name", ESCAPES)
def test_an_escape_is_found_and_does_not_happen(tmp_path: Path, outside: Path, name: str) -> None:
    with pytest.raises(Escaped, match=r"^/.* lies outside the scratch folder$"):
        run(lambda scratch: ESCAPES[name](scratch, outside), tmp_path)
    assert sorted(path.name for path in outside.iterdir()) == ["folder", "there"]
    assert (outside / "there").read_text() == "old"
    assert not list(_others().iterdir())


def through_a_link(scratch: Path, out: Path) -> None:
    (scratch / "way").symlink_to(out)
    (scratch / "way" / "there").write_text("new")


def onto_a_link(scratch: Path, out: Path) -> None:
    (scratch / "file").symlink_to(out / "there")
    (scratch / "file").write_text("new")


@pytest.mark.parametrize("action", [through_a_link, onto_a_link])
def test_links_are_followed(
    tmp_path: Path, outside: Path, action: Callable[[Path, Path], None]
) -> None:
    with pytest.raises(Escaped, match="there lies outside"):
        run(lambda scratch: action(scratch, outside), tmp_path)
    assert (outside / "there").read_text() == "old"


def test_an_escape_that_is_hushed_up_counts(tmp_path: Path, outside: Path) -> None:
    def action(_: Path) -> int:
        for name in ("first", "second"):
            try:
                (outside / name).write_text("x")
            except Exception:  # noqa: BLE001, S112 - the candidate hushes it up
                continue
        return 4

    with pytest.raises(Escaped, match="first lies outside"):
        run(action, tmp_path)


def test_an_escape_that_is_told_as_something_else_counts(tmp_path: Path, outside: Path) -> None:
    def action(_: Path) -> None:
        try:
            (outside / "new").write_text("x")
        except Exception as error:
            raise KeyError("other") from error

    with pytest.raises(Escaped, match="new lies outside"):
        run(action, tmp_path)


def works_well(scratch: Path) -> int:
    """Do much that is fair."""
    (scratch / "a" / "b").mkdir(parents=True)
    for there in (scratch, Path.cwd()):
        there.mkdir(exist_ok=True)
    (scratch / "a" / "b" / "c").write_text("x")
    (scratch / "a").rename(scratch / "z")
    (scratch / "l").symlink_to(scratch / "z")
    (scratch / "l" / "b" / "c").write_text("y")
    (scratch / "l").unlink()
    (scratch / "abroad").symlink_to("/labkit-no-such-folder")
    (scratch / "abroad").unlink()  # the link, not what it points to
    shutil.copytree(scratch / "z", scratch / "y")
    shutil.rmtree(scratch / "y")
    os.utime(scratch / "calc.py")
    with Path(os.devnull).open("w") as null:
        print("x", file=null)
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryFile() as file:
        Path(made, "sub").mkdir()
        Path(made, "sub", "file").write_text("x")
        file.write(b"x")
    with tempfile.NamedTemporaryFile("w") as named:
        named.write("x")
    sqlite3.connect(":memory:").close()
    Path(__file__).read_text()
    return len(list(Path.cwd().iterdir()))


def test_what_is_fair_is_allowed(tmp_path: Path) -> None:
    assert run(works_well, tmp_path)


def test_compiled_files_of_imported_modules_are_allowed(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (outside / "late_module.py").write_text("value = 5\n", encoding="utf-8")
    with Hosted(
        write(tmp_path, f"sys.path.insert(0, {str(outside)!r})\nimport late_module\nreturn 1"),
        folder=tmp_path,
    ) as candidate:
        assert candidate(CASE, trial(tmp_path)).output == 1
    assert list((outside / "__pycache__").iterdir())


def test_more_places_can_be_allowed(tmp_path: Path, outside: Path) -> None:
    run(lambda _: (outside / "new").write_text("x"), tmp_path, allow=(outside,))
    assert (outside / "new").read_text() == "x"


def test_nobody_is_watched_before_after_and_beside(tmp_path: Path, outside: Path) -> None:
    begun, done = threading.Event(), threading.Event()

    def beside() -> None:
        begun.wait(10)
        (outside / "beside").write_text("x")
        done.set()

    thread = threading.Thread(target=beside)
    thread.start()

    def action(_: Path) -> bool:
        begun.set()
        return done.wait(10)

    (outside / "before").write_text("x")
    assert run(action, tmp_path)
    thread.join()
    (outside / "after").write_text("x")
    with pytest.raises(Escaped):
        run(lambda _: (outside / "new").write_text("x"), tmp_path)
    (outside / "after it").write_text("x")


def test_samples_at_the_same_time_are_told_apart(tmp_path: Path) -> None:
    scratches: dict[str, Path] = {}
    ready = threading.Barrier(2)
    found: dict[str, BaseException | None] = {}

    def sample(name: str, other: str) -> None:
        def action(scratch: Path) -> None:
            scratches[name] = scratch
            ready.wait(10)
            (scratches[other] / "mine").write_text("x")

        try:
            run(action, tmp_path / name)
            found[name] = None
        except Escaped as error:
            found[name] = error

    threads = [threading.Thread(target=sample, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: type(error) for name, error in found.items()} == {"a": Escaped, "b": Escaped}


def test_a_hosted_function_is_watched_in_all_its_threads(tmp_path: Path, outside: Path) -> None:
    body = f"""
        def write():
            try: Path({str(outside)!r}, case.id).write_text("x")
            except Exception: pass
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        return 1
    """
    with (
        hosted(tmp_path, body) as candidate,
        pytest.raises(Escaped, match=r"add lies outside the scratch folder"),
    ):
        candidate(CASE, trial(tmp_path))
    assert not (outside / "add").exists()
    with Hosted(write(tmp_path, body), folder=tmp_path, allow=[outside]) as candidate:
        assert candidate(CASE, trial(tmp_path)).output == 1
    (outside / "add").unlink()
    with Hosted(write(tmp_path, body), folder=tmp_path, allow=None) as candidate:
        assert candidate(CASE, trial(tmp_path)).output == 1
    assert (outside / "add").exists()


def test_where_a_hosted_function_may_write(tmp_path: Path) -> None:
    body = """
        import tempfile
        Path(tempfile.mkdtemp(), "a").write_text("x")
        Path("here").write_text("x")
        return 1
    """
    with hosted(tmp_path, body) as candidate:
        assert candidate(CASE, trial(tmp_path)).output == 1
    with hosted(tmp_path, "Path('../beside').write_text('x')") as candidate, pytest.raises(Escaped):
        candidate(CASE, trial(tmp_path))
    with (
        hosted(tmp_path, "Path('a', 'b').write_text('x')") as candidate,
        pytest.raises(CandidateError, match="FileNotFoundError"),
    ):
        candidate(CASE, trial(tmp_path))
