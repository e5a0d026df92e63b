"""What a shell command reaches for: paths resolved where they are used, and what stays unknown.

The working folder, variables and loops of the command are followed. Whatever only running it would
tell is a doubt, for a person to decide.
"""

import itertools
import re
from dataclasses import dataclass, field

from labkit_grader.leaks.hits import Rule
from labkit_grader.leaks.paths import Territory, resolve
from labkit_grader.leaks.programs import (
    INTERPRETERS,
    SHELLS,
    Action,
    Words,
    action,
    paths,
    probe,
    unwrapped,
)
from labkit_grader.leaks.shell import Kind, Piece, Simple, Word, take_apart

_MOST_VALUES = 64
_DEEPEST = 8
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_BRACES = re.compile(r"\{([^{},]*,[^{}]*)\}")
_HARMLESS_VARIABLES = frozenset("?#$!-")
_LONGEST_WORD = 100_000
_PLAIN_SOURCES = {"find", "git", "grep", "rg", "fd", "ls", "sort", "head", "tail", "uniq", "wc"}
_SETTING = {"export", "local", "declare", "readonly"}
_BUILDS_PATHS = re.compile(
    r"\.parent\b|glob|\.walk|scandir|listdir|iterdir|os\.sep|\bchr\(|decode|fromhex|\bexec\(|\beval\("
    r"|__import__|subprocess|os\.system|popen|readdir|child_process|environ|\.join\("
)
_LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One path that a command reaches for."""

    written: str
    resolved: str
    cwd: str
    action: Action


@dataclass(slots=True, kw_only=True)
class Reach:
    """All that one command reaches for."""

    accesses: list[Access] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    """Why it cannot be decided, one phrase each."""
    probes: list[tuple[Rule, str]] = field(default_factory=list)
    """Rule and reason of what a person must see, wherever it leads."""
    operators: set[str] = field(default_factory=set)
    """What joins the simple commands: with `&&` alone, exit code 0 speaks for all of them."""
    silenced: bool = False
    """Whether error messages are thrown away."""


def reach(command: str, *, cwd: str, territory: Territory) -> Reach:
    """Follow a shell command that starts in `cwd`; never raises."""
    walk = _Walk(cwd=cwd, home=territory.home)
    walk.script(command)
    return walk.found


@dataclass(slots=True, kw_only=True)
class _Walk:
    cwd: str | None
    home: str
    variables: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    found: Reach = field(default_factory=Reach)
    depth: int = 0
    feeding: str = ""
    """The program before the pipe."""

    def script(self, text: str) -> None:
        """Follow a whole command line."""
        script = take_apart(text)
        if script.broken:
            self.found.doubts.append("its quotes or parentheses are not closed")
        outer: list[tuple[str | None, dict[str, tuple[str, ...] | None]]] = []
        for part in script.parts:
            match part:
                case "(":
                    outer.append((self.cwd, dict(self.variables)))
                case ")":
                    if outer:
                        self.cwd, self.variables = outer.pop()
                case Simple():
                    self._simple(part)
                case _:
                    pass

    def _simple(self, simple: Simple) -> None:
        if simple.before:
            self.found.operators.add(simple.before)
        for redirect in simple.redirects:
            if redirect.operator.endswith(("<<", "<<-")):
                continue
            self.found.silenced |= redirect.operator in ("2>", "&>") or redirect.operator == "2>>"
            act = Action.READ if redirect.operator.endswith("<") else Action.TOUCH
            self._use(self._values(redirect.target), act)
        words = [value for word in self._unassigned(simple.words) for value in self._values(word)]
        if not words:
            return
        words, wrapped = unwrapped(words)
        program = words[0].rsplit("/", 1)[-1] if words and words[0] else None
        if "xargs" in wrapped and self.feeding not in _PLAIN_SOURCES:
            self.found.doubts.append("what xargs gets is not known")
        if program is None:
            self._unnamed(words, wrapped)
        else:
            self._program(program, self._without_code(program, words[1:], simple))
            self._use([word for word in words[:1] if word and "/" in word], Action.READ)
        self.feeding = program or ""

    def _unnamed(self, words: Words, wrapped: set[str]) -> None:
        if words:
            self.found.doubts.append("which program it starts is not known")
        elif "env" in wrapped:
            self.found.probes.append((Rule.PROBE, "it lists the environment"))

    def _program(self, name: str, words: Words) -> None:
        if name == "for" and len(words) > 1 and words[0]:
            values = words[2:]
            known = tuple(value for value in values if value is not None)
            self.variables[words[0]] = known if len(known) == len(values) else None
            return
        if name == "read" or name in _SETTING:
            for word in filter(None, words):
                variable, _, value = word.partition("=")
                self.variables[variable] = (value,) if value else None
        if seen := probe(name, words):
            self.found.probes.append(seen)
        self._use(paths(name, words), action(name, words))
        if name in ("cd", "pushd"):
            self._change_folder(words)

    def _change_folder(self, words: Words) -> None:
        target = next((word for word in words if word is None or not word.startswith("-")), "~")
        known = target is not None and self.cwd is not None and words[:1] != ["-"]
        self.cwd = resolve(target or "", cwd=self.cwd or "", home=self.home) if known else None

    def _use(self, words: Words, act: Action) -> None:
        for word in words:
            if word == "":
                continue
            if word is None or (self.cwd is None and not word.startswith(("/", "~"))):
                self.found.doubts.append("a path in it depends on what only running it tells")
                continue
            cwd = self.cwd or "/"
            resolved = resolve(word, cwd=cwd, home=self.home)
            if resolved is not None:
                self.found.accesses.append(
                    Access(written=word, resolved=resolved, cwd=cwd, action=act)
                )

    def _without_code(self, program: str, words: Words, simple: Simple) -> Words:
        """Follow the words that are themselves code; return the others."""
        if program == "eval":
            self._shell(program, [None if None in words else " ".join(filter(None, words))])
            return []
        if program not in SHELLS and not INTERPRETERS.fullmatch(program):
            return words
        codes = [*_code_of(words), *_documents(simple)]
        others = [word for word in words if word not in codes]
        if program in SHELLS:
            scripts = [word for word in others if word is None or word[:1] != "-"]
            self._shell(program, codes if codes or scripts else [None])
        else:
            for code in codes:
                self._code(code)
        return others

    def _shell(self, program: str, texts: Words) -> None:
        for text in texts:
            if text is None:
                self.found.doubts.append(f"what {program} runs is not known")
            else:
                self._nested(text)

    def _nested(self, text: str) -> None:
        inner = _Walk(
            cwd=self.cwd,
            home=self.home,
            variables=dict(self.variables),
            found=self.found,
            depth=self.depth + 1,
        )
        if self.depth > _DEEPEST:
            self.found.doubts.append("it is nested too deeply")
        else:
            inner.script(text)

    def _code(self, code: str | None) -> None:
        if code is None or _BUILDS_PATHS.search(code):
            self.found.doubts.append("its code builds paths or runs other code")
        for match in _LITERAL.finditer(code or ""):
            literal = match[1] or match[2] or ""
            if "/" in literal or literal.startswith("."):
                self._use([literal], Action.READ)

    def _unassigned(self, words: list[Word]) -> list[Word]:
        """Note the assignments that stand before a program; return the words after them."""
        for count, word in enumerate(words):
            match = (
                _ASSIGNMENT.fullmatch(word[0].text) if word and word[0].kind is Kind.BARE else None
            )
            if match is None:
                return words[count:]
            values = self._values((Piece(Kind.QUOTED, match[2]), *word[1:]))
            known = tuple(value for value in values if value is not None)
            self.variables[match[1]] = known if len(known) == len(values) else None
        return []

    def _values(self, word: Word) -> Words:
        """Return what a word can be, [None] when that is not known."""
        choices = [self._piece(piece) for piece in word]
        if any(choice is None for choice in choices):
            return [None]
        known = [choice for choice in choices if choice is not None]
        if sum(max(map(len, choice), default=0) for choice in known) > _LONGEST_WORD:
            return [None]
        combined = itertools.islice(itertools.product(*known), _MOST_VALUES + 1)
        values = ["".join(parts) for parts in combined]
        if len(values) > _MOST_VALUES:
            return [None]
        if len(word) == 1 and word[0].kind is Kind.VARIABLE:
            return [part for value in values for part in value.split()]
        if any(piece.kind is Kind.BARE for piece in word):
            values = [expanded for value in values for expanded in _braces(value)]
        quoted = bool(word) and word[0].kind is Kind.QUOTED
        return [f"./{value}" if quoted and value[:1] == "~" else value for value in values]

    def _piece(self, piece: Piece) -> tuple[str, ...] | None:
        match piece.kind:
            case Kind.VARIABLE:
                return self._variable(piece.text)
            case Kind.COMMAND if piece.text.strip() == "pwd" and self.cwd:
                return (self.cwd,)
            case Kind.COMMAND:
                self._nested(piece.text)
                return None
            case Kind.UNKNOWN:
                return None
            case _:
                return (piece.text,)

    def _variable(self, name: str) -> tuple[str, ...] | None:
        if name in self.variables:
            return self.variables[name]
        if name in _HARMLESS_VARIABLES:
            return ("0",)
        if name == "PWD" and self.cwd:
            return (self.cwd,)
        return {"HOME": (self.home,), "TMPDIR": (self.home,)}.get(name)


def _code_of(words: Words) -> Words:
    return [
        word
        for before, word in itertools.pairwise(words)
        if before and re.fullmatch(r"-[a-z]*[ce]", before)
    ]


def _documents(simple: Simple) -> Words:
    return [
        "".join(piece.text for piece in redirect.target)
        for redirect in simple.redirects
        if redirect.operator.endswith(("<<", "<<-"))
    ]


def _braces(text: str) -> list[str]:
    match = _BRACES.search(text)
    if match is None:
        return [text]
    inner = match[1].split(",")
    if len(inner) > _MOST_VALUES or text.count("{") > 3:  # noqa: PLR2004 - each brace multiplies
        return [text]
    whole = [text[: match.start()] + part + text[match.end() :] for part in inner]
    return [expanded for one in whole for expanded in _braces(one)]
