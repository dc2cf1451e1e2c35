from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialog, QStackedWidget, QTabWidget, QToolBox, QVBoxLayout, QWidget

from agent_surface import (
    AgentInvocation,
    AgentSurfaceDefinitionError,
    action_contract,
    from_json_schema,
    from_model,
    from_type,
)
from agent_surface.testing import contract_authority
from qt_binding import create_qt_registry, navigate_pages, provide_surface
from qt_binding._runtime._qasync import QasyncEventLoop
from tests.qt.mixin.parts import READ_ID, Counter, Surface, code_of, delete, reason_of, shown, turn
from tests.qt.navigation.conftest import SHOW, SHOW_ID, WINDOW, ShowPage, offer, pages, refusal, show

Container = QTabWidget | QStackedWidget | QToolBox
KEYS = ("general", "network", "about")


Make = Callable[[type[Container]], tuple[Container, dict[str, QWidget]]]


@pytest.fixture
def make(surface: Surface) -> Make:
    """Show a window with a container of three pages, and offer them."""
    windows = list[QWidget]()

    def make(kind: type[Container]) -> tuple[Container, dict[str, QWidget]]:
        window = QWidget()
        windows.append(window)
        container = kind(window)
        QVBoxLayout(window).addWidget(container)
        made: dict[str, QWidget] = {key: QWidget() for key in KEYS}
        for key, page in made.items():
            if isinstance(container, QTabWidget):
                container.addTab(page, f"&{key.title()}")
            elif isinstance(container, QToolBox):
                container.addItem(page, key.title())
            else:
                container.addWidget(page)
        shown(window)
        offer(window, navigate_pages(SHOW, container, made))
        return container, made

    return make


@pytest.mark.parametrize("kind", [QTabWidget, QStackedWidget, QToolBox])
def test_a_page_is_turned_to_by_its_key(surface: Surface, make: Make, kind: type[Container]) -> None:
    """Not by its place or label: pages may move, and labels may be translated, while an agent thinks."""
    container, made = make(kind)
    assert pages(surface) == {"general": (True, None), "network": (False, None), "about": (False, None)}
    assert show(surface, "about") == "ok"
    assert container.currentWidget() is made["about"]
    assert pages(surface) == {"general": (False, None), "network": (False, None), "about": (True, None)}
    if isinstance(container, QTabWidget):
        container.tabBar().moveTab(1, 0)
        container.setTabText(0, "Netz")
        assert show(surface, "network") == "ok"
        assert container.currentWidget() is made["network"]


def test_a_call_ends_with_the_components_of_its_page_on_the_surface(surface: Surface, make: Make) -> None:
    """The page was never shown, so its component is not registered before."""
    _, made = make(QTabWidget)
    counter = Counter(made["network"])
    assert code_of(surface.invoke(READ_ID)) == "CAPABILITY_NOT_FOUND"
    result = surface.invoke(SHOW_ID, {"page": "network"})
    assert (code_of(result), result.to_json()["surfaceChanged"]) == ("ok", True)
    assert surface.reason("read") is None
    assert counter.agent_handle.status == "active"


def test_the_current_page_ends_the_call_at_once(surface: Surface, make: Make) -> None:
    """Nothing is turned, so no slot runs."""
    container, _ = make(QTabWidget)
    turned = list[int]()
    container.currentChanged.connect(turned.append)
    assert show(surface, "general") == "ok"
    assert turned == []


def test_a_page_that_cannot_be_turned_to_says_why(surface: Surface, make: Make) -> None:
    """Disabled, hidden, removed, unknown: refused before anything is turned."""
    container, _ = make(QTabWidget)
    assert isinstance(container, QTabWidget)
    container.setTabEnabled(1, False)
    container.setTabVisible(2, False)
    assert pages(surface) == {
        "general": (True, None),
        "network": (False, "The tab “Network” is disabled."),
        "about": (False, "The tab “About” is not shown."),
    }
    assert refusal(surface, "network") == ("PRECONDITION_FAILED", "The tab “Network” is disabled.", {})
    assert refusal(surface, "about")[1] == "The tab “About” is not shown."
    container.removeTab(1)
    assert refusal(surface, "network")[1] == "It is gone."
    assert refusal(surface, "3")[1] == "There is no such page. There are: general, network, about."
    assert container.currentIndex() == 0


