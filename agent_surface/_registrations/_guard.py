"""The application's say before a component is accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationCandidate:
    """What a registration guard decides about.

    Attributes:
        type: The component's type.
        instance_id: Its instance.
        origin: Who contributes it, as its contract says.
        declaration_id: Where it was declared.
        capability_ids: What it would offer.
    """

    type: str
    instance_id: str
    origin: str
    declaration_id: str
    capability_ids: tuple[str, ...]


RegistrationGuard: TypeAlias = Callable[[RegistrationCandidate], Literal["accept", "reject"]]
