"""What a cell of an item model holds, as JSON."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import cast

from PySide6.QtCore import QDate, QDateTime, QModelIndex, QPersistentModelIndex, Qt, QTime, QUrl

from agent_surface import JsonValue

Index = QModelIndex | QPersistentModelIndex


def cell_value(index: Index, role: int, field: str) -> JsonValue:
    """What the model says of ``index`` in ``role``; dates and times in ISO 8601.

    Raises:
        TypeError: It has no JSON form; names ``field`` and the type.
    """
    return _plain(index.data(role), field)


def row_key(index: Index, role: int) -> str | int:
    """The key of the row that ``index`` is in.

    Raises:
        TypeError: It is neither text nor a whole number.
    """
    key: object = index.data(role)
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, str | int) and not isinstance(key, bool) and key != "":
        return key
    raise TypeError(f"row {index.row()} has no key in role {role}: it is {type(key).__name__}, not text or a number")


def _plain(value: object, field: str) -> JsonValue:
    if isinstance(value, enum.Enum):
        value = value.value
    kind = type(value).__name__
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, QDate | QTime):
        return value.toString(Qt.DateFormat.ISODate)
    if isinstance(value, QDateTime):
        return value.toString(Qt.DateFormat.ISODateWithMs)
    if isinstance(value, QUrl):
        return value.toString()
    if isinstance(value, list | tuple):
        return [_plain(item, field) for item in cast("list[object]", value)]
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value)
        if all(isinstance(name, str) for name in items):
            return {str(name): _plain(item, field) for name, item in items.items()}
    raise TypeError(f"the field {field!r} holds a {kind}, which has no JSON form; give it a role of text")
