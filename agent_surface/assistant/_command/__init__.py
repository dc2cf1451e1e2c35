"""The command language, an assistant without a model.

Above: ``agent_surface.assistant``, which offers the back end. Below: the values of a session.
"""

from agent_surface.assistant._command._backend import CommandBackend

__all__ = ["CommandBackend"]
