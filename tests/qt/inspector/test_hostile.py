"""Whatever was put into a surface, the inspector shows it as it is, and stays usable."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from agent_surface import (
    AgentComponentContract,
    AgentConsumer,
    AgentSurfaceRegistry,
    Availability,
    JsonValue,
    action_contract,
    define_agent_component_contract,
    from_json_schema,
    observation_contract,
)
from agent_surface.testing import contract_authority
from qt_binding import create_qt_registry
from qt_binding.inspector import SurfaceInspector
from qt_binding.inspector._facts import Fact, FactsView
from tests.qt.hostile import HIDDEN, NOT_SHOWN, TEXTS, Trap, overflowing
from tests.qt.inspector.conftest import choose

EVERYTHING = "".join(text[:15] for text in TEXTS.values())[:300]
CONSUMER = AgentConsumer(id=f"ev\u202eil<b>{'W' * 100}", grants=("\u200b", "W" * 2_000))


class Hostile:
    """A registry of one component that says nothing but hostile texts, and an inspector of it.

    Attributes:
        answer: What the component answers next.
    """

    def __init__(self, trap: Trap) -> None:
        self.answer = ""
        contract = _contract(trap)
        self.registry: AgentSurfaceRegistry = create_qt_registry(
            authority=contract_authority(contract), environment="test"
        )
        handlers = {"act": self._answered, "ask": self._answered, "never": self._answered}
        handle = self.registry.register(
            contract.bind(instance_id="I" * 120, observations={"look": self._answered}, actions=handlers)
        )
        handle.update(availability={"never": Availability(available=False, reason=EVERYTHING)})
        self.window = QMainWindow()
        self.window.resize(900, 800)
        self.inspector = SurfaceInspector(self.registry, consumers=(CONSUMER,), parent=self.window)
        self.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.inspector)
        self.window.show()

    def _answered(self, _given: object = None) -> str:
        return self.answer


def _contract(trap: Trap) -> AgentComponentContract:
    texts = [trap.bait(text) for text in TEXTS.values()]
    fields: dict[str, object] = {
        f"{number} {text[:60]}": {"type": "string", "description": text[:200], "default": text[:50]}
        for number, text in enumerate(texts)
    }
    fields["choice"] = {"enum": [f"{number} {text[:100]}" for number, text in enumerate(texts)]}
    fields["inner"] = {"type": "object", "properties": {"W" * 200: {"type": "integer"}}}
    taken = from_json_schema({"type": "object", "properties": fields, "additionalProperties": True})
    anything = from_json_schema({})
    return define_agent_component_contract(
        type="test.hostile",
        description=EVERYTHING,
        observations={"look": observation_contract(description=EVERYTHING, output=anything)},
        actions={
            "act": action_contract(description=EVERYTHING, input=taken, output=anything, effect="local-state"),
            "ask": action_contract(description=EVERYTHING, input=taken, effect="local-state", confirmation="required"),
            "never": action_contract(description=EVERYTHING, effect="local-state"),
        },
    )


@pytest.fixture
def hostile(qtbot: QtBot, trap: Trap) -> Iterator[Hostile]:
    """The component, and the inspector in a shown window."""
    made = Hostile(trap)
    qtbot.waitExposed(made.window)
    yield made
    made.window.close()
    made.window.deleteLater()
    made.registry.close()
    qtbot.wait(1)


def _assert_honest(inspector: SurfaceInspector) -> None:
    """Nothing hidden in any text, none taken for markup, and nothing beyond the sides of the inspector."""
    for widget in (inspector, *inspector.findChildren(QWidget)):
        assert [text for text in _texts(widget) if set(text) & NOT_SHOWN] == []
        _assert_plain_tool_tip(widget.toolTip())
        if isinstance(widget, QLabel):
            assert widget.textFormat() is Qt.TextFormat.PlainText or "<" not in widget.text()
        if isinstance(widget, QTextEdit | QPlainTextEdit):
            assert "\ufffc" not in widget.toPlainText()
    assert list(overflowing(inspector)) == []
    assert inspector.minimumSizeHint().width() < 500
    assert inspector.width() <= 900


def _texts(widget: QWidget) -> Iterator[str]:
    yield widget.accessibleName()
    yield widget.accessibleDescription()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    elif isinstance(widget, QLineEdit):
        yield from (widget.text(), widget.placeholderText())
    elif isinstance(widget, QTextEdit | QPlainTextEdit):
        yield from (widget.toPlainText(), widget.placeholderText())
    elif isinstance(widget, QComboBox):
        yield from (widget.itemText(row) for row in range(widget.count()))
    elif isinstance(widget, QAbstractItemView):
        yield from _cells(widget.model(), QModelIndex())


def _cells(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[str]:
    for row in range(model.rowCount(parent)):
        for column in range(model.columnCount(parent)):
            index = model.index(row, column, parent)
            yield str(index.data() or "")
            yield str(index.data(Qt.ItemDataRole.AccessibleTextRole) or "")
            _assert_plain_tool_tip(str(index.data(Qt.ItemDataRole.ToolTipRole) or ""))
        yield from _cells(model, model.index(row, 0, parent))


def _assert_plain_tool_tip(text: str) -> None:
    inner = text.removeprefix("<qt>").removesuffix("</qt>")
    assert not set(inner) & NOT_SHOWN
    assert not re.search(r"<(?!/?p\b)", inner)


def test_every_text_of_a_surface_stays_text(qtbot: QtBot, hostile: Hostile) -> None:
    """The tree, the details, the form and who is looked as."""
    inspector = hostile.inspector
    for capability in ("look", "act", "ask", "never"):
        choose(inspector, capability)
        _assert_honest(inspector)
        inspector.surface.show_invoke()
        _assert_honest(inspector)
    assert inspector.surface.consumers.currentText().startswith("embedded:ev\\u202eil<b>")
    assert inspector.surface.consumers.consumer == CONSUMER
    choose(inspector, "act")
    form = inspector.surface.invoke.form
    assert form is not None
    assert form.minimumSizeHint().width() < 500


def test_a_consumer_of_hidden_characters_is_the_one_that_was_chosen(hostile: Hostile) -> None:
    """What is shown of it is not what it is called."""
    box = hostile.inspector.surface.consumers
    for row in (1, 0):
        box.setCurrentIndex(row)
        box.activated.emit(row)
    assert box.consumer == CONSUMER
    line = box.lineEdit()
    assert line is not None
    line.editingFinished.emit()
    assert box.consumer == CONSUMER
    assert box.count() == 3


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_what_a_capability_answers_stays_text(qtbot: QtBot, trap: Trap, hostile: Hostile, name: str) -> None:
    """The result, its event and its record; the size of an answer is bounded by the surface."""
    inspector = hostile.inspector
    hostile.answer = trap.bait(TEXTS[name])[:10_000]
    choose(inspector, "act")
    page = inspector.surface.invoke
    inspector.surface.show_invoke()
    page.invoke_button.click()
    qtbot.waitUntil(lambda: page.status.shown_text == "Done.")
    shown = page.result.toPlainText()
    assert not set(shown) & NOT_SHOWN
    assert len(shown) > min(len(hostile.answer), 10_000)
    _assert_honest(inspector)


def test_events_and_questions_stay_text(qtbot: QtBot, trap: Trap, hostile: Hostile) -> None:
    """What a model passes along is seen in the list of what waits, and in the stream with all that is known of it."""
    inspector = hostile.inspector
    choose(inspector, "ask")
    page = inspector.surface.invoke
    page.as_json.setChecked(True)
    given: JsonValue = {f"{n} {text[:30]}": trap.bait(text)[:3_000] for n, text in enumerate(TEXTS.values())}
    page.json.show_value(given)
    assert page.json.read() == given
    page.invoke_button.click()
    qtbot.waitUntil(lambda: inspector.pending.model.rowCount() == 1)
    inspector.tabs.setCurrentWidget(inspector.pending)
    inspector.pending.view.setCurrentIndex(inspector.pending.model.index(0, 0))
    assert "\\u202e" in inspector.pending.facts.toPlainText()
    _assert_honest(inspector)
    inspector.tabs.setCurrentWidget(inspector.stream)
    view = inspector.stream.view
    for row in range(view.model().rowCount()):
        view.setCurrentIndex(view.model().index(row, 0))
        _assert_honest(inspector)
    page.stop_button.click()
    qtbot.waitUntil(lambda: page.status.shown_text == "Stopped.")


def test_facts_are_shown_as_text(qtbot: QtBot, trap: Trap) -> None:
    """In a document that is filled by insertion alone; an endless one is cut and says so."""
    view = FactsView()
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show()
    for text in (*TEXTS.values(), HIDDEN * 20_000):
        view.show_facts([Fact(name="Reason", value=trap.bait(text))])
        view.grab()
        assert not set(view.toPlainText()) & NOT_SHOWN
        assert view.horizontalScrollBar().maximum() == 0
    assert view.toPlainText().rstrip().endswith("more characters")
