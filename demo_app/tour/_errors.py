"""What ends a tour early."""

from __future__ import annotations


class TourError(Exception):
    """Raised when something is not as it should be; the message is a sentence for the terminal."""
