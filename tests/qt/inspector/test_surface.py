"""The tree shows who sees what and why, and keeps the person's place."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from agent_surface import AgentConsumer, Availability, ConsumerKind
from qt_binding.inspector import DEVELOPER
from qt_binding.inspector import _surface_page as page
from qt_binding.inspector._reading import consumer_text, parse_consumer, read_surface
from tests.qt.inspector.conftest import Inspect, Shop, choose, rows


def test_the_tree_shows_state_and_reason_of_everything_hidden_things_too(inspect: Inspect, shop: Shop) -> None:
    """The name of the policy that hides is what an agent must not know and a developer wants to."""
    shop.open().update(availability={"clear": Availability(available=False, reason="It is empty")})
    shop.open("secret")
    assert rows(inspect()) == {
        "test.parts": ("3 of 4", ""),
        "test.parts/count": ("Available", ""),
        "test.parts/move": ("Available", ""),
        "test.parts/drop": ("Available", ""),
        "test.parts/clear": ("Not available", "It is empty"),
        "test.parts \u203a secret": ("0 of 4", "has-permission:parts"),
        **{
            f"test.parts \u203a secret/{name}": ("Hidden by policy", "has-permission:parts")
            for name in ("count", "move", "drop", "clear")
        },
    }


def test_the_tree_follows_in_place(qtbot: QtBot, inspect: Inspect, shop: Shop) -> None:
    """What came, went or changed is there, and the person's selection and open branches are where they were."""
    first = shop.open("a")
    middle = shop.open("m")
    inspector = inspect()
    QAbstractItemModelTester(inspector.surface.model, QAbstractItemModelTester.FailureReportingMode.Fatal, inspector)
    tree = inspector.surface.tree
    chosen = choose(inspector, "move", component=1)
    tree.collapse(tree.model().index(0, 0))
    shop.open("b")
    shop.open("z")
    first.unregister()
    middle.update(availability={"move": Availability(available=False, reason="Busy")})
    qtbot.waitUntil(lambda: "test.parts \u203a z" in rows(inspector))
    assert [one.instance_id for one in inspector.surface.model.components] == ["b", "m", "z"]
    current = tree.currentIndex()
    assert (current.data(), current.siblingAtColumn(2).data()) == ("move", "Busy")
    assert current.parent().data() == "test.parts \u203a m"
    assert tree.isExpanded(current.parent())
    del chosen


def test_a_storm_of_changes_is_read_once(
    qtbot: QtBot, inspect: Inspect, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand components and two thousand events cost one look, and a hidden inspector none at all."""
    inspector = inspect()
    reads: list[int] = []

    def counted(*args: object) -> object:
        reads.append(1)
        return read_surface(*args)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # handed on

    monkeypatch.setattr(page, "read_surface", counted)
    handles = [shop.open(f"i{number:04}") for number in range(1_000)]
    for handle in handles:
        handle.update(availability={"clear": Availability(available=False, reason="Busy")})
    qtbot.waitUntil(lambda: len(inspector.surface.model.components) == 1_000)
    assert len(reads) == 1
    inspector.hide()
    handles[0].unregister()
    qtbot.wait(300)
    assert len(reads) == 1
    inspector.show()
    assert len(inspector.surface.model.components) == 999


def test_another_consumer_is_chosen_or_typed(inspect: Inspect, shop: Shop) -> None:
    """With the keyboard alone; what is no consumer is refused with a sentence."""
    shop.open()
    inspector = inspect()
    box = inspector.surface.consumers
    assert [box.itemText(row) for row in range(box.count())] == [
        "embedded:alice",
        consumer_text(DEVELOPER),
        "embedded:anonymous",
    ]
    line = box.lineEdit()
    assert isinstance(line, QLineEdit)
    line.selectAll()
    QTest.keyClicks(line, "test:bob parts.edit")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert box.consumer == AgentConsumer(id="bob", kind=ConsumerKind.TEST, grants=("parts.edit",))
    line.selectAll()
    QTest.keyClicks(line, "nobody:knows")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert box.consumer.id == "bob"
    assert inspector.surface.summary.shown_text.startswith("A consumer is written kind:id")


@pytest.mark.parametrize("text", ["", "  ", "nobody:x", "embedded:", ":x", "embedded:" + "x" * 129])
def test_what_is_no_consumer_is_not_read_as_one(text: str) -> None:
    """The registry would refuse it later and less clearly."""
    assert parse_consumer(text) is None


def test_details_say_what_every_policy_said(inspect: Inspect, shop: Shop) -> None:
    """Name, scope, phases and vote, beside what the consumer is told."""
    shop.open("secret")
    inspector = inspect()
    choose(inspector, "move")
    shown = inspector.surface.facts.toPlainText()
    assert "view:test.parts.move" in shown
    assert "has-permission:parts (component; discovery, authorize): hide" in shown


def test_the_filter_finds_names_states_and_reasons(inspect: Inspect, shop: Shop) -> None:
    """A component stays when one of its capabilities matches."""
    shop.open().update(availability={"clear": Availability(available=False, reason="It is empty")})
    shop.open("other")
    inspector = inspect()
    QTest.keyClicks(inspector.surface.filter, "EMPTY")
    assert list(rows(inspector)) == ["test.parts", "test.parts/clear"]


def test_a_closed_registry_is_said(qtbot: QtBot, inspect: Inspect, shop: Shop) -> None:
    """An empty tree would look like an empty surface."""
    shop.open()
    inspector = inspect()
    inspector.hide()
    shop.registry.close()
    inspector.show()
    qtbot.waitUntil(lambda: not inspector.tabs.isVisible(), timeout=3_000)


def test_everything_the_keyboard_reaches_has_a_name(qtbot: QtBot, inspect: Inspect, shop: Shop) -> None:
    """Once around with Tab: the list of consumers, the filter, the tree, the details, and nothing nameless."""
    shop.open()
    inspector = inspect()
    inspector.window().activateWindow()
    qtbot.waitUntil(inspector.window().isActiveWindow)
    choose(inspector, "move")
    inspector.surface.show_invoke()
    inspector.surface.consumers.setFocus()
    names: list[str] = []
    for _ in range(40):
        widget = QApplication.focusWidget()
        assert widget is not None
        interface = QAccessible.queryAccessibleInterface(widget)
        assert interface is not None
        name = interface.text(QAccessible.Text.Name)
        assert name, f"{widget} has no name, after {names}"
        names.append(name)
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    # On Linux the name of a list of values is its value; what it is of is told as a relation.
    begin = names.index("Pass count along")
    assert names[begin - 1 : begin + 3] == ["name", "Pass count along", "count", "Pass size along"]
    assert names.index("Pass rest along") < names.index("Invoke", begin)
    assert {"embedded:alice", "Filter the tree", "Components and capabilities"} <= set(names)


def test_rows_have_room_for_their_signs(qtbot: QtBot, shop: Shop, inspect: Inspect) -> None:
    """Qt measures the first row alone, which has no sign; the others would touch each other."""
    shop.open()
    inspector = inspect()
    tree = inspector.surface.tree
    qtbot.waitUntil(lambda: tree.model().rowCount() > 0)
    heights: set[int] = set()
    for direction in (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft):
        tree.setLayoutDirection(direction)
        tree.scheduleDelayedItemsLayout()
        qtbot.wait(1)
        component = tree.model().index(0, 0)
        heights |= {tree.visualRect(component).height(), tree.visualRect(tree.model().index(0, 0, component)).height()}
    assert len(heights) == 1
    assert heights.pop() >= 20
