"""What the storm knows of its components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from qt_binding import AgentComponentHandle
from tests.qt.storm.agents import Deeds


class StormError(AssertionError):
    """An invariant does not hold."""


class _Handled(Protocol):
    @property
    def agent_handle(self) -> AgentComponentHandle: ...


@dataclass(slots=True)
class Entry:
    """What the storm knows of a component.

    Attributes:
        target: The object; the storm's is the only lasting reference.
        moves: How often its identity or its surface changed, so that it may have a new registration.
        late: Whether something happened that no event or signal tells of.
        registered: ``moves`` and the registration at the last checkpoint.
    """

    target: QObject
    moves: int = 0
    late: bool = False
    registered: tuple[int, str] | None = None

    @property
    def alive(self) -> bool:
        """Whether the C++ half exists."""
        return bool(shiboken6.isValid(self.target))

    @property
    def deeds(self) -> Deeds:
        """The Python half."""
        return cast("Deeds", self.target)

    @property
    def handle(self) -> AgentComponentHandle:
        """What the binding says of it."""
        return cast("_Handled", self.target).agent_handle

    @property
    def widget(self) -> QWidget | None:
        """The widget a person has to reach."""
        owner: QObject | None = self.target
        while owner is not None and not isinstance(owner, QWidget):
            owner = owner.parent()
        return owner
