from __future__ import annotations

import sys
from types import TracebackType

import pytest
import shiboken6
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QDialog, QMainWindow, QMenu, QToolBar, QToolButton

from agent_surface import AgentSurfaceDefinitionError, InvocationError
from qt_binding import attach_agent_component, bind_action
from tests.qt.actions.conftest import (
    RUN,
    RUN_ID,
    RUNNER,
    SWITCH,
    SWITCH_ID,
    SWITCHER,
    TELL,
    Attach,
    heard,
)
from tests.qt.mixin.parts import Surface, code_of, delete, reason_of, turn


class Hook:
    """Stands in for the program's excepthook."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told = list[BaseException]()
        monkeypatch.setattr(sys, "excepthook", self)

    def __call__(self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        """Remember what was raised."""
        self.told.append(error)


@pytest.mark.requirement("QT-AVAIL-007")
def test_a_call_triggers_the_action_in_a_closed_menu(surface: Surface, window: QMainWindow, attach: Attach) -> None:
    """A person opens the menu first, so a closed one is no obstacle."""
    action = window.menuBar().addMenu("&File").addMenu("More").addAction("Open")
    told = heard(action)
    attach(action)
    assert surface.reason("run") is None
    assert code_of(surface.invoke(RUN_ID)) == "ok"
    assert told == [False]


@pytest.mark.requirement("QT-AVAIL-007")
def test_the_actions_own_signals_push_availability(surface: Surface, window: QMainWindow, attach: Attach) -> None:
    """Enabled and visible follow without being asked; the status tip is the reason."""
    action = window.addToolBar("Tools").addAction("Run")
    attach(action)
    version = surface.registry.version
    action.setStatusTip("Nothing is selected")
    action.setEnabled(False)
    turn()
    assert surface.registry.version != version
    assert surface.reason("run") == "Nothing is selected"
    action.setEnabled(True)
    action.setStatusTip("")
    action.setVisible(False)
    turn()
    assert surface.reason("run") == "It is not shown."


@pytest.mark.requirement("QT-AVAIL-007")
def test_a_hidden_action_is_not_triggered(surface: Surface, window: QMainWindow, attach: Attach) -> None:
    """Qt itself would trigger it."""
    action = window.addToolBar("Tools").addAction("Run")
    told = heard(action)
    attach(action)
    action.setVisible(False)
    result = surface.invoke(RUN_ID)
    assert (code_of(result), reason_of(result), told) == ("CAPABILITY_NOT_AVAILABLE", "It is not shown.", [])


@pytest.mark.requirement("QT-AVAIL-007")
@pytest.mark.parametrize("off", ["disabled", "hidden"])
def test_a_menu_that_leads_there_has_to_be_usable(
    surface: Surface, window: QMainWindow, attach: Attach, off: str
) -> None:
    """The action itself stays enabled and tells nothing; its outermost menu is followed too."""
    outer = window.menuBar().addMenu("&File")
    action = outer.addMenu("More").addAction("Open")
    attach(action)
    version = surface.registry.version
    if off == "disabled":
        outer.setEnabled(False)
    else:
        outer.menuAction().setVisible(False)
    turn()
    assert surface.registry.version != version
    # Disabling a menu disables those in it, and Qt does not tell which was first.
    wanted = f"It is in the menu {'“More”, which is disabled.' if off == 'disabled' else '“File”, which is not shown.'}"
    assert (action.isEnabled(), surface.reason("run")) == (True, wanted)
    assert code_of(surface.invoke(RUN_ID)) == "CAPABILITY_NOT_AVAILABLE"


@pytest.mark.requirement("QT-AVAIL-007")
def test_one_usable_place_is_enough(surface: Surface, window: QMainWindow, attach: Attach) -> None:
    """In a disabled menu and in a tool bar; when the bar goes, nothing is left."""
    menu = window.menuBar().addMenu("Edit")
    action = menu.addAction("Run")
    bar = QToolBar("Tools")
    window.addToolBar(bar)
    bar.addAction(action)
    turn()
    attach(action)
    menu.setEnabled(False)
    assert surface.reason("run") is None
    turn()
    version = surface.registry.version
    bar.hide()
    turn()
    assert surface.registry.version != version
    assert surface.reason("run") == "It is in the menu “Edit”, which is disabled."


@pytest.mark.requirement("QT-AVAIL-007")
def test_an_action_that_is_nowhere_needs_its_window(surface: Surface, window: QMainWindow, attach: Attach) -> None:
    """An action of a shortcut alone."""
    attach(QAction("Run", window))
    assert surface.reason("run") is None
    window.hide()
    assert surface.reason("run") == "Its window is not open."


@pytest.mark.requirement("QT-AVAIL-007")
def test_an_action_of_no_window_is_out_of_reach(surface: Surface, attach: Attach) -> None:
    """Nobody could find it; nor in a menu that belongs to nothing."""
    attach(QAction("Run"))
    assert surface.reason("run") == "It is in no window."
    menu = QMenu("Loose")
    attach(menu.addAction("Run"))
    assert surface.reason("run") == "It is in no window."
    delete(menu)


@pytest.mark.requirement("QT-AVAIL-007")
def test_a_context_menu_needs_the_widget_it_is_opened_on(surface: Surface, window: QMainWindow, attach: Attach) -> None:
    """No menu leads to it; its parent does."""
    page = window.centralWidget()
    assert page is not None
    attach(QMenu("Here", page).addAction("Run"))
    assert surface.reason("run") is None
    page.setEnabled(False)
    assert surface.reason("run") == "It is in the menu “Here”, which is disabled."


@pytest.mark.requirement("QT-AVAIL-007")
def test_the_menu_of_a_button_needs_the_button(surface: Surface, window: QMainWindow, attach: Attach) -> None:
    """The chain of menus ends at any widget, not only at a bar."""
    button, menu = QToolButton(window.centralWidget()), QMenu("Here", window)
    button.setMenu(menu)
    button.show()
    attach(menu.addAction("Run"))
    assert surface.reason("run") is None
    button.hide()
    assert surface.reason("run") == "It is not shown."


@pytest.mark.requirement("QT-AVAIL-007")
def test_a_modal_dialog_is_in_the_way(surface: Surface, window: QMainWindow, attach: Attach) -> None:
    """``trigger()`` would go through it."""
    action = window.menuBar().addMenu("File").addAction("Open")
    told = heard(action)
    attach(action)
    dialog = QDialog(window)
    dialog.setWindowTitle("Save?")
    dialog.open()
    turn()
    wanted = "The dialog “Save?” is open and has to be answered first."
    result = surface.invoke(RUN_ID)
    assert (surface.reason("run"), reason_of(result), told) == (wanted, wanted, [])
    dialog.reject()
    turn()
    assert surface.reason("run") is None


@pytest.mark.requirement("QT-AVAIL-007")
def test_an_action_whose_signals_are_blocked_is_unavailable(
    surface: Surface, window: QMainWindow, attach: Attach
) -> None:
    """Qt would do nothing and say nothing, and the call would look like a success."""
    action = window.addToolBar("Tools").addAction("Run")
    attach(action)
    action.blockSignals(True)
    assert reason_of(surface.invoke(RUN_ID)) == "It is switched off for the moment."


@pytest.mark.requirement("QT-AVAIL-007")
def test_a_deleted_action_is_unavailable(surface: Surface, window: QMainWindow, attach: Attach) -> None:
    """The component outlives it; no call touches it."""
    action = QAction("Run")
    window.addToolBar("Tools").addAction(action)
    attach(action)
    shiboken6.delete(action)
    assert surface.reason("run") == "It is gone."
    assert code_of(surface.invoke(RUN_ID)) == "CAPABILITY_NOT_AVAILABLE"


@pytest.mark.requirement("QT-AVAIL-007")
def test_a_given_reason_comes_before_the_status_tip(surface: Surface, window: QMainWindow) -> None:
    """The tip often says what an action does, not why it is off."""
    action = window.addToolBar("Tools").addAction("Run")
    action.setStatusTip("Runs everything")
    action.setEnabled(False)
    attach_agent_component(window, RUNNER, actions={"run": bind_action(RUN, action, reason="Nothing to run")})
    assert surface.reason("run") == "Nothing to run"


@pytest.mark.requirement("QT-AVAIL-007")
def test_a_checkable_action_is_triggered_only_if_its_state_differs(surface: Surface, window: QMainWindow) -> None:
    """The wanted state is what the agent says, so that saying it twice changes nothing."""
    action = window.addToolBar("Tools").addAction("Grid")
    action.setCheckable(True)
    told = heard(action)
    attach_agent_component(window, SWITCHER, actions={"switch": bind_action(SWITCH, action)})
    results = [code_of(surface.invoke(SWITCH_ID, {"checked": state})) for state in (True, True, False, False)]
    assert (results, told) == (["ok"] * 4, [True, False])


@pytest.mark.requirement("QT-AVAIL-007")
def test_the_checked_action_of_an_exclusive_group_cannot_be_unchecked(surface: Surface, window: QMainWindow) -> None:
    """Qt would emit and leave it checked; where the group allows none, it works."""
    bar, group = window.addToolBar("Tools"), QActionGroup(window)
    actions = [bar.addAction(name) for name in "AB"]
    for action in actions:
        action.setCheckable(True)
        group.addAction(action)
    actions[0].setChecked(True)
    told = heard(actions[0])
    attach_agent_component(window, SWITCHER, actions={"switch": bind_action(SWITCH, actions[0])})
    refused = surface.invoke(SWITCH_ID, {"checked": False})
    assert (code_of(refused), told, actions[0].isChecked()) == ("PRECONDITION_FAILED", [], True)
    group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
    assert code_of(surface.invoke(SWITCH_ID, {"checked": False})) == "ok"
    assert not actions[0].isChecked()


def test_a_contract_that_does_not_fit_the_action_is_refused(window: QMainWindow) -> None:
    """When it is bound, and not when an agent calls."""
    plain, checkable = QAction("Run", window), QAction("Grid", window, checkable=True)
    with pytest.raises(AgentSurfaceDefinitionError, match="takes the input"):
        bind_action(RUN, checkable)
    with pytest.raises(AgentSurfaceDefinitionError, match="takes no input"):
        bind_action(SWITCH, plain)
    with pytest.raises(AgentSurfaceDefinitionError, match="returns nothing"):
        bind_action(TELL, plain)


@pytest.mark.requirement("QT-AVAIL-008")
@pytest.mark.allow_logs("agent_surface.pipeline")
def test_a_slot_that_raises_fails_the_call(
    surface: Surface, window: QMainWindow, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program's hook hears of it as ever, and is in its place again afterwards."""
    hook, raised = Hook(monkeypatch), ValueError("no")

    def slot() -> None:
        raise raised

    action = window.addToolBar("Tools").addAction("Run")
    action.triggered.connect(slot)
    later = heard(action)
    attach(action)
    result = surface.invoke(RUN_ID)
    assert isinstance(result, InvocationError)
    assert (code_of(result), hook.told, later) == ("EXECUTION_FAILED", [raised], [False])
    assert sys.excepthook is hook


