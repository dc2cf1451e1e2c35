"""What is drawn can be read: measured in the picture, not in the code that chose the colours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pytest
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from agent_surface.assistant import Notice, NoticeKind, SessionState
from agent_surface.invocation import Effect
from qt_binding._looks import Colors, EffectBadge, contrast
from qt_binding.assistant._composer import Composer
from qt_binding.assistant._header import ControlBanner
from qt_binding.assistant._pill import PillButton, PillStyle
from qt_binding.assistant._rows import NoticeRow
from qt_binding.assistant._status import StatusLine
from qt_binding.assistant._welcome import Welcome

# So large that the middle of a stroke has the full colour of the text.
_PIXELS = 32


def _pill(style: PillStyle) -> QWidget:
    return PillButton("Answer", style=style)


def _badge(effect: Effect) -> QWidget:
    badge = EffectBadge()
    badge.show_effect(effect)
    return badge


def _status(state: SessionState) -> QWidget:
    line = StatusLine()
    line.show_state(state)
    return line


def _notice(kind: NoticeKind) -> QWidget:
    return NoticeRow(
        Notice(message_id="n", kind=kind, text="Remark", at_ms=0), colors=Colors.of(QApplication.palette())
    )


MADE: Mapping[str, Callable[[], QWidget]] = {
    **{f"pill {style.name}": partial(_pill, style) for style in PillStyle},
    **{f"badge {effect.value}": partial(_badge, effect) for effect in Effect},
    **{f"status {state.value}": partial(_status, state) for state in SessionState},
    **{f"notice {kind.value}": partial(_notice, kind) for kind in (NoticeKind.INFO, NoticeKind.ERROR)},
    "banner": ControlBanner,
    "welcome": Welcome,
    "composer": Composer,
}

PALETTES = {
    "light": ("#efefef", "#000000", "#ffffff", "#308cc6"),
    "dark": ("#2b2b2d", "#e6e6e6", "#1e1e20", "#2f6fb5"),
}


@pytest.fixture(params=sorted(PALETTES))
def palette(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[QPalette]:
    """The application in light and in dark colours."""
    before = qapp.palette()
    changed = QPalette(before)
    window, ink, base, highlight = (QColor(value) for value in PALETTES[str(request.param)])
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        changed.setColor(role, ink)
    changed.setColor(QPalette.ColorRole.Window, window)
    changed.setColor(QPalette.ColorRole.Base, base)
    changed.setColor(QPalette.ColorRole.Highlight, highlight)
    qapp.setPalette(changed)
    yield changed
    qapp.setPalette(before)


@pytest.mark.usefixtures("palette")
@pytest.mark.parametrize("name", sorted(MADE))
def test_text_stands_out_from_what_it_is_drawn_on(qtbot: QtBot, name: str) -> None:
    """At least 4.5 to 1, in light and dark, in each state."""
    widget = MADE[name]()
    qtbot.addWidget(widget)
    font = widget.font()
    font.setPixelSize(_PIXELS)
    widget.setFont(font)
    widget.resize(900, max(120, widget.sizeHint().height()))
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    drawn = Counter(memoryview(image.constBits()).cast("B").cast("I"))
    ground = QColor(drawn.most_common(1)[0][0])
    # A stroke of text is many pixels wide here; a smoothed edge is not.
    often = [QColor(color) for color, times in drawn.items() if times >= _PIXELS]
    assert max(contrast(color, ground) for color in often) >= 4.5
