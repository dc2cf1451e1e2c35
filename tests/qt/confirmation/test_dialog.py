"""The question on the screen: what it shows, and what answers it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible, QColor, QKeyEvent, QPalette, QTextBlock, QTextFragment
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMainWindow

from agent_surface._base._json import FrozenJson
from agent_surface.invocation import Effect
from qt_binding._looks import EffectBadge, PlainLabel, badge_colors
from qt_binding.confirmation._host import ARMING_MS
from qt_binding.confirmation._rows import input_rows, text_of
from tests.qt.confirmation.conftest import MakeAsking
from tests.qt.confirmation.person import Asking, button, buttons, click, turn

LONG = {f"field{number}": "value " * 30 for number in range(60)}
HOSTILE = {
    "path": "/srv/\u202etxt.exe\u200b",
    "markup": "<img src='http://x/y'><b>bold</b> &amp; [*] &File",
    "lines": "one\ntwo\n\n three ",
    "long": "W" * 3_000,
    "nested": {"list": ({"n": 1}, {"n": (None, True, 2.5)})},
}


def _texts(asking: Asking) -> str:
    return "\n".join(label.shown_text for label in asking.dialog.findChildren(PlainLabel) if label.isVisible())


# ------------------------------------------------------------------------------------------------- what is shown


def test_a_person_reads_what_who_where_and_how_long(asking: Asking) -> None:
    """What will happen, its effect, who asks, the component with its window's title, and the time left."""
    asking.ask(summary="Disable d-42 and drop its readings")
    dialog = asking.dialog
    badge = dialog.findChild(EffectBadge)
    assert isinstance(badge, EffectBadge)
    assert badge.text() == "Destructive"
    assert _texts(asking).split("\n") == [
        "Disable a device",
        "Disable d-42 and drop its readings",
        "assistant (embedded)",
        "devices.table · main — “Devices”",
    ]
    asking.wait(13_000)
    assert "1:47 left" in [label.text() for label in dialog.findChildren(QLabel)]


@pytest.mark.parametrize(
    ("summary", "shown"),
    [
        ("Disable a device (id: d-42)", "(id: d-42)"),
        ("Disable a device: its readings are lost", ": its readings are lost"),
        ("Disable a devices group", "Disable a devices group"),
        ("Disable a device", ""),
    ],
)
def test_a_summary_does_not_say_the_title_again(asking: Asking, summary: str, shown: str) -> None:
    """What the surface itself composes begins with the description; whatever it adds is shown, and nothing is lost."""
    asking.ask(summary=summary)
    lines = _texts(asking).split("\n")
    assert lines[: lines.index("assistant (embedded)")] == ["Disable a device", *filter(None, [shown])]


def test_labels_stand_where_a_window_from_right_to_left_is_read_from(asking: Asking) -> None:
    """Also when they are not translated."""
    asking.ask({"id": "d-42"})
    dialog = asking.dialog
    dialog.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    turn()
    ends = {
        label.mapTo(dialog, label.rect().topRight()).x()
        for label in dialog.findChildren(QLabel)
        if label.text() in {"What will be passed along:", "&Note to the assistant (optional):", "Asked by", "In"}
    }
    assert len(ends) == 1
    assert dialog.width() - ends.pop() < 20


def test_a_demand_of_the_server_says_so(asking: Asking) -> None:
    """A person is told that the back end wants the answer."""
    asking.ask(origin="server")
    assert "assistant (embedded); the server demands a confirmation" in _texts(asking)


@pytest.mark.requirement("QT-CONF-002")
@pytest.mark.parametrize("value", [HOSTILE, LONG, {}, {"a": 1}], ids=["hostile", "long", "empty", "short"])
def test_the_whole_effective_input_is_in_the_table(asking: Asking, value: FrozenJson) -> None:
    """Every row of the exact input that was bound to the record, in order, and nothing else."""
    asking.ask(value)
    pending = asking.host.model.pending()[0]
    assert pending.input == value
    shown = asking.input_view().toPlainText().replace("\n", "").replace(" ", "")
    expected = "".join(
        text_of(row.name) + text_of(row.value) for row in input_rows(pending.input, pending.bound_fields)
    )
    assert shown == (expected.replace(" ", "") or "Nothingispassedalong.")


@pytest.mark.requirement("QT-CONF-002")
def test_values_from_the_screen_are_marked(asking: Asking) -> None:
    """A person sees which part the agent did not choose."""
    asking.ask({"id": "d-42", "force": True}, bound_fields=("id",))
    assert asking.input_view().toPlainText().strip().split("\n") == [
        "id",
        "from the screen",
        '"d-42"',
        "force",
        "true",
    ]


