"""What a person could use right now, and the signals that tell when that may have changed.

Above: the features of ``qt_binding``. Below: ``qt_binding._runtime`` and PySide6.
"""

from qt_binding._availability._follow import Followed, Followers, notify_signal
from qt_binding._availability._glance import Glance
from qt_binding._availability._modal import ModalStack, blocking_dialog, exempt_from_blocking
from qt_binding._availability._presented import (
    Presentation,
    crossed_the_edge,
    docks_around,
    is_off_screen,
    main_window_of,
    presented,
    why_out_of_sight,
)
from qt_binding._availability._reasons import reason_sentence

__all__ = [
    "Followed",
    "Followers",
    "Glance",
    "ModalStack",
    "Presentation",
    "blocking_dialog",
    "crossed_the_edge",
    "docks_around",
    "exempt_from_blocking",
    "is_off_screen",
    "main_window_of",
    "notify_signal",
    "presented",
    "reason_sentence",
    "why_out_of_sight",
]
