"""Asking the person: the model of pending requests, and the host that shows them one at a time.

Above: the application, which makes one host per registry. Below: ``agent_surface.confirmations`` and Qt widgets.
"""

from qt_binding.confirmation._host import ConfirmationHost, Offer
from qt_binding.confirmation._model import PendingConfirmationsModel, PendingRole
from qt_binding.confirmation._ports import Announcer, HostClock, QtAnnouncer, QtHostClock, WindowFor

__all__ = [
    "Announcer",
    "ConfirmationHost",
    "HostClock",
    "Offer",
    "PendingConfirmationsModel",
    "PendingRole",
    "QtAnnouncer",
    "QtHostClock",
    "WindowFor",
]
