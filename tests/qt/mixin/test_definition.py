# Classes whose making fails are never used.
# pyright: reportUnusedClass=false
from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from agent_surface import AgentActionContext, AgentReadContext
from qt_binding import AgentComponentMixin, observes, performs
from tests.qt.mixin.parts import COUNTER, PING, PINGER, READ, RESET, Counter, SetValue, Surface, delete, shown

if TYPE_CHECKING:
    from nowhere import Unknown  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports, reportUnknownVariableType]


@pytest.mark.requirement("QT-LIFE-007")
def test_a_declared_capability_without_a_handler_fails_when_the_class_is_made() -> None:
    """Long before anybody calls it."""
    with pytest.raises(TypeError, match=r"Lacking has no handler for 'ping', which test\.pinger declares"):

        class Lacking(AgentComponentMixin, QWidget):
            agent_contract = PINGER


@pytest.mark.requirement("QT-LIFE-007")
def test_a_handler_for_nothing_declared_fails_when_the_class_is_made() -> None:
    """By contract and by name, also when an action is observed."""
    with pytest.raises(TypeError, match=r"Stray\.read .*'The value'.*test\.pinger does not declare"):

        class Stray(AgentComponentMixin, QWidget):
            agent_contract = PINGER

            @performs(PING)
            def ping(self) -> None: ...

            @observes(READ)
            def read(self) -> int:
                return 0

    with pytest.raises(TypeError, match=r"Named\.ping .*observation 'ping'.*test\.pinger does not declare"):

        class Named(AgentComponentMixin, QWidget):
            agent_contract = PINGER

            @observes("ping")
            def ping(self) -> None: ...


@pytest.mark.requirement("QT-LIFE-007")
def test_two_handlers_for_one_capability_fail_naming_both() -> None:
    """Which of them would run must not depend on order."""
    with pytest.raises(TypeError, match=r"Twice\.again and .*Twice\.ping both handle 'ping'"):

        class Twice(AgentComponentMixin, QWidget):
            agent_contract = PINGER

            @performs(PING)
            def ping(self) -> None: ...

            @performs("ping")
            def again(self) -> None: ...


@pytest.mark.requirement("QT-LIFE-007")
def test_annotations_that_contradict_the_contract_fail_when_the_class_is_made() -> None:
    """For those who use no type checker."""
    with pytest.raises(
        TypeError, match=r"Taking\.set_value takes str, but the input of test\.counter\.set is SetValue"
    ):

        class Taking(Counter):
            @override
            def set_value(self, request: str) -> None:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
                ...

    with pytest.raises(TypeError, match=r"Returning\.read_value returns str, but the output of .*read is int"):

        class Returning(Counter):
            @override
            def read_value(self) -> str:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
                return ""

    with pytest.raises(TypeError, match=r"Answering\.ping returns int, but test\.pinger\.ping declares no output"):

        class Answering(AgentComponentMixin, QWidget):
            agent_contract = PINGER

            @performs("ping")
            def ping(self) -> int:
                return 1


@pytest.mark.requirement("QT-LIFE-007")
def test_annotations_that_cannot_be_resolved_are_skipped() -> None:
    """Names under TYPE_CHECKING and local classes are ordinary."""

    class Local(SetValue): ...

    class Skipping(AgentComponentMixin, QWidget):
        agent_contract = COUNTER

        @observes("read")
        def read(self) -> Unknown:  # pyright: ignore[reportUnknownParameterType] - the point of this test
            return 0

        @performs("set")
        def set(self, request: Local) -> None: ...

        @performs(RESET)
        async def reset(self) -> None: ...

    assert Skipping.agent_contract is COUNTER


def test_a_class_without_a_contract_is_abstract(surface: Surface) -> None:
    """It may carry handlers for its subclasses, and is no component itself."""

    class Abstract(AgentComponentMixin, QWidget):
        @performs(PING)
        def ping(self) -> None: ...

    class Concrete(Abstract):
        agent_contract = PINGER

    abstract, concrete = Abstract(), Concrete()
    shown(abstract)
    shown(concrete)
    assert [component.type for component in surface.components()] == ["test.pinger"]
    assert abstract.agent_handle.status == "pending"
    delete(abstract, concrete)


def test_an_overridden_handler_keeps_its_role(surface: Surface) -> None:
    """By name; the decorator need not be repeated, and every kind of signature is served."""
    seen = list[object]()

    class Overriding(Counter):
        @override
        def read_value(self, context: AgentReadContext) -> int:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
            seen.append(context.capability_id)
            return 41

        @override
        async def set_value(  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
            self, request: SetValue, context: AgentActionContext
        ) -> None:
            seen.append((request.value, context.consumer.id))

    overriding = Overriding()
    shown(overriding)
    read = surface.invoke("view:test.counter.read")
    done = surface.invoke("view:test.counter.set", {"value": 7})
    assert (read.status, done.status) == ("ok", "ok")
    assert seen == ["view:test.counter.read", (7, "anonymous")]
    delete(overriding)


GOOD = """
from tests.qt.mixin.parts import READ, RESET, SET, SetValue
from agent_surface import AgentActionContext, AgentReadContext
from qt_binding import observes, performs

class Good:
    @observes(READ)
    def read(self) -> int: return 1
    @observes(READ)
    async def read_later(self, context: AgentReadContext) -> int: return 1
    @performs(SET, when=lambda self: self.ready(), reason="no", follows="property:checked")
    def set(self, request: SetValue) -> None: ...
    @performs(SET)
    async def set_later(self, request: SetValue, context: AgentActionContext) -> None: ...
    @performs(RESET)
    def reset(self) -> None: ...
    @performs("anything")
    def by_name(self, request: str) -> int: return 0
    def ready(self) -> bool: return True
    def use(self) -> int: return self.read() + self.by_name("x")
"""

BAD = [
    "@observes(READ)\n    def bad(self) -> str: return ''",
    "@observes(READ)\n    async def bad(self) -> str: return ''",
    "@performs(SET)\n    def bad(self, request: str) -> None: ...",
    "@performs(SET)\n    def bad(self, request: SetValue) -> int: return 1",
    "@performs(SET)\n    def bad(self, request: SetValue, context: str) -> None: ...",
    "@observes(RESET)\n    def bad(self) -> int: return 1",
]


@pytest.mark.requirement("QT-LIFE-007")
@pytest.mark.timeout(240)
def test_a_type_checker_sees_a_handler_that_contradicts_its_contract(tmp_path: Path) -> None:
    """The reason why decorators take the contract and not its name."""
    pytest.importorskip("mypy")
    (tmp_path / "good.py").write_text(GOOD)
    lines = GOOD.splitlines()
    head = "\n".join(lines[: lines.index("class Good:")])
    for number, bad in enumerate(BAD):
        (tmp_path / f"bad{number}.py").write_text(f"{head}\nclass Bad:\n    {bad}\n")
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--no-error-summary",
            "--explicit-package-bases",
            *map(str, sorted(tmp_path.glob("*.py"))),
        ],
        capture_output=True,
        text=True,
        cwd=root,
        check=False,
    )
    wrong = {Path(line.split(":")[0]).stem for line in done.stdout.splitlines() if ": error:" in line}
    assert wrong == {f"bad{number}" for number in range(len(BAD))}, done.stdout + done.stderr
