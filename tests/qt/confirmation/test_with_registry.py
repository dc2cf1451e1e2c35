"""The host on a real registry: what a person approved is what the handler gets."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from agent_surface import ActionBinding, InvocationError, InvocationOk, JsonValue
from agent_surface._base._json import freeze_json
from qt_binding.confirmation import ConfirmationHost
from qt_binding.confirmation._form import InputView
from qt_binding.confirmation._host import ARMING_MS
from qt_binding.confirmation._rows import input_rows, text_of
from tests.core.surface_fixtures import ALICE, ASKING, Surface
from tests.qt.confirmation.person import button, click, turn

ASK = "view:t.asking.act"
INPUTS: Mapping[str, dict[str, JsonValue]] = {
    "empty": {},
    "flat": {"id": "d-42", "force": True, "count": 1.0, "none": None},
    "nested": {"filter": {"ids": ["d-1", "d-2"], "steps": [{"n": 1}, {"n": [[]]}]}},
    "hostile": {"path": "/srv/\u202etxt.exe\u200b\x00", "html": "<b>x</b>", "lines": "one\ntwo \n"},
    "long": {f"field{number}": "value " * 40 for number in range(80)},
}


class Meddling:
    """An author's check that changes what it is given."""

    def __call__(self, given: dict[str, JsonValue]) -> None:
        """Change the input beyond recognition."""
        given.clear()
        given["evil"] = True


@pytest.mark.requirement("QT-CONF-002")
@pytest.mark.parametrize("name", list(INPUTS))
async def test_the_handler_gets_exactly_what_was_on_the_screen(qtbot: QtBot, name: str) -> None:
    """Through the pipeline, the store, the dialog, a real click, and back; nothing on the way changes the input."""
    value = INPUTS[name]
    got: list[dict[str, JsonValue]] = []
    window = QMainWindow()
    window.show()
    qtbot.waitExposed(window)
    surface = Surface(ASKING)
    host = ConfirmationHost(surface.registry.confirmations, window_for=lambda _pending: window, clock=surface.clock)

    def run(given: dict[str, JsonValue]) -> None:
        got.append(given)

    surface.mount(ASKING, act=ActionBinding(execute=run, precondition=Meddling()))
    asked = await surface.invoke(ASK, value, consumer=ALICE)
    assert isinstance(asked, InvocationError)
    turn()
    surface.clock.advance(ARMING_MS)
    dialog = host.dialog
    assert dialog is not None
    view = dialog.findChild(InputView)
    assert isinstance(view, InputView)
    shown = view.toPlainText()
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    turn()
    click(button(dialog, "Approve"))
    evidence = asked.error.details["confirmationId"]
    assert isinstance(evidence, str)
    result = await surface.invoke(ASK, value, consumer=ALICE, confirmation_id=evidence)
    assert isinstance(result, InvocationOk)
    assert got == [value]
    rows = input_rows(freeze_json(got[0]), ())
    expected = "".join(text_of(row.name) + text_of(row.value) for row in rows).replace(" ", "")
    assert shown.replace("\n", "").replace(" ", "") == (expected or "Nothingispassedalong.")
    host.close()
    surface.registry.close()
    window.close()
    window.deleteLater()
    turn()


@pytest.mark.requirement("QT-CONF-005")
async def test_unmounting_the_component_closes_the_dialog(qtbot: QtBot) -> None:
    """A dialog about something that is gone does not stay, and nobody can approve it any more."""
    surface = Surface(ASKING)
    host = ConfirmationHost(surface.registry.confirmations, clock=surface.clock)
    handle = surface.mount(ASKING)
    asked = await surface.invoke(ASK, {"a": 1}, consumer=ALICE)
    assert isinstance(asked, InvocationError)
    turn()
    assert host.dialog is not None
    handle.unregister()
    turn()
    surface.clock.advance(10_000)
    turn()
    assert host.dialog is None
    resolution = surface.registry.confirmations.resolution(str(asked.error.details["confirmationId"]))
    assert resolution is not None
    assert (resolution.outcome.value, resolution.actor) == ("expired", "unmounted")
    host.close()
    surface.registry.close()
    turn()
