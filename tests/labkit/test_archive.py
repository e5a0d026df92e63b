import io
import tarfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.archive import Entry, Kind, read_tar, without_folders_above, write_tar
from labkit.errors import InfrastructureError, LabkitError, ReturnedTooLargeError

PARTS = st.binary(min_size=1, max_size=120).filter(
    lambda part: not {0, ord("/")}.intersection(part) and part not in (b".", b"..")
)
PATHS = st.lists(PARTS, min_size=1, max_size=4).map(b"/".join)
KINDS = st.sampled_from([Kind.FILE, Kind.EXECUTABLE, Kind.SYMLINK])


def read(data: bytes, *, file_bytes: int = 1000, entries: int = 1000) -> list[Entry]:
    return list(
        read_tar(
            io.BytesIO(data), most_bytes=10_000, most_file_bytes=file_bytes, most_entries=entries
        )
    )


def made(*members: tuple[str, Callable[[tarfile.TarInfo], object]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, shape in members:
            member = tarfile.TarInfo(name)
            shape(member)
            tar.addfile(member, io.BytesIO(b"z" * member.size))
    return out.getvalue()


def of_type(kind: bytes, link: str = "") -> Callable[[tarfile.TarInfo], None]:
    def shape(member: tarfile.TarInfo) -> None:
        member.type, member.linkname = kind, link

    return shape


def of_size(size: int, mode: int = 0o644) -> Callable[[tarfile.TarInfo], None]:
    def shape(member: tarfile.TarInfo) -> None:
        member.size, member.mode = size, mode

    return shape


@given(st.dictionaries(PATHS, st.tuples(KINDS, st.binary(min_size=1, max_size=50)), max_size=6))
def test_what_is_written_is_read(files: dict[bytes, tuple[Kind, bytes]]) -> None:
    entries = [
        Entry(path=path, kind=kind, data=data.replace(b"\0", b"0") if kind == "symlink" else data)
        for path, (kind, data) in files.items()
    ]
    back = read(write_tar(entries, prefix=b"workspace/"), file_bytes=10_000)
    assert [entry for entry in back if entry.kind is not Kind.FOLDER] == entries


def test_a_tar_is_the_same_every_time_and_owned_by_the_sandbox_user() -> None:
    entries = [Entry(path=b"a/b/c", kind=Kind.FILE, data=b"1"), Entry(path=b"a", kind=Kind.FOLDER)]
    data = write_tar(entries)
    assert data == write_tar(entries)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = tar.getmembers()
    assert [member.name for member in members] == ["a", "a/b", "a/b/c"]
    assert {(member.uid, member.gid, member.mtime) for member in members} == {
        (1000, 1000, 946_684_800)
    }


@pytest.mark.parametrize(
    "name", ["workspace/a", "./workspace/a", "/workspace/a", "workspace//a", "workspace/./x/../a"]
)
def test_names_come_without_the_folder_they_lie_in(name: str) -> None:
    assert [entry.path for entry in read(made((name, of_size(1))))] == [b"a"]


@pytest.mark.parametrize("name", ["workspace", "../etc/passwd", "workspace/../../x", "..", "/"])
def test_names_that_lead_out_are_dropped(name: str) -> None:
    assert all(b".." not in entry.path for entry in read(made((name, of_size(1)))))


@pytest.mark.parametrize(
    "kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE], ids=["fifo", "char", "block"]
)
def test_special_files_are_named_and_have_no_data(kind: bytes) -> None:
    assert read(made(("w/p", of_type(kind)))) == [
        Entry(path=b"p", kind=Kind.SPECIAL, note="special file")
    ]


@pytest.mark.parametrize(
    ("mode", "kind"),
    [(0o644, "file"), (0o755, "executable"), (0o4755, "executable"), (0, "file"), (0o011, "file")],
    ids=str,
)
def test_only_the_owners_execute_bit_counts(mode: int, kind: str) -> None:
    assert [entry.kind for entry in read(made(("w/p", of_size(1, mode))))] == [kind]


def test_a_hard_link_is_a_copy_of_what_it_links_to() -> None:
    data = made(
        ("w/f", of_size(2, 0o755)),
        ("w/s", of_type(tarfile.SYMTYPE, "/t")),
        ("w/f2", of_type(tarfile.LNKTYPE, "w/f")),
        ("w/s2", of_type(tarfile.LNKTYPE, "w/s")),
    )
    assert read(data)[2:] == [
        Entry(path=b"f2", kind=Kind.EXECUTABLE, data=b"zz"),
        Entry(path=b"s2", kind=Kind.SYMLINK, data=b"/t"),
    ]


@pytest.mark.parametrize("target", ["/etc/shadow", "w/nosuch", "../x", ""])
def test_a_hard_link_to_something_unknown_is_named(target: str) -> None:
    assert read(made(("w/l", of_type(tarfile.LNKTYPE, target)))) == [
        Entry(path=b"l", kind=Kind.SPECIAL, note="hard link to something unknown")
    ]


def test_a_large_file_is_named_and_a_hard_link_to_it_too() -> None:
    data = made(("w/big", of_size(2000)), ("w/l", of_type(tarfile.LNKTYPE, "w/big")))
    note = "too large: 2000 bytes"
    assert read(data) == [
        Entry(path=b"big", kind=Kind.OVERSIZED, note=note),
        Entry(path=b"l", kind=Kind.OVERSIZED, note=note),
    ]


def test_a_folder_of_too_many_bytes_is_given_up_before_they_are_read() -> None:
    member = tarfile.TarInfo("w/sparse")
    member.size = 3 * 1024**3
    header = member.tobuf()
    with pytest.raises(ReturnedTooLargeError, match="the folder is larger than 10000 bytes"):
        read(header)


def test_hard_links_count_like_the_files_that_they_become() -> None:
    links = [(f"w/l{n}", of_type(tarfile.LNKTYPE, "w/f")) for n in range(10)]
    assert len(read(made(("w/f", of_size(1000)), *links[:9]))) == 10
    with pytest.raises(ReturnedTooLargeError, match="the folder is larger than 10000 bytes"):
        read(made(("w/f", of_size(1000)), *links))


def test_a_folder_of_too_many_files_is_given_up() -> None:
    members = [(f"w/{n}", of_size(0)) for n in range(6)]
    assert len(read(made(*members), entries=6)) == 6
    with pytest.raises(ReturnedTooLargeError, match="the folder holds more than 4 files"):
        read(made(*members), entries=4)


@pytest.mark.parametrize("cut", [1, 511, 513, 1000])
def test_a_cut_off_tar_is_infrastructure(cut: int) -> None:
    with pytest.raises(InfrastructureError, match="could not be read"):
        read(made(("w/a", of_size(900)))[:cut])


@given(st.data())
def test_damaged_tars_never_end_in_another_error(data: st.DataObject) -> None:
    sound = write_tar([Entry(path=b"w/" + b"\xe9" * 120, kind=Kind.FILE, data=b"1" * 600)])
    damaged = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, 3000))] = data.draw(st.integers(0, 255))
    try:
        entries = read(bytes(damaged))
    except LabkitError:
        return
    assert all(b".." not in entry.path.split(b"/") for entry in entries)


@given(st.lists(st.tuples(PATHS, KINDS, st.binary(max_size=700)), max_size=6))
def test_only_the_folders_above_are_left_out(files: list[tuple[bytes, Kind, bytes]]) -> None:
    entries = [
        Entry(path=top + path, kind=kind, data=data.replace(b"\0", b"") or b"x")
        for path, kind, data in files
        for top in (b"home/agent/", b"labkit/")
    ]
    whole = write_tar(entries)
    with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
        before = [(member.name, member.linkname, member.size) for member in tar]
    with tarfile.open(fileobj=io.BytesIO(without_folders_above(whole, "/home/agent"))) as tar:
        after = [(member.name, member.linkname, member.size) for member in tar]
    assert after == [each for each in before if each[0] != "home"]
