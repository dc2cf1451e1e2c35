"""What the tests of every package of widgets share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.qt.hostile import Trap, trapped


@pytest.fixture
def trap(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    """Fails a test in which a text reached out of its widget."""
    yield from trapped(monkeypatch)
