"""Whether the window stays alive while an assistant answers, and how long it takes to stop one.

The first is the longest times between two beats of the GUI thread, which a timer makes every five milliseconds. By the
clock a busy machine counts too, so beside each of these figures stands the same in processor time of the thread, which
is what the dock itself costs.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow

from agent_surface import AgentConsumer, JsonValue, define_agent_component_contract
from agent_surface.assistant import (
    AssistantMessage,
    BackendEvent,
    BackendText,
    CallTool,
    OfferedTool,
    PersonMessage,
    SessionEvent,
    SessionState,
    TranscriptEntry,
    TurnFinished,
)
from agent_surface.assistant._persistence import conversation_to_json
from agent_surface.testing import contract_authority
from agent_surface.toolset import create_agent_toolset
from qt_binding import create_qt_registry
from qt_binding.assistant import AssistantDock, create_assistant_session
from tests.benchmarks.core import Figure

MESSAGES = 2_000
SECONDS = 10.0
TOKENS_PER_SECOND = 200
BEAT_MS = 5
GOAL_MS = 50.0
STOPS = 20
STOP_GOAL_MS = 200.0

EMPTY = define_agent_component_contract(type="bench.empty", description="Nothing")

_PARAGRAPH = (
    "The **quick** brown fox reads `settings.toml` and goes on.\n\n- one\n- two with a [link](https://example.com)\n\n"
    "```python\nfor number in range(10):\n    print(number)  # a note\n```\n\n"
)


class Heartbeat:
    """Notes how long the GUI thread was away between two beats, by the clock and by its own processor time."""

    def __init__(self) -> None:
        self.waited_ms: list[float] = []
        self.worked_ms: list[float] = []
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._wall = self._work = 0.0

    def start(self) -> None:
        """Begin to beat."""
        self._wall, self._work = time.perf_counter(), time.thread_time()
        self._timer.start()

    def stop(self) -> None:
        """End."""
        self._timer.stop()

    def _beat(self) -> None:
        wall, work = time.perf_counter(), time.thread_time()
        self.waited_ms.append((wall - self._wall) * 1_000)
        self.worked_ms.append((work - self._work) * 1_000)
        self._wall, self._work = wall, work


class PacedBackend:
    """Streams text at a steady pace, or says nothing for as long."""

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent

    async def turn(
        self,
        transcript: Sequence[TranscriptEntry],
        *,
        tools: Callable[[], Sequence[OfferedTool]],
        state: Callable[[], str],
        call_tool: CallTool,
    ) -> AsyncIterator[BackendEvent]:
        """Answer for :data:`SECONDS` seconds."""
        if self._silent:
            await asyncio.sleep(SECONDS)
            yield BackendText(text="Done.")
            return
        text = _PARAGRAPH * 100
        began, place = time.perf_counter(), 0
        while (passed := time.perf_counter() - began) < SECONDS:
            # Four characters a token; what a late turn of the loop missed is made up for, as a provider does.
            wanted = int(passed * TOKENS_PER_SECOND) * 4
            while place < wanted:
                yield BackendText(text=text[place % len(text) : place % len(text) + 4] or "\n")
                place += 4
            await asyncio.sleep(1 / TOKENS_PER_SECOND)


def measure() -> list[Figure]:
    """Measure all, in a window that is shown."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    figures: list[Figure] = []
    for name, silent in (("Streaming 200 tokens a second into 2,000 messages", False), ("A silent model call", True)):
        heart = _beat_during(silent=silent)
        figures.append(_figure(f"{name}, by the clock", heart.waited_ms))
        figures.append(_figure(f"{name}, processor time", heart.worked_ms))
    stops = _time_stops()
    figures.append(Figure(name="Stop while an answer streams", unit="ms", rounds=stops, goal=STOP_GOAL_MS))
    return figures


def _beat_during(*, silent: bool) -> Heartbeat:
    heart = Heartbeat()
    with _shown_dock(silent=silent) as dock:
        heart.start()
        dock.session.send("Go on")
        _turn_until(lambda: dock.session.state is SessionState.IDLE, SECONDS * 3)
        heart.stop()
    return heart


def _time_stops() -> tuple[float, ...]:
    """From Stop until the dock takes the next message, shortest first."""
    took_ms: list[float] = []
    with _shown_dock(silent=False) as dock:
        for _ in range(STOPS):
            dock.session.send("Go on")
            _turn_until(lambda: False, 0.2)
            loop = QEventLoop()
            forget = dock.session.subscribe(partial(_quit_at_end, loop))
            began = time.perf_counter()
            dock.composer.stop_requested.emit()
            loop.exec()
            took_ms.append((time.perf_counter() - began) * 1_000)
            forget()
    return tuple(sorted(took_ms))


def _quit_at_end(loop: QEventLoop, event: SessionEvent) -> None:
    if isinstance(event, TurnFinished):
        loop.quit()


@contextmanager
def _shown_dock(*, silent: bool) -> Generator[AssistantDock]:
    """A dock with a long conversation, in a window that is shown."""
    registry = create_qt_registry(authority=contract_authority(EMPTY), environment="test")
    toolset = create_agent_toolset(registry, consumer=AgentConsumer(id="assistant"), topology="embedded")
    session = create_assistant_session(registry, toolset, PacedBackend(silent=silent), saved=_long_talk())
    window = QMainWindow()
    dock = AssistantDock(session, registry=registry, parent=window)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.resize(480, 800)
    window.show()
    _turn_until(lambda: False, 0.5)
    yield dock
    session.close()
    toolset.close()
    registry.close()
    window.close()
    _turn_until(lambda: False, 0.2)


def _turn_until(done: Callable[[], bool], seconds: float) -> None:
    loop = QEventLoop()
    look = QTimer()
    began = time.perf_counter()

    def looked() -> None:
        if done() or time.perf_counter() - began > seconds:
            loop.quit()

    look.timeout.connect(looked)
    look.start(50)
    loop.exec()


def _long_talk() -> dict[str, JsonValue]:
    entries: list[TranscriptEntry] = []
    for number in range(MESSAGES // 2):
        entries.append(PersonMessage(message_id=f"p{number}", text=f"Question {number}", at_ms=number))
        entries.append(AssistantMessage(message_id=f"a{number}", text=_PARAGRAPH * (1 + number % 4), at_ms=number))
    return conversation_to_json(entries)


def _figure(name: str, gaps_ms: list[float]) -> Figure:
    """The 99th of a hundred gaps is the figure; the shortest and the longest stand beside it."""
    ordered = sorted(gaps_ms)
    percentile = ordered[int(len(ordered) * 0.99)]
    return Figure(name=name, unit="ms (p99)", rounds=(ordered[0], percentile, ordered[-1]), goal=GOAL_MS)
