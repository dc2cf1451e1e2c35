"""Telling a person who does not see the screen what has happened."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from qt_binding._text import visible_text


class Announcer(Protocol):
    """Says something aloud through whatever assistive technology is there."""

    def announce(self, widget: QWidget, text: str, *, urgent: bool = False) -> None:
        """Say ``text``.

        Args:
            widget: What it is about.
            text: Plain text.
            urgent: Say it before what is being said now.
        """
        ...


class QtAnnouncer:
    """Announces through :class:`QAccessible`; does nothing while no assistive technology listens."""

    def announce(self, widget: QWidget, text: str, *, urgent: bool = False) -> None:
        """Send an announcement event; hidden characters are written out."""
        event = QAccessibleAnnouncementEvent(widget, visible_text(text))
        politeness = QAccessible.AnnouncementPoliteness
        event.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
        QAccessible.updateAccessibility(event)
