"""A small storm in every run of the suite; ``make soak-qt`` runs a long one."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from tests.qt.storm.storm import Storm

STEPS = 60


@pytest.mark.requirement("QT-LIFE-003")
@pytest.mark.requirement("QT-LIFE-004")
@pytest.mark.requirement("QT-LIFE-005")
@pytest.mark.requirement("QT-AVAIL-002")
@pytest.mark.requirement("QT-AVAIL-004")
@pytest.mark.requirement("QT-AVAIL-006")
@pytest.mark.requirement("QT-THREAD-001")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_hundred_components_keep_every_promise_in_a_storm(qapp: QApplication, seed: int) -> None:
    """Whatever is done to them, in whichever order, while four threads call."""
    storm = Storm(qapp, seed, round_of=30)
    storm.run(STEPS)
    storm.close()
    assert storm.done == STEPS
    assert storm.callers.outcomes["ok"] > 0
