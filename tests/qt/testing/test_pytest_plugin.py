"""The binding's pytest plugin, on a small project: what it offers, and what its tests fail on."""

from __future__ import annotations

import pytest

OTHERS = ("randomly", "cacheprovider", "hypothesispytest", "xdist", "anyio", "asyncio")
QUIET = tuple(f"-pno:{name}" for name in OTHERS)

COMPONENTS = """
from pydantic import BaseModel
from PySide6.QtCore import qWarning
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QSpinBox, QVBoxLayout, QWidget

from agent_surface import action_contract, define_agent_component_contract, from_model, from_type, observation_contract
from qt_binding import AgentComponentMixin, observes, performs, provide_surface


class Number(BaseModel):
    value: int


READ = observation_contract(description="Read the number", output=from_type(int))
SET = action_contract(description="Set the number", input=from_model(Number), effect="local-state")
RESET = action_contract(description="Reset the number to zero", effect="local-state", confirmation="required")
COUNTER = define_agent_component_contract(
    type="demo.counter", description="A number", observations={"read": READ}, actions={"set": SET, "reset": RESET}
)
SET_ID, RESET_ID, READ_ID = (f"view:demo.counter.{name}" for name in ("set", "reset", "read"))


class Counter(AgentComponentMixin, QSpinBox):
    agent_contract = COUNTER

    @observes(READ)
    def read(self) -> int:
        return self.value()

    @performs(SET)
    def set_number(self, wanted: Number) -> None:
        self.setValue(wanted.value)

    @performs(RESET)
    def reset(self) -> None:
        self.setValue(0)
"""

USING = """
import asyncio
import pytest
from agent_surface.assistant import Say, use
from agent_surface.testing import assert_exposes, assert_fails_with, assert_ok
from components import *

pytestmark = pytest.mark.surface(COUNTER)


def test_a_widget_in_five_lines(agent_qtbot):
    counter = agent_qtbot.mount(Counter())
    assert_ok(agent_qtbot.invoke(SET_ID, {"value": 5}))
    assert counter.value() == agent_qtbot.observe(READ_ID) == 5


def test_a_component_inside_a_window(agent_qtbot, surface):
    window = QWidget()
    QVBoxLayout(window).addWidget(Counter())
    assert agent_qtbot.mount(window) is window
    assert_exposes(surface, SET_ID)


@pytest.mark.parametrize("answer, value", [("approve", 0), ("deny", 5)])
def test_a_person_answers_the_dialog(agent_qtbot, surface, answer, value):
    counter = agent_qtbot.mount(Counter())
    counter.setValue(5)
    assert_fails_with(agent_qtbot.invoke(RESET_ID), "CONFIRMATION_REQUIRED")
    asked = agent_qtbot.answer_confirmation(answer, note="as you say: è ok")
    agent_qtbot.invoke(RESET_ID, confirmation_id=asked.confirmation_id)
    assert counter.value() == value
    assert surface.registry.confirmations.resolution(asked.confirmation_id).note == "as you say: è ok"


def test_an_assistant_follows_its_script(agent_qtbot, scripted_assistant):
    counter = agent_qtbot.mount(Counter())
    assistant = scripted_assistant(use(SET_ID, {"value": 7}), use(RESET_ID), Say(text="Done."))
    assistant.send("Set seven, then reset.")
    agent_qtbot.answer_confirmation("deny", note="not now")
    assert assistant.wait_idle()[-1].text == "Done."
    assert counter.value() == 7
    assert "not now" in str(assistant.backend.replies[-1])
    assert assistant.say("And now?")[-1].text == "And now?"
    assistant.close()
    with pytest.raises(AssertionError, match="took no message"):
        assistant.send("Hello?")


def test_a_click_reaches_what_a_person_could(agent_qtbot):
    clicked = []
    window = QWidget()
    window.resize(300, 200)
    agent_qtbot.addWidget(window)
    button = QPushButton("&Go", window)
    button.clicked.connect(lambda: clicked.append(1))
    with pytest.raises(AssertionError, match="QPushButton “Go” is not visible"):
        agent_qtbot.click(button)
    window.show()
    button.setEnabled(False)
    with pytest.raises(AssertionError, match="is not enabled"):
        agent_qtbot.click(button)
    button.setEnabled(True)
    cover = QWidget(window)
    cover.setGeometry(window.rect())
    cover.show()
    with pytest.raises(AssertionError, match="QWidget covers QPushButton “Go”"):
        agent_qtbot.click(button)
    cover.hide()
    dialog = QDialog()
    agent_qtbot.addWidget(dialog)
    dialog.setModal(True)
    dialog.show()
    agent_qtbot.click(button)
    assert not clicked
    dialog.close()
    agent_qtbot.click(button)
    assert clicked == [1]


def test_what_cannot_work_says_why(agent_qtbot, surface):
    with pytest.raises(AssertionError, match="QSpinBox has no component in it"):
        agent_qtbot.mount(QSpinBox())
    agent_qtbot.mount(Counter())
    with pytest.raises(AssertionError, match="Counter was refused: "):
        agent_qtbot.mount(Counter())
    with pytest.raises(AssertionError, match="in vain until a confirmation dialog came up; pending are 0 requests"):
        agent_qtbot.answer_confirmation(timeout_ms=20)
    with pytest.raises(AssertionError, match="did not end within 20 ms"):
        agent_qtbot.run(asyncio.Event().wait(), timeout_ms=20)
    agent_qtbot.invoke(RESET_ID)
    with pytest.raises(AssertionError, match="the question offers Approve, Close, Deny, not Take over"):
        agent_qtbot.answer_confirmation("take-over")
    agent_qtbot.answer_confirmation("deny")


def test_a_component_that_does_not_show_itself(agent_qtbot):
    window = QWidget()
    counter = Counter(window)
    counter.hide()
    with pytest.raises(AssertionError, match="in vain until the components registered: Counter is pending"):
        agent_qtbot.mount(window, timeout_ms=20)
"""

