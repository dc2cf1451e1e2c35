"""The way into the command, and the one place where its failures become sentences."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

from agent_surface.errors import AgentSurfaceError

CLEAN: Final = 0
FINDING: Final = 1
COULD_NOT_RUN: Final = 2

_NEEDED: Final = ("click", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: Without the program's name; those of the process when absent.

    Returns:
        0 when everything is as it should be, 1 when a check found something, 2 when the command could not run.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        return _refuse(f"{' and '.join(missing)} not installed; install agent-surface-qt[cli]")
    # Closed, as by `>&-`.
    if sys.stdout is None:
        return _refuse("standard output is closed and the result has nowhere to go; leave it open")
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(given)
    except AgentSurfaceError as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(_sentence_of(error))
    except Exception as error:
        if "--debug" in given:
            raise
        return _refuse(
            f"a defect of agent-surface: {type(error).__name__}: {error}; run it with --debug and report what it prints"
        )


def _run(arguments: list[str]) -> int:
    from agent_surface.cli._commands import run_command

    return run_command(arguments)


def _sentence_of(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"the output cannot be written: {reason}; make room, or send it somewhere else"
    return f"{error.filename}: {reason}; check that the path is right and that you may use it"


def _refuse(sentence: str) -> int:
    if sys.stderr is not None:
        sys.stderr.write(f"agent-surface: {sentence}\n")
    return COULD_NOT_RUN
