"""Lines of words, some of which a terminal may colour. The colour only repeats what the word says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of text.

    Attributes:
        text: What it says.
        tone: What kind of word it is; empty for ordinary text.
    """

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of output."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The line without colours."""
        return "".join(word.text for word in self.words)


def line(*parts: str | Word) -> Line:
    """A line of these parts."""
    return Line(tuple(part if isinstance(part, Word) else Word(part) for part in parts))
