"""How this machine reaches its package indexes, brought into setup and nowhere else.

Variables of pip, uv, npm and proxies, the settings files of pip and npm, and the files that they
name are put where setup finds them, in memory. Nothing of it stays in an image or a folder.
"""

import configparser
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from labkit.archive import Entry, Kind
from labkit.sandbox import npm
from labkit.sandbox.making import KIT

_TAKEN = re.compile(
    r"PIP_\w+|UV_\w+|npm_config_\w+|NPM_CONFIG_\w+|(?:https?|no|all|ftp)_proxy|GOPROXY|GOSUMDB"
    r"|\w*(?:CA_BUNDLE|CA_CERTS|CA_CERTS_FILE|CAINFO|CERT_FILE|SSL_ROOTS_FILE_PATH)",
    re.IGNORECASE,
)
_NEVER = frozenset({"PIP_CONFIG_FILE", "PIP_CACHE_DIR", "PIP_TARGET", "PIP_PREFIX", "PIP_USER"})
_NEVER_UV = re.compile(r"UV_(?:CACHE_DIR|PROJECT_ENVIRONMENT|PYTHON\w*|TOOL\w*|CONFIG_FILE)")
_COPIES = f"{KIT}/files"
_PATH = re.compile(r"(?<![\w:/.])/[^\s,;:]+")
_FOLDERS = re.compile(r"file://\S+|(?<![\w:/])/[^\s,;]+")
_SYSTEM = ("/bin", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/usr")


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexes:
    """What setup is told of the machine's package indexes."""

    variables: Mapping[str, str]
    files: tuple[Entry, ...]
    """Below `/`: certificates and pip's settings."""
    folders: tuple[Path, ...]
    """Folders of this machine that they name, to be read at the same place."""


def read_indexes(environment: Mapping[str, str] | None = None) -> Indexes:
    """Return how the machine of this process reaches its indexes."""
    found = dict(os.environ if environment is None else environment)
    settings = _pip_settings(found)
    copies: dict[str, bytes] = {}
    variables = {
        name: _inside(value, copies) for name, value in sorted(found.items()) if _is_taken(name)
    }
    variables = {name: value for name, value in variables.items() if value}
    settings = {
        section: {name: _inside(value, copies) for name, value in values.items()}
        for section, values in settings.items()
    }
    of_npm = _inside(npm.npm_settings(found), copies)
    entries = [
        Entry(path=name.encode()[1:], kind=Kind.FILE, data=data) for name, data in copies.items()
    ]
    if of_npm:
        variables["NPM_CONFIG_USERCONFIG"] = f"{KIT}/npmrc"
        entries.append(_settings_file("npmrc", of_npm))
    words = list(variables.values())
    if settings:
        text = _settings_text(settings)
        variables["PIP_CONFIG_FILE"] = f"{KIT}/pip.conf"
        entries.append(_settings_file("pip.conf", text))
        words.append(text)
    return Indexes(
        variables=variables, files=tuple(entries), folders=tuple(_folders(" ".join(words)))
    )


def _settings_file(name: str, text: str) -> Entry:
    return Entry(path=f"{KIT}/{name}".encode()[1:], kind=Kind.FILE, data=text.encode())


def _is_taken(name: str) -> bool:
    never = name in _NEVER or _NEVER_UV.fullmatch(name) or npm.NEVER.fullmatch(name)
    return bool(_TAKEN.fullmatch(name)) and not never


def exports(variables: Mapping[str, str]) -> bytes:
    """Return lines of a shell that set the variables."""
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in variables.items()]
    return "".join(lines).encode(errors="surrogateescape")


def _inside(value: str, copies: dict[str, bytes]) -> str:
    """Return what a setting is inside: each file of this machine that it names becomes a copy."""

    def copied(match: re.Match[str]) -> str:
        path = Path(match[0])
        try:
            if not path.is_file():
                return match[0]
            data = path.read_bytes()
        except OSError:
            return match[0]
        known = {content: name for name, content in copies.items()}
        name = known.get(data, f"{_COPIES}/{len(copies)}-{path.name}")
        copies[name] = data
        return name

    return _PATH.sub(copied, value)


def _pip_settings(environment: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return pip's settings of this machine and user, later files over earlier ones."""
    merged: dict[str, dict[str, str]] = {}
    for path in _pip_files(environment):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue
        for section in parser.sections():
            merged.setdefault(section, {}).update(parser.items(section))
    return merged


def _pip_files(environment: Mapping[str, str]) -> Iterator[Path]:
    chosen = environment.get("PIP_CONFIG_FILE", "")
    if chosen == os.devnull:
        return
    config = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    yield Path("/etc/xdg/pip/pip.conf")
    yield Path("/etc/pip.conf")
    yield Path.home() / ".pip" / "pip.conf"
    yield Path(config) / "pip" / "pip.conf"
    yield Path.home() / "Library" / "Application Support" / "pip" / "pip.conf"
    if chosen:
        yield Path(chosen)


def _settings_text(settings: Mapping[str, Mapping[str, str]]) -> str:
    lines = []
    for section, values in settings.items():
        lines.append(f"[{section}]")
        lines += [
            f"{name} = " + value.replace("\n", "\n    ") for name, value in values.items() if value
        ]
    return "\n".join(lines) + "\n"


def _beside(path: Path) -> set[Path]:
    """Return where the pages of an index that lies in a folder point to: mirrors are made so."""
    if path.name != "simple":
        return set()
    return {each for name in ("files", "packages") if (each := path.parent / name).is_dir()}


def _folders(text: str) -> Iterator[Path]:
    """Yield the folders of this machine that settings name, the outer one where one holds another.

    Those of the system are not taken: the sandbox has its own.
    """
    named = set()
    for word in _FOLDERS.findall(text):
        path = Path(unquote(urlsplit(word).path) if word.startswith("file:") else word)
        if path.is_dir() and not str(path).startswith(tuple(f"{top}/" for top in _SYSTEM)):
            named.add(path)
            named |= _beside(path)
    for path in sorted(named):
        if path != Path("/") and not any(other in path.parents for other in named):
            yield path
