"""Everything the fleet's rules can refuse.

    FleetError
    +-- FleetDatabaseError      the file cannot be used as a fleet database
    +-- UnknownDevicesError     ids that are not in the fleet
    +-- InvalidFieldError       a value that a field does not accept
    +-- CsvFormatError          a file that cannot be read as CSV at all
    +-- OperationCancelledError the person stopped a long operation; nothing was changed

Messages are plain English sentences that can be shown to a person as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

_NAMED_IN_MESSAGE = 5


class FleetError(Exception):
    """Base of every refusal of the domain. Programming mistakes are not among them."""


class FleetDatabaseError(FleetError):
    """Raised when a file cannot be opened as a fleet database; the file is left as it was."""


class UnknownDevicesError(FleetError):
    """Raised when a command names devices that do not exist; nothing has been changed.

    Attributes:
        device_ids: The unknown ids, in the order in which they were given.
    """

    def __init__(self, device_ids: Sequence[str]) -> None:
        self.device_ids = tuple(device_ids)
        named = ", ".join(self.device_ids[:_NAMED_IN_MESSAGE])
        more = len(self.device_ids) - _NAMED_IN_MESSAGE
        super().__init__(f"There is no device {named}" + (f" (and {more} more)." if more > 0 else "."))


class InvalidFieldError(FleetError):
    """Raised when a field does not accept a value.

    Attributes:
        field: Name of the field, as in :class:`Device`.
        problem: What is wrong with it, without the field's name.
    """

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        super().__init__(f"{field}: {problem}")


class CsvFormatError(FleetError):
    """Raised when a file as a whole is not usable as CSV. Mistakes in single lines are reported, not raised."""


class OperationCancelledError(FleetError):
    """Raised when a long operation was stopped on request, after its transaction was rolled back."""

    def __init__(self) -> None:
        super().__init__("The operation was cancelled. Nothing was changed.")
