"""The event loop, the ports a registry needs under Qt, and the start of an application.

Above: ``_availability`` and the features of ``qt_binding``. Below: ``agent_surface`` and PySide6.
"""

from qt_binding._runtime._clock import QtClock
from qt_binding._runtime._deadlines import DeadlineTimer
from qt_binding._runtime._host_loop import QtHostLoop
from qt_binding._runtime._loop import GuestLoop
from qt_binding._runtime._provider import SurfaceProviders, provide_surface
from qt_binding._runtime._registry import create_qt_registry, runtimes_of
from qt_binding._runtime._run import run
from qt_binding._runtime._runner import QtHandlerRunner
from qt_binding._runtime._runtime import QtRuntime, Runtimes, find_application, runtime_of_application

__all__ = [
    "DeadlineTimer",
    "GuestLoop",
    "QtClock",
    "QtHandlerRunner",
    "QtHostLoop",
    "QtRuntime",
    "Runtimes",
    "SurfaceProviders",
    "create_qt_registry",
    "find_application",
    "provide_surface",
    "run",
    "runtime_of_application",
    "runtimes_of",
]
