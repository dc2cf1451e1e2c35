"""One difference between two contracts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from typing_extensions import override

from agent_surface._base._json import JsonValue


class ChangeKind(StrEnum):
    """What a difference means for the person at the screen."""

    WIDENING = "widening"
    """An agent can do more, or a person is asked less."""

    NARROWING = "narrowing"
    """An agent can do less, or a person is asked more."""

    BOTH = "both"
    """Some of each, or it cannot be told."""

    NEUTRAL = "neutral"
    """Neither."""

    WORDING = "wording"
    """A text that a model reads; what it does with another text nobody can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference.

    Attributes:
        kind: What it means for the person at the screen.
        subject: The capability, declaration or part of the contract.
        declaration_id: The declaration it is in, or empty for the contract as a whole.
        field: Which field moved; ``capability`` or ``declaration`` for one that came or went.
        what: What moved, from what to what.
        meaning: What that means.
    """

    kind: ChangeKind
    subject: str
    declaration_id: str
    field: str
    what: str
    meaning: str

    @override
    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}: {self.what} - {self.meaning}"

    def to_json(self) -> dict[str, JsonValue]:
        """The change as a fresh JSON object."""
        return {
            "kind": self.kind.value,
            "subject": self.subject,
            "declarationId": self.declaration_id,
            "field": self.field,
            "what": self.what,
            "meaning": self.meaning,
        }
