"""Components: Qt classes and objects whose capabilities an agent can find and use.

Above: applications. Below: ``qt_binding._availability``, ``qt_binding._runtime`` and ``agent_surface``.
"""

from qt_binding.mixin._attach import attach_agent_component, observing, performing, use_agent_procedure
from qt_binding.mixin._contribute import contribute_to_component
from qt_binding.mixin._declare import observes, performs
from qt_binding.mixin._handle import AgentComponentHandle, ComponentStatus
from qt_binding.mixin._mixin import AgentComponentMixin
from qt_binding.mixin._roles import Role

__all__ = [
    "AgentComponentHandle",
    "AgentComponentMixin",
    "ComponentStatus",
    "Role",
    "attach_agent_component",
    "contribute_to_component",
    "observes",
    "observing",
    "performing",
    "performs",
    "use_agent_procedure",
]
