"""A field of a form for each kind of JSON value, made from a schema."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, cast

from PySide6.QtGui import QFontDatabase, QFontMetrics
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit, QWidget

from agent_surface import JsonValue
from qt_binding._looks import in_own_direction
from qt_binding._text import visible_text
from qt_binding.inspector._wording import cell, tr

Schema = Mapping[str, object]


class UnreadableField(Exception):  # noqa: N818 - it is what a person typed, not a failure of the program
    """What stands in a field is no value of its kind. Raised while a form is read and shown beside the field."""


class FieldEditor(Protocol):
    """One field."""

    @property
    def widget(self) -> QWidget:
        """What a person edits."""
        ...

    def read(self) -> JsonValue:
        """The value.

        Raises:
            UnreadableField: What was typed is none.
        """
        ...

    def show_value(self, value: JsonValue) -> None:
        """Put a value into the field."""

    def when_edited(self, hear: Callable[[], None]) -> None:
        """Call ``hear`` whenever the person changes the field."""


class LineEditor:
    """A text, a whole number or a number on one line.

    Args:
        schema: Its default is shown as a placeholder.
        parse: Makes the value of what was typed; raises ``ValueError``.
        refusal: What to say then.
    """

    def __init__(self, schema: Schema, parse: Callable[[str], JsonValue], refusal: str) -> None:
        self._edit = QLineEdit()
        self._parse = parse
        self._refusal = refusal
        if "default" in schema:
            self._edit.setPlaceholderText(cell(str(schema["default"])))

    @property
    def widget(self) -> QWidget:
        """The line."""
        return self._edit

    def read(self) -> JsonValue:
        """The value of what was typed."""
        try:
            return self._parse(self._edit.text())
        except ValueError:
            raise UnreadableField(self._refusal) from None

    def show_value(self, value: JsonValue) -> None:
        """Show a value as text."""
        self._edit.setText(str(value))

    def when_edited(self, hear: Callable[[], None]) -> None:
        """Hear every change of the text by the person."""
        self._edit.textEdited.connect(_without_argument(hear))


class ChoiceEditor:
    """One of a few values."""

    def __init__(self, values: Sequence[JsonValue]) -> None:
        self._values = tuple(values)
        self._box = QComboBox()
        for value in self._values:
            self._box.addItem(cell(value) if isinstance(value, str) else cell(json.dumps(value)))
        self._box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._box.setMinimumContentsLength(8)

    @property
    def widget(self) -> QWidget:
        """The list of values."""
        return self._box

    def read(self) -> JsonValue:
        """The chosen value."""
        return self._values[self._box.currentIndex()]

    def show_value(self, value: JsonValue) -> None:
        """Choose a value; one that is not on the list changes nothing."""
        if value in self._values:
            self._box.setCurrentIndex(self._values.index(value))

    def when_edited(self, hear: Callable[[], None]) -> None:
        """Hear every choice of the person."""
        self._box.activated.connect(_without_argument(hear))


class LinesEditor:
    """A list with an item on each line; an empty field is an empty list."""

    def __init__(self, parse: Callable[[str], JsonValue], refusal: str, choices: Sequence[JsonValue]) -> None:
        self._edit = text_field(lines=3)
        hint = tr("One item on each line")
        if choices:
            hint = tr("%1: %2").replace("%1", hint).replace("%2", cell(", ".join(str(choice) for choice in choices)))
        self._edit.setPlaceholderText(in_own_direction(hint))
        self._parse = parse
        self._refusal = refusal

    @property
    def widget(self) -> QWidget:
        """The lines."""
        return self._edit

    def read(self) -> JsonValue:
        """The items."""
        text = self._edit.toPlainText()
        result: list[JsonValue] = []
        for number, line in enumerate(text.split("\n") if text else (), start=1):
            try:
                result.append(self._parse(line))
            except ValueError:
                raise UnreadableField(
                    tr("Line %1: %2").replace("%1", str(number)).replace("%2", self._refusal)
                ) from None
        return result

    def show_value(self, value: JsonValue) -> None:
        """Put each item on a line."""
        items = value if isinstance(value, list) else []
        self._edit.setPlainText("\n".join(str(item) for item in items))

    def when_edited(self, hear: Callable[[], None]) -> None:
        """Hear every change of the text."""
        self._edit.textChanged.connect(hear)


class JsonEditor:
    """Any JSON value as text: for everything a form has no field for."""

    def __init__(self, *, lines: int = 4) -> None:
        self._edit = text_field(lines=lines, fixed=True)
        self._edit.setPlaceholderText(tr("JSON"))

    @property
    def widget(self) -> QWidget:
        """The text."""
        return self._edit

    def read(self) -> JsonValue:
        """The value of the text."""
        try:
            return cast("JsonValue", json.loads(self._edit.toPlainText(), parse_constant=_refuse_constant))
        except ValueError as error:
            raise UnreadableField(tr("This is not JSON: %1").replace("%1", str(error))) from None
        except RecursionError:
            raise UnreadableField(tr("This is not JSON: %1").replace("%1", tr("it is nested too deeply"))) from None

    def show_value(self, value: JsonValue) -> None:
        """Write a value as indented JSON, with what cannot be seen as JSON's own codes."""
        text = json.dumps(value, indent=2, ensure_ascii=False)
        shown = (one if visible_text(one) == one else json.dumps(one)[1:-1] for one in text)
        self._edit.setPlainText("".join(shown))

    def when_edited(self, hear: Callable[[], None]) -> None:
        """Hear every change of the text."""
        self._edit.textChanged.connect(hear)


def text_field(*, lines: int, fixed: bool = False) -> QPlainTextEdit:
    """A field of several lines in which Tab leads on."""
    edit = QPlainTextEdit()
    edit.setTabChangesFocus(True)
    if fixed:
        edit.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    edit.setFixedHeight(QFontMetrics(edit.font()).lineSpacing() * lines + 14)
    return edit


def make_editor(schema: Schema) -> FieldEditor:
    """The field that fits a schema best; objects are a form's business."""
    values = _choices(schema)
    if values:
        return ChoiceEditor(values)
    kind = schema.get("type")
    if kind in _SCALARS:
        parse, refusal = _scalar(str(kind))
        return LineEditor(schema, parse, refusal)
    items = schema.get("items")
    if kind == "array" and isinstance(items, Mapping):
        item_kind = cast("Schema", items).get("type")
        if item_kind in _SCALARS:
            parse, refusal = _scalar(str(item_kind))
            return LinesEditor(parse, refusal, _choices(cast("Schema", items)))
    return JsonEditor()


def _without_argument(hear: Callable[[], None]) -> Callable[[object], None]:
    def heard(_what: object) -> None:
        hear()

    return heard


_SCALARS = frozenset({"string", "integer", "number"})


def _choices(schema: Schema) -> Sequence[JsonValue]:
    if "const" in schema:
        return (cast("JsonValue", schema["const"]),)
    values = schema.get("enum")
    if isinstance(values, Sequence) and not isinstance(values, str):
        return cast("Sequence[JsonValue]", values)
    return (True, False) if schema.get("type") == "boolean" else ()


def _scalar(kind: str) -> tuple[Callable[[str], JsonValue], str]:
    if kind == "integer":
        return int, tr("Write a whole number.")
    if kind == "number":
        return _number, tr("Write a number.")
    return str, ""


def _number(text: str) -> JsonValue:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return int(text) if text.strip().lstrip("+-").isdigit() else value


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(visible_text(name))