def test_a_collapsed_section_that_is_disabled_says_why(surface: Surface, make: Make) -> None:
    """A tool box knows no hidden sections."""
    container, _ = make(QToolBox)
    assert isinstance(container, QToolBox)
    container.setItemEnabled(1, False)
    assert refusal(surface, "network")[1] == "The section “Network” is disabled."


def test_where_nobody_could_click_no_page_can_be_turned_to(surface: Surface, make: Make) -> None:
    """The action is as present as the tabs, and follows them: behind a dialog, in another page, in a hidden window."""
    container, _ = make(QTabWidget)
    dialog = QDialog()
    dialog.setWindowTitle("Question")
    dialog.setModal(True)
    dialog.show()
    blocked = "The dialog “Question” is open and has to be answered first."
    result = surface.invoke(SHOW_ID, {"page": "network"})
    assert (code_of(result), reason_of(result)) == ("CAPABILITY_NOT_AVAILABLE", blocked)
    delete(dialog)
    turn()
    announced = surface.announcements
    container.hide()
    turn()
    assert surface.announcements == announced + 1
    assert surface.reason("showPage") == "It is not shown."
    assert surface.reason("readPages") is None
    assert pages(surface)["network"] == (False, "It is not shown.")
    container.show()
    turn()
    assert (surface.reason("showPage"), container.currentIndex()) == (None, 0)


def test_a_window_meant_to_work_unseen_turns_no_page_that_nobody_sees(surface: Surface) -> None:
    """There is no arriving in sight while it is hidden, so nothing is turned and the reason is told."""
    window, tabs, made = QWidget(), QTabWidget(), {key: QWidget() for key in KEYS}
    QVBoxLayout(window).addWidget(tabs)
    for key, page in made.items():
        tabs.addTab(page, key)
    offer(window, navigate_pages(SHOW, tabs, made), presented=True)
    assert refusal(surface, "network")[1] == "Its window is not open."
    assert tabs.currentIndex() == 0
    shown(window)
    assert show(surface, "network") == "ok"
    delete(window)


@pytest.mark.requirement("AS-NAV-002")
@pytest.mark.parametrize("moment", ["at once", "a moment later"])
def test_an_application_that_turns_back_is_told(surface: Surface, make: Make, moment: str) -> None:
    """For instance because what was typed on the page is not saved; the call says where it is now."""
    container, _ = make(QTabWidget)

    def stay(index: int) -> None:
        if index == 0:
            return
        if moment == "at once":
            container.setCurrentIndex(0)
        else:
            QTimer.singleShot(0, container, lambda: container.setCurrentIndex(0))

    container.currentChanged.connect(stay)
    told = ("PRECONDITION_FAILED", "The application did not stay on that page.", {"current": "general"})
    assert refusal(surface, "network") == told
    assert container.currentIndex() == 0


def test_a_slot_that_asks_with_exec_holds_up_nobody(surface: Surface, make: Make) -> None:
    """The page is turned from a plain handler, so the question may nest an event loop; the call waits for its end."""
    container, _ = make(QTabWidget)
    ticks = list[int]()

    def ask() -> None:
        dialog = QDialog()
        QTimer.singleShot(30, dialog, dialog.reject)
        dialog.exec()

    ticker = QTimer(container)
    ticker.timeout.connect(lambda: ticks.append(1))
    ticker.start(5)
    container.currentChanged.connect(ask)
    assert show(surface, "network") == "ok"
    assert len(ticks) > 1
    assert container.currentIndex() == 1


