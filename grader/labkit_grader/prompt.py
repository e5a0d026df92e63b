"""Whether a prompt gives its solution away, or keeps back what the hidden tests need.

Compared are the prompt, what only the solution has, what everybody can read at the base, and what
the hidden tests use: a new name that they need is the interface and has to be told; any other is a
leak.
"""

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from labkit.fields import counted
from labkit.model import Category
from labkit.patch.place import Tree
from labkit.scaffold import left_of_template
from labkit.testpaths import PathKind, path_kind
from labkit_grader.needed import HiddenNames, hidden_names
from labkit_grader.remarks import Kind, PromptCheck, Remark
from labkit_grader.vocabulary import WORD, Code, Known, code_of_all, plain, text_of

FEWEST_WORDS = 6
_SHORTEST_LINE, _SHORTEST_CODE = 16, 7
_SHORTEST_NAME, _SHORTEST_WORD = 4, 6
_SHORTEST_STRING = 5
_FEWEST_DIGITS = 4
_HEX = re.compile(r"(?<![\w#])[0-9a-fA-F]{7,64}(?!\w)")
_LINK = re.compile(
    r"https?://\S+?/(?:issues?|pulls?|merge_requests|commits?|compare|tickets?|browse|changeset)/\S+"
    r"|(?<![\w&])(?:[\w.-]+/[\w.-]+)?#[0-9]{1,6}(?!\w)|(?<!\w)(?:gh|GH)-[0-9]{1,6}(?!\w)"
)
_SPAN = re.compile(r"`+([^`]+)`+")
_COLOUR = re.compile(r"#[0-9]{6}")
_PATTERN = re.compile(r"\\[dwsbDWSBAZ]|\[\^?[^\]]+\][*+?{]|\(\?|[*+?]\)|\.\*|\.\+|\^.*\$")
_EVERYBODYS = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins)})
"""Python's own words are no secret of a solution."""
_DUNDER = re.compile(r"__\w+__")  # Python's own too, but not every class has it
_TELLING = re.compile(r"\w_+\w|[a-z0-9][A-Z]|[A-Za-z]\d|^_|_$")
_CODE_LIKE = re.compile(r"[^\w\s]")
_OF_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What a prompt is held against."""

    base: Tree
    solution: Tree
    hidden: Mapping[str, bytes]
    category: Category = Category.OTHER
    commits: tuple[str, ...] = ()
    """Ids of the base, of the solution and of those between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """The background, taken apart."""

    known: Known
    new: Code
    """What only the solution has."""
    prose: frozenset[str]
    """Lines that the solution adds to files that are no source."""
    names: HiddenNames
    hidden_text: str
    added: frozenset[str]
    changed: frozenset[str]
    hidden_files: frozenset[str]
    standing: frozenset[str] = field(default_factory=frozenset)

    def is_new(self, name: str) -> bool:
        """Return whether a name is the solution's alone, and no hidden test needs it."""
        return (
            name in self.new.names
            and name not in self.names.words
            and name not in _EVERYBODYS
            and not self.known.has_word(name)
        )


def check_prompt(prompt: str, background: Background) -> PromptCheck:
    """Compare a prompt with what the solution adds to the base and with the hidden tests."""
    compared = _compare(background)
    remarks: dict[Remark, None] = {}
    for number, line in enumerate(prompt.splitlines(), 1):
        for kind, text in _in_line(line, compared, background.commits):
            remarks[Remark(kind=kind, line=number, text=text)] = None
    for number, text in left_of_template(prompt, background.category):
        remarks[Remark(kind=Kind.TEMPLATE, line=number, text=text)] = None
    for kind, text in (*_size(prompt), *_missing(prompt, compared, background.category)):
        remarks[Remark(kind=kind, text=text)] = None
    order = list(Kind)
    return PromptCheck(remarks=tuple(sorted(remarks, key=lambda one: order.index(one.kind))))