@pytest.mark.requirement("QT-CONF-003")
def test_text_of_others_is_never_markup_and_hides_nothing(asking: Asking) -> None:
    """Tags, entities, mnemonics and invisible characters are seen as they are, in every place that shows text."""
    text = "<b>x</b> &amp; &File \u202e\u200b\x07"
    shown = "<b>x</b> &amp; &File \\u202e\\u200b\\x07"
    asking.ask({"t": text}, summary=text, description="!" + text)
    lines = _texts(asking).split("\n")
    assert lines[:2] == ["!" + shown, shown]
    assert f'"{shown}"' in asking.input_view().toPlainText()
    assert "Marked codes stand for characters that cannot be seen." in lines
    assert shown in asking.dialog.accessibleName()
    for label in asking.dialog.findChildren(QLabel):
        assert label.textFormat() is Qt.TextFormat.PlainText or label.text().isascii()
        assert not set(label.text()) & set("\u202e\x07")
    document = asking.input_view().document()
    assert document.toRawText().count("\ufffc") == 0


def test_no_text_can_widen_the_window(asking: Asking) -> None:
    """A word without an end wraps, wherever it stands."""
    asking.ask()
    width = asking.dialog.width()
    asking.press(Qt.Key.Key_Escape)
    asking.ask({"W" * 500: "W" * 5_000}, summary="W" * 300, description="W" * 300)
    assert asking.dialog.width() <= width * 1.2
    assert asking.input_view().horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("effect", list(Effect))
def test_the_effect_is_a_word_in_a_colour_that_can_be_read(effect: Effect) -> None:
    """At least 4.5 to 1, in light and in dark."""
    for dark in (False, True):
        colors = badge_colors(effect, dark=dark)
        assert _contrast(QColor(colors.ink), QColor(colors.ground)) >= 4.5


def test_tints_behind_text_can_be_read_and_follow_the_palette(asking: Asking) -> None:
    """Marks are drawn in the text's own colour on a tint of its own ground; a palette change while open counts."""
    asking.ask({"path": "a\u202eb"}, bound_fields=("path",))
    for ground, ink in (("#ffffff", "#000000"), ("#17181a", "#e8eaed"), ("#ffffff", "#202124")):
        palette = QPalette(asking.dialog.palette())
        palette.setColor(QPalette.ColorRole.Base, QColor(ground))
        palette.setColor(QPalette.ColorRole.Text, QColor(ink))
        asking.dialog.setPalette(palette)
        turn()
        tints = 0
        block = asking.input_view().document().begin()
        while block.isValid():
            for fragment in _fragments(block):
                brush = fragment.charFormat().background()
                if brush.style() is not Qt.BrushStyle.NoBrush:
                    tints += 1
                    assert _contrast(fragment.charFormat().foreground().color(), brush.color()) >= 4.5
            block = block.next()
        assert tints == 2


def _fragments(block: QTextBlock) -> Iterator[QTextFragment]:
    iterator = block.begin()
    while not iterator.atEnd():
        yield iterator.fragment()
        iterator += 1


# ------------------------------------------------------------------------------------------------- arming


@pytest.mark.requirement("QT-CONF-004")
@pytest.mark.parametrize(
    "key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_A, Qt.Key.Key_D, Qt.Key.Key_Tab]
)
def test_a_key_meant_for_something_else_answers_nothing(asking: Asking, key: Qt.Key) -> None:
    """During the arming time, alone or with Alt as a mnemonic, to the window or to any widget in it."""
    confirmation_id = asking.ask()
    for modifier in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.AltModifier):
        asking.press(key, modifier)
        for one in (*buttons(asking.dialog).values(), asking.input_view()):
            QTest.keyClick(one, key, modifier)
        turn()
    assert asking.outcome(confirmation_id) == "pending"


@pytest.mark.requirement("QT-CONF-004")
def test_a_key_starts_the_arming_time_again(asking: Asking) -> None:
    """Somebody who is typing elsewhere does not run into the armed dialog with the next key."""
    confirmation_id = asking.ask()
    asking.wait(ARMING_MS - 1)
    asking.press(Qt.Key.Key_A)
    asking.wait(ARMING_MS - 1)
    asking.press(Qt.Key.Key_Return)
    assert asking.outcome(confirmation_id) == "pending"
    asking.wait(ARMING_MS)
    asking.press(Qt.Key.Key_Return)
    assert asking.outcome(confirmation_id) == "denied by person"


