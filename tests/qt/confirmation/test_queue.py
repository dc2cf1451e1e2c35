"""The order of questions, without widgets."""

from __future__ import annotations

import pytest

from agent_surface.confirmations import PendingConfirmation
from qt_binding.confirmation._queue import ConfirmationQueue, QueueStep
from tests.core.confirmations.store_under_test import StoreUnderTest, binding_of

NOTHING = QueueStep()


@pytest.fixture
def three() -> list[PendingConfirmation]:
    """Three requests, oldest first."""
    under_test = StoreUnderTest()
    return [under_test.request(binding_of({"n": number})) for number in range(3)]


@pytest.mark.requirement("QT-CONF-001")
def test_the_oldest_is_shown_and_the_next_only_when_it_is_off_the_screen(three: list[PendingConfirmation]) -> None:
    """One at a time: an ended request holds its place until it has left the screen."""
    first, second, _third = three
    queue = ConfirmationQueue()
    assert queue.update(()) == NOTHING
    assert queue.update(three) == QueueStep(show=first)
    assert queue.update(three) == NOTHING
    assert queue.update(three[1:]) == QueueStep(ended=first.confirmation_id)
    assert queue.update(three[1:]) == NOTHING
    queue.closed(first.confirmation_id)
    assert queue.update(three[1:]) == QueueStep(show=second)


@pytest.mark.requirement("QT-CONF-001")
def test_what_waits_is_everything_else(three: list[PendingConfirmation]) -> None:
    """The shown request does not wait behind itself."""
    queue = ConfirmationQueue()
    assert queue.waiting(three) == tuple(three)
    queue.update(three)
    assert queue.waiting(three) == tuple(three[1:])
    assert queue.current == three[0].confirmation_id


def test_closing_another_request_moves_nothing(three: list[PendingConfirmation]) -> None:
    """A late word about an earlier dialog does not take the present one away."""
    queue = ConfirmationQueue()
    queue.update(three)
    queue.closed(three[1].confirmation_id)
    assert queue.update(three) == NOTHING
