"""Graders of texts: `exact`, `contains_all`, `regex_match`.

Each looks at the answer, or with `path` at a file of the candidate's folder.
"""

import functools
from dataclasses import dataclass
from typing import Any

from labkit.errors import InputError
from labkit.fields import Fields, counted, first_words
from labkit.graders.folder import Unreadable, path_problem, read_inside, require_inside
from labkit.graders.interface import Case, Output, Verdict, total
from labkit.graders.likeness import UNSEEN, Likeness, Whitespace, normalised
from labkit.graders.tools import Tools
from labkit.graders.values import TooLongError, same, shown, shown_type, text_of

FORGIVING = Likeness(whitespace=Whitespace.ENDS)
"""For whole answers: what stands around them does not count either."""
_LONGEST_PATTERN = 10_000
_MOST_STEPS = 1 << 30
"""Characters times size of the compiled pattern: at most about ten seconds of matching."""
_BOTH_SHOWN = 120
_NO_REFERENCE = (
    "the grader is given nothing to compare with, and the case has no reference that it can use"
)
_RE2 = "labkit uses RE2, which knows no look-around and no back references: combine graders"

Same = str | bytes


def answer_text(output: Output, path: str, case: Case) -> str | Verdict:
    """Return the text to grade: the answer, or a file; the verdict when there is none."""
    value = output.value
    if path:
        if output.folder is None:
            return Verdict.ungraded(f"case {case.id} has no folder in which {path} could be")
        found = read_inside(output.folder, path)
        if isinstance(found, Unreadable):
            return Verdict.failing(found.why)
        value = found
    try:
        text = text_of(value)
    except TooLongError as error:
        return Verdict.failing(f"{path or 'the answer'} is too long: {error}")
    return Verdict.failing(f"the answer is {shown_type(value)}, no text") if text is None else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """`exact`: passes when the answer is the expected one; score 1 or 0.

    Texts are compared by their `likeness`; by default line ends, Unicode form and white space at
    both ends do not count. A reference that is no text (a number, list, dict) has to be met in
    value and type, all the way down.
    """

    expected: str | None = None
    """The text expected; None: the case's reference."""
    likeness: Likeness = FORGIVING

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        if why := self.lacking(case):
            return Verdict.ungraded(why)
        expected = case.reference if self.expected is None else self.expected
        wanted = text_of(expected)
        if wanted is None:
            if same(output.value, expected):
                return Verdict.passing(f"is {shown(expected)}")
            return Verdict.failing(f"expected {shown(expected)}, found {shown(output.value)}")
        found = answer_text(output, "", case)
        if isinstance(found, Verdict):
            return found
        return compared(self.likeness.plain(found), self.likeness.plain(wanted))

    def lacking(self, case: Case) -> str:
        """Return why no output can be judged."""
        return _NO_REFERENCE if self.expected is None and case.reference is None else ""


def exact(fields: Fields, _: Tools) -> Exact:
    """Build `exact` from its mapping."""
    expected = fields.text("expected") if "expected" in fields else None
    return Exact(expected=expected, likeness=Likeness.read(fields, FORGIVING))


def compared(found: Same, wanted: Same) -> Verdict:
    """Return the verdict on two texts, or two contents, that have to be equal."""
    if found == wanted:
        return Verdict.passing("is as expected")
    if len(found) + len(wanted) <= _BOTH_SHOWN:
        return Verdict.failing(f"expected {shown(wanted)}, found {shown(found)}")
    at = _first_difference(found, wanted)
    unit = "character" if isinstance(wanted, str) else "byte"
    return Verdict.failing(
        f"differs from {unit} {at + 1} on: expected {shown(wanted[at:])}, found {shown(found[at:])}"
    )


def _first_difference(one: Same, other: Same) -> int:
    """Return how many characters are the same, by halving: a loop over all is too slow."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainsAll:
    """`contains_all`: passes when every one of some words stands in the text.

    The score is the share of the words that do. Words are looked for as they are, inside longer
    ones too; `likeness` says which differences do not count.
    """

    words: tuple[str, ...] = ()
    """At least one; none: the case's reference, a text or a list of texts."""
    path: str = ""
    """The file to look into; empty: the answer."""
    likeness: Likeness = UNSEEN

    def __post_init__(self) -> None:
        require_inside(self.path)

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        if why := self.lacking(case):
            return Verdict.ungraded(why)
        words = self.words or _words(case.reference)
        found = answer_text(output, self.path, case)
        if isinstance(found, Verdict):
            return found
        text = self.likeness.plain(found)
        missing = [shown(word) for word in words if self.likeness.plain(word) not in text]
        if not missing:
            return Verdict.passing(f"has all of {counted(len(words), 'word')}")
        score = (len(words) - len(missing)) / len(words)
        return Verdict.failing(f"does not have {first_words(missing)}", score=score)

    def lacking(self, case: Case) -> str:
        """Return why no output can be judged."""
        words = self.words or _words(case.reference)
        if not words:
            return _NO_REFERENCE
        sound = all(map(self.likeness.plain, words))
        return "" if sound else "one of the words is empty: every text has it"