@pytest.mark.requirement("QT-CONF-004")
def test_a_key_held_since_before_answers_nothing_afterwards(asking: Asking) -> None:
    """Auto-repeat goes on when the arming time is over."""
    confirmation_id = asking.asked()
    for focused in (button(asking.dialog, "Deny"), asking.input_view(), button(asking.dialog, "Approve")):
        focused.setFocus()
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Escape):
            _repeat(key)
    assert asking.outcome(confirmation_id) == "pending"


def _repeat(key: Qt.Key) -> None:
    focused = QApplication.focusWidget()
    assert focused is not None
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        event = QKeyEvent(kind, key.value, Qt.KeyboardModifier.NoModifier, "", True)
        QApplication.sendEvent(focused, event)
    turn()


@pytest.mark.requirement("QT-CONF-004")
def test_the_mouse_can_deny_at_once_and_nothing_else(make_asking: MakeAsking, window: QMainWindow) -> None:
    """A click meant for what was there before may deny; it can neither approve, nor stop, nor take over."""
    asking = make_asking(lambda _pending: window, offers=True)
    stopped: list[str] = []
    asking.host.stop_requested.connect(stopped.append)
    asking.host.take_over_requested.connect(stopped.append)
    confirmation_id = asking.ask()
    for text in ("Approve", "Deny and stop", "Take over"):
        asking.click(text)
        button(asking.dialog, text).click()
    button(asking.dialog, "Deny").click()
    turn()
    assert (asking.outcome(confirmation_id), stopped) == ("pending", [])
    asking.click("Deny")
    assert asking.outcome(confirmation_id) == "denied by person"


@pytest.mark.requirement("QT-CONF-004")
def test_escape_denies_at_once(asking: Asking) -> None:
    """The safe way out is always open."""
    confirmation_id = asking.ask()
    asking.press(Qt.Key.Key_Escape)
    assert asking.outcome(confirmation_id) == "denied by person"
    assert asking.host.dialog is None


@pytest.mark.requirement("QT-CONF-004")
def test_afterwards_deny_is_the_default_and_has_the_focus(asking: Asking) -> None:
    """Return and Space deny, from wherever they come but Approve itself."""
    confirmation_id = asking.asked()
    deny = button(asking.dialog, "Deny")
    assert deny.isDefault()
    assert QApplication.focusWidget() is deny
    assert not button(asking.dialog, "Approve").isDefault()
    asking.press(Qt.Key.Key_Return)
    assert asking.outcome(confirmation_id) == "denied by person"
    second = asking.asked({"n": 2})
    asking.press(Qt.Key.Key_Space)
    assert asking.outcome(second) == "denied by person"


# ------------------------------------------------------------------------------------------------- approving


@pytest.mark.requirement("QT-CONF-004")
def test_approve_waits_for_the_end_of_the_input(asking: Asking) -> None:
    """Not the arming time alone, not half the way; the end must have been on the screen once."""
    confirmation_id = asking.asked(LONG)
    approve = button(asking.dialog, "Approve")
    hint = "Approve becomes available when you have scrolled to the end."
    assert hint in _texts(asking)
    asking.scroll_to(0.5)
    assert not approve.isEnabled()
    asking.click("Approve")
    assert asking.outcome(confirmation_id) == "pending"
    asking.scroll_to(1)
    assert approve.isEnabled()
    assert hint not in _texts(asking)
    asking.scroll_to(0)
    assert approve.isEnabled()
    asking.click("Approve")
    assert asking.outcome(confirmation_id) == "approved by person"


