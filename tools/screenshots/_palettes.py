"""Light and dark colours for a platform that has no scheme of its own, as offscreen has none."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

SCHEMES = ("light", "dark")


def apply_scheme(application: QApplication, scheme: str) -> None:
    """Give the application the colours of a scheme; the light ones are its own."""
    if scheme == "dark":
        application.setPalette(_dark_palette(application))


def _dark_palette(application: QApplication) -> QPalette:
    palette = QPalette(application.palette())
    roles = QPalette.ColorRole
    for role, colour in {
        roles.Window: "#2b2b2d",
        roles.WindowText: "#e6e6e6",
        roles.Base: "#1e1e20",
        roles.AlternateBase: "#262628",
        roles.Text: "#e6e6e6",
        roles.Button: "#37373a",
        roles.ButtonText: "#e6e6e6",
        roles.ToolTipBase: "#37373a",
        roles.ToolTipText: "#e6e6e6",
        roles.Light: "#4a4a4e",
        roles.Midlight: "#404044",
        roles.Mid: "#242426",
        roles.Dark: "#1a1a1c",
        roles.Shadow: "#101012",
        roles.Highlight: "#2f6fb5",
        roles.HighlightedText: "#ffffff",
        roles.Link: "#7ab8ff",
        roles.PlaceholderText: "#9a9a9e",
    }.items():
        palette.setColor(role, QColor(colour))
    disabled = QPalette.ColorGroup.Disabled
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(disabled, role, QColor("#77777b"))
    application.styleHints().setColorScheme(Qt.ColorScheme.Dark)
    return palette
