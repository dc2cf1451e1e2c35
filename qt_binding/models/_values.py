"""What a cell of an item model holds, as JSON."""

from __future__ import annotations

import enum

from PySide6.QtCore import QModelIndex, QPersistentModelIndex

from agent_surface import JsonValue
from qt_binding._values import json_of

Index = QModelIndex | QPersistentModelIndex


def cell_value(index: Index, role: int, field: str) -> JsonValue:
    """What the model says of ``index`` in ``role``.

    Raises:
        TypeError: It has no JSON form; names ``field`` and the type.
    """
    return json_of(index.data(role), f"the field {field!r}")


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
