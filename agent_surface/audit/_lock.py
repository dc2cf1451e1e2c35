"""One writer for a file, across processes."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt

    # Far beyond any file, so that others can read all of it.
    _PLACE = 2**62

    def try_lock(descriptor: int) -> bool:
        """Take the lock of an open file until it is closed; ``False`` when somebody has it."""
        import os

        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, place, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Take the lock of an open file until it is closed; ``False`` when somebody has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
