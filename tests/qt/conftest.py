"""What the tests of every package of widgets share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qt_binding.assistant._browser import MessageBrowser
from qt_binding.confirmation._form import InputView
from qt_binding.inspector._facts import FactsView
from tests.qt.hostile import Trap


@pytest.fixture
def trap(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    """Nothing is loaded, no server asked and no browser opened; at the end of the test that was so."""
    made = Trap()
    for view in (MessageBrowser, InputView, FactsView):
        made.watch(monkeypatch, view)
    yield made
    made.close()
    assert made.caught == []
