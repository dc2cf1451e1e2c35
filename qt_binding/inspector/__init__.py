"""The inspector: a dock that shows developers what agents can see and do, and why.

Above: the application, which opens it for developers only. Below: ``agent_surface.explain``, the registry and its
events. Nothing an agent reaches leads here.
"""

from qt_binding.inspector._dock import DEVELOPER, SurfaceInspector, inspector_wanted

__all__ = ["DEVELOPER", "SurfaceInspector", "inspector_wanted"]
