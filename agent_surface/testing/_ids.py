"""Ids that are the same in every run."""

from __future__ import annotations


class SequentialIds:
    """An :class:`~agent_surface._base._ports.IdSource` whose tokens count up from ``0…01``.

    Guessable on purpose, so for tests only.
    """

    def __init__(self) -> None:
        self._last = 0

    def token(self, length: int) -> str:
        """The next number, zero-padded to ``length`` digits.

        Raises:
            ValueError: The number no longer fits.
        """
        self._last += 1
        token = str(self._last).zfill(length)
        if len(token) > length:
            raise ValueError(f"more than {length} digits are used up")
        return token
