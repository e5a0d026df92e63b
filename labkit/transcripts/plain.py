"""The output of an agent that writes no transcript: text, in which nothing can be told apart."""

from labkit.transcripts.lines import clean
from labkit.transcripts.model import Step, Transcript

NAME = "plain"
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
            final_message=paragraphs[-1] if paragraphs else "",
            turns=1 if paragraphs else 0,
            ended=False,
            gaps=(GAP,),
        )
