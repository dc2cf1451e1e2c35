from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QObject

from agent_surface.errors import AgentSurfaceError
from qt_binding._guard import REMEDY, require_sound_pair
from qt_binding.errors import UnsoundPySideError


@pytest.mark.requirement("QT-GUARD-001")
@pytest.mark.parametrize("python", [(3, 10), (3, 11)])
def test_a_pair_that_aborts_is_refused_with_both_versions_and_the_pin(python: tuple[int, int]) -> None:
    """6.12.0 takes references from None below Python 3.12."""
    with pytest.raises(ImportError) as refused:
        require_sound_pair("6.12.0", python)
    assert isinstance(refused.value, UnsoundPySideError)
    assert isinstance(refused.value, AgentSurfaceError)
    for named in ("6.12.0", f"3.{python[1]}", REMEDY):
        assert named in str(refused.value)


@pytest.mark.requirement("QT-GUARD-001")
@pytest.mark.parametrize(
    ("pyside", "python"), [("6.12.0", (3, 12)), ("6.12.0", (3, 13)), ("6.11.3", (3, 11)), ("6.9.3", (3, 11))]
)
def test_a_sound_pair_is_accepted(pyside: str, python: tuple[int, int]) -> None:
    """Only the pairs that were seen to abort are refused."""
    require_sound_pair(pyside, python)


@pytest.mark.requirement("QT-GUARD-001")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal and its count means nothing")
def test_the_installed_pair_takes_no_references_from_none() -> None:
    """The defect the guard is about, measured on the pair these tests run on."""
    target = QObject()
    before = sys.getrefcount(None)
    for number in range(200):
        target.setObjectName(str(number % 2))
    assert abs(sys.getrefcount(None) - before) <= 5
