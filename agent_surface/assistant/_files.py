"""A file that is replaced as a whole: after a crash it holds what it held before, or what it was to hold."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Put ``text`` in the place of what ``path`` held, readable by its owner alone, and wait for the disk.

    Raises:
        OSError: It could not be written; what was there is still there.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _wait_for_folder(path.parent)


def _wait_for_folder(folder: Path) -> None:
    """The name is in the folder, which is written on its own. Not every system can open one, or has to."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
