import io
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.bundle import MANIFEST, commitment, pack, pack_files, read_draft, unpack, unpack_files
from labkit.errors import InputError, IntegrityError
from labkit.model import TaskId

TASK = TaskId("bug-slug")
SALT = bytes(range(32))
FILES = {
    "oracle.yaml": b"edits: none\n",
    "hidden/tests/test_slug.py": b"def test_empty():\n    assert True\n",
    "hidden/tests/data/caf\u00e9.txt": b"\x00\xff",
    "examples/empty.md": b"",
}
names = st.text("abcXYZ.-_ \u00e9", min_size=1, max_size=12).filter(lambda n: n.strip(". "))
paths = st.lists(names, min_size=1, max_size=3).map("/".join)


def without_clashes(files: dict[str, bytes]) -> bool:
    """A path that is another one's folder cannot be on a disk either."""
    return not any(one.startswith(other + "/") for one in files for other in files)


@given(st.dictionaries(paths, st.binary(max_size=2000), max_size=6).filter(without_clashes))
def test_what_is_packed_comes_back(files: dict[str, bytes]) -> None:
    bundle = unpack(pack(TASK, files, SALT))
    assert (bundle.task, bundle.salt, bundle.files) == (TASK, SALT, files)


def test_the_same_files_in_any_order_give_the_same_bytes() -> None:
    backwards = dict(reversed(FILES.items()))
    assert pack(TASK, FILES, SALT) == pack(TASK, backwards, SALT)


def test_the_size_is_rounded_up() -> None:
    assert len(pack(TASK, FILES, SALT)) == 64 * 1024
    assert len(pack(TASK, {"hidden/a": bytes(60_000)}, SALT)) == 128 * 1024


