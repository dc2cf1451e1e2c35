"""qasync's event loop, bound to PySide6 and typed as what it is: an asyncio selector loop.

qasync picks its Qt binding from ``QT_API`` or from what happens to be imported, which is the wrong one in a process
that has another binding installed. The choice is forced for the moment of the import only: the variable is read by
other libraries too.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:

    class QasyncEventLoop(asyncio.SelectorEventLoop):
        """The part of ``qasync.QEventLoop`` that the guest loop builds on."""

        def __init__(self, _application: QApplication, /) -> None: ...

        # What asyncio's base class has for loop authors and typeshed leaves out.
        def _check_closed(self) -> None: ...

        def _asyncgen_firstiter_hook(self, _generator: AsyncGenerator[object, object]) -> None: ...

        def _asyncgen_finalizer_hook(self, _generator: AsyncGenerator[object, object]) -> None: ...

else:
    _previous = os.environ.get("QT_API")
    os.environ["QT_API"] = "pyside6"
    try:
        import qasync
    finally:
        if _previous is None:
            del os.environ["QT_API"]
        else:
            os.environ["QT_API"] = _previous
    if qasync.QtModuleName != "PySide6":
        raise ImportError(
            f"qasync was already imported with {qasync.QtModuleName}; import qt_binding first, or set QT_API=pyside6"
        )
    QasyncEventLoop = qasync.QEventLoop