def _compare(background: Background) -> _Compared:
    base, solution = background.base, background.solution
    changed = [path for path, entry in solution.items() if base.get(path) != entry]
    kinds = {PathKind.SOURCE, PathKind.VERSION}
    if background.category is Category.TESTS:
        kinds |= {PathKind.TEST}
    source = [path for path in changed if path_kind(path) in kinds]
    others = [path for path in changed if path_kind(path) not in {*kinds, PathKind.TEST}]
    before = code_of_all((path, base[path].data) for path in source if path in base)
    after = code_of_all((path, solution[path].data) for path in source)
    plain_old = _text_lines(base[path].data for path in others if path in base)
    paths = {path.decode(errors="replace") for path in changed if path_kind(path) in kinds}
    gone = {path.decode(errors="replace") for path in base.keys() - solution.keys()}
    standing = frozenset(path.decode(errors="replace") for path in base)
    return _Compared(
        known=Known(base),
        new=after - before,
        prose=_text_lines(solution[path].data for path in others) - plain_old,
        names=hidden_names(background.hidden, solution),
        hidden_text=plain(" ".join(map(text_of, background.hidden.values()))),
        added=frozenset(paths - standing),
        changed=frozenset((paths & standing) | gone),
        hidden_files=frozenset(background.hidden) - standing,
        standing=standing,
    )


def _text_lines(contents: Iterable[bytes]) -> frozenset[str]:
    return frozenset(plain(line) for data in contents for line in text_of(data).splitlines())


def _in_line(
    line: str, compared: _Compared, commits: tuple[str, ...]
) -> Iterator[tuple[Kind, str]]:
    """Yield what one line of the prompt gives away."""
    rest = plain(line)
    for kind, found in _lines(rest, compared):
        yield kind, found
        rest = rest.replace(found, " ")  # its names are told with it
    yield from _names(rest, compared)
    yield from _literals(rest, compared)
    yield from _files(rest, compared)
    for found in _HEX.findall(line):
        if any(oid.startswith(found.lower()) for oid in commits):
            yield from _unless_known(Kind.COMMIT, found, compared.known)
    for found in _LINK.findall(line):
        if not _COLOUR.fullmatch(found) and plain(found) not in compared.hidden_text:
            yield from _unless_known(Kind.LINK, found.rstrip(".,;:)>]"), compared.known)


def _unless_known(kind: Kind, text: str, known: Known) -> Iterator[tuple[Kind, str]]:
    if not known.has_text(text):
        yield kind, text


def _lines(asked: str, compared: _Compared) -> Iterator[tuple[Kind, str]]:
    """Yield the lines of the solution that stand in a line of the prompt.

    What stands there as code gives a short line away too: "write `return -x`".
    """
    spans = {_tight(span) for span in _SPAN.findall(asked)}
    for kind, lines in ((Kind.LINE, compared.new.lines), (Kind.LITERAL, compared.prose)):
        for added in sorted(lines):
            telling = len(added) >= _SHORTEST_LINE and _CODE_LIKE.search(added)
            as_code = len(added) >= _SHORTEST_CODE and _tight(added) in spans
            if (as_code or (telling and added in asked)) and not _may_be_told(added, compared):
                yield kind, added


def _tight(code: str) -> str:
    """Return code without blanks and Markdown's backslashes."""
    return re.sub(r"\s|\\(?=[_*`])", "", code)


def _may_be_told(line: str, compared: _Compared) -> bool:
    """Whether a line is no secret: it stands in the base or a hidden test, or heads a new name."""
    head = re.match(r"(?:async )?(?:def|class|function|func|fn|export function) (\w+)", line)
    return (
        line in compared.hidden_text
        or bool(head and head[1] in compared.names.words)
        or compared.known.has_text(line)
    )


def _names(line: str, compared: _Compared) -> Iterator[tuple[Kind, str]]:
    for match in WORD.finditer(line):
        word = match[0]
        if word in compared.names.tests and not compared.known.has_word(word):
            yield Kind.TEST, word
        elif len(word) >= _SHORTEST_NAME and compared.is_new(word):
            before, after = line[: match.start()][-1:], line[match.end() :][:1]
            as_code = after == "(" or before in ("`", ".") or _TELLING.search(word)
            if as_code and not _DUNDER.fullmatch(word):
                yield Kind.NAME, word
            elif len(word) >= _SHORTEST_WORD:
                yield Kind.WORD, word
    yield from _titles(line, compared)


