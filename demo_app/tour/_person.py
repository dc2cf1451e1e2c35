"""The person of the tour: mouse and keyboard through the window system, and patience with an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from demo_app.tour._errors import TourError

T = TypeVar("T")

PATIENCE_MS = 20_000
"""How long the person waits for anything. Generous: the machine may be busy."""

_LOOK_MS = 15


class Person(QObject):
    """Does what a person could do, and nothing else.

    Events go to the native window, so that a modal dialog stops what it would stop for a person.
    """

    async def do(self, act: Callable[[], T]) -> T:
        """Run ``act`` from a timer, outside every task, as an event of the window system would."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def run() -> None:
            if done.done():
                return
            try:
                done.set_result(act())
            except Exception as error:  # noqa: BLE001 - handed to whoever waits
                done.set_exception(error)

        QTimer.singleShot(0, self, run)
        return await done

    async def wait_until(self, condition: Callable[[], bool], what: str, *, patience_ms: int = PATIENCE_MS) -> None:
        """Look again and again until something is so.

        Raises:
            TourError: It did not happen in time; names ``what``.
        """
        happened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def look() -> None:
            try:
                if condition() and not happened.done():
                    happened.set_result(None)
            except Exception as error:  # noqa: BLE001 - handed to whoever waits
                if not happened.done():
                    happened.set_exception(error)

        timer = QTimer(self, interval=_LOOK_MS)
        timer.timeout.connect(look)
        timer.start()
        try:
            await asyncio.wait_for(happened, patience_ms / 1_000)
        except TimeoutError:
            raise TourError(f"Waited {patience_ms // 1_000} s in vain until {what}.") from None
        finally:
            timer.stop()
            timer.deleteLater()

    async def turn_to(self, window: QWidget, what: str) -> None:
        """Make a window the one that has the keyboard; without a window manager none is by itself.

        Raises:
            TourError: It did not become that.
        """
        await self.wait_until(window.isVisible, f"{what} was shown")
        await self.do(window.activateWindow)
        await self.wait_until(window.isActiveWindow, f"{what} had the keyboard")

    async def click(self, widget: QWidget, what: str) -> None:
        """Click into the middle of a widget.

        Raises:
            TourError: It never became visible and enabled, or something covers it.
        """
        await self.wait_until(lambda: widget.isVisible() and widget.isEnabled(), f"{what} could be clicked")

        def press() -> None:
            window, place = widget.window(), _middle(widget)
            under = window.childAt(place)
            if under is None or not (under is widget or widget.isAncestorOf(under)):
                raise TourError(f"Something covers {what}.")
            QTest.mouseClick(_native(window), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)

        await self.do(press)

    async def type_text(self, widget: QWidget, text: str, what: str) -> None:
        """Click into a field and type.

        Raises:
            TourError: The field never took the keyboard.
        """
        await self.click(widget, what)
        await self.wait_until(widget.hasFocus, f"{what} had the keyboard")

        def press() -> None:
            window = _native(widget.window())
            for character in text:
                if character.isascii():
                    QTest.keyClick(window, ord(character))
                else:  # no key of its own: it comes from an input method
                    event = QInputMethodEvent()
                    event.setCommitString(character)
                    QGuiApplication.sendEvent(widget, event)

        await self.do(press)

    async def press(self, window: QWidget, key: Qt.Key) -> None:
        """Press a key while ``window`` has the keyboard."""
        await self.do(lambda: QTest.keyClick(_native(window), key))

    async def scroll_to_end(self, area: QAbstractScrollArea, is_enough: Callable[[], bool], what: str) -> None:
        """Page down with the keyboard until it is enough.

        Raises:
            TourError: The end never came.
        """
        if is_enough():
            return
        await self.click(area.viewport(), what)
        await self.press(area.window(), Qt.Key.Key_End)
        bar = area.verticalScrollBar()
        await self.do(lambda: bar.setValue(bar.maximum()))
        await self.wait_until(is_enough, f"the end of {what} was seen")


def _middle(widget: QWidget) -> QPoint:
    return widget.mapTo(widget.window(), widget.rect().center())


def _native(window: QWidget) -> QWindow:
    if not window.isVisible():
        raise TourError(f"The window “{window.windowTitle()}” is not on the screen.")
    return window.windowHandle()
