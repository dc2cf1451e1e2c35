"""Components and their capabilities as a tree that changes in place, so that selection and expansion stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont, QIcon
from typing_extensions import override

from qt_binding.inspector._reading import CapabilityRow, ComponentRow, Sight
from qt_binding.inspector._steps import Insert, Move, Remove, Step, steps
from qt_binding.inspector._wording import cell, tool_tip, tr

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


def _strong() -> QFont:
    # Nothing but the weight is said: family and size are the view's.
    font = QFont()
    font.setWeight(QFont.Weight.DemiBold)
    return font


class Column(IntEnum):
    """The columns of the tree."""

    NAME = 0
    STATE = 1
    WHY = 2


class _Node:
    """A component in the model; ``serial`` is the internal id of its children's indexes."""

    __slots__ = ("component", "row", "serial")

    def __init__(self, component: ComponentRow, serial: int) -> None:
        self.component = component
        self.serial = serial
        self.row = 0


class SurfaceModel(QAbstractItemModel):
    """Two levels: components, and the capabilities of each."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._nodes: list[_Node] = []
        self._by_serial: dict[int, _Node] = {}
        self._made = 0
        self._icons: dict[Sight, QIcon] = {}
        self._strong = _strong()

    @property
    def components(self) -> tuple[ComponentRow, ...]:
        """What is shown."""
        return tuple(node.component for node in self._nodes)

    def set_icons(self, icons: dict[Sight, QIcon]) -> None:
        """Use other signs, for example after the palette changed."""
        self._icons = icons
        if self._nodes:
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(self._nodes) - 1, 0), [Qt.ItemDataRole.DecorationRole]
            )

    def component_at(self, index: _Index) -> ComponentRow | None:
        """The component of a row, or the one its capability belongs to."""
        if not index.isValid():
            return None
        serial = index.internalId()
        return self._by_serial[serial].component if serial else self._nodes[index.row()].component

    def capability_at(self, index: _Index) -> CapabilityRow | None:
        """The capability of a row; ``None`` for a component."""
        if not index.isValid() or not index.internalId():
            return None
        return self._by_serial[index.internalId()].component.capabilities[index.row()]

    def update(self, components: Sequence[ComponentRow]) -> None:
        """Show the surface as it is now. Only what differs is announced."""
        wanted = [component.key for component in components]
        for step in steps([node.component.key for node in self._nodes], wanted):
            self._take(step, components)
        for node, component in zip(self._nodes, components, strict=True):
            if node.component != component:
                self._renew(node, component)

    # Qt.

    @override
    def index(self, row: int, column: int, parent: _Index = _ROOT) -> QModelIndex:
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self._nodes[parent.row()].serial if parent.isValid() else 0)

    @override
    def parent(self, child: _Index = _ROOT) -> QModelIndex:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]  # QObject.parent() is another function
        if not child.isValid() or not child.internalId():
            return QModelIndex()
        return self.createIndex(self._by_serial[child.internalId()].row, 0, 0)

    @override
    def rowCount(self, parent: _Index = _ROOT) -> int:
        if not parent.isValid():
            return len(self._nodes)
        if parent.internalId() or parent.column():
            return 0
        return len(self._nodes[parent.row()].component.capabilities)

    @override
    def columnCount(self, parent: _Index = _ROOT) -> int:
        return len(Column)

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role != Qt.ItemDataRole.DisplayRole or orientation is not Qt.Orientation.Horizontal:
            return None
        return (tr("Component and capability"), tr("State"), tr("Why"))[section]

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        capability, component = self.capability_at(index), self.component_at(index)
        if component is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (
                _component_text(component, index.column()) if capability is None else _text(capability, index.column())
            )
        if capability is None:
            if role == Qt.ItemDataRole.ToolTipRole:
                return tool_tip(_component_text(component, index.column()))
            return self._strong if role == Qt.ItemDataRole.FontRole and index.column() == Column.NAME else None
        if role == Qt.ItemDataRole.DecorationRole and index.column() == Column.NAME:
            return self._icons.get(capability.sight)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tool_tip(capability.reason if index.column() == Column.WHY else capability.explanation.description)
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == Column.NAME:
            parts = (_text(capability, column) for column in Column)
            return ", ".join(part for part in parts if part)
        return None

    # Inside.

    def _take(self, step: Step, components: Sequence[ComponentRow]) -> None:
        match step:
            case Remove(first=first, last=last):
                self.beginRemoveRows(_ROOT, first, last)
                for node in self._nodes[first : last + 1]:
                    del self._by_serial[node.serial]
                del self._nodes[first : last + 1]
                self._number()
                self.endRemoveRows()
            case Insert(first=first, last=last):
                self.beginInsertRows(_ROOT, first, last)
                self._nodes[first:first] = [self._made_node(one) for one in components[first : last + 1]]
                self._number()
                self.endInsertRows()
            case Move(source=source, target=target):
                self.beginMoveRows(_ROOT, source, source, _ROOT, target)
                self._nodes.insert(target, self._nodes.pop(source))
                self._number()
                self.endMoveRows()

    def _made_node(self, component: ComponentRow) -> _Node:
        self._made += 1
        node = _Node(component, self._made)
        self._by_serial[node.serial] = node
        return node

    def _number(self) -> None:
        for row, node in enumerate(self._nodes):
            node.row = row

    def _renew(self, node: _Node, component: ComponentRow) -> None:
        parent = self.createIndex(node.row, 0, 0)
        for step in steps(
            [one.key for one in node.component.capabilities], [one.key for one in component.capabilities]
        ):
            self._take_child(step, node, component, parent)
        before, node.component = node.component, component
        pairs = zip(before.capabilities, component.capabilities, strict=True)
        changed = [row for row, (old, new) in enumerate(pairs) if old != new]
        if changed:
            self.dataChanged.emit(self.index(changed[0], 0, parent), self.index(changed[-1], Column.WHY, parent))
        self.dataChanged.emit(parent, self.createIndex(node.row, Column.WHY, 0))

    def _take_child(self, step: Step, node: _Node, component: ComponentRow, parent: QModelIndex) -> None:
        rows = list(node.component.capabilities)
        match step:
            case Remove(first=first, last=last):
                self.beginRemoveRows(parent, first, last)
                del rows[first : last + 1]
                node.component = replace(node.component, capabilities=tuple(rows))
                self.endRemoveRows()
            case Insert(first=first, last=last):
                self.beginInsertRows(parent, first, last)
                rows[first:first] = component.capabilities[first : last + 1]
                node.component = replace(node.component, capabilities=tuple(rows))
                self.endInsertRows()
            case Move(source=source, target=target):
                self.beginMoveRows(parent, source, source, parent, target)
                rows.insert(target, rows.pop(source))
                node.component = replace(node.component, capabilities=tuple(rows))
                self.endMoveRows()


def sight_text(sight: Sight) -> str:
    """How a consumer sees a capability, in words."""
    return {
        Sight.AVAILABLE: tr("Available"),
        Sight.UNAVAILABLE: tr("Not available"),
        Sight.DISABLED: tr("Disabled by policy"),
        Sight.HIDDEN: tr("Hidden by policy"),
    }[sight]


def _component_text(component: ComponentRow, column: int) -> str:
    if column == Column.NAME:
        name = component.type
        return cell(name if component.instance_id == "default" else f"{name} \u203a {component.instance_id}")
    if column == Column.STATE:
        usable, total = str(component.usable), str(len(component.capabilities))
        return tr("%1 of %2").replace("%2", total).replace("%1", usable)
    reasons = {row.reason for row in component.capabilities}
    # One reason for all of them is the component's own: it is not shown, or blocked.
    return cell(reasons.pop()) if len(reasons) == 1 else ""


def _text(capability: CapabilityRow, column: int) -> str:
    if column == Column.NAME:
        return cell(capability.name)
    return sight_text(capability.sight) if column == Column.STATE else cell(capability.reason)