@pytest.mark.requirement("QT-LOOP-004")
def test_a_slot_may_ask_also_on_the_applications_own_qasync_loop(qapp: QApplication) -> None:
    """There a nested event loop inside a task would wedge the others for good."""
    loop = QasyncEventLoop(qapp)
    registry = create_qt_registry(authority=contract_authority(WINDOW), environment="test", loop=loop)
    window, tabs, pages = QWidget(), QTabWidget(), {"one": QWidget(), "two": QWidget()}
    QVBoxLayout(window).addWidget(tabs)
    for key, page in pages.items():
        tabs.addTab(page, key)
    provide_surface(window, registry)
    shown(window)
    offer(window, navigate_pages(SHOW, tabs, pages))
    ticks = list[int]()

    def ask() -> None:
        enough = len(ticks) + 10
        dialog = QDialog()
        poll = QTimer(dialog)
        poll.timeout.connect(lambda: dialog.accept() if len(ticks) > enough else None)
        poll.start(0)
        dialog.exec()

    async def tick() -> None:
        while True:
            ticks.append(1)
            await asyncio.sleep(0)

    async def use() -> str:
        ticker = asyncio.ensure_future(tick())
        result = await registry.invoke(AgentInvocation(capability_id=SHOW_ID, input={"page": "two"}))
        ticker.cancel()
        return code_of(result)

    tabs.currentChanged.connect(ask)
    assert loop.run_until_complete(use()) == "ok"
    assert tabs.currentWidget() is pages["two"]
    delete(window)
    turn()
    registry.close()
    loop.close()


@pytest.mark.allow_logs("agent_surface.pipeline")
def test_a_slot_that_raises_fails_the_call(surface: Surface, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt keeps from the caller what a slot raises."""
    container, _ = make(QTabWidget)
    told = list[object]()

    def hook(kind: object, error: object, traceback: object) -> None:
        told.append(error)

    monkeypatch.setattr("sys.excepthook", hook)

    def fail() -> None:
        raise ValueError("broken")

    container.currentChanged.connect(fail)
    assert show(surface, "network") == "EXECUTION_FAILED"
    assert [str(error) for error in told] == ["broken"]


@pytest.mark.requirement("AS-NAV-001")
def test_a_navigation_that_ends_its_own_window_settles_ok(surface: Surface, make: Make) -> None:
    """A wizard whose last page closes it."""
    container, _ = make(QStackedWidget)
    container.currentChanged.connect(lambda: QTimer.singleShot(0, container, lambda: delete(container.window())))
    assert show(surface, "about") == "ok"


def test_a_page_that_is_covered_at_once_is_not_in_sight(
    surface: Surface, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turned to, but nobody sees it: the call ends within its bound and says why."""
    monkeypatch.setattr("qt_binding.navigation._navigate.ARRIVAL_STEPS", 3)
    container, _ = make(QTabWidget)
    container.currentChanged.connect(container.hide)
    code, message, _ = refusal(surface, "network")
    assert (code, message) == ("PRECONDITION_FAILED", "The page was turned to, and is not in sight. It is not shown.")


def test_a_definition_names_what_is_wrong(surface: Surface) -> None:
    """The effect, input and output of the contract, and the pages."""
    tabs = QTabWidget()
    page = QWidget()
    tabs.addTab(page, "One")
    local = action_contract(description="Show", input=from_model(ShowPage), effect="local-state")
    other = action_contract(
        description="Show",
        input=from_json_schema({"type": "object", "properties": {"page": {"enum": ["two"]}}}),
        effect="navigation",
    )
    telling = action_contract(
        description="Show", input=from_model(ShowPage), output=from_type(int), effect="navigation"
    )
    with pytest.raises(AgentSurfaceDefinitionError, match="its effect is 'navigation'"):
        navigate_pages(local, tabs, {"one": page})
    with pytest.raises(AgentSurfaceDefinitionError, match=r"has to accept \{'page': 'one'\}"):
        navigate_pages(other, tabs, {"one": page})
    with pytest.raises(AgentSurfaceDefinitionError, match="declare no output"):
        navigate_pages(telling, tabs, {"one": page})
    with pytest.raises(AgentSurfaceDefinitionError, match="name at least one page"):
        navigate_pages(SHOW, tabs, {})
    with pytest.raises(AgentSurfaceDefinitionError, match="'two' is not in the QTabWidget"):
        navigate_pages(SHOW, tabs, {"one": page, "two": QWidget()})
    delete(tabs)
