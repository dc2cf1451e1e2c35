"""Capabilities can be tried by hand, with a form, as a consumer of its own."""

from __future__ import annotations

import ast

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from agent_surface import JsonValue
from qt_binding.inspector import SurfaceInspector
from qt_binding.inspector._schema_form import Issue, SchemaForm, has_form
from tests.qt.inspector.conftest import Inspect, Shop, choose


def _field(form: QWidget, name: str) -> QWidget:
    """The field a person who cannot see finds by its name."""
    found = [
        one
        for one in form.findChildren(QWidget)
        if one.accessibleName() == name and isinstance(one, QLineEdit | QComboBox | QPlainTextEdit)
    ]
    assert len(found) == 1, name
    return found[0]


def _type(form: QWidget, name: str, text: str) -> None:
    field = _field(form, name)
    field.setFocus()
    for number, line in enumerate(text.split("\n")):
        if number:
            QTest.keyClick(field, Qt.Key.Key_Return)
        QTest.keyClicks(field, line)


@pytest.fixture
def inspector(inspect: Inspect, shop: Shop) -> SurfaceInspector:
    """An inspector that shows one component, at the form to invoke."""
    shop.open()
    opened = inspect()
    opened.surface.show_invoke()
    return opened


def test_a_form_has_a_field_for_every_kind_of_value(qtbot: QtBot, inspector: SurfaceInspector, shop: Shop) -> None:
    """Writing into a field that may be left out includes it; what is left out is not passed along."""
    choose(inspector, "move")
    form = inspector.surface.invoke.form
    assert form is not None
    _type(form, "name", "bolt")
    _type(form, "count", "3")
    _type(form, "size", "2.5")
    _type(form, "mode", "s")
    _type(form, "tags", "a\nb")
    _type(form, "x", "7")
    _type(form, "rest", '{"deep": [null]}')
    for box in form.findChildren(QCheckBox):
        if box.text() in ("where", "mode", "sure"):
            box.setChecked(True)
    inspector.surface.invoke.invoke_button.click()
    qtbot.waitUntil(lambda: bool(shop.calls))
    assert shop.calls == [
        (
            "move",
            {
                "name": "bolt",
                "count": 3,
                "size": 2.5,
                "mode": "slow",
                "sure": True,
                "tags": ["a", "b"],
                "where": {"x": 7},
                "rest": {"deep": [None]},
            },
        )
    ]
    qtbot.waitUntil(lambda: inspector.surface.invoke.status.shown_text == "Done. It has no output.")


