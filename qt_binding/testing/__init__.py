"""Support for tests of applications with widgets; needs no pytest and no screen.

Above: ``qt_binding.pytest_plugin``, and nothing in the product. Below: the features of ``qt_binding`` and
``agent_surface.testing``.
"""

from qt_binding.testing._driving import start, turn, wait_for, wait_until
from qt_binding.testing._mounting import mount
from qt_binding.testing._person import Answer, answer_confirmation, click, type_text
from qt_binding.testing._replay import QT

__all__ = [
    "QT",
    "Answer",
    "answer_confirmation",
    "click",
    "mount",
    "start",
    "turn",
    "type_text",
    "wait_for",
    "wait_until",
]
