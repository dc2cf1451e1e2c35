"""What an assistant can do to the fleet itself: the services behind the procedures, and where they are offered.

Above: ``demo_app.composition``. Below: ``demo_app.views``, ``demo_app.contracts`` and ``qt_binding``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from agent_surface import ErrorCode, JsonValue, ProcedureExecutor, ProcedureInfo, ServiceExecutor, capability_error
from demo_app.contracts import (
    DISABLE_DEVICES,
    ENABLE_DEVICES,
    MAX_DEVICES,
    RENAME_DEVICE,
    ChangeCount,
    RenamedDevice,
)
from demo_app.domain import (
    ChangeResult,
    Device,
    FleetError,
    InvalidFieldError,
    OperationCancelledError,
    UnknownDevicesError,
)
from demo_app.views import DeviceDrawer, FleetSession, Job, MainWindow
from qt_binding import use_agent_procedure

T = TypeVar("T")


def create_fleet_services(session: FleetSession, *, person: str) -> ProcedureExecutor:
    """The procedures as jobs of the fleet session.

    Args:
        session: Runs the jobs, on its worker.
        person: For whom the assistant acts; the activity log says so.
    """

    async def disable(ids: Sequence[str], info: ProcedureInfo) -> ChangeCount:
        return _count(await _result(session.disable(ids, actor=_actor(info, person)), ChangeResult))

    async def enable(ids: Sequence[str], info: ProcedureInfo) -> ChangeCount:
        return _count(await _result(session.enable(ids, actor=_actor(info, person)), ChangeResult))

    async def rename(id: str, name: str, info: ProcedureInfo) -> RenamedDevice:
        device = await _result(session.rename(id, name, actor=_actor(info, person)), Device)
        return RenamedDevice(id=device.id, name=device.name)

    return ServiceExecutor({DISABLE_DEVICES.path: disable, ENABLE_DEVICES.path: enable, RENAME_DEVICE.path: rename})


def offer_procedures(window: MainWindow) -> None:
    """Bind the procedures to what a person sees: the selection in the table, the device in the drawer."""
    session, table = window.session, window.table
    for contract in (DISABLE_DEVICES, ENABLE_DEVICES):
        use_agent_procedure(
            table,
            contract,
            bind={"ids": lambda: _json(table.selected_ids())},
            when=lambda: not _selection_obstacle(window),
            reason=lambda: _selection_obstacle(window),
            follows=[table.selection_changed, session.busy_changed],
            describe=lambda: _selection_text(window),
        )
    use_agent_procedure(
        window.drawer,
        RENAME_DEVICE,
        bind={"id": lambda: _device_id(window.drawer)},
        when=lambda: not _device_obstacle(window),
        reason=lambda: _device_obstacle(window),
        follows=[window.drawer.device_changed, table.selection_changed, session.busy_changed],
        describe=lambda: _device_text(window.drawer),
    )


def _selection_obstacle(window: MainWindow) -> str:
    nothing = window.table.selection_obstacle()
    if nothing or window.session.obstacle():
        return nothing or window.session.obstacle()
    count = window.table.selected_count()
    if count <= MAX_DEVICES:
        return ""
    number = window.locale().toString
    return window.tr("{count} devices are selected, and {most} can be changed at once. Narrow the selection.").format(
        count=number(count), most=number(MAX_DEVICES)
    )


def _device_obstacle(window: MainWindow) -> str:
    if window.table.selected_count() > 1:
        # The drawer shows one of them, but "rename it" would be a guess.
        return window.tr("Several devices are selected, and one can be renamed. Select only that one.")
    return window.drawer.device_obstacle() or window.session.obstacle()


def _selection_text(window: MainWindow) -> str:
    """What the procedure is about to act on, in a few words."""
    count = window.table.selected_count()
    if not count:
        return ""
    return window.tr("Acts on the selected devices. Selected: {count}.").format(count=window.locale().toString(count))


def _device_id(drawer: DeviceDrawer) -> str:
    device = drawer.device()
    return "" if device is None else device.id


def _device_text(drawer: DeviceDrawer) -> str:
    device = drawer.device()
    return "" if device is None else drawer.tr("Acts on {device} in the drawer.").format(device=device.id)


def _json(values: Sequence[str]) -> JsonValue:
    return list[JsonValue](values)


def _count(result: ChangeResult) -> ChangeCount:
    return ChangeCount(changed=len(result.changed_ids), unchanged=len(result.unchanged_ids))


def _actor(info: ProcedureInfo, person: str) -> str:
    return f"{info.consumer.id} for {person}"


async def _result(job: Job, kind: type[T]) -> T:
    """The job's result; what the fleet's rules refuse becomes a typed refusal.

    When the call is cancelled the job is asked to stop and the wait ends at once. The job's own future is never
    cancelled: the job still runs, and will set it.
    """
    try:
        result = await asyncio.shield(asyncio.wrap_future(job.future))
    except asyncio.CancelledError:
        job.cancel()
        raise
    except FleetError as error:
        raise _refusal(error) from error
    if not isinstance(result, kind):
        raise TypeError(f"{job.label} returned {type(result).__name__}, not {kind.__name__}")
    return result


def _refusal(error: FleetError) -> Exception:
    """What an agent is told. The database's own message may name a path, so it stays in the log."""
    match error:
        case UnknownDevicesError():
            return capability_error(ErrorCode.PRECONDITION_FAILED, message=str(error))
        case InvalidFieldError():
            return capability_error(ErrorCode.INVALID_INPUT, message=str(error))
        case OperationCancelledError():
            return capability_error(ErrorCode.CANCELLED)
        case _:
            return error