@pytest.mark.requirement("QT-AVAIL-008")
def test_what_fails_inside_a_nested_loop_is_not_the_slots_failure(
    surface: Surface, window: QMainWindow, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a dialog runs inside the slot, everything else of the application runs too."""
    hook, raised = Hook(monkeypatch), ValueError("of something else")

    def elsewhere() -> None:
        raise raised

    def slot() -> None:
        loop = QEventLoop()
        QTimer.singleShot(0, elsewhere)
        QTimer.singleShot(1, loop.quit)
        loop.exec()

    action = window.addToolBar("Tools").addAction("Run")
    action.triggered.connect(slot)
    attach(action)
    assert (code_of(surface.invoke(RUN_ID)), hook.told) == ("ok", [raised])


@pytest.mark.requirement("QT-AVAIL-008")
def test_a_hook_that_a_slot_installs_stays(
    surface: Surface, window: QMainWindow, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the application's to replace."""
    Hook(monkeypatch)
    installed = list[Hook]()
    action = window.addToolBar("Tools").addAction("Run")
    action.triggered.connect(lambda: installed.append(Hook(monkeypatch)))
    attach(action)
    assert code_of(surface.invoke(RUN_ID)) == "ok"
    assert [sys.excepthook] == installed


def test_an_action_can_itself_be_the_component(surface: Surface, window: QMainWindow) -> None:
    """Its parent is a closed menu, so it has to say that it is used unseen; the binding judges all the same."""
    menu = window.menuBar().addMenu("File")
    action = menu.addAction("Open")
    attach_agent_component(action, RUNNER, actions={"run": bind_action(RUN, action)}, presented=True)
    turn()
    assert surface.reason("run") is None
    menu.setEnabled(False)
    assert surface.reason("run") == "It is in the menu “File”, which is disabled."
