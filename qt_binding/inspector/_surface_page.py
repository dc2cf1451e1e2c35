"""The tree of what is live, and what is known of the chosen part of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from agent_surface import (
    ActionDescriptor,
    AgentConsumer,
    AgentSurfaceRegistry,
    HostLoop,
    ObservationDescriptor,
    ProcedureDescriptor,
)
from qt_binding._looks import Colors, PlainLabel, effect_word, in_own_direction
from qt_binding.inspector._consumer_box import ConsumerBox
from qt_binding.inspector._facts import Fact, FactsView, json_text
from qt_binding.inspector._invoke_page import InvokePage
from qt_binding.inspector._reading import (
    CapabilityRow,
    ComponentRow,
    Descriptor,
    find_descriptor,
    read_surface,
)
from qt_binding.inspector._signs import sight_icons
from qt_binding.inspector._surface_model import SurfaceModel, sight_text
from qt_binding.inspector._table_view import TableView
from qt_binding.inspector._wording import tr

_WIDE_CHARACTERS = 150

if TYPE_CHECKING:
    from agent_surface.testing import ReplayRunner


class SurfacePage(QWidget):
    """Components and capabilities as one consumer sees them, with details and a form to invoke by hand.

    Args:
        registry: What is looked at.
        consumers: Who it can be looked at as, the first one first.
        developer: Who calls by hand.
        host_loop: Where a call waits.
        test_runner: How a copied test gets its surface.
        parent: Qt owner.
    """

    def __init__(
        self,
        registry: AgentSurfaceRegistry,
        *,
        consumers: Sequence[AgentConsumer],
        developer: AgentConsumer,
        host_loop: HostLoop,
        test_runner: ReplayRunner | None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._registry = registry
        self._shown: tuple[ComponentRow | None, CapabilityRow | None, AgentConsumer | None] = (None, None, None)
        self.model = SurfaceModel(self)
        self._filtered = QSortFilterProxyModel(self)
        self._filtered.setSourceModel(self.model)
        self._filtered.setRecursiveFilteringEnabled(True)
        self._filtered.setAutoAcceptChildRows(True)
        self._filtered.setFilterKeyColumn(-1)
        self._filtered.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.consumers = ConsumerBox(consumers)
        self.filter = QLineEdit()
        self.tree = TableView(self._filtered, columns=(34, 18), name=tr("Components and capabilities"))
        self.facts = FactsView()
        self.invoke = InvokePage(registry, developer=developer, host_loop=host_loop, test_runner=test_runner)
        self.summary = PlainLabel()
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._tabs = QTabWidget()
        self._build()
        self._apply_palette()
        self.consumers.consumer_changed.connect(self.refresh)
        self.consumers.refused.connect(self.summary.set_text)
        self.filter.textChanged.connect(self._filter)
        self.tree.selectionModel().currentChanged.connect(self._show_current)

    def refresh(self) -> None:
        """Read the surface again and show what differs.

        Raises:
            RegistryClosedError: The registry was closed.
        """
        first = not self.model.components
        self.model.update(read_surface(self._registry, self.consumers.consumer))
        components = self.model.components
        if first and len(components) <= 30:
            self.tree.expandAll()
        capabilities = sum(len(one.capabilities) for one in components)
        usable = sum(one.usable for one in components)
        said = tr("%1 components, %2 capabilities, %3 usable")
        for place, number in (("%1", len(components)), ("%2", capabilities), ("%3", usable)):
            said = said.replace(place, self.locale().toString(number))
        self.summary.set_text(said)
        self._show_current()

    def show_invoke(self) -> None:
        """Bring the form to invoke by hand to the front."""
        self._tabs.setCurrentWidget(self.invoke)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._apply_palette()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() > self.fontMetrics().averageCharWidth() * _WIDE_CHARACTERS
        self._splitter.setOrientation(Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical)

    def _filter(self, text: str) -> None:
        self._filtered.setFilterFixedString(text)
        if text and self._filtered.rowCount() <= 50:
            self.tree.expandAll()

    def _show_current(self, *_indexes: QModelIndex) -> None:
        index = self._filtered.mapToSource(self.tree.currentIndex())
        component, capability = self.model.component_at(index), self.model.capability_at(index)
        consumer = self.consumers.consumer
        shown = (component, capability, consumer)
        if shown == self._shown:
            # Asking for the descriptor again would cost as much as reading the whole surface.
            return
        self._shown = shown
        if component is None:
            self.facts.show_facts(())
        elif capability is None:
            self.facts.show_facts(_component_facts(component))
        else:
            descriptor = find_descriptor(self._registry, consumer, capability.explanation)
            self.facts.show_facts(_capability_facts(capability, descriptor))
        self.invoke.show_capability(None if capability is None else capability.explanation)

    def _apply_palette(self) -> None:
        self.model.set_icons(sight_icons(self.palette()))
        self.summary.set_color(Colors.of(self.palette()).muted)

    def _build(self) -> None:
        self.filter.setPlaceholderText(tr("Filter by name, state or reason"))
        self.filter.setAccessibleName(tr("Filter the tree"))
        self.filter.setClearButtonEnabled(True)
        self.facts.setAccessibleName(tr("Details"))
        self.facts.setPlaceholderText(in_own_direction(tr("Choose a component or a capability.")))
        seen_by = QLabel(tr("&Seen by"))
        seen_by.setBuddy(self.consumers)
        head = QHBoxLayout()
        head.addWidget(seen_by)
        head.addWidget(self.consumers, 2)
        head.addWidget(self.filter, 3)
        upper = QWidget()
        column = QVBoxLayout(upper)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tree, 1)
        column.addWidget(self.summary)
        self._tabs.setDocumentMode(True)
        self._tabs.addTab(self.facts, tr("Details"))
        self._tabs.addTab(self.invoke, tr("Invoke"))
        self._splitter.addWidget(upper)
        self._splitter.addWidget(self._tabs)
        self._splitter.setStretchFactor(0, 3)
        self._splitter.setStretchFactor(1, 2)
        self._splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.addLayout(head)
        layout.addWidget(self._splitter, 1)


def _component_facts(component: ComponentRow) -> list[Fact]:
    return [
        Fact(name=tr("Component"), value=component.type, code=True),
        Fact(name=tr("Instance"), value=component.instance_id, code=True),
        Fact(name=tr("Registration"), value=component.key, code=True),
        *(
            Fact(name=sight_text(row.sight), value=f"{row.name}: {row.reason}" if row.reason else row.name)
            for row in component.capabilities
        ),
    ]


def _capability_facts(capability: CapabilityRow, descriptor: Descriptor | None) -> list[Fact]:
    one = capability.explanation
    state = sight_text(capability.sight)
    facts = [
        Fact(name=tr("Capability"), value=one.capability_id, code=True),
        Fact(name=tr("Description"), value=one.description),
        Fact(name=tr("State"), value=f"{state}: {capability.reason}" if capability.reason else state),
        Fact(name=tr("Kind"), value=f"{one.kind.value} ({one.plane.value})"),
    ]
    if not one.availability.available:
        facts.append(Fact(name=tr("Availability"), value=one.availability.reason or tr("Not available")))
    if isinstance(descriptor, ActionDescriptor | ProcedureDescriptor):
        facts.append(Fact(name=tr("Effect"), value=effect_word(descriptor.effect)))
        facts.append(Fact(name=tr("Confirmation"), value=descriptor.confirmation.value))
    for policy in one.policies:
        said = tr("raised an error, which hides") if policy.threw else ""
        if not said and policy.discovery is not None:
            vote, why = policy.discovery.outcome.value, policy.discovery.reason
            said = f"{vote}: {why}" if why else vote
        facts.append(
            Fact(
                name=tr("Policy"),
                value=f"{policy.name} ({policy.scope}; {', '.join(policy.phases)})" + (f": {said}" if said else ""),
            )
        )
    facts.append(Fact(name=tr("Registration"), value=one.registration_id, code=True))
    if isinstance(descriptor, ActionDescriptor | ProcedureDescriptor):
        facts.append(Fact(name=tr("Input"), value=json_text(descriptor.to_json()["inputSchema"]), code=True))
    if isinstance(descriptor, ObservationDescriptor) or (
        descriptor is not None and descriptor.output_schema is not None
    ):
        facts.append(Fact(name=tr("Output"), value=json_text(descriptor.to_json()["outputSchema"]), code=True))
    return facts
