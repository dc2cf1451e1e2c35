"""Colours made from the palette at the moment of painting, so that a theme change is followed at once."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette

_MIN_CONTRAST = 4.5


def relative_luminance(color: QColor) -> float:
    """Luminance of an opaque colour from 0 (black) to 1 (white), as WCAG 2 defines it."""

    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF())


def contrast(first: QColor, second: QColor) -> float:
    """Contrast ratio of two opaque colours, from 1 to 21."""
    lighter, darker = sorted((relative_luminance(first), relative_luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def blend(over: QColor, under: QColor, share: float) -> QColor:
    """``share`` (0 to 1) of the colour ``over`` mixed into the opaque colour ``under``; alpha counts."""
    share *= over.alphaF()
    return QColor.fromRgbF(
        over.redF() * share + under.redF() * (1 - share),
        over.greenF() * share + under.greenF() * (1 - share),
        over.blueF() * share + under.blueF() * (1 - share),
    )


def readable(color: QColor, background: QColor, minimum: float = _MIN_CONTRAST) -> QColor:
    """``color``, moved towards black or white as little as it takes to be read on ``background``."""
    if contrast(color, background) >= minimum:
        return color
    black, white = QColor(0, 0, 0), QColor(255, 255, 255)
    goal = white if contrast(white, background) >= contrast(black, background) else black
    for step in range(1, 20):
        candidate = blend(goal, color, step / 20)
        if contrast(candidate, background) >= minimum:
            return candidate
    return goal


def is_dark(palette: QPalette) -> bool:
    """Whether a palette is a dark one, judged by its lightness; platforms do not reliably say."""
    return palette.color(QPalette.ColorRole.Window).lightnessF() < 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Colors:
    """Every colour we choose ourselves.

    Attributes:
        dark: Whether light text is on dark ground.
        canvas: Behind the messages.
        text: Text on ``canvas``, ``panel`` and ``person``.
        muted: Secondary text on the same.
        panel: Ground of what the assistant says and does.
        person: Ground of what the person says.
        border: Fine lines, decoration only.
        code: Ground of code.
        link: Links on ``panel``.
        accent: Work that goes on.
        waiting: A person is waited for.
        waiting_panel: Ground of a card that waits for the person.
        done: It worked.
        refused: It was not carried out.
        failed: It went wrong.
    """

    dark: bool
    canvas: QColor
    text: QColor
    muted: QColor
    panel: QColor
    person: QColor
    border: QColor
    code: QColor
    link: QColor
    accent: QColor
    waiting: QColor
    waiting_panel: QColor
    done: QColor
    refused: QColor
    failed: QColor

    @classmethod
    def of(cls, palette: QPalette) -> Colors:
        """The colours that fit a palette. Dark or light is judged by its lightness, never asked of the platform."""
        window = palette.color(QPalette.ColorRole.Window)
        base = palette.color(QPalette.ColorRole.Base)
        ink = palette.color(QPalette.ColorRole.WindowText)
        highlight = palette.color(QPalette.ColorRole.Highlight)
        dark = is_dark(palette)
        panel = base if not dark else blend(QColor(255, 255, 255), window, 0.06)
        person = blend(highlight, panel, 0.28 if dark else 0.16)
        amber = QColor(240, 170, 40) if dark else QColor(150, 90, 0)
        waiting_panel = blend(amber, panel, 0.14 if dark else 0.10)
        # One text colour serves three grounds, so it is made readable on the least friendly of them.
        grounds = sorted((panel, person, window), key=lambda ground: contrast(ink, ground))
        text = readable(ink, grounds[0], 7.0)
        muted = readable(
            blend(text, panel, 0.62), min((panel, person, window, waiting_panel), key=lambda g: contrast(text, g))
        )

        def state(light_value: QColor, dark_value: QColor) -> QColor:
            return readable(readable(dark_value if dark else light_value, panel), window)

        return cls(
            dark=dark,
            canvas=window,
            text=text,
            muted=muted,
            panel=panel,
            person=person,
            border=blend(text, panel, 0.16),
            code=blend(text, panel, 0.07),
            link=readable(palette.color(QPalette.ColorRole.Link), blend(text, panel, 0.07)),
            accent=readable(readable(highlight, panel), window),
            waiting=readable(readable(amber, waiting_panel), window),
            waiting_panel=waiting_panel,
            done=state(QColor(28, 126, 68), QColor(96, 200, 130)),
            refused=state(QColor(100, 100, 112), QColor(170, 172, 184)),
            failed=state(QColor(190, 38, 38), QColor(255, 128, 120)),
        )
