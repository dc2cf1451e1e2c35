"""The command ``agent-surface``: shows, writes and guards the contract of a program.

Above: ``python -m agent_surface``. Below: the compiler and the audit.
"""

from agent_surface.cli._main import main

__all__ = ["main"]
