from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from PySide6.QtCore import (
    Property,
    QByteArray,
    QDate,
    QDateTime,
    QObject,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTime,
    QTimeZone,
    QUrl,
    Signal,
)
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QLabel,
    QLineEdit,
    QSlider,
    QSpinBox,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from agent_surface import (
    AgentSurfaceDefinitionError,
    JsonValue,
    define_agent_component_contract,
    from_json_schema,
    observation_contract,
)
from agent_surface.testing import contract_authority
from qt_binding import attach_agent_component, create_qt_registry, observe_properties, provide_surface
from qt_binding._values import json_of
from tests.qt.mixin.parts import Surface, code_of, delete, reason_of, shown, turn

READ = observation_contract(
    description="The settings",
    output=from_json_schema(
        {"type": "object", "properties": {"value": {"type": "integer", "maximum": 50}}, "required": ["value"]}
    ),
)
FORM = define_agent_component_contract(type="test.form", description="A form", observations={"read": READ})
READ_ID = "view:test.form.read"


class Gauge(QObject):
    """Properties of many types."""

    moved = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.held: object = None
        self.measured = float("nan")

    def _color(self) -> QColor:
        return QColor(255, 0, 0, 128)

    def _bytes(self) -> QByteArray:
        return QByteArray(b"x")

    def _words(self) -> list[str]:
        return ["a", "b"]

    def _held(self) -> object:
        return self.held

    def _measured(self) -> float:
        return self.measured

    color = Property(QColor, _color)
    raw = Property(QByteArray, _bytes)
    words = Property(list, _words)
    anything = Property(object, _held)
    level = Property(float, _measured, notify=moved)


@pytest.fixture
def surface(qapp: QApplication, qtbot: QtBot) -> Iterator[Surface]:
    """A registry that the application provides; the test leaves nothing in it."""
    made = Surface(create_qt_registry(authority=contract_authority(FORM), environment="test"), qtbot)
    withdraw = provide_surface(qapp, made.registry)
    yield made
    withdraw()
    for window in qapp.topLevelWidgets():
        delete(window)
    turn()
    gc.collect()
    turn()
    assert made.registry.statistics().registrations == 0
    made.registry.close()


def read(target: QObject, *names: str) -> object:
    """What an observation of these properties returns."""
    return observe_properties(target, *names).find_handler(target)()


@pytest.mark.allow_logs("agent_surface.pipeline")
def test_properties_are_read_when_they_are_asked_for(surface: Surface) -> None:
    """By the names Qt has for them; the declared schema judges what comes out."""
    window = QWidget()
    spin = QSpinBox(window)
    spin.setRange(0, 99)
    attach_agent_component(
        window, FORM, observations={"read": observe_properties(spin, "value", "minimum", "maximum", "suffix")}
    )
    shown(window)
    spin.setValue(7)
    assert surface.invoke(READ_ID).to_json()["output"] == {"value": 7, "minimum": 0, "maximum": 99, "suffix": ""}
    spin.setValue(60)
    assert code_of(surface.invoke(READ_ID)) == "EXECUTION_FAILED"


def test_enumerations_are_told_by_name_and_flags_as_names(qapp: QApplication) -> None:
    """Numbers of Qt mean nothing to an agent."""
    slider, label, dock = QSlider(Qt.Orientation.Horizontal), QLabel(), QDockWidget()
    assert read(slider, "orientation", "tickPosition", "focusPolicy") == {
        "orientation": "Horizontal",
        "tickPosition": "NoTicks",
        "focusPolicy": "StrongFocus",
    }
    label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    dock.setFeatures(QDockWidget.DockWidgetFeature.NoDockWidgetFeatures)
    assert read(label, "alignment", "geometry") == {
        "alignment": ["AlignLeft", "AlignTop"],
        "geometry": {"x": 0, "y": 0, "width": 640, "height": 480},
    }
    assert read(dock, "features") == {"features": []}


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (QDate(2026, 11, 30), "2026-11-30"),
        (QTime(21, 3), "21:03:00"),
        (QDateTime(QDate(2026, 11, 30), QTime(21, 3), QTimeZone.utc()), "2026-11-30T21:03:00.000Z"),
        (
            QDateTime(QDate(2026, 1, 1), QTime(0, 0), QTimeZone.fromSecondsAheadOfUtc(7200)),
            "2026-01-01T00:00:00.000+02:00",
        ),
        (QDate(), None),
        (QColor("red"), "#ff0000"),
        (QColor(255, 0, 0, 128), "#80ff0000"),
        (QColor(), None),
        (QUrl("https://ada:secret@example.org/a b"), "https://ada@example.org/a%20b"),
        (QSize(3, 4), {"width": 3, "height": 4}),
        (QPoint(1, 2), {"x": 1, "y": 2}),
        (QRect(1, 2, 3, 4), {"x": 1, "y": 2, "width": 3, "height": 4}),
        ({"a": [1, QSize(1, 1)]}, {"a": [1, {"width": 1, "height": 1}]}),
        (Qt.CheckState.PartiallyChecked, "PartiallyChecked"),
    ],
    ids=repr,
)
def test_values_of_qt_have_a_json_form(value: object, wanted: JsonValue) -> None:
    """One answer for cells and properties alike; what is null or invalid is null."""
    assert json_of(value, "it") == wanted


