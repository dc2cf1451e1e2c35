"""Run by PyInstaller for every program that imports ``qt_binding``, which asks for the version of PySide6."""

from __future__ import annotations

from agent_surface._pyinstaller._collecting import metadata_entries

datas = [
    (source, str(target).rpartition("/")[0])
    for target, source, _ in metadata_entries(("PySide6-Essentials", "PySide6"))
]
