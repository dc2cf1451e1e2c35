"""Refuse the PySide6 and Python pairs that abort the process.

Importing this module checks the installed pair, so it must be the first import of the package: nothing of PySide6
but its version may be touched before. PySide6 6.12.0 was compiled for immortal objects; below Python 3.12 every void
Qt call takes a reference from ``None`` until the interpreter aborts within seconds (QT-GUARD-001).
"""

from __future__ import annotations

import sys
from importlib import metadata

from qt_binding.errors import UnsoundPySideError

UNSOUND_VERSIONS = frozenset({"6.12.0"})
"""PySide6 versions that are sound only where ``None`` is immortal."""

FIRST_SOUND_PYTHON = (3, 12)
"""The first Python whose ``None`` is immortal."""

REMEDY = "PySide6-Essentials>=6.9,!=6.12.0,<6.12"
"""The requirement that works on an older Python."""


def require_sound_pair(pyside: str, python: tuple[int, int]) -> None:
    """Refuse a pair that is known to abort the process.

    Args:
        pyside: Version of the installed PySide6, such as ``"6.11.3"``.
        python: Major and minor version of the running Python.

    Raises:
        UnsoundPySideError: The pair aborts; the message names both versions and the requirement that works.
    """
    if pyside in UNSOUND_VERSIONS and python < FIRST_SOUND_PYTHON:
        raise UnsoundPySideError(pyside=pyside, python=".".join(map(str, python)), remedy=REMEDY)


def installed_pyside_version() -> str | None:
    """Version of the installed PySide6 distribution, or ``None`` when there is none (importing it will say so)."""
    for distribution in ("PySide6-Essentials", "PySide6"):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


_INSTALLED = installed_pyside_version()
if _INSTALLED is not None:
    require_sound_pair(_INSTALLED, sys.version_info[:2])