def _words(reference: object) -> tuple[str, ...]:
    """Return the words that a case's reference is; none when it is anything else."""
    if isinstance(reference, str):
        reference = (reference,)
    if not isinstance(reference, list | tuple):
        return ()
    return tuple(reference) if all(isinstance(word, str) and word for word in reference) else ()


def contains_all(fields: Fields, _: Tools) -> ContainsAll:
    """Build `contains_all` from its mapping."""
    words = fields.texts("words")
    if "words" in fields and not words:
        fields.problem("words", '"words" is empty: every answer would pass')
    likeness = Likeness.read(fields, UNSEEN)
    if not all(map(likeness.plain, words)):
        fields.problem("words", 'one of the "words" is empty: every text has it')
    return ContainsAll(words=words, path=path_of(fields), likeness=likeness)


def path_of(fields: Fields, *, required: bool = False) -> str:
    """Read the optional `path` of a file in the candidate's folder."""
    if "path" not in fields and not required:
        fields.text("path", default="")
        return ""
    path = fields.text("path")
    problem = path_problem(path) if "path" in fields else None
    if problem is None:
        return path
    fields.problem("path", f'"path" {problem}')
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexMatch:
    """`regex_match`: passes when a pattern matches somewhere in the text; score 1 or 0.

    The pattern is RE2's: no answer can make matching take longer than its length explains. `$`
    and `^` mean the ends of the text, with `(?m)` of a line. Raises InputError for a pattern that
    RE2 does not know.
    """

    pattern: str | None = None
    """None: the case's reference."""
    path: str = ""
    """The file to look into; empty: the answer."""
    whole: bool = False
    """Whether the pattern has to match all of the text."""
    likeness: Likeness = UNSEEN
    """White space always counts here: a pattern says itself where it does not."""

    def __post_init__(self) -> None:
        require_inside(self.path)
        if self.pattern is not None:
            compiled(self.pattern, self.likeness)

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        pattern = case.reference if self.pattern is None else self.pattern
        if type(pattern) is not str:
            return Verdict.ungraded(self.lacking(case))
        made = compiled(pattern, self.likeness)
        found = answer_text(output, self.path, case)
        if isinstance(found, Verdict):
            return found
        if len(found) * made.programsize > _MOST_STEPS:
            return Verdict.failing(f"it is {len(found):,} long, too long for {shown(pattern)}")
        text = _unmatched_case(self.likeness).plain(found).encode()
        if made.fullmatch(text) if self.whole else made.search(text):
            return Verdict.passing(f"matches {shown(pattern)}")
        return Verdict.failing(f"does not match {shown(pattern)}")

    def lacking(self, case: Case) -> str:
        """Return why no output can be judged; raises InputError for a pattern RE2 refuses."""
        pattern = case.reference if self.pattern is None else self.pattern
        if type(pattern) is not str:
            return _NO_REFERENCE
        compiled(pattern, self.likeness)
        return ""


def _unmatched_case(likeness: Likeness) -> Likeness:
    """Return what is done to the text itself: case is the pattern's business."""
    return Likeness(line_ends=likeness.line_ends, unicode=likeness.unicode)


def regex_match(fields: Fields, _: Tools) -> RegexMatch:
    """Build `regex_match` from its mapping."""
    if "whitespace" in fields:
        fields.problem("whitespace", '"whitespace" always counts here: write it into the pattern')
    likeness = Likeness.read(fields, UNSEEN)
    pattern = fields.text("pattern") if "pattern" in fields else None
    try:
        compiled(pattern or "", likeness)
    except InputError as error:
        fields.problem(
            "pattern", f"{error.message} ({error.hint})" if error.hint else error.message
        )
        pattern = None
    return RegexMatch(
        pattern=pattern, path=path_of(fields), whole=fields.flag("whole"), likeness=likeness
    )


@functools.lru_cache(maxsize=256)
def compiled(pattern: str, likeness: Likeness) -> Any:
    """Return a pattern as RE2 compiles it; raises InputError when RE2 does not know it."""
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - only patterns need it

    if len(pattern) > _LONGEST_PATTERN:
        raise InputError(f'"pattern" is longer than {_LONGEST_PATTERN:,} characters')
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not likeness.ignore_case
    try:
        return re2.compile(normalised(pattern, likeness.unicode).encode(), options)
    except UnicodeEncodeError as error:
        raise InputError('"pattern" has half a character (a lone surrogate) in it') from error
    except re2.error as error:
        said = error.args[0]
        said = said.decode(errors="replace") if isinstance(said, bytes) else said
        raise InputError(f'"pattern" cannot be used: {said}', hint=_RE2) from error
