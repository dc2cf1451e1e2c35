"""Every window and dock of ours, with little, much and hostile in it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QCoreApplication, QElapsedTimer, QEvent, QEventLoop, Qt
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from agent_surface import AgentConsumer, PendingConfirmation
from agent_surface.assistant import AssistantSettings, SessionState, TokenUsage
from demo_app.composition import ASSISTANT, Console, create_console
from demo_app.domain import DeviceFilter
from demo_app.views import Section
from qt_binding.assistant import AssistantDock, AssistantSettingsDialog, Permission
from qt_binding.assistant._palette import CommandPalette
from qt_binding.confirmation import ConfirmationHost
from qt_binding.inspector import SurfaceInspector
from qt_binding.inspector._pending_page import PendingPage
from tools.screenshots._conversation import StagedConversation, arabic_talk, everyday_talk, hostile_talk
from tools.screenshots._questions import pending_question, staged_questions

Keep = Callable[[str, QWidget], None]

_PATIENCE_MS = 10_000
_SECTIONS: tuple[Section, ...] = ("notes", "activity")


def draw_scenes(folder: Path, suffix: str) -> None:
    """Draw everything into ``folder``, each picture named after its scene and ``suffix``."""

    def keep(name: str, widget: QWidget) -> None:
        settle()
        widget.grab().save(str(folder / f"{name}-{suffix}.png"))

    with TemporaryDirectory() as place, _console(Path(place)) as console:
        _draw_window(console, Path(place), keep)
        _draw_docks(console, keep)
        _draw_dialogs(console, keep)
        _draw_inspector(console, keep)
        _draw_questions(console, keep)


def settle(until: Callable[[], bool] | None = None, *, at_least_ms: int = 120) -> None:
    """Let the event loop turn until nothing more is to be expected, or until something is there."""
    clock = QElapsedTimer()
    clock.start()
    while clock.elapsed() < at_least_ms or (until is not None and not until() and clock.elapsed() < _PATIENCE_MS):
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 20)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@contextmanager
def _console(folder: Path) -> Generator[Console]:
    console = create_console(folder / "fleet.sqlite", person="alex")
    console.window.show()
    settle(lambda: bool(console.registry.snapshot().components))
    yield console
    console.close()
    settle(lambda: not console.window.session.busy_with)
    console.window.close()


def _draw_docks(console: Console, keep: Keep) -> None:
    waiting = SessionState.WAITING_FOR_PERSON
    asked = ("show offline devices in Milan", "select all shown", "help")
    used = TokenUsage(input_tokens=12_400, output_tokens=623)
    talk = everyday_talk()
    conversations = {
        "dock-empty": StagedConversation(suggestions=asked),
        "dock-talk": StagedConversation(*talk, state=waiting, usage=used),
        "dock-answered": StagedConversation(*talk[:3], suggestions=asked, usage=used),
        "dock-thinking": StagedConversation(talk[0], state=SessionState.THINKING),
        "dock-arabic": StagedConversation(*arabic_talk(), state=waiting),
        "dock-hostile": StagedConversation(*hostile_talk(), suggestions=("<b>x</b> \u202ey", "z" * 200)),
    }
    for name, conversation in conversations.items():
        with _dock(conversation, console) as dock:
            keep(name, dock)
    with _dock(StagedConversation(*talk, state=waiting), console, width=260) as dock:
        keep("dock-narrow", dock)
    with _dock(StagedConversation(*talk[:3]), console) as dock:
        console.take_over.engage()
        keep("dock-control", dock)
        console.take_over.hand_back()


@contextmanager
def _dock(conversation: StagedConversation, console: Console, *, width: int = 440) -> Generator[AssistantDock]:
    window = QMainWindow()
    dock = AssistantDock(conversation, take_over=console.take_over, has_settings=True, parent=window)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.resize(width, 760)
    window.show()
    dock.composer.edit.setFocus()
    settle(at_least_ms=300)
    yield dock
    window.close()
    window.deleteLater()


def _draw_window(console: Console, folder: Path, keep: Keep) -> None:
    window = console.window
    keep("window", window)
    window.table.select_ids(window.table.listed_ids()[3:6])
    keep("window-selected", window)
    for section in _SECTIONS:
        window.go_to(section)
        keep(f"window-{section}", window)
    window.go_to("devices")
    window.filter_bar.set_filters(DeviceFilter(text="nothing is called so"))
    keep("window-nothing", window)
    window.filter_bar.clear()
    stations = folder / "stations.csv"
    stations.write_text("id,name,city\nMIL-900,Milan Isola,Milan\nMIL-901," + "A very long name " * 8 + ",Milan\n")
    dialog = window.open_import(stations)
    if dialog is not None:
        keep("import", dialog)
        dialog.reject()


def _draw_dialogs(console: Console, keep: Keep) -> None:
    palette = CommandPalette(console.assistant.tools(), console.window)
    palette.show()
    keep("palette", palette)
    palette.query.setText("dev sel")
    keep("palette-narrowed", palette)
    palette.query.setText("nothing is called so")
    keep("palette-nothing", palette)
    palette.close()
    settings = AssistantSettingsDialog(
        console.registry,
        settings=AssistantSettings(provider="anthropic", model="a-model", grants=("change",)),
        permissions=(Permission(grant="change", title="Change devices (each change is confirmed by you)"),),
        parent=console.window,
    )
    settings.show()
    settle(lambda: settings.key.placeholderText() == "No key is known")
    keep("settings", settings)
    settings.buttons.accepted.emit()
    settle(settings.problem.isVisible)
    keep("settings-problem", settings)
    settings.close()


def _draw_inspector(console: Console, keep: Keep) -> None:
    window = QMainWindow()
    inspector = SurfaceInspector(console.registry, consumers=(AgentConsumer(id=ASSISTANT),), parent=window)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, inspector)
    window.resize(720, 780)
    window.show()
    settle()
    keep("inspector", inspector)
    tree = inspector.surface.tree
    model = tree.model()
    for row in range(model.rowCount()):
        component = model.index(row, 0)
        for inner in range(model.rowCount(component)):
            if model.index(inner, 0, component).data() == "setFilters":
                tree.setCurrentIndex(model.index(inner, 0, component))
    keep("inspector-details", inspector)
    inspector.surface.show_invoke()
    invoke = inspector.surface.invoke
    invoke.invoke_button.click()
    settle(lambda: not invoke.stop_button.isVisible())
    keep("inspector-invoke", inspector)
    inspector.tabs.setCurrentIndex(1)
    keep("inspector-events", inspector)
    inspector.tabs.setCurrentIndex(2)
    keep("inspector-confirmations", inspector)
    window.resize(1_200, 620)
    inspector.tabs.setCurrentIndex(0)
    keep("inspector-wide", inspector)
    window.close()
    window.deleteLater()
    # A page of its own: the inspector's shows what really waits, which is nothing.
    pending = PendingPage()
    pending.resize(720, 560)
    pending.show_pending((pending_question(), pending_question(description="X" * 300, number=1)))
    pending.view.setCurrentIndex(pending.model.index(0, 0))
    pending.show()
    keep("inspector-pending", pending)
    pending.close()


def _draw_questions(console: Console, keep: Keep) -> None:
    def offered(_pending: PendingConfirmation) -> bool:
        return True

    for name, controller in staged_questions().items():
        host = ConfirmationHost(
            controller, window_for=lambda _pending: console.window, can_stop=offered, can_take_over=offered
        )
        # Until the buttons are armed.
        settle(at_least_ms=900)
        if host.dialog is not None:
            keep(name, host.dialog)
        host.close()
        host.deleteLater()