LEAVING = """
import asyncio
import pytest
from components import *

pytestmark = pytest.mark.surface(COUNTER)
KEPT = []


def test_leaves_a_component(agent_qtbot, surface):
    KEPT.append(Counter())
    provide_surface(KEPT[0], surface.registry)
    KEPT[0].show()
    agent_qtbot.waitUntil(lambda: bool(surface.snapshot().components))


def test_leaves_a_question(agent_qtbot):
    agent_qtbot.mount(Counter())
    agent_qtbot.invoke(RESET_ID)


def test_leaves_a_task(agent_qtbot, surface):
    agent_qtbot.mount(Counter())
    agent_qtbot.observe(READ_ID)
    agent_qtbot.start(asyncio.Event().wait())


@pytest.mark.surface_fail_on("qt-warnings")
def test_makes_qt_warn(agent_qtbot):
    qWarning("something is odd")


@pytest.mark.surface_fail_on("qt-warnings")
@pytest.mark.qt_log_ignore("is odd")
def test_makes_qt_warn_as_expected(agent_qtbot):
    qWarning("something is odd")


def test_makes_qt_warn_and_does_not_mind(agent_qtbot):
    qWarning("something is odd")
"""


def test_a_project_tests_its_widgets(pytester: pytest.Pytester) -> None:
    """Mounting, calling, answering the dialog, a scripted assistant, clicks; and what each says when it cannot."""
    pytester.makepyfile(components=COMPONENTS, test_using=USING)
    pytester.runpytest_inprocess(*QUIET, "-Werror").assert_outcomes(passed=8)


@pytest.mark.requirement("AS-TEST-002")
def test_a_test_of_a_widget_fails_on_what_it_left_behind(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A widget that nobody took away, a question, a task of the application's loop, a warning of Qt."""
    monkeypatch.setenv("COLUMNS", "200")
    pytester.makepyfile(components=COMPONENTS, test_leaving=LEAVING)
    ran = pytester.runpytest_inprocess(*QUIET, "-rA")
    ran.assert_outcomes(passed=4, failed=2, errors=2)
    ran.stdout.re_match_lines_random(
        [
            r"ERROR .*::test_leaves_a_component - Failed: The test left behind",
            r"FAILED .*::test_leaves_a_question - Failed: The test left behind",
            r"FAILED .*::test_leaves_a_task - Failed: The test left behind",
            r"ERROR .*::test_makes_qt_warn - Failed: Qt warned",
            r"  the registered component demo\.counter, instance default \(reg_1_\w+\)",
            r"  the pending confirmation cnf_\w+ of view:demo\.counter\.reset: Reset the number to zero",
            r"  the task <Task pending .*",
            r"  something is odd",
        ]
    )
