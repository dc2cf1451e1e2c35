"""The model of a view as it is at this moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import shiboken6
from PySide6.QtCore import QAbstractItemModel, QModelIndex
from PySide6.QtWidgets import QAbstractItemView


class ModelSource:
    """A view or a model, asked anew at each use: ``setModel`` replaces a view's model without a signal.

    The rows are those directly under the view's root index, or the model's top level.
    """

    def __init__(self, view_or_model: QAbstractItemView | QAbstractItemModel) -> None:
        self._source = view_or_model

    def find(self) -> tuple[QAbstractItemModel, QModelIndex] | None:
        """The model and the parent of its rows; ``None`` without a model, or when Qt has deleted it."""
        source = self._source
        if not shiboken6.isValid(source):
            return None
        if isinstance(source, QAbstractItemModel):
            return source, QModelIndex()
        model = cast("QAbstractItemModel | None", source.model())
        return None if model is None else (model, source.rootIndex())

    def require(self) -> tuple[QAbstractItemModel, QModelIndex]:
        """The model and the parent of its rows.

        Raises:
            RuntimeError: There is none.
        """
        found = self.find()
        if found is None:
            raise RuntimeError("there is no model")
        return found


def input_field(request: object, name: str) -> object:
    """A field of an action's input, which is a model of the application's or plain JSON; ``None`` when absent."""
    if isinstance(request, Mapping):
        return cast("Mapping[str, object]", request).get(name)
    return getattr(request, name, None)
