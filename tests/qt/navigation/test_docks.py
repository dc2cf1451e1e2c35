from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QTextEdit

from agent_surface import AgentSurfaceDefinitionError
from qt_binding import navigate_docks
from tests.qt.mixin.parts import READ_ID, Counter, Surface, code_of, delete, shown, turn
from tests.qt.navigation.conftest import SHOW, offer, pages, refusal, show

LEFT = Qt.DockWidgetArea.LeftDockWidgetArea


Make = Callable[[bool], dict[str, QDockWidget]]


@pytest.fixture
def make(surface: Surface) -> Make:
    """Show a window with a log in front of the jobs, and a closed help, and offer its docks."""
    windows = list[QMainWindow]()

    def make(animated: bool) -> dict[str, QDockWidget]:
        window = QMainWindow()
        windows.append(window)
        window.setAnimated(animated)
        window.setCentralWidget(QTextEdit())
        docks = {key: QDockWidget(key.title(), window) for key in ("jobs", "log", "help")}
        for dock in docks.values():
            dock.setWidget(QLabel("…"))
            window.addDockWidget(LEFT, dock)
        window.tabifyDockWidget(docks["jobs"], docks["log"])
        docks["help"].close()
        shown(window)
        docks["log"].raise_()
        turn()
        offer(window, navigate_docks(SHOW, docks))
        return docks

    return make


@pytest.mark.parametrize("animated", [False, True], ids=["at once", "animated"])
def test_a_dock_is_raised_or_opened(surface: Surface, make: Make, animated: bool) -> None:
    """The call ends when the dock is in sight, not when it was told to be; several may be."""
    docks = make(animated)
    assert pages(surface) == {"jobs": (False, None), "log": (True, None), "help": (False, None)}
    assert show(surface, "jobs") == "ok"
    assert pages(surface) == {"jobs": (True, None), "log": (False, None), "help": (False, None)}
    assert show(surface, "help") == "ok"
    assert docks["help"].isVisible()
    assert pages(surface) == {"jobs": (True, None), "log": (False, None), "help": (True, None)}


def test_a_raised_dock_has_its_components_on_the_surface(surface: Surface, make: Make) -> None:
    """A component in a dock behind another is unavailable until then."""
    docks = make(False)
    counter = Counter()
    docks["jobs"].setWidget(counter)
    turn()
    assert code_of(surface.invoke(READ_ID)) == "CAPABILITY_NOT_AVAILABLE"
    assert show(surface, "jobs") == "ok"
    assert code_of(surface.invoke(READ_ID)) == "ok"


def test_a_dock_that_a_person_cannot_open_is_refused(surface: Surface, make: Make) -> None:
    """Its entry in the menu is off."""
    docks = make(False)
    docks["help"].toggleViewAction().setEnabled(False)
    assert refusal(surface, "help") == ("PRECONDITION_FAILED", "The dock “Help” cannot be opened now.", {})
    docks["jobs"].toggleViewAction().setEnabled(False)
    assert show(surface, "jobs") == "ok"  # it is open, so its tab is all it takes
    docks["help"].deleteLater()
    turn()
    assert refusal(surface, "help")[1] == "It is gone."


@pytest.mark.requirement("AS-NAV-002")
def test_an_application_that_closes_the_dock_again_is_told(surface: Surface, make: Make) -> None:
    """Never a call that waits for what will not come."""
    docks = make(False)

    def close(visible: bool) -> None:
        if visible:
            docks["help"].close()

    docks["help"].visibilityChanged.connect(close)
    code, message, details = refusal(surface, "help")
    assert (code, message) == ("PRECONDITION_FAILED", "The application did not stay on that page.")
    assert details == {"current": "log"}


def test_a_floating_dock_is_raised_too(surface: Surface, make: Make) -> None:
    """It belongs to its main window wherever it floats."""
    docks = make(False)
    docks["help"].setFloating(True)
    assert show(surface, "help") == "ok"
    assert docks["help"].isFloating()


def test_docks_of_two_windows_are_refused(surface: Surface, make: Make) -> None:
    """There would be no one place that has to be presented."""
    docks = make(False)
    stray = QDockWidget("Stray")
    with pytest.raises(AgentSurfaceDefinitionError, match="one main window"):
        navigate_docks(SHOW, {**docks, "stray": stray})
    with pytest.raises(AgentSurfaceDefinitionError, match="one main window"):
        navigate_docks(SHOW, {"stray": stray})
    delete(stray)
