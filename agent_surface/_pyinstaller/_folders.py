"""Where the hooks are. Imports nothing, as PyInstaller asks for it at every build of anything."""

from __future__ import annotations

from pathlib import Path


def hook_folders() -> list[str]:
    """The folders with hooks."""
    return [str(Path(__file__).parent)]
