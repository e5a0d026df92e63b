"""hidden.yaml of a draft: what the files below hidden/ cannot say themselves.

A bundle holds plain files only, so that it is the same on every system. Which of them are programs,
which hidden paths are links, and which paths the hidden tests take away stands here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from labkit.archive import Entry, Kind
from labkit.bundle import LAYOUT
from labkit.fields import Document
from labkit.solved import leads_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How hidden files are laid out beyond their content."""

    executable: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    """Paths that are taken away before the hidden files are laid."""

    def entries(self, hidden: Mapping[str, bytes]) -> Iterator[Entry]:
        """Yield the hidden files and links as members of a tree."""
        for path, data in hidden.items():
            kind = Kind.EXECUTABLE if path in self.executable else Kind.FILE
            yield Entry(path=path.encode(), kind=kind, data=data)
        for path, target in self.links.items():
            yield Entry(path=path.encode(), kind=Kind.SYMLINK, data=target.encode())


def read_layout(data: bytes, hidden: Mapping[str, bytes]) -> Layout:
    """Read hidden.yaml; raises InputError with every problem in it."""
    if all(not line.strip() or line.strip().startswith(b"#") for line in data.splitlines()):
        return Layout()
    document = Document(data, LAYOUT)
    links = document.mapping("links")
    found = Layout(
        executable=document.texts("executable"),
        links={path: links.text(path) for path in links.names()},
        removed=document.texts("removed"),
    )
    for name, what in _problems(found, hidden):
        document.problem(name, what)
    document.finish(hint=f"mend {LAYOUT} of the draft")
    return found


def _problems(found: Layout, hidden: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    lost = [path for path in found.executable if path not in hidden]
    yield from (("executable", f"there is no hidden/{path}") for path in lost)
    for name, paths in (("links", found.links), ("removed", found.removed)):
        for path in paths:
            if not path or is_outside(path):
                yield name, f"{path!r} is not a path inside the project"
            if path in hidden:
                yield name, f"hidden/{path} is a file of the draft as well"
    for path, target in found.links.items():
        if leads_out(path.encode(), target.encode()):
            yield "links", f"{path} would lead out of the project: {target}"


def is_outside(path: str) -> bool:
    """Return whether a relative path leaves the project or reaches into its git folder."""
    return not {"", ".", "..", ".git"}.isdisjoint(path.split("/"))
