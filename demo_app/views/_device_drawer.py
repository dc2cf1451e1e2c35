"""The drawer beside the table: everything about one device, and its name to edit."""

from __future__ import annotations

from datetime import UTC

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import (
    QDockWidget,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from agent_surface import PreconditionFailure
from demo_app.contracts import (
    DEVICES_DRAWER,
    READ_DRAWER,
    SHOW_DEVICE,
    DeviceDetails,
    DrawerState,
    NoteText,
    ShowDevice,
)
from demo_app.domain import MAX_NAME_CHARACTERS, Device, FleetRepository, UnknownDevicesError
from demo_app.views._appearance import leading_side, status_icon, status_label, time_text
from qt_binding import AgentComponentMixin, observes, performs

_LISTED_NOTES = 5
_ICON_PIXELS = 16
_WIDTH_CHARACTERS = 44


class DeviceDrawer(AgentComponentMixin, QDockWidget):
    """Shows one device.

    Args:
        repository: Reads the fleet.
        actions: What can be done with the device, as buttons below its name.
        parent: Owner.

    Signals:
        rename_wanted: ``(device id, name)``: somebody entered another name.
        device_wanted: The id of a device to show here and select in the table.
        device_changed: Another device is shown, or none.
    """

    agent_contract = DEVICES_DRAWER

    device_wanted = Signal(str)
    rename_wanted = Signal(str, str)
    device_changed = Signal()

    def __init__(
        self, repository: FleetRepository, actions: tuple[QAction, ...], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._repository = repository
        self._device: Device | None = None
        self.setObjectName("device-drawer")
        self.setWindowTitle(self.tr("Device details"))
        self._name = QLineEdit()
        self._name.setMaxLength(MAX_NAME_CHARACTERS)
        self._name.setAccessibleName(self.tr("Name of the device"))
        self._save = QPushButton(self.tr("Sa&ve"))
        self._error = QLabel()
        self._error.setWordWrap(True)
        self._error.setTextFormat(Qt.TextFormat.PlainText)
        self._error.hide()
        self._status_sign = QLabel()
        self._values = {
            key: self._value_label() for key in ("status", "id", "city", "country", "model", "firmware", "last_seen")
        }
        self._notes = self._value_label()
        self._notes.setAccessibleName(self.tr("Latest notes"))
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty_page())
        self._pages.addWidget(self._device_page(actions))
        self.setWidget(self._pages)
        self._show_values()
        self._name.textEdited.connect(self._on_name_edited)
        self._name.returnPressed.connect(self._want_rename)
        self._save.clicked.connect(self._want_rename)

    def device(self) -> Device | None:
        """The device that is shown."""
        return self._device

    def device_obstacle(self) -> str:
        """Why a command on the shown device is not possible, as a sentence; empty when it is."""
        return "" if self._device is not None else self.tr("No device is shown in the drawer.")

    def show_device(self, device_id: str) -> None:
        """Show a device; an empty id, or one that does not exist, empties the drawer.

        A name somebody was editing is dropped when another device comes.
        """
        before = self._device
        self._device = self._repository.find_device(device_id) if device_id else None
        is_other = (before.id if before else "") != (self._device.id if self._device else "")
        is_untouched = before is None or self._name.text() == before.name
        if is_other or is_untouched:
            self._name.setText(self._device.name if self._device else "")
            self.show_error("")
        self._show_values()
        if is_other:
            self.device_changed.emit()

    def reload(self) -> None:
        """Read the device again; a name that is being edited stays as typed."""
        self.show_device(self._device.id if self._device else "")

    def accept_name(self, device: Device) -> None:
        """Show the device as it is after a rename."""
        if self._device is not None and self._device.id == device.id:
            self._name.setText(device.name)
            self.show_device(device.id)
            self.show_error("")

    def show_error(self, problem: str) -> None:
        """Say below the name why it was not taken; empty when nothing is wrong."""
        self._error.setText(problem)
        self._error.setVisible(bool(problem))

    def edit_name(self) -> None:
        """Go to the name, ready to be typed over."""
        self.show()
        self.raise_()
        self._name.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._name.selectAll()

    # ---------------------------------------------------------------------------------------------------- for agents

    @observes(READ_DRAWER)
    def read_state(self) -> DrawerState:
        """The device with its latest notes."""
        device = self._device
        if device is None:
            return DrawerState(device=None)
        notes = self._repository.list_notes(device_id=device.id, limit=_LISTED_NOTES)
        return DrawerState(
            device=DeviceDetails(
                id=device.id,
                name=device.name,
                status=device.status.value,
                city=device.city,
                country=device.country,
                model=device.model,
                firmware=device.firmware,
                last_seen=device.last_seen.astimezone(UTC).isoformat() if device.last_seen is not None else "",
                notes=[
                    NoteText(author=note.author, text=note.text, is_done=note.resolved_at is not None) for note in notes
                ],
            )
        )

    def refuse_device(self, request: ShowDevice) -> PreconditionFailure | None:
        """Why the device cannot be shown: it is not in the fleet."""
        if self._repository.find_device(request.id) is not None:
            return None
        return PreconditionFailure(str(UnknownDevicesError([request.id])), {"id": request.id})

    @performs(SHOW_DEVICE, precondition=refuse_device)
    def open_device(self, request: ShowDevice) -> None:
        """Ask the window, which knows the table, to show a device."""
        self.device_wanted.emit(request.id)

    @override
    def changeEvent(self, event: QEvent) -> None:
        """Redraw the sign when light turns dark."""
        super().changeEvent(event)
        # The first palette change comes from the base class's own __init__.
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_pages"):
            self._show_values()

    def _empty_page(self) -> QWidget:
        label = QLabel(self.tr("Select a device to see its details."))
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        label.setWordWrap(True)
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        label.setContentsMargins(24, 24, 24, 24)
        return label

    def _device_page(self, actions: tuple[QAction, ...]) -> QWidget:
        page = QWidget()
        name_label = QLabel(self.tr("Na&me:"))
        name_label.setBuddy(self._name)
        name_row = QHBoxLayout()
        name_row.addWidget(self._name, 1)
        name_row.addWidget(self._save)
        action_row = QHBoxLayout()
        for action in actions:
            button = QToolButton()
            button.setDefaultAction(action)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            action_row.addWidget(button)
        action_row.addStretch(1)
        status_row = QHBoxLayout()
        status_row.addWidget(self._status_sign)
        status_row.addWidget(self._values["status"], 1)
        form = QFormLayout()
        form.addRow(self.tr("Status:"), status_row)
        form.addRow(self.tr("ID:"), self._values["id"])
        form.addRow(self.tr("City:"), self._values["city"])
        form.addRow(self.tr("Country:"), self._values["country"])
        form.addRow(self.tr("Model:"), self._values["model"])
        form.addRow(self.tr("Firmware:"), self._values["firmware"])
        last_seen_label = QLabel(self.tr("Last seen:"))
        # Its value takes two lines; the label is beside the first.
        last_seen_label.setAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop)
        form.addRow(last_seen_label, self._values["last_seen"])
        notes_title = QLabel(self.tr("Latest notes"))
        font = notes_title.font()
        font.setBold(True)
        notes_title.setFont(font)
        layout = QVBoxLayout(page)
        layout.addWidget(name_label, 0, Qt.AlignmentFlag.AlignLeading)
        layout.addLayout(name_row)
        layout.addWidget(self._error)
        layout.addLayout(action_row)
        layout.addSpacing(8)
        layout.addLayout(form)
        layout.addSpacing(8)
        layout.addWidget(notes_title, 0, Qt.AlignmentFlag.AlignLeading)
        layout.addWidget(self._notes)
        layout.addStretch(1)
        area = QScrollArea()
        area.setWidget(page)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setMinimumWidth(self.fontMetrics().averageCharWidth() * _WIDTH_CHARACTERS)
        area.setAccessibleName(self.tr("Details of the device"))
        return area

    def _value_label(self) -> QLabel:
        label = QLabel()
        # What the database holds is text, never markup.
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setAlignment(leading_side() | Qt.AlignmentFlag.AlignVCenter)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _show_values(self) -> None:
        device = self._device
        self._pages.setCurrentIndex(0 if device is None else 1)
        self._update_save()
        if device is None:
            return
        icon = status_icon(device.status, self.palette())
        self._status_sign.setPixmap(icon.pixmap(QSize(_ICON_PIXELS, _ICON_PIXELS), self.devicePixelRatio()))
        self._values["status"].setText(status_label(device.status))
        self._values["last_seen"].setText(time_text(device.last_seen, long=True))
        for key in ("id", "city", "country", "model", "firmware"):
            self._values[key].setText(getattr(device, key) or "-")
        notes = self._repository.list_notes(device_id=device.id, limit=_LISTED_NOTES)
        texts = [
            self.tr("{time}, {author}:\n{text}").format(
                time=time_text(note.created_at), author=note.author, text=note.text
            )
            for note in notes
        ]
        self._notes.setText("\n\n".join(texts) or self.tr("No notes yet."))

    def _on_name_edited(self) -> None:
        self.show_error("")
        self._update_save()

    def _update_save(self) -> None:
        self._save.setEnabled(self._device is not None and self._name.text().strip() not in ("", self._device.name))

    def _want_rename(self) -> None:
        if self._device is None or self._name.text().strip() == self._device.name:
            return
        self.rename_wanted.emit(self._device.id, self._name.text())
