"""Takes out of what scorers see whatever tells which configuration, or who, made a run.

Bytes in, bytes out. Lines are never joined or split, so a diff stays readable as a diff; it need
not apply any more, because scorers only read it.
"""

import base64
import re
import unicodedata
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_LONG_NAME = 6
"""A name of so many letters is replaced even inside a longer word; `ana` inside `banana` is not."""
_SHORTEST_NAME = 2
_EXCERPT = 60
_LETTER = r"[^\W_]"
_SEPARATORS = re.compile(r"[-_. \t]+")
_STAND_IN = 0x10F000
"""While names are taken out, characters of nobody's alphabet stand for what was replaced, so that a
placeholder's own letters are never met again."""

# Agents write lines of megabytes: no pattern may begin again within what it has just read in vain.
_FIXED = (
    (
        "run",
        r"(?<![a-z0-9])(?<![a-z0-9]-)(?:[a-z0-9]+-)*[a-z0-9]+__(?-i:[A-Z])__[1-9](?![0-9])",
    ),
    ("configuration", r"\bconfig(?:uration)?[-_ :=]{0,3}(?-i:[A-Z])\b"),
    ("id", r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"),
    ("id", r"\bsession[-_ ]?id[\"']?[ \t]*[:=][ \t]*[\"']?(?=[\w-]*[0-9])[\w-]{8,}"),
    ("id", r"\b(?:ses|msg|toolu|call|req|resp|thread)_[a-z0-9]{12,}\b"),
    ("home", r"/(?:home|Users)/[^/\s\"':]+"),
    ("home", r"[A-Z]:\\+Users\\+[^\\\s\"':]+"),
)

_TELLS = re.compile(
    r"claude|anthropic|sonnet|\bopus\b|haiku|openai|chatgpt|\bgpt\b|codex|gemini|copilot|cursor"
    r"|\baider\b|opencode|qwen|llama|mistral|deepseek|\bgrok\b|co-authored-by|generated (?:with|by)"
    r"|TodoWrite|apply_patch|(?<![\w.+-])[.+-]*\w[\w.+-]*@[\w-]+\.\w[\w.-]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A redacted text, with what the holder should know of it."""

    data: bytes
    replaced: Mapping[str, int]
    """How often something of each kind was replaced."""
    doubtful: tuple[str, ...]
    """Excerpts that still look as if they tell who or what made this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redactor:
    """Replaces names by their kind: `[model]`, `[agent]`, `[person]`, `[path]`.

    Upper and lower case are the same, so are the blanks, hyphens, dots and underscores within a
    name, and composed and decomposed accents. Beside the given names, run ids, "configuration A",
    session ids, UUIDs and home folders go.
    """

    names: Mapping[str, tuple[str, ...]]
    """What to take out, by kind. A name of one character is not taken: it stands everywhere."""
    _patterns: tuple[tuple[str, re.Pattern[str]], ...] = field(init=False, repr=False)
    _hidden: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ordered = sorted(
            (
                (name, kind)
                for kind, names in self.names.items()
                for name in names
                if len(name.strip()) >= _SHORTEST_NAME
            ),
            key=lambda pair: (-len(pair[0]), pair),
        )
        patterns = [(kind, re.compile(_pattern(name), re.IGNORECASE)) for name, kind in ordered]
        patterns += [(kind, re.compile(text, re.IGNORECASE)) for kind, text in _FIXED]
        hidden = sorted({shape for name, _ in ordered for shape in _hidden_shapes(name)})
        object.__setattr__(self, "_patterns", tuple(patterns))
        object.__setattr__(self, "_hidden", re.compile("|".join(hidden) or r"(?!)"))

    def redact(self, data: bytes) -> Redacted:
        """Return `data` without the names. Bytes that are not UTF-8 stay as they are."""
        text = data.decode("utf-8", "surrogateescape")
        replaced: Counter[str] = Counter()
        kinds = list(dict.fromkeys(kind for kind, _ in self._patterns))
        before = None
        while text != before:  # taking one name out can lay another one bare
            before = text
            for kind, pattern in self._patterns:
                text, count = pattern.subn(chr(_STAND_IN + kinds.index(kind)), text)
                replaced[kind] += count
        text = text.translate({_STAND_IN + n: f"[{kind}]" for n, kind in enumerate(kinds)})
        return Redacted(
            data=text.encode("utf-8", "surrogateescape"),
            replaced={kind: count for kind, count in replaced.items() if count},
            doubtful=tuple(self._doubts(text)),
        )

    def _doubts(self, text: str) -> Iterable[str]:
        for number, line in enumerate(text.split("\n"), 1):
            for pattern in (_TELLS, self._hidden):
                for match in pattern.finditer(line):
                    start = max(0, match.start() - _EXCERPT // 2)
                    yield f"line {number}: {line[start : start + _EXCERPT].strip()}"


def _hidden_shapes(name: str) -> Iterable[str]:
    """Yield patterns of what is no plain spelling of a name but still tells it: shown, not taken.

    Base64 at its three alignments without the letters that depend on what stands beside, the form
    in a URL, and a short name as a part of a CamelCase word.
    """
    raw = name.encode()
    if len(raw) >= _LONG_NAME:
        for shift in range(3):
            coded = base64.b64encode(bytes(shift) + raw).decode()
            whole = (shift + len(raw)) // 3 * 4
            yield re.escape(coded[-(-shift * 8 // 6) : whole])
    else:
        word = re.escape(name.capitalize())
        yield f"(?<=[a-z0-9]){word}(?![a-z])|(?<![A-Za-z]){word}(?=[A-Z])"
    if (quoted := urllib.parse.quote(name)) != name:
        yield re.escape(quoted)


def _pattern(name: str) -> str:
    """Return a pattern for a name however it is spelt."""
    spellings = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")}
    spellings |= {name, name.upper(), name.casefold()}  # for letters that change their number
    words = "|".join(_loosely(spelling) for spelling in sorted(spellings))
    if len(name) >= _LONG_NAME:
        return f"(?:{words})"
    return f"(?<!{_LETTER})(?:{words})(?!{_LETTER})"


def _loosely(spelling: str) -> str:
    """Return a pattern that takes any separators, or none, where the name has some."""
    gap = max((len(found) for found in _SEPARATORS.findall(spelling)), default=1)
    parts = [re.escape(part) for part in _SEPARATORS.split(spelling) if part]
    return f"[-_. \\t]{{0,{gap}}}".join(parts) or re.escape(spelling)
