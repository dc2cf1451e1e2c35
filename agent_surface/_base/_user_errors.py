"""What the application's own code may raise at us."""

from __future__ import annotations

import asyncio
from typing import Final

USER_ERRORS: Final = (Exception, asyncio.CancelledError)
"""What is contained around user code that is called and not awaited.

``CancelledError`` is among it, though it is no ``Exception``: ``task.result()`` of a cancelled task raises it, and
where nothing is awaited nobody can have cancelled *us*.
"""