@pytest.mark.requirement("QT-CONF-004")
def test_a_long_value_can_be_read_with_the_keyboard_alone(asking: Asking) -> None:
    """Keys scroll the table, Tab leads to the buttons, Return on Approve approves."""
    confirmation_id = asking.asked(LONG)
    asking.input_view().setFocus()
    asking.press(Qt.Key.Key_PageDown)
    assert not button(asking.dialog, "Approve").isEnabled()
    asking.press(Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    for _ in ("note", "deny", "approve"):
        asking.press(Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is button(asking.dialog, "Approve")
    asking.press(Qt.Key.Key_Return)
    assert asking.outcome(confirmation_id) == "approved by person"


@pytest.mark.requirement("QT-CONF-004")
def test_a_short_input_can_be_approved_when_the_dialog_is_armed(asking: Asking) -> None:
    """What is all on the screen needs no scrolling, and still the arming time."""
    confirmation_id = asking.ask()
    assert not button(asking.dialog, "Approve").isEnabled()
    asking.wait(ARMING_MS)
    asking.click("Approve")
    assert asking.outcome(confirmation_id) == "approved by person"


# ------------------------------------------------------------------------------------------------- the note


def test_return_in_the_note_is_a_line_and_no_answer(asking: Asking) -> None:
    """The note reaches whoever asked, with every way to deny."""
    confirmation_id = asking.asked()
    asking.type_note("wrong one,")
    asking.press(Qt.Key.Key_Return)
    asking.type_note("use d-43")
    assert asking.outcome(confirmation_id) == "pending"
    asking.press(Qt.Key.Key_Escape)
    assert asking.note(confirmation_id) == "wrong one,\nuse d-43"


def test_a_note_begun_during_the_arming_time_keeps_the_focus(asking: Asking) -> None:
    """The next space belongs to the note and must not deny."""
    confirmation_id = asking.ask()
    asking.type_note("because")
    asking.wait(ARMING_MS)
    asking.press(Qt.Key.Key_Space)
    assert asking.outcome(confirmation_id) == "pending"
    assert asking.note_field().toPlainText() == "because "


def test_a_note_is_no_longer_than_what_is_kept(asking: Asking) -> None:
    """A person sees what will be cut."""
    asking.asked()
    asking.note_field().setPlainText("x" * 900)
    assert len(asking.note_field().toPlainText()) == 500


# ------------------------------------------------------------------------------------------------- accessibility


@pytest.mark.requirement("QT-CONF-006")
def test_assistive_technology_is_alerted_and_finds_the_words(asking: Asking) -> None:
    """An alert for the dialog, the role of a dialog, a name with action and target, a description with who asks."""
    asking.ask()
    dialog = asking.dialog
    assert asking.announced.alerts == [dialog]
    interface = QAccessible.queryAccessibleInterface(dialog)
    assert interface.role() is QAccessible.Role.Dialog
    assert interface.text(QAccessible.Text.Name) == "Destructive: Disable a device; devices.table · main — “Devices”"
    assert interface.text(QAccessible.Text.Description) == "Disable d-42 Asked by assistant (embedded)"
    assert asking.input_view().accessibleName() == "What will be passed along"
    assert asking.note_field().accessibleName() == "Note to the assistant"


@pytest.mark.requirement("QT-CONF-006")
def test_tab_stays_inside_and_goes_round(make_asking: MakeAsking, window: QMainWindow) -> None:
    """From the safe button through everything a person can use, and back to it."""
    asking = make_asking(lambda _pending: window, offers=True)
    asking.asked()
    seen: list[str] = []
    for _ in range(6):
        widget = QApplication.focusWidget()
        assert widget is not None
        assert widget.window() is asking.dialog
        seen.append(widget.accessibleName() or getattr(widget, "text", str)().replace("&", ""))
        asking.press(Qt.Key.Key_Tab)
    assert seen == [
        "Deny",
        "Approve",
        "What will be passed along",
        "Note to the assistant",
        "Deny and stop",
        "Take over",
    ]
    assert QApplication.focusWidget() is button(asking.dialog, "Deny")


@pytest.mark.requirement("QT-CONF-006")
def test_the_focus_returns_where_it_was(asking: Asking, window: QMainWindow) -> None:
    """Also after several questions in a row."""
    field = window.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    click(field)
    asking.ask({"n": 1})
    asking.ask({"n": 2})
    for _ in range(2):
        assert QApplication.focusWidget() is not field
        asking.press(Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is field


# ------------------------------------------------------------------------------------------------- stop, take over


@pytest.mark.requirement("QT-CONF-008")
@pytest.mark.parametrize("text", ["Deny and stop", "Take over"])
def test_the_dialog_itself_offers_stop_and_take_over(make_asking: MakeAsking, window: QMainWindow, text: str) -> None:
    """The dialog blocks the window with the assistant's own buttons; a click denies first and then asks for it."""
    asking = make_asking(lambda _pending: window, offers=True)
    seen: list[tuple[str, str, str]] = []

    def stop(one: str) -> None:
        seen.append(("Deny and stop", one, asking.outcome(one)))

    def take_over(one: str) -> None:
        seen.append(("Take over", one, asking.outcome(one)))

    asking.host.stop_requested.connect(stop)
    asking.host.take_over_requested.connect(take_over)
    confirmation_id = asking.asked()
    asking.type_note("enough")
    asking.click(text)
    assert seen == [(text, confirmation_id, "denied by person")]
    assert asking.note(confirmation_id) == "enough"


@pytest.mark.requirement("QT-CONF-008")
def test_what_the_host_cannot_do_is_not_offered(asking: Asking) -> None:
    """No dead buttons."""
    asking.asked()
    assert list(buttons(asking.dialog)) == ["Deny", "Approve"]


def _contrast(first: QColor, second: QColor) -> float:
    def luminance(color: QColor) -> float:
        parts = [color.redF(), color.greenF(), color.blueF()]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
