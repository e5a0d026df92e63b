"""A root file system out of this Debian machine's own packages: no registry, no network.

Only files that belong to the wanted packages are taken, never configuration or data of the machine.
"""

import io
import os
import re
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from labkit import process

_WANTED = (
    *("base-files", "bash", "ca-certificates", "coreutils", "dash", "diffutils", "findutils"),
    *("git", "grep", "gzip", "libc-bin", "mawk", "patch", "procps", "python3", "sed", "tar"),
    *("util-linux", "libstdc++6"),  # the last for Node, which agents bring along
)
_REQUIRED = {"coreutils", "dash", "git", "python3", "tar"}
# What the wanted packages ask for and a sandboxed command never uses.
_UNWANTED = re.compile(
    r"adduser|cdebconf|debconf.*|dpkg|gcc-\d+-base|git-man|init-system-helpers|libdb5\.3\w*|libperl.*|lib.*-perl"
    r"|login\.defs|media-types|openssl|perl.*|sensible-utils|tzdata|ucf"
)
_SKIPPED = re.compile(
    r"/usr/share/(bash-completion|bug|doc|gitweb|info|lintian|locale|man|perl|pixmaps|zsh)(/|$)"
    r"|/usr/share/git-core/contrib(/|$)|/usr/lib/python3[^/]*/.*/tests?/|.*\.pyc$|/(etc|var)/"
)
_PACKAGE = re.compile(r"\s*([a-z0-9][a-z0-9.+-]*)")
_TOP_LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_FOLDERS = ("dev", "etc", "opt", "proc", "root", "run", "sys", "var")


def available() -> bool:
    """Whether this is a Debian machine with the packages that an image needs."""
    return Path("/var/lib/dpkg/status").is_file() and installed_packages().keys() >= _REQUIRED


def installed_packages() -> dict[str, tuple[str, ...]]:
    """Return what each installed package depends on, the first alternative that is installed."""
    form = "${Package}\t${db:Status-Status}\t${Pre-Depends}, ${Depends}\n"
    lines = process.run(["dpkg-query", "-W", "-f", form]).stdout.decode().splitlines()
    rows = [line.split("\t") for line in lines]
    names = {name for name, status, _ in rows if status == "installed"}
    return {name: tuple(_chosen(depends, names)) for name, _, depends in rows if name in names}


def _chosen(depends: str, names: set[str]) -> Iterator[str]:
    for alternatives in depends.split(","):
        found = (_PACKAGE.match(each) for each in alternatives.split("|"))
        yield from [match[1] for match in found if match and match[1] in names][:1]


def closure(packages: dict[str, tuple[str, ...]], wanted: Iterable[str]) -> list[str]:
    """Return the wanted packages with all they depend on, sorted."""
    seen: set[str] = set()
    waiting = [name for name in wanted if name in packages]
    while waiting:
        name = waiting.pop()
        if name not in seen and not _UNWANTED.fullmatch(name):
            seen.add(name)
            waiting += packages[name]
    return sorted(seen)


def package_files(more: Iterable[str] = ()) -> list[Path]:
    """Return every file and link that the image takes, at its real place.

    `more` are packages of this machine beside the usual ones.
    """
    names = closure(installed_packages(), [*_WANTED, *more])
    listed = process.run(["dpkg", "-L", *names]).stdout.decode().splitlines()
    found: set[Path] = set()
    for line in listed:
        path = Path(line)
        if (
            not line.startswith("/")
            or _SKIPPED.match(line)
            or (path.is_dir() and not path.is_symlink())
        ):
            continue
        # Where /bin is a link to usr/bin, packages still may say /bin/sh.
        real = Path(os.path.realpath(path.parent), path.name)
        if os.path.lexists(real) and real.parent != Path("/"):
            found.update((real, *_compiled(real)))
    return sorted(found)


def _compiled(source: Path) -> list[Path]:
    """Return the byte code of a Python file: without it every fresh container compiles again."""
    if source.suffix != ".py":
        return []
    return list((source.parent / "__pycache__").glob(f"{source.stem}.cpython-*.pyc"))


def write_root(archive: tarfile.TarFile, *, site: Path, more: Iterable[str] = ()) -> None:
    """Write the whole root file system, with the packages in `site` below `/opt/labkit`.

    `more` are packages of this machine beside the usual ones, such as a compiler.
    """
    for name in _FOLDERS:
        archive.addfile(_entry(name, mode=0o755))
    archive.addfile(_entry("tmp", mode=0o1777))
    for name in ("workspace", "report"):
        archive.addfile(_entry(name, mode=0o755, user=1000))
    for name in _TOP_LINKS:
        if Path("/", name).is_symlink():
            archive.addfile(_entry(name, link=str(Path("/", name).readlink())))
    files = package_files(more)
    for path in files:
        archive.add(path, arcname=str(path).lstrip("/"), recursive=False, filter=_rooted)
    _write_accounts(archive)
    _write_links(archive, taken=set(files))
    archive.add(site, arcname="opt/labkit/site", filter=_rooted)


def _write_accounts(archive: tarfile.TarFile) -> None:
    accounts = {
        "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/workspace:/bin/sh\n",
        "etc/group": "root:x:0:\nagent:x:1000:\n",
    }
    for name, text in accounts.items():
        entry = _entry(name, mode=0o644)
        entry.type, entry.size = tarfile.REGTYPE, len(text)
        archive.addfile(entry, io.BytesIO(text.encode("ascii")))


def _write_links(archive: tarfile.TarFile, *, taken: set[Path]) -> None:
    """Write the links that package scripts would have made."""
    for name, target in (("python", "python3"), ("awk", "mawk"), ("sh", "dash")):
        if Path("/usr/bin", name) not in taken:
            archive.addfile(_entry(f"usr/bin/{name}", link=target))


def _entry(name: str, *, mode: int = 0o777, user: int = 0, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.SYMTYPE if link else tarfile.DIRTYPE
    entry.linkname = link
    entry.mode = mode
    entry.uid = entry.gid = user
    return entry


def _rooted(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
