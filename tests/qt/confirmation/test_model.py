"""The model of pending requests: all that a host needs."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence

import pytest
import shiboken6
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from agent_surface.confirmations import ConfirmationOutcome, ConfirmationResolution
from qt_binding.confirmation import PendingConfirmationsModel, PendingRole
from tests.core.confirmations.store_under_test import StoreUnderTest, binding_of


@pytest.fixture
def under_test(qtbot: QtBot) -> StoreUnderTest:
    """A store; its model needs an application."""
    return StoreUnderTest()


@pytest.fixture
def model(under_test: StoreUnderTest) -> PendingConfirmationsModel:
    """The model of the store, checked for the contract of item models."""
    model = PendingConfirmationsModel(under_test.store, clock=under_test.clock)
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    return model


def _ids(model: PendingConfirmationsModel) -> list[object]:
    return [model.index(row).data(PendingRole.CONFIRMATION_ID) for row in range(model.rowCount())]


def test_rows_follow_the_store_oldest_first(under_test: StoreUnderTest, model: PendingConfirmationsModel) -> None:
    """Requests of before and after the model was made are there, and ended ones are not."""
    ids = [under_test.request(binding_of({"n": number})).confirmation_id for number in range(3)]
    assert _ids(model) == ids
    assert _ids(PendingConfirmationsModel(under_test.store, clock=under_test.clock)) == ids
    under_test.store.resolve(ids[1], approved=False)
    assert _ids(model) == [ids[0], ids[2]]
    assert model.rowCount(model.index(0)) == 0


def test_each_role_says_what_the_request_says(under_test: StoreUnderTest, model: PendingConfirmationsModel) -> None:
    """A view, also one in QML, needs nothing but roles."""
    pending = under_test.request(binding_of({"ids": ("a", "b")}), summary="Disable \u202e two")
    under_test.clock.advance(20_000)
    values = {role.name: model.index(0).data(role) for role in PendingRole}
    assert values == {
        "PENDING": pending,
        "CONFIRMATION_ID": pending.confirmation_id,
        "CAPABILITY_ID": "domain:devices.disable",
        "DESCRIPTION": "Disable a device",
        "SUMMARY": "Disable \u202e two",
        "EFFECT": "destructive",
        "EFFECT_WORD": "Destructive",
        "CONSUMER": "test:alice",
        "COMPONENT_TYPE": "devices.table",
        "INSTANCE_ID": "main",
        "INPUT": {"ids": ["a", "b"]},
        "BOUND_FIELDS": ["id"],
        "ORIGIN": "client",
        "TIME_LEFT_MS": 100_000,
    }
    assert model.index(0).data(Qt.ItemDataRole.DisplayRole) == "Disable \\u202e two"
    assert model.index(0).data(Qt.ItemDataRole.DecorationRole) is None
    assert model.data(QModelIndex()) is None
    assert bytes(model.roleNames()[PendingRole.TIME_LEFT_MS].data()) == b"timeLeftMs"


def test_signals_come_after_the_rows_moved(under_test: StoreUnderTest, model: PendingConfirmationsModel) -> None:
    """Whoever is told of a request finds it, and whoever is told of an end does not."""
    seen: list[tuple[object, ...]] = []

    def requested(one: str) -> None:
        seen.append(("requested", one, model.find(one) is not None))

    def ended(one: str, how: object) -> None:
        seen.append(("ended", one, how, model.find(one)))

    model.confirmation_requested.connect(requested)
    model.confirmation_ended.connect(ended)
    confirmation_id = under_test.request().confirmation_id
    under_test.store.waiter.withdraw(confirmation_id)
    resolution = ConfirmationResolution(
        confirmation_id=confirmation_id, outcome=ConfirmationOutcome.EXPIRED, actor="withdrawn"
    )
    assert seen == [("requested", confirmation_id, True), ("ended", confirmation_id, resolution, None)]


def test_answers_go_to_the_store_with_the_note(under_test: StoreUnderTest, model: PendingConfirmationsModel) -> None:
    """A decision is the store's; a late one is told so."""
    first = under_test.request(binding_of({"n": 1})).confirmation_id
    second = under_test.request(binding_of({"n": 2})).confirmation_id
    assert model.approve(first)
    assert model.deny(second, "not this one")
    assert not model.approve(second)
    assert not model.deny("cnf_unknown")
    assert [step.note for step in under_test.audit] == [None, None, None, "not this one"]


def test_the_time_left_is_announced_every_second(under_test: StoreUnderTest, model: PendingConfirmationsModel) -> None:
    """Also for requests that wait, and only while there are any."""
    changed: list[tuple[int, int, Sequence[int]]] = []

    def data_changed(first: QModelIndex, last: QModelIndex, roles: Sequence[int]) -> None:
        changed.append((first.row(), last.row(), list(roles)))

    model.dataChanged.connect(data_changed)
    first = under_test.request(binding_of({"n": 1})).confirmation_id
    second = under_test.request(binding_of({"n": 2})).confirmation_id
    under_test.clock.advance(3_000)
    assert changed == [(0, 1, [PendingRole.TIME_LEFT_MS])] * 3
    assert model.time_left_ms(first) == 117_000
    for one in (first, second):
        under_test.store.resolve(one, approved=False)
    timers = under_test.clock.pending_timers
    under_test.clock.advance(10_000)
    assert len(changed) == 3
    assert under_test.clock.pending_timers == timers
    assert model.time_left_ms(first) == 0


def test_the_time_left_does_not_need_the_registry_s_clock(under_test: StoreUnderTest) -> None:
    """A clock with another zero counts the same."""
    under_test.clock.advance(50_000)
    confirmation_id = under_test.request().confirmation_id
    model = PendingConfirmationsModel(under_test.store)
    assert 110_000 < model.time_left_ms(confirmation_id) <= 120_000
    model.close()


def test_a_closed_model_is_empty_and_follows_no_more(
    under_test: StoreUnderTest, model: PendingConfirmationsModel
) -> None:
    """The requests stay as they are; somebody else may answer them."""
    under_test.request(binding_of({"n": 1}))
    model.close()
    under_test.request(binding_of({"n": 2}))
    assert model.rowCount() == 0
    assert len(under_test.store.pending()) == 2


def test_a_dead_model_is_not_called(under_test: StoreUnderTest, model: PendingConfirmationsModel) -> None:
    """The store outlives windows; a request after the end of one raises nothing anywhere."""
    under_test.request(binding_of({"n": 1}))
    shiboken6.delete(model)
    under_test.request(binding_of({"n": 2}))
    under_test.clock.advance(5_000)
    assert len(under_test.store.pending()) == 2


def test_the_store_does_not_keep_a_model_alive(under_test: StoreUnderTest) -> None:
    """A forgotten model is freed, its timer too."""
    model = PendingConfirmationsModel(under_test.store, clock=under_test.clock)
    under_test.request()
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None
    under_test.clock.advance(5_000)
    under_test.store.resolve(under_test.store.pending()[0].confirmation_id, approved=False)
