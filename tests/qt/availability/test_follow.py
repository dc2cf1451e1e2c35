from __future__ import annotations

import gc
import threading
import weakref

import pytest
import shiboken6
from PySide6.QtCore import SIGNAL, QObject, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QApplication, QCheckBox, QTableView, QWidget
from pytestqt.qtbot import QtBot

from agent_surface.errors import AgentSurfaceDefinitionError
from qt_binding._availability import Followers


class Counter:
    """Counts how often a followed signal fired, and on which threads."""

    def __init__(self) -> None:
        self.threads = list[int]()

    def __call__(self) -> None:
        """A signal fired."""
        self.threads.append(threading.get_ident())


class Emitter(QObject):
    """Signals with arguments, which a follower is not told."""

    fired = Signal(int, str)


@pytest.fixture
def counter(qapp: QApplication) -> Counter:
    """What the followers call."""
    del qapp
    return Counter()


@pytest.fixture
def context(qapp: QApplication) -> QObject:
    """Context of connections by name."""
    del qapp
    return QObject()


@pytest.mark.requirement("QT-AVAIL-001")
def test_any_of_the_signals_fires_whatever_its_arguments(counter: Counter, context: QObject) -> None:
    """Of C++ and of Python, also the NOTIFY signal of a property by its name."""
    box, emitter = QCheckBox(), Emitter()
    followers = Followers(context, counter)
    followers.follow(box, [emitter.fired, box.clicked, "property:checked"])
    emitter.fired.emit(1, "x")
    box.setChecked(True)
    box.click()
    assert len(counter.threads) == 4  # the click also changes the property
    followers.clear()
    box.click()
    emitter.fired.emit(1, "x")
    assert len(counter.threads) == 4


@pytest.mark.requirement("QT-AVAIL-001")
def test_the_same_signals_are_not_connected_again(counter: Counter, context: QObject) -> None:
    """Following is asked for at every recompute."""
    box = QCheckBox()
    followers = Followers(context, counter)
    for _ in range(5):
        followers.follow(box, [box.clicked, "property:checked"])
    assert (box.receivers(SIGNAL("clicked(bool)")), box.receivers(SIGNAL("toggled(bool)"))) == (1, 1)
    followers.follow(box, [box.clicked])
    assert (box.receivers(SIGNAL("clicked(bool)")), box.receivers(SIGNAL("toggled(bool)"))) == (1, 0)


@pytest.mark.requirement("QT-AVAIL-003")
def test_a_replaced_sender_is_followed_and_the_old_one_left(counter: Counter, context: QObject) -> None:
    """A new selection model after ``setModel``, whose wrapper nobody holds."""
    view, first, second = QTableView(), QStandardItemModel(2, 1), QStandardItemModel(2, 1)
    followers = Followers(context, counter)
    view.setModel(first)
    followers.follow(view, [view.selectionModel().selectionChanged])
    old = view.selectionModel()
    view.setModel(second)
    followers.follow(view, [view.selectionModel().selectionChanged])
    old.clear()
    view.selectRow(1)
    assert len(counter.threads) == 1
    signature = SIGNAL("selectionChanged(QItemSelection,QItemSelection)")
    before = view.selectionModel().receivers(signature)
    followers.follow(view, [view.selectionModel().selectionChanged])
    assert view.selectionModel().receivers(signature) == before


@pytest.mark.requirement("QT-LIFE-004")
def test_a_sender_that_is_gone_is_left_out_and_clearing_does_not_mind(counter: Counter, context: QObject) -> None:
    """A followed object may die before the component does."""
    owner, box = QWidget(), QCheckBox()
    followers = Followers(context, counter)
    signal = box.clicked
    followers.follow(owner, [signal])
    shiboken6.delete(box)
    followers.clear()
    followers.follow(owner, [signal])
    assert len(followers) == 0


@pytest.mark.requirement("QT-LIFE-005")
def test_following_keeps_neither_sender_nor_owner_alive(counter: Counter, context: QObject) -> None:
    """A connection is not an owner."""
    box = QCheckBox()
    followers = Followers(context, counter)
    followers.follow(box, [box.clicked, "property:checked"])
    gone = weakref.ref(box)
    del box
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("source", "said"),
    [("checked", "property:name"), ("property:nope", "no property 'nope'"), ("property:visible", "no NOTIFY signal")],
)
def test_a_property_that_cannot_be_followed_is_refused_by_name(
    counter: Counter, context: QObject, source: str, said: str
) -> None:
    """An author's mistake, told when it is made."""
    box = QCheckBox()
    with pytest.raises(AgentSurfaceDefinitionError) as refused:
        Followers(context, counter).follow(box, [source])
    assert said in str(refused.value)


@pytest.mark.requirement("QT-THREAD-001")
def test_a_signal_emitted_on_another_thread_fires(counter: Counter, context: QObject, qtbot: QtBot) -> None:
    """On whichever thread Qt chooses: what is called must not care."""
    emitter = Emitter()
    followers = Followers(context, counter)
    followers.follow(emitter, [emitter.fired])
    thread = threading.Thread(target=lambda: emitter.fired.emit(1, "x"))
    thread.start()
    thread.join(10)
    qtbot.waitUntil(lambda: bool(counter.threads))
