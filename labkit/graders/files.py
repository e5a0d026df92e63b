"""`file_equals`: a file that the candidate left is the expected one."""

from dataclasses import dataclass

from labkit.errors import InputError
from labkit.fields import Fields
from labkit.graders.folder import Unreadable, path_problem, read_inside
from labkit.graders.interface import Case, Output, Verdict, total
from labkit.graders.likeness import EXACT_BYTES, Likeness
from labkit.graders.text import compared, path_of
from labkit.graders.tools import Tools
from labkit.graders.values import TooLongError, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEquals:
    """`file_equals`: passes when a file has the expected content; score 1 or 0.

    By default every byte counts; `likeness` can forgive differences of texts. Links are not
    followed; a missing or unreadable file, or one above 64 MiB, fails. Raises InputError for a
    path that leads out of the folder.
    """

    path: str
    """The file, relative to the candidate's folder."""
    expected: str | bytes | None = None
    """The content expected; None: the case's reference, a text or bytes."""
    likeness: Likeness = EXACT_BYTES

    def __post_init__(self) -> None:
        problem = path_problem(self.path)
        if problem is not None:
            raise InputError(f'"path" {problem}')

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        expected = case.reference if self.expected is None else self.expected
        if not isinstance(expected, str | bytes):
            return Verdict.ungraded(self.lacking(case))
        if output.folder is None:
            return Verdict.ungraded(f"case {case.id} has no folder in which {self.path} could be")
        found = read_inside(output.folder, self.path)
        if isinstance(found, Unreadable):
            return Verdict.failing(found.why)
        wanted = expected.encode() if isinstance(expected, str) else expected
        if found == wanted or self.likeness == EXACT_BYTES:
            return compared(found, wanted)
        return self._alike(found, wanted)

    def lacking(self, case: Case) -> str:
        """Return why no output can be judged."""
        given = self.expected is not None or isinstance(case.reference, str | bytes)
        return "" if given else "file_equals is given no content, and the case has none"

    def _alike(self, found: bytes, wanted: bytes) -> Verdict:
        """Compare as texts."""
        texts = []
        for content in (found, wanted):
            try:
                texts.append(self.likeness.plain(text_of(content) or ""))
            except TooLongError as error:
                return Verdict.failing(f"{self.path} is too long: {error}")
        return compared(*texts)


def file_equals(fields: Fields, _: Tools) -> FileEquals:
    """Build `file_equals` from its mapping."""
    expected = fields.text("expected") if "expected" in fields else None
    path = path_of(fields, required=True) or "unknown"
    return FileEquals(path=path, expected=expected, likeness=Likeness.read(fields, EXACT_BYTES))