def _titles(line: str, compared: _Compared) -> Iterator[tuple[Kind, str]]:
    for title in sorted(compared.names.titles):
        if title in line and not compared.known.has_text(title):
            yield Kind.TEST, title


def _literals(asked: str, compared: _Compared) -> Iterator[tuple[Kind, str]]:
    for text in sorted(compared.new.strings):
        wanted = plain(text)
        if len(wanted) < _SHORTEST_STRING or wanted not in asked or wanted in compared.hidden_text:
            continue
        if not WORD.fullmatch(wanted) and not compared.known.has_text(wanted):
            yield Kind.PATTERN if _PATTERN.search(text) else Kind.LITERAL, wanted
    for number in sorted(compared.new.numbers):
        told = _is_distinctive(number) and _has_word(asked, number)
        if told and not _has_word(compared.hidden_text, number):
            yield from _unless_known(Kind.LITERAL, number, compared.known)


def _is_distinctive(number: str) -> bool:
    """Whether a number is more than a count: four digits or more, no round number and no year."""
    digits = re.sub(r"\D", "", number)
    is_year = re.fullmatch("(?:19|20)..", number)
    return len(digits) >= _FEWEST_DIGITS and len(digits.strip("0")) > 1 and not is_year


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w|\.\d)", text) is not None


def _files(line: str, compared: _Compared) -> Iterator[tuple[Kind, str]]:
    """Yield the files of the solution and of the hidden tests that a line names."""
    for path in sorted(compared.hidden_files):
        name = path.rpartition("/")[2]
        stem = name.removesuffix(".py")
        telling = stem not in ("conftest", "__init__") and _has_word(line, stem)
        if telling and not compared.known.has_word(stem):
            yield Kind.TEST, stem
    for path in sorted(compared.added):
        found = _named(line, path)
        needed = path in compared.hidden_text or _module(path) in compared.names.imported
        if found and not needed and not compared.known.has_text(found):
            yield Kind.FILE, found
    for path in sorted(compared.changed):
        if _has_word(line, path):
            yield Kind.CHANGED, path


def _named(line: str, path: str) -> str:
    """Return how a line names a path: whole, or by a file name that has an ending; else nothing."""
    name = path.rpartition("/")[2]
    return next((text for text in (path, name) if "." in name and _has_word(line, text)), "")


def _module(path: str) -> str:
    folder, _, name = path.removesuffix(".py").rpartition("/")
    return name if name != "__init__" else folder.rpartition("/")[2]


def count_words(prompt: str) -> int:
    """Return how many words a text has; two signs of a script without blanks count as one."""
    signs = len(_OF_NO_SPACES.findall(prompt))
    return len(WORD.findall(_OF_NO_SPACES.sub(" ", prompt))) + (signs + 1) // 2


def _size(prompt: str) -> Iterator[tuple[Kind, str]]:
    words = count_words(prompt)
    told = counted(words, "word")
    hint = "say what happens, what should happen, and how to see it"
    if words < FEWEST_WORDS:
        yield Kind.SHORT, f"{told}, at least {FEWEST_WORDS} are needed; {hint}"


def _missing(prompt: str, compared: _Compared, category: Category) -> Iterator[tuple[Kind, str]]:
    """Yield the new names that the hidden tests need and the prompt keeps back."""
    if category is Category.TESTS:
        return
    said = set(WORD.findall(prompt))
    modules = {_module(path) for path in compared.added}
    for kind, names in (
        (Kind.UNNAMED, compared.names.imported),
        (Kind.UNTOLD, compared.names.used),
    ):
        for name in sorted(names - said):
            if name in compared.new.names | modules and not compared.known.has_word(name):
                yield kind, name
