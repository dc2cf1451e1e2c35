"""Every colour the dock chooses can be read, whatever palette the application has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor, QPalette

from qt_binding._looks import Colors, contrast, readable

PALETTES = {
    "light": ("#efefef", "#000000", "#ffffff", "#308cc6", "#0000ff"),
    "dark": ("#202124", "#e8eaed", "#17181a", "#4c8bf5", "#8ab4f8"),
    "solarized": ("#fdf6e3", "#657b83", "#eee8d5", "#b58900", "#268bd2"),
    "grey": ("#777777", "#808080", "#7a7a7a", "#777777", "#777777"),
    "high contrast": ("#000000", "#ffffff", "#000000", "#ffff00", "#ffff00"),
}


def _palette(window: str, ink: str, base: str, highlight: str, link: str) -> QPalette:
    palette = QPalette()
    for role, color in (
        (QPalette.ColorRole.Window, window),
        (QPalette.ColorRole.WindowText, ink),
        (QPalette.ColorRole.Text, ink),
        (QPalette.ColorRole.Base, base),
        (QPalette.ColorRole.Highlight, highlight),
        (QPalette.ColorRole.Link, link),
    ):
        palette.setColor(role, QColor(color))
    return palette


@pytest.mark.parametrize("name", sorted(PALETTES))
def test_every_text_colour_has_contrast_on_every_ground_it_is_used_on(name: str) -> None:
    """At least 4.5 to 1, also where the palette itself is careless."""
    colors = Colors.of(_palette(*PALETTES[name]))
    grounds = {
        "text": (colors.canvas, colors.panel, colors.person, colors.waiting_panel, colors.code),
        "muted": (colors.canvas, colors.panel, colors.waiting_panel),
        "link": (colors.panel,),
        "accent": (colors.canvas, colors.panel),
        "waiting": (colors.canvas, colors.waiting_panel),
        "done": (colors.canvas, colors.panel),
        "refused": (colors.canvas, colors.panel),
        "failed": (colors.canvas, colors.panel),
    }
    weak = {
        f"{ink} on {ground.name()}": round(contrast(getattr(colors, ink), ground), 2)
        for ink, used in grounds.items()
        for ground in used
        if contrast(getattr(colors, ink), ground) < 4.5
    }
    assert weak == {}


def test_dark_and_light_are_judged_by_the_palette() -> None:
    """The platform often does not know."""
    assert Colors.of(_palette(*PALETTES["dark"])).dark
    assert not Colors.of(_palette(*PALETTES["light"])).dark


channel = st.integers(0, 255)


@given(st.tuples(channel, channel, channel), st.tuples(channel, channel, channel))
def test_any_colour_becomes_readable_on_any_ground(ink: tuple[int, int, int], ground: tuple[int, int, int]) -> None:
    """Black or white always is, so there is always an answer."""
    background = QColor(*ground)
    assert contrast(readable(QColor(*ink), background), background) >= 4.49