def test_what_cannot_be_read_or_is_refused_is_said_at_its_field(qtbot: QtBot, inspector: SurfaceInspector) -> None:
    """First what a field itself cannot read, then what the registry refused, by its own error."""
    choose(inspector, "move")
    page = inspector.surface.invoke
    form = page.form
    assert form is not None
    _type(form, "count", "three")
    page.invoke_button.click()
    count = _field(form, "count")
    assert count.accessibleDescription() == "Write a whole number."
    assert count.hasFocus()
    QTest.keyClick(count, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(count, "3")
    QTest.keyClicks(_field(form, "name"), "b")
    QTest.keyClick(_field(form, "name"), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: page.status.shown_text.startswith("INVALID_INPUT"))
    name = _field(form, "name")
    assert "at least 2" in name.accessibleDescription()
    assert name.hasFocus()
    assert count.accessibleDescription() == ""


def test_the_form_and_the_json_carry_the_same_input(inspector: SurfaceInspector) -> None:
    """Switching over loses nothing; what is no JSON is said."""
    choose(inspector, "move")
    page = inspector.surface.invoke
    form = page.form
    assert form is not None
    given: JsonValue = {"name": "bolt", "tags": ["a"], "where": {"x": 1}}
    form.show_value(given)
    page.as_json.setChecked(True)
    assert page.json.read() == given
    page.json.show_value({"name": "nut", "count": 2})
    page.as_json.setChecked(False)
    assert form.read() == {"name": "nut", "count": 2}
    page.as_json.setChecked(True)
    field = page.json.widget
    assert isinstance(field, QPlainTextEdit)
    field.setPlainText('{"a": NaN}')
    page.invoke_button.click()
    assert page.problem.shown_text == "This is not JSON: NaN"


def test_a_confirmation_is_waited_for_and_the_call_repeated(
    qtbot: QtBot, inspector: SurfaceInspector, shop: Shop
) -> None:
    """The person decides as for any other consumer; the copied test tells the whole of it."""
    choose(inspector, "drop")
    page = inspector.surface.invoke
    page.invoke_button.click()
    qtbot.waitUntil(lambda: page.status.shown_text.startswith("Waiting for the person"))
    (pending,) = shop.registry.confirmations.pending()
    assert pending.consumer_key == "other:developer"
    assert shop.calls == []
    shop.registry.confirmations.resolve(pending.confirmation_id, approved=True)
    qtbot.waitUntil(lambda: page.status.shown_text.startswith("Done"))
    assert shop.calls == [("drop", "default")]
    page.copy_button.click()
    source = QGuiApplication.clipboard().text()
    ast.parse(source)
    assert "test_view_test_parts_drop" in source
    assert "view:test.parts.drop" in source


def test_stop_withdraws_what_is_waited_for(qtbot: QtBot, inspector: SurfaceInspector, shop: Shop) -> None:
    """Nobody is left with a question whose answer nobody wants."""
    choose(inspector, "drop")
    page = inspector.surface.invoke
    page.invoke_button.click()
    qtbot.waitUntil(lambda: bool(shop.registry.confirmations.pending()))
    page.stop_button.click()
    qtbot.waitUntil(lambda: not shop.registry.confirmations.pending())
    qtbot.waitUntil(lambda: page.status.shown_text == "Stopped.")


def test_an_observation_is_read_without_a_form(qtbot: QtBot, inspector: SurfaceInspector) -> None:
    """There is nothing to pass along."""
    choose(inspector, "count")
    page = inspector.surface.invoke
    assert page.form is None
    page.invoke_button.click()
    qtbot.waitUntil(lambda: page.result.toPlainText() == "0")


def test_what_is_hidden_from_the_developer_is_refused_like_everywhere(
    qtbot: QtBot, inspect: Inspect, shop: Shop
) -> None:
    """The inspector has no way around a policy."""
    shop.open("secret")
    opened = inspect()
    choose(opened, "clear")
    page = opened.surface.invoke
    assert "A policy hides it from this consumer" in page.hint.shown_text
    page.invoke_button.click()
    qtbot.waitUntil(lambda: page.status.shown_text.startswith("CAPABILITY_NOT_FOUND"))
    assert shop.calls == []


def test_closing_the_window_gives_up_what_runs(qtbot: QtBot, inspector: SurfaceInspector, shop: Shop) -> None:
    """The question goes with the developer who asked."""
    choose(inspector, "drop")
    inspector.surface.invoke.invoke_button.click()
    qtbot.waitUntil(lambda: bool(shop.registry.confirmations.pending()))
    inspector.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qtbot.waitUntil(lambda: not shop.registry.confirmations.pending())


# ------------------------------------------------------------------------------------------------------ schemas


def test_references_and_nullable_values_are_followed(qtbot: QtBot) -> None:
    """The shapes that pydantic writes for optional and nested models."""
    schema = {
        "type": "object",
        "$defs": {"P": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
        "properties": {
            "p": {"$ref": "#/$defs/P"},
            "n": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "loop": {"$ref": "#/properties/loop"},
        },
        "required": ["p", "n"],
    }
    form = SchemaForm(schema)
    qtbot.addWidget(form)
    QTest.keyClicks(_field(form, "x"), "4")
    assert form.read() == {"p": {"x": 4}, "n": None}
    QTest.keyClicks(_field(form, "n"), "text")
    assert form.read() == {"p": {"x": 4}, "n": "text"}


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": 3}, {"type": "string"}])
def test_a_schema_without_properties_has_no_form(schema: dict[str, object]) -> None:
    """Its input is written as JSON."""
    assert not has_form(schema)


def test_issues_of_no_field_come_back(qtbot: QtBot) -> None:
    """So that nothing that was refused goes unsaid."""
    form = SchemaForm({"properties": {"a/b": {"type": "string"}}})
    qtbot.addWidget(form)
    other = Issue(path="", message="too much")
    assert form.show_issues([other, Issue(path="/a~1b", message="no")]) == [other]
    assert _field(form, "a/b").accessibleDescription() == "no"


def test_names_and_descriptions_of_a_schema_are_plain_text(qtbot: QtBot) -> None:
    """No tag, no mnemonic, no invisible character of a contract takes effect."""
    form = SchemaForm(
        {
            "properties": {"<b>&x\u202e": {"type": "string", "description": "<img src=x>\u200b"}},
            "required": ["<b>&x\u202e"],
        }
    )
    qtbot.addWidget(form)
    label = next(one for one in form.findChildren(QLabel) if "b>" in one.text())
    assert (label.textFormat(), label.text()) == (Qt.TextFormat.PlainText, "<b>&&x\\u202e")
    field = _field(form, "<b>&x\\u202e")
    assert field.toolTip() == "<qt>&lt;img src=x&gt;\\u200b</qt>"
