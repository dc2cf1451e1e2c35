"""A form made from the input schema of a capability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QCheckBox, QFormLayout, QFrame, QLabel, QVBoxLayout, QWidget
from typing_extensions import override

from agent_surface import JsonValue
from qt_binding._looks import Colors, PlainLabel
from qt_binding.inspector._editors import FieldEditor, JsonEditor, Schema, UnreadableField, make_editor
from qt_binding.inspector._wording import cell, tool_tip, tr

_MAX_DEPTH = 3
_MAX_REFERENCES = 20
_MAX_FIELDS = 100
_NAME_CHARACTERS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """Why an input was refused: ``path`` is a JSON Pointer into it."""

    path: str
    message: str


class SchemaForm(QWidget):
    """A field for each property; an object in it is a form again, and what has no field is written as JSON.

    A property that may be left out has a check box, which writing into its field ticks.

    Args:
        schema: An object schema with properties; see :func:`has_form`.
        root: Where references lead; ``schema`` itself if not given.
        depth: How many forms it is in.
        parent: Qt owner.
    """

    def __init__(
        self, schema: Schema, *, root: Schema | None = None, depth: int = 0, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._fields: dict[str, _Field] = {}
        layout = QFormLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        layout.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        base = schema if root is None else root
        required = _names(schema.get("required"))
        for name, raw in _properties(schema).items():
            field = _Field(name, raw, root=base, required=name in required, depth=depth, parent=self)
            self._fields[name] = field
            layout.addRow(field.label, field.body)

    def read(self) -> dict[str, JsonValue] | None:
        """The input as it stands; ``None`` when a field cannot be read, which then says why and has the keyboard."""
        result: dict[str, JsonValue] = {}
        unreadable: _Field | None = None
        for name, field in self._fields.items():
            field.say("")
            if not field.included:
                if field.null_when_left_out:
                    result[name] = None
                continue
            try:
                result[name] = field.read()
            except UnreadableField as problem:
                field.say(str(problem))
                unreadable = unreadable or field
        if unreadable is None:
            return result
        unreadable.take_keyboard()
        return None

    def show_value(self, value: JsonValue) -> None:
        """Put an input into the fields; what has no field is passed over."""
        given = value if isinstance(value, dict) else {}
        for name, field in self._fields.items():
            field.include(name in given and (given[name] is not None or not field.null_when_left_out))
            if name in given:
                field.show_value(given[name])

    def tab_stops(self) -> list[QWidget]:
        """What the Tab key reaches, in reading order."""
        return [stop for field in self._fields.values() for stop in field.tab_stops()]

    def show_issues(self, issues: Sequence[Issue]) -> list[Issue]:
        """Say at each field what is wrong with it; returns what belongs to none."""
        left: list[Issue] = []
        first: _Field | None = None
        by_field: dict[str, list[Issue]] = {}
        for issue in issues:
            name, _, rest = issue.path.removeprefix("/").partition("/")
            name = name.replace("~1", "/").replace("~0", "~")
            if name in self._fields:
                by_field.setdefault(name, []).append(Issue(path=f"/{rest}" if rest else "", message=issue.message))
            else:
                left.append(issue)
        for name, of_field in by_field.items():
            self._fields[name].show_issues(of_field)
            first = first or self._fields[name]
        if first is not None:
            first.take_keyboard()
        return left


def has_form(schema: Schema) -> bool:
    """Whether a schema describes an object whose properties can be listed."""
    return 0 < len(_properties(schema)) <= _MAX_FIELDS


class _Field:
    """One row of a form."""

    def __init__(self, name: str, raw: object, *, root: Schema, required: bool, depth: int, parent: QWidget) -> None:
        schema, nullable = _resolved(raw, root)
        self.null_when_left_out = nullable and required
        self.body = QWidget(parent)
        self._form: SchemaForm | None = None
        self._editor: FieldEditor | None = None
        if depth < _MAX_DEPTH and schema.get("type") == "object" and has_form(schema):
            self._form = SchemaForm(schema, root=root, depth=depth + 1)
        else:
            if "items" in schema:
                schema = {**schema, "items": _resolved(schema["items"], root)[0]}
            self._editor = make_editor(schema)
        self._error = _ErrorLabel()
        self._lay_out()
        shown = cell(name)
        self.label = self._made_label(shown, optional=not required or nullable, parent=parent)
        self._describe(shown, str(schema.get("description") or ""), required=required)

    @property
    def included(self) -> bool:
        """Whether the field is part of the input."""
        return not isinstance(self.label, QCheckBox) or self.label.isChecked()

    def include(self, included: bool) -> None:
        """Make the field part of the input, or leave it out if that is possible."""
        if isinstance(self.label, QCheckBox):
            self.label.setChecked(included)

    def read(self) -> JsonValue:
        """The value; raises :class:`UnreadableField`."""
        if self._form is not None:
            value = self._form.read()
            if value is None:
                raise UnreadableField(tr("A field in it cannot be read."))
            return value
        assert self._editor is not None  # noqa: S101 - a field has the one or the other
        return self._editor.read()

    def show_value(self, value: JsonValue) -> None:
        """Put a value into the field."""
        if self._form is not None:
            self._form.show_value(value)
        elif self._editor is not None and value is not None:
            self._editor.show_value(value)

    def show_issues(self, issues: Sequence[Issue]) -> None:
        """Say what is wrong with the field."""
        left = issues if self._form is None else self._form.show_issues(issues)
        self.say("\n".join(f"{issue.path}: {issue.message}" if issue.path else issue.message for issue in left))

    def say(self, problem: str) -> None:
        """Show what is wrong with the field, or that nothing is."""
        self._error.set_text(problem)
        self._error.setVisible(bool(problem))
        if self._editor is not None:
            self._editor.widget.setAccessibleDescription(problem or self._description)

    def tab_stops(self) -> list[QWidget]:
        """What the Tab key reaches, in reading order."""
        inner = [] if self._form is None else self._form.tab_stops()
        own = [] if self._editor is None else [self._editor.widget]
        return [*([self.label] if isinstance(self.label, QCheckBox) else []), *inner, *own]

    def take_keyboard(self) -> None:
        """Let the person write here."""
        if self._editor is not None:
            self._editor.widget.setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self.body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        if self._form is not None:
            frame = QFrame()
            frame.setFrameShape(QFrame.Shape.StyledPanel)
            inner = QVBoxLayout(frame)
            inner.addWidget(self._form)
            column.addWidget(frame)
        elif self._editor is not None:
            column.addWidget(self._editor.widget)
        column.addWidget(self._error)
        self._error.hide()

    def _made_label(self, shown: str, *, optional: bool, parent: QWidget) -> QCheckBox | QLabel:
        metrics = self.body.fontMetrics()
        most = metrics.averageCharWidth() * _NAME_CHARACTERS
        # No character of a property's name is a mnemonic, and no name makes the form wider than its window.
        text = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, most).replace("&", "&&")
        if not optional:
            label = QLabel(text, parent)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAccessibleName(shown)
            if self._editor is not None:
                label.setBuddy(self._editor.widget)
            return label
        box = QCheckBox(text, parent)
        box.setAccessibleName(tr("Pass %1 along").replace("%1", shown))
        if self._editor is not None:
            self._editor.when_edited(lambda: box.setChecked(True))
        return box

    def _describe(self, shown: str, description: str, *, required: bool) -> None:
        self._description = cell(description)
        hint = description or (tr("Required") if required else tr("May be left out"))
        self.label.setToolTip(tool_tip(f"{shown}: {hint}"))
        if self._editor is not None:
            widget = self._editor.widget
            widget.setAccessibleName(shown)
            widget.setAccessibleDescription(self._description)
            widget.setToolTip(tool_tip(description))


class _ErrorLabel(PlainLabel):
    """What is wrong with a field, in the colour of things that went wrong."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._apply()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._apply()

    def _apply(self) -> None:
        self.set_color(Colors.of(self.palette()).failed)


