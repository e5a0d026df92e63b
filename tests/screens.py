"""The screen of a diff, on files that tests write down as a mapping from path to content."""

from collections.abc import Mapping

from labkit.archive import Entry, Kind
from labkit.patch.place import Applied
from labkit_grader.screen.screening import suspicions

Files = Mapping[str, str | bytes]


def tree(files: Files) -> dict[bytes, Entry]:
    return {
        path.encode(): Entry(
            path=path.encode(),
            kind=Kind.FILE,
            data=text.encode() if isinstance(text, str) else text,
        )
        for path, text in files.items()
    }


def screened(
    base: Files, after: Files, *, prompt: str = "", hidden: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Screen what came of a base; `after` holds every file that differs."""
    old, new = tree(base), tree({**base, **after})
    changed = tuple(sorted(path for path in new if old.get(path) != new[path]))
    told = {path: text.encode() for path, text in (hidden or {}).items()}
    return suspicions(old, Applied(tree=new, changed=changed), prompt=prompt, hidden=told)
