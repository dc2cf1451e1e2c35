from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from typing_extensions import override

from qt_binding import AgentComponentMixin
from tests.qt.mixin.parts import CounterHandlers, Surface, delete, turn

T = TypeVar("T")


class First(CounterHandlers, QLabel):
    """The trait before the Qt class, no ``__init__`` of its own."""


class Last(QLabel, CounterHandlers):
    """The trait after the Qt class."""


class FirstSkipped(CounterHandlers, QLabel):
    """Calls the Qt class's ``__init__`` and nobody else's."""

    def __init__(self, text: str, parent: QWidget) -> None:
        QLabel.__init__(self, text, parent, enabled=False)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]


class LastSkipped(QLabel, CounterHandlers):
    """The same with the trait behind."""

    def __init__(self, text: str, parent: QWidget) -> None:
        QLabel.__init__(self, text, parent, enabled=False)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]


class LastRepeated(QLabel, CounterHandlers):
    """Calls both base classes, as people do who learnt it from C++."""

    def __init__(self, text: str, parent: QWidget) -> None:
        QLabel.__init__(self, text, parent, enabled=False)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
        CounterHandlers.__init__(self)


class Deep(FirstSkipped):
    """Attributes come after ``super().__init__()``."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self.late = True


class Deeper(Deep):
    """Inherits its ``__init__``."""


class OfType(CounterHandlers, QLabel, Generic[T]):
    """A generic component."""


class Cooperative:
    """A second mixin with an argument of its own."""

    def __init__(self, *args: object, unit: str = "", **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.unit = unit


class WithSecondMixin(CounterHandlers, Cooperative, QLabel):
    """Two mixins before the Qt class."""


class WithSecondMixinBetween(Cooperative, CounterHandlers, QLabel):
    """In the other order."""


class Ui_Form:  # noqa: N801 - what uic writes
    """A form as ``pyside6-uic`` generates it."""

    def setupUi(self, form: QWidget) -> None:  # noqa: N802 - what uic writes
        """Put the form's widgets into ``form``."""
        form.setObjectName("Form")
        self.label = QLabel(form)


class FromUic(CounterHandlers, QLabel, Ui_Form):
    """Multiple inheritance with a generated form."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(text, parent, enabled=False)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
        self.setupUi(self)


class WithSlots(CounterHandlers, QLabel):
    """Says that it has no attributes of its own; Qt classes have a ``__dict__`` all the same."""

    __slots__ = ()


WITHOUT_INIT: list[Callable[..., Any]] = [First, Last, WithSecondMixin, WithSecondMixinBetween, WithSlots]
FORMS: list[Callable[..., Any]] = [
    First,
    Last,
    FirstSkipped,
    LastSkipped,
    LastRepeated,
    Deep,
    Deeper,
    OfType[int],
    WithSecondMixin,
    WithSecondMixinBetween,
    FromUic,
    WithSlots,
]


@pytest.mark.requirement("QT-LIFE-007")
@pytest.mark.parametrize("form", FORMS, ids=lambda form: getattr(form, "__name__", str(form)))
def test_every_form_of_a_class_registers_exactly_once_and_keeps_its_arguments(
    surface: Surface, form: Callable[..., Any]
) -> None:
    """Positional arguments, the parent and Qt properties reach the Qt class in every form."""
    window = QWidget()
    label = form("text", window, enabled=False) if form in WITHOUT_INIT else form("text", window)
    window.show()
    turn()
    assert (label.text(), label.parent()) == ("text", window)
    assert label.isEnabled() == (form is not OfType and form == OfType[int])
    assert label.agent_handle.status == "active"
    assert surface.registry.statistics().registrations == 1
    assert surface.watched == 1
    delete(window)


@pytest.mark.requirement("QT-LIFE-007")
def test_a_second_mixin_gets_its_keyword_argument(surface: Surface) -> None:
    """The trait takes none away."""
    window = QWidget()
    label = WithSecondMixin("text", window, unit="km")
    window.show()
    turn()
    assert (label.unit, surface.instances()) == ("km", ["default"])
    delete(window)


@pytest.mark.requirement("QT-LIFE-007")
def test_an_object_and_an_action_register_when_they_are_made(surface: Surface) -> None:
    """Showing means nothing for them."""

    class Controller(CounterHandlers, QObject):
        agent_instance_id = "object"

    class Command(CounterHandlers, QAction):
        agent_instance_id = "action"

    controller, command = Controller(), Command("text", QApplication.instance())
    assert (controller.agent_handle.status, command.agent_handle.status) == ("active", "active")
    assert sorted(surface.instances()) == ["action", "object"]
    assert surface.reason("read", "object") is None
    delete(command)
    del controller
    turn()
    assert surface.instances() == []


@pytest.mark.requirement("QT-LIFE-007")
def test_an_object_that_belongs_to_a_widget_is_as_present_as_the_widget(surface: Surface) -> None:
    """Its parent window is what a person would use it through."""

    class Controller(CounterHandlers, QObject):
        pass

    window = QWidget()
    controller = Controller(window)
    turn()
    assert surface.reason("read") == "Its window is not open."
    window.show()
    turn()
    assert surface.reason("read") is None
    announced = surface.announcements
    window.hide()
    turn()
    assert surface.announcements == announced + 1
    assert controller.agent_handle.status == "active"
    delete(window)


@pytest.mark.requirement("QT-LIFE-007")
def test_an_object_whose_init_fails_never_becomes_a_component(surface: Surface) -> None:
    """Half an object is none."""

    class Failing(CounterHandlers, QWidget):
        def __init__(self) -> None:
            super().__init__()
            self.show()
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Failing()
    turn()
    assert (surface.instances(), surface.watched) == ([], 0)


@pytest.mark.requirement("QT-LIFE-007")
def test_the_trait_is_a_plain_class_that_overrides_nothing_of_qt() -> None:
    """A QObject mixin crashes or is initialised twice; a metaclass conflicts with every other library's."""
    assert not issubclass(AgentComponentMixin, QObject)
    assert type(AgentComponentMixin) is type
    own = {name for name in vars(AgentComponentMixin) if not name.startswith("__")}
    assert not own & set(dir(QWidget))


@pytest.mark.requirement("QT-LIFE-007")
def test_a_component_is_asked_nothing_before_its_init_is_done(surface: Surface) -> None:
    """Qt sends events from inside the constructor."""
    asked_early = list[str]()

    class Careful(CounterHandlers, QWidget):
        def __init__(self) -> None:
            super().__init__()
            self.setWindowTitle("title")
            self.show()
            self.setEnabled(False)
            self.setEnabled(True)
            self.complete = True

        @override
        def read_value(self) -> int:
            return 0

        def agent_enabled(self) -> bool:
            if not hasattr(self, "complete"):
                asked_early.append("enabled")
            return True

    careful = Careful()
    turn()
    assert (asked_early, surface.instances()) == ([], ["default"])
    delete(careful)