def whole_input_editor() -> JsonEditor:
    """The field for an input that is written as JSON altogether."""
    editor = JsonEditor(lines=8)
    editor.widget.setAccessibleName(tr("Input as JSON"))
    editor.show_value({})
    return editor


def _properties(schema: Schema) -> Mapping[str, object]:
    found = schema.get("properties")
    return cast("Mapping[str, object]", found) if isinstance(found, Mapping) else {}


def _names(value: object) -> frozenset[str]:
    return frozenset(str(name) for name in _listed(value))


def _listed(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _resolved(raw: object, root: Schema) -> tuple[Schema, bool]:
    """A schema with its references followed, and whether it also takes ``null``. What it cannot follow stays open."""
    nullable = False
    for _ in range(_MAX_REFERENCES):
        if not isinstance(raw, Mapping):
            return {}, nullable
        schema = cast("Schema", raw)
        reference = schema.get("$ref")
        alternatives = _listed(schema.get("anyOf", schema.get("oneOf")))
        kinds = _listed(schema.get("type"))
        if isinstance(reference, str):
            raw = _at(root, reference)
        elif alternatives:
            options = [one for one in alternatives if one != {"type": "null"}]
            nullable = nullable or len(options) < len(alternatives)
            if len(options) != 1:
                return {}, nullable
            raw = options[0]
        elif kinds:
            others = [kind for kind in kinds if kind != "null"]
            nullable = nullable or len(others) < len(kinds)
            return ({**schema, "type": others[0]} if len(others) == 1 else {}), nullable
        else:
            return schema, nullable
    return {}, nullable


def _at(root: Schema, reference: str) -> object:
    if not reference.startswith("#"):
        return {}
    place: Schema = root
    for part in reference.removeprefix("#").split("/")[1:]:
        inner = place.get(part.replace("~1", "/").replace("~0", "~"))
        place = cast("Schema", inner) if isinstance(inner, Mapping) else {}
    return place
