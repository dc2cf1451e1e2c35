"""The bar above the table: words, states and a city."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QPushButton, QToolButton, QVBoxLayout, QWidget
from typing_extensions import override

from agent_surface import PreconditionFailure
from demo_app.contracts import (
    CLEAR_FILTERS,
    DEVICES_FILTERS,
    MAX_REPORTED_CITIES,
    READ_CITIES,
    READ_FILTERS,
    SET_FILTERS,
    Cities,
    FiltersState,
    SetFilters,
    StatusCount,
)
from demo_app.domain import DeviceFilter, DeviceStatus, FleetCounts, InvalidFieldError
from demo_app.views._appearance import status_icon, status_label
from qt_binding import AgentComponentMixin, observes, performs

_TYPING_PAUSE_MS = 150
_CITY_CHARACTERS = 14


class FilterBar(AgentComponentMixin, QWidget):
    """Says which devices to list.

    Signals:
        filters_changed: Another :class:`DeviceFilter` is set; while somebody types, after a short pause.
    """

    agent_contract = DEVICES_FILTERS

    filters_changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._announced = DeviceFilter()
        self._counts = FleetCounts(total=0, by_status=dict.fromkeys(DeviceStatus, 0))
        self._listed = 0
        self._text = QLineEdit()
        self._text.setClearButtonEnabled(True)
        self._text.setPlaceholderText(self.tr("Name, ID, city, country or model"))
        self._text.setAccessibleName(self.tr("Search devices"))
        search_label = QLabel(self.tr("&Search:"))
        search_label.setBuddy(self._text)
        self._statuses = {status: self._status_button(status) for status in DeviceStatus}
        self._city = QComboBox()
        self._city.setAccessibleName(self.tr("City"))
        self._city.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._city.setMinimumContentsLength(_CITY_CHARACTERS)
        self._city.addItem(self.tr("All cities"), "")
        city_label = QLabel(self.tr("Cit&y:"))
        city_label.setBuddy(self._city)
        self._clear = QPushButton(self.tr("C&lear filters"))
        self._clear.setEnabled(False)
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_PAUSE_MS)
        words = QHBoxLayout()
        words.addWidget(search_label)
        words.addWidget(self._text, 1)
        words.addWidget(city_label)
        words.addWidget(self._city)
        states = QHBoxLayout()
        for button in self._statuses.values():
            states.addWidget(button)
        states.addStretch(1)
        states.addWidget(self._clear)
        layout = QVBoxLayout(self)
        layout.addLayout(words)
        layout.addLayout(states)
        self._draw_icons()
        self._text.textChanged.connect(self._on_text_changed)
        self._text.returnPressed.connect(self._announce)
        self._city.currentIndexChanged.connect(self._announce)
        self._clear.clicked.connect(self.clear)
        self._typing.timeout.connect(self._announce)

    def filters(self) -> DeviceFilter:
        """The filter as it stands in the bar."""
        return DeviceFilter(
            text=self._text.text().strip(),
            statuses=frozenset(status for status, button in self._statuses.items() if button.isChecked()),
            city=str(self._city.currentData() or ""),
        )

    def set_filters(self, device_filter: DeviceFilter) -> None:
        """Put a filter into the bar and announce it at once.

        Raises:
            InvalidFieldError: No device stands in that city; the bar is as it was.
        """
        row = self._find_city(device_filter.city)
        if row < 0:
            raise InvalidFieldError("city", f"no device stands in {device_filter.city}")
        with QSignalBlocker(self._text), QSignalBlocker(self._city):
            self._text.setText(device_filter.text)
            self._city.setCurrentIndex(row)
        for status, button in self._statuses.items():
            with QSignalBlocker(button):
                button.setChecked(status in device_filter.statuses)
        self._announce()

    def clear(self) -> None:
        """List every device again."""
        self.set_filters(DeviceFilter())

    def cities(self) -> tuple[str, ...]:
        """The cities that can be chosen."""
        return tuple(str(self._city.itemData(row)) for row in range(1, self._city.count()))

    def set_cities(self, cities: Sequence[str]) -> None:
        """Offer these cities; the chosen one stays if it is among them."""
        if self.cities() == tuple(cities):
            return
        chosen = self._city.currentData()
        with QSignalBlocker(self._city):
            while self._city.count() > 1:
                self._city.removeItem(1)
            for city in cities:
                self._city.addItem(city, city)
            self._city.setCurrentIndex(max(self._city.findData(chosen), 0))
        self._announce()

    def set_counts(self, counts: FleetCounts) -> None:
        """Show how many devices are in each state."""
        self._counts = counts
        for status, button in self._statuses.items():
            number = self.locale().toString(counts.by_status[status])
            button.setText(self.tr("{status} {number}").format(status=status_label(status), number=number))

    def set_listed(self, number: int) -> None:
        """Know how many devices the filter lists."""
        self._listed = number

    def type_text(self, text: str) -> None:
        """Go on in the search field with what somebody began to type elsewhere."""
        self._text.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._text.setText(text)

    def focus_text(self) -> None:
        """Go to the search field, its text selected."""
        self._text.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._text.selectAll()

    # ---------------------------------------------------------------------------------------------------- for agents

    @observes(READ_FILTERS)
    def read_state(self) -> FiltersState:
        """The filter as it stands in the bar, and how many devices it lists."""
        filters = self.filters()
        return FiltersState(
            text=filters.text,
            statuses=[status.value for status in DeviceStatus if status in filters.statuses],
            city=filters.city,
            listed=self._listed,
            total=self._counts.total,
            counts=[StatusCount(status=status.value, count=self._counts.by_status[status]) for status in DeviceStatus],
        )

    @observes(READ_CITIES)
    def read_cities(self) -> Cities:
        """The cities that can be chosen."""
        cities = self.cities()
        return Cities(cities=list(cities[:MAX_REPORTED_CITIES]), total=len(cities))

    def refuse_filters(self, request: SetFilters) -> PreconditionFailure | None:
        """Why the filters cannot be set: a city without devices."""
        if request.city is None or self._find_city(request.city.strip()) >= 0:
            return None
        return PreconditionFailure(
            self.tr("No device stands in {city}.").format(city=request.city), {"city": request.city}
        )

    @performs(SET_FILTERS, precondition=refuse_filters)
    def change_filters(self, request: SetFilters) -> None:
        """Set what the request names, leave the rest."""
        now = self.filters()
        self.set_filters(
            DeviceFilter(
                text=now.text if request.text is None else request.text.strip(),
                statuses=now.statuses if request.statuses is None else frozenset(map(DeviceStatus, request.statuses)),
                city=now.city if request.city is None else request.city.strip(),
            )
        )

    @performs(
        CLEAR_FILTERS,
        when=lambda bar: not bar.filters().is_empty,
        reason="No filter is set: every device is listed already.",
        follows=lambda bar: bar.filters_changed,
    )
    def clear_filters(self) -> None:
        """List every device again."""
        self.clear()

    @override
    def changeEvent(self, event: QEvent) -> None:
        """Redraw the signs when light turns dark."""
        super().changeEvent(event)
        # The first palette change comes from the base class's own __init__.
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_typing"):
            self._draw_icons()

    def _find_city(self, city: str) -> int:
        return self._city.findData(city, flags=Qt.MatchFlag.MatchFixedString)

    def _status_button(self, status: DeviceStatus) -> QToolButton:
        button = QToolButton()
        button.setCheckable(True)
        button.setText(status_label(status))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(QSize(16, 16))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setToolTip(self.tr("List devices in this state: {status}").format(status=status_label(status)))
        button.setAccessibleDescription(button.toolTip())
        button.toggled.connect(self._announce)
        return button

    def _draw_icons(self) -> None:
        for status, button in self._statuses.items():
            button.setIcon(status_icon(status, self.palette()))

    def _on_text_changed(self, text: str) -> None:
        # Emptying is a decision, not the middle of a word.
        if text:
            self._typing.start()
        else:
            self._announce()

    def _announce(self) -> None:
        self._typing.stop()
        filters = self.filters()
        self._clear.setEnabled(not filters.is_empty)
        if filters != self._announced:
            self._announced = filters
            self.filters_changed.emit(filters)
