"""The output of an agent that writes no transcript: text, in which nothing can be told apart."""

from labkit.transcripts.lines import clean
from labkit.transcripts.model import Step, Transcript

NAME = "plain"
LONGEST_MESSAGE = 100_000
"""Characters of a last paragraph that count as the final message: the last ones."""
GAP = "plain output: commands cannot be told from prose"


class Plain:
    """Reads anything as one text. Its gap always stands: this format is never fully understood."""

    name = NAME

    def claims(self, first_lines: bytes) -> bool:  # noqa: ARG002 - the protocol's signature
        """Claim everything: the reader to ask last."""
        return True

    def read(self, data: bytes) -> Transcript:
        """Return one step with the whole text; the last paragraph is the final message."""
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
        return Transcript(
            format=NAME,
            steps=(Step(line=1, text=clean(text)),) if paragraphs else (),
            final_message=_last_words(paragraphs[-1]) if paragraphs else "",
            turns=1 if paragraphs else 0,
            ended=False,
            gaps=(GAP,),
        )


def _last_words(paragraph: str) -> str:
    """Return the end of a paragraph, saying how much of its beginning is left out."""
    left_out = len(paragraph) - LONGEST_MESSAGE
    if left_out <= 0:
        return paragraph
    return f"[... {left_out} characters left out ...]\n{paragraph[left_out:]}"