@pytest.mark.parametrize(
    "value", [b"x", QByteArray(b"x"), float("inf"), {1: 2}, object(), [b"x"]], ids=lambda it: type(it).__name__
)
def test_what_has_no_json_form_is_refused_by_name(value: object) -> None:
    """Bytes are no text, and a key is text."""
    with pytest.raises(TypeError, match="the field 'it' holds a"):
        json_of(value, "the field 'it'")


def test_a_definition_names_what_is_wrong(qapp: QApplication) -> None:
    """At once, not when an agent reads: an unknown name with its likes, and types without a JSON form."""
    gauge, label = Gauge(), QLabel()
    with pytest.raises(AgentSurfaceDefinitionError, match="QSpinBox has no property 'values'; it has 'value'"):
        observe_properties(QSpinBox(), "values")
    with pytest.raises(AgentSurfaceDefinitionError, match=r"Gauge has no property 'zzzz'$"):
        observe_properties(gauge, "zzzz")
    with pytest.raises(AgentSurfaceDefinitionError, match="'raw' holds a QByteArray"):
        observe_properties(gauge, "words", "raw")
    for name, kind in {"pixmap": "QPixmap", "font": "QFont", "windowIcon": "QIcon"}.items():
        with pytest.raises(AgentSurfaceDefinitionError, match=f"'{name}' holds a {kind}"):
            observe_properties(label, name)
    with pytest.raises(AgentSurfaceDefinitionError, match="at least one"):
        observe_properties(gauge)


def test_what_only_shows_when_it_is_read_fails_then(qapp: QApplication) -> None:
    """A property of no particular type, and a number that is none."""
    gauge = Gauge()
    read_all = observe_properties(gauge, "words", "color", "anything", "level").find_handler(gauge)
    gauge.measured = 1.5
    assert read_all() == {"words": ["a", "b"], "color": "#80ff0000", "anything": None, "level": 1.5}
    gauge.held = b"x"
    with pytest.raises(TypeError, match="'anything' holds a bytes"):
        read_all()
    gauge.held, gauge.measured = None, float("nan")
    with pytest.raises(TypeError, match="'level' holds a number nan"):
        read_all()


def test_what_is_typed_and_not_shown_is_not_for_an_agent(qapp: QApplication) -> None:
    """Neither in a field that hides it from the beginning, nor in one that came to hide it."""
    line = QLineEdit("hunter2")
    read_line = observe_properties(line, "text", "displayText").find_handler(line)
    line.setEchoMode(QLineEdit.EchoMode.Password)
    with pytest.raises(TypeError, match="holds a secret"):
        read_line()
    for name in ("text", "selectedText"):
        with pytest.raises(AgentSurfaceDefinitionError, match="holds a secret"):
            observe_properties(line, name)
    assert "hunter2" not in str(read(line, "displayText"))


def test_a_notifying_property_is_followed_by_the_predicate(surface: Surface) -> None:
    """Of the object that is observed, which need not be the component."""
    window = QWidget()
    gauge = Gauge(window)
    gauge.measured = 0.0
    role = observe_properties(gauge, "level", "words", when=lambda: gauge.measured > 0, reason="It is empty")
    attach_agent_component(window, FORM, observations={"read": role})
    shown(window)
    assert surface.reason("read") == "It is empty"
    announced = surface.announcements
    gauge.measured = 2.0
    gauge.moved.emit()
    turn()
    assert (surface.announcements, surface.reason("read")) == (announced + 1, None)


def test_properties_are_as_present_as_their_object(surface: Surface) -> None:
    """What is on another tab, or gone, cannot be read."""
    tabs, page = QTabWidget(), QWidget()
    window = QWidget()
    QVBoxLayout(window).addWidget(tabs)
    spin = QSpinBox()
    tabs.addTab(spin, "Size")
    tabs.addTab(page, "Other")
    attach_agent_component(window, FORM, observations={"read": observe_properties(spin, "value")})
    shown(window)
    assert code_of(surface.invoke(READ_ID)) == "ok"
    tabs.setCurrentIndex(1)
    assert reason_of(surface.invoke(READ_ID)) == "It is on the tab “Size”, which is not selected."
    delete(spin)
    assert reason_of(surface.invoke(READ_ID)) == "component-gone"
