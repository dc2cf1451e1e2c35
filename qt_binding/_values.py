"""What a value of Qt is as JSON: the one answer for cells of item models and for properties."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import cast

from PySide6.QtCore import (
    QDate,
    QDateTime,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    QSizeF,
    Qt,
    QTime,
    QUrl,
    QUuid,
)
from PySide6.QtGui import QColor

from agent_surface import JsonValue

__all__ = ["flag_names", "json_of"]


def json_of(value: object, subject: str) -> JsonValue:
    """``value`` as JSON.

    Text, numbers, lists and mappings are themselves. Of enumerations, Qt's own are told by name and the application's
    by value, as pydantic publishes them. Dates and times are ISO 8601, with the offset from UTC where there is one;
    colours ``#rrggbb`` or ``#aarrggbb``; addresses lose their password. Points, sizes and rectangles are objects. What
    is null or invalid is ``None``.

    Args:
        value: What a model or property holds.
        subject: What holds it, for the error: ``"the field 'name'"``.

    Raises:
        TypeError: It has no JSON form; names ``subject`` and the type.
    """
    kind = type(value).__name__
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return _enumerated(value, subject)
    if isinstance(value, int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [json_of(item, subject) for item in cast("list[object]", value)]
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value)
        if all(isinstance(name, str) for name in items):
            return {str(name): json_of(item, subject) for name, item in items.items()}
    if isinstance(value, QPoint | QPointF | QSize | QSizeF | QRect | QRectF):
        return _measures(value)
    if isinstance(value, QDate | QTime | QDateTime | QColor | QUrl | QUuid):
        return _text(value)
    if isinstance(value, float):
        kind = f"number {value}"
    raise TypeError(f"{subject} holds a {kind}, which has no JSON form")


def flag_names(value: object) -> list[JsonValue]:
    """The names of the flags that are set in ``value``, a member of a ``enum.Flag``, in the order of their bits."""
    return [str(flag.name) for flag in cast("enum.Flag", value)]


def _enumerated(value: enum.Enum, subject: str) -> JsonValue:
    if type(value).__module__.startswith("PySide6."):
        return value.name
    return json_of(value.value, subject)


def _text(value: QDate | QTime | QDateTime | QColor | QUrl | QUuid) -> str | None:
    if isinstance(value, QUuid):
        return None if value.isNull() else value.toString(QUuid.StringFormat.WithoutBraces)
    if not value.isValid():
        return None
    if isinstance(value, QColor):
        return value.name(QColor.NameFormat.HexRgb if value.alpha() == 255 else QColor.NameFormat.HexArgb)
    if isinstance(value, QUrl):
        return value.toDisplayString(QUrl.ComponentFormattingOption.FullyEncoded)  # it leaves out the password
    if isinstance(value, QDateTime):
        if value.timeSpec() != Qt.TimeSpec.UTC:
            value = value.toOffsetFromUtc(value.offsetFromUtc())
        return value.toString(Qt.DateFormat.ISODateWithMs)
    return value.toString(Qt.DateFormat.ISODate)


def _measures(value: QPoint | QPointF | QSize | QSizeF | QRect | QRectF) -> dict[str, JsonValue]:
    measures: dict[str, JsonValue] = {}
    if isinstance(value, QPoint | QPointF | QRect | QRectF):
        measures |= {"x": value.x(), "y": value.y()}
    if isinstance(value, QSize | QSizeF | QRect | QRectF):
        measures |= {"width": value.width(), "height": value.height()}
    return measures
