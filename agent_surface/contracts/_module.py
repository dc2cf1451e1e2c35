"""The module a declaration belongs to."""

from __future__ import annotations

import sys

from agent_surface.contracts._checks import definition_error


def declaring_module(depth: int) -> str:
    """The module whose code called a ``define_*`` function; the only place where a stack frame is looked at.

    Args:
        depth: How many frames up the author's code is.

    Raises:
        AgentSurfaceDefinitionError: The code runs as a bare script, so its name would change with how it is started.
    """
    module_globals = sys._getframe(depth).f_globals  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # a declaration is named after its module
    spec = module_globals.get("__spec__")
    name = getattr(spec, "name", None) or module_globals.get("__name__")
    if not isinstance(name, str) or name == "__main__":
        raise definition_error(
            "a contract cannot be declared in a script that is run directly, because its identity would depend on how "
            "the program is started; move it into a module that is imported, or start this one with `python -m`"
        )
    return name
