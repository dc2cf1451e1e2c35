"""Registries for the tests of the binding, and proof that each test leaves nothing in it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from agent_surface.testing import contract_authority
from qt_binding import create_qt_registry, provide_surface
from qt_binding._runtime import runtime_of_application
from qt_binding.mixin._watch import ComponentWatch
from tests.qt.mixin.parts import COUNTER, PINGER, MakeSurface, Surface, delete, turn


@pytest.fixture
def make_surface(qapp: QApplication, qtbot: QtBot) -> Iterator[MakeSurface]:
    """Make registries that nothing provides yet."""
    made = list[Surface]()
    if len(runtime_of_application("test").part(ComponentWatch)):  # a cycle that a test of another folder left
        gc.collect()
        turn()

    def make() -> Surface:
        surface = Surface(create_qt_registry(authority=contract_authority(COUNTER, PINGER), environment="test"), qtbot)
        made.append(surface)
        return surface

    yield make
    for window in qapp.topLevelWidgets():
        delete(window)
    turn()
    gc.collect()
    turn()
    for surface in made:
        assert surface.registry.closed or surface.registry.statistics().registrations == 0
        surface.registry.close()


@pytest.fixture
def surface(qapp: QApplication, make_surface: MakeSurface) -> Iterator[Surface]:
    """A registry that the application provides."""
    made = make_surface()
    withdraw = provide_surface(qapp, made.registry)
    yield made
    withdraw()