def test_plain_tar_reads_it(tmp_path: Path) -> None:
    done = subprocess.run(
        ["tar", "-xvf", "-"],
        input=pack(TASK, FILES, SALT),
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert done.stdout.splitlines()[0] == MANIFEST.encode()
    assert (tmp_path / "hidden/tests/test_slug.py").read_bytes() == FILES[
        "hidden/tests/test_slug.py"
    ]


def test_the_tar_tells_nothing_of_who_made_it_when() -> None:
    with tarfile.open(fileobj=io.BytesIO(pack(TASK, FILES, SALT))) as tar:
        facts = {(m.mtime, m.uid, m.gid, m.uname, m.gname) for m in tar}
        modes = {m.mode for m in tar if m.isfile()}
    assert (facts, modes) == ({(946_684_800, 0, 0, "", "")}, {0o644})


@given(st.integers(0, 64 * 1024 - 1), st.integers(1, 255))
def test_a_changed_byte_never_changes_the_content_unnoticed(place: int, flip: int) -> None:
    whole = pack(TASK, FILES, SALT)
    altered = bytearray(whole)
    altered[place] ^= flip
    try:
        bundle = unpack(bytes(altered))
    except IntegrityError:
        return
    # Bytes that carry no content (a time, a salt digit) may pass here; the commitment sees them.
    assert bundle.files == FILES
    assert commitment(bundle.salt, bytes(altered)) != commitment(SALT, whole)


@pytest.mark.parametrize("length", [0, 1, 511, 512, 4096, 6000])
def test_a_cut_bundle_is_refused(length: int) -> None:
    with pytest.raises(IntegrityError, match="the bundle is damaged"):
        unpack(pack(TASK, FILES, SALT)[:length])


def test_something_behind_the_end_is_refused() -> None:
    altered = bytearray(pack(TASK, FILES, SALT))
    altered[-1] = 1
    with pytest.raises(IntegrityError, match="behind its end"):
        unpack(bytes(altered))


def link(header: tarfile.TarInfo) -> None:
    header.type, header.linkname, header.size = tarfile.SYMTYPE, "/etc/passwd", 0


def hard_link(header: tarfile.TarInfo) -> None:
    header.type, header.linkname, header.size = tarfile.LNKTYPE, MANIFEST, 0


def device(header: tarfile.TarInfo) -> None:
    header.type, header.size = tarfile.CHRTYPE, 0


def fifo(header: tarfile.TarInfo) -> None:
    header.type, header.size = tarfile.FIFOTYPE, 0


def climb(header: tarfile.TarInfo) -> None:
    header.name = "../evil"


def absolute(header: tarfile.TarInfo) -> None:
    header.name = "/tmp/evil"  # noqa: S108 - never written


def twice(header: tarfile.TarInfo) -> None:
    header.name, header.size = "examples/empty.md", 0


def extra(header: tarfile.TarInfo) -> None:
    header.name = "hidden/extra.py"


@pytest.mark.parametrize("shape", [link, hard_link, device, fifo, climb, absolute, twice, extra])
def test_a_member_that_labkit_does_not_write_is_refused(
    shape: Callable[[tarfile.TarInfo], None],
) -> None:
    raw = io.BytesIO(pack(TASK, FILES, SALT))
    header = tarfile.TarInfo("hidden/evil")
    header.size = 4
    shape(header)
    with tarfile.open(fileobj=raw, mode="a") as tar:
        tar.addfile(header, io.BytesIO(b"evil"[: header.size]))
    with pytest.raises(IntegrityError, match="the bundle is damaged"):
        unpack(raw.getvalue())


def test_the_manifest_must_come_first_and_be_labkits() -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        header = tarfile.TarInfo("hidden/a")
        tar.addfile(header, io.BytesIO())
    with pytest.raises(IntegrityError, match="is not its first file"):
        unpack_files(raw.getvalue())


@pytest.mark.parametrize(
    "header",
    [
        {"kind": "runs"},
        {"kind": "task"},
        {"kind": "task", "task": "../x", "salt": SALT.hex()},
        {"kind": "task", "task": "a", "salt": "xyz"},
    ],
    ids=["another kind", "no task", "bad task", "bad salt"],
)
def test_a_head_that_is_not_a_tasks_is_refused(header: dict[str, str]) -> None:
    with pytest.raises(IntegrityError, match="the bundle is damaged"):
        unpack(pack_files(header, {}))


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a/./b", "a\\b", "a\nb", "", MANIFEST])
def test_a_path_that_could_not_come_back_is_not_packed(path: str) -> None:
    with pytest.raises(InputError, match="cannot be packed"):
        pack(TASK, {path: b""}, SALT)


def test_the_commitment_is_pinned() -> None:
    assert commitment(SALT, b"tar") == (
        "4d4985fa336aeef72077ea9ac7248661da12032d303d1e48d699ae5d826d5ead"
    )
    assert commitment(bytes(32), b"tar") != commitment(SALT, b"tar")


def test_a_salt_of_another_length_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        pack(TASK, FILES, b"short")


def fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_a_draft_is_read_without_caches_and_backups(tmp_path: Path) -> None:
    rubbish = {
        "hidden/tests/__pycache__/test_slug.cpython-311.pyc": b"x",
        "hidden/tests/test_slug.py~": b"x",
        "hidden/.pytest_cache/README.md": b"x",
        ".DS_Store": b"x",
    }
    fill(tmp_path, FILES | rubbish)
    assert read_draft(tmp_path) == FILES


def test_everything_odd_in_a_draft_is_named_at_once(tmp_path: Path) -> None:
    fill(tmp_path, {"notes.txt": b"", "hiden/test_a.py": b"", "hidden/ok.py": b""})
    (tmp_path / "hidden" / "link.py").symlink_to("/etc/passwd")
    (tmp_path / "examples").symlink_to(tmp_path / "hidden")
    os.mkfifo(tmp_path / "hidden" / "pipe")
    with pytest.raises(InputError) as caught:
        read_draft(tmp_path)
    told = " ".join(caught.value.problems)
    for name in ("notes.txt", "hiden/test_a.py", "link.py", "examples is a link", "pipe"):
        assert name in told
    assert "ok.py" not in told


def test_no_draft_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no draft"):
        read_draft(tmp_path / "none")
