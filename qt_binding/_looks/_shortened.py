"""Text of unknown length, where what nobody reads to its end would only take the window's time."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale


def shortened(text: str, most: int) -> str:
    """``text`` as it is up to ``most`` characters; of a longer one the beginning, and how much is left out."""
    left_out = len(text) - most
    return text if left_out <= 0 else f"{text[:most]}\n\u2026 {more_characters(left_out)}"


def more_characters(count: int) -> str:
    """That ``count`` characters are not shown."""
    said = QCoreApplication.translate("Shortened", "%1 more characters")
    return said.replace("%1", QLocale().toString(count))
