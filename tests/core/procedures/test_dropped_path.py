"""A back end that can do less than it could when the component registered."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agent_surface import JsonValue, ProcedureInfo, bind_procedure
from tests.core.surface_fixtures import ONE, RENAME, Surface, nothing, refusal, zero


class ShrinkingExecutor:
    """Runs what is in ``paths``, which anybody may take away."""

    def __init__(self, *paths: str) -> None:
        self.paths = set(paths)
        self.ran: list[str] = []

    async def execute(self, path: str, input: Mapping[str, JsonValue], info: ProcedureInfo) -> object:
        """Run one procedure."""
        self.ran.append(path)
        return f"{input['name']} {info.invocation_id}"


@pytest.mark.requirement("AS-BIND-003")
@pytest.mark.allow_logs("agent_surface.pipeline")
async def test_a_path_that_the_executor_no_longer_lists_is_not_run() -> None:
    """What it listed when it was installed is no promise for ever."""
    executor = ShrinkingExecutor(RENAME.path)
    surface = Surface(procedures=executor)
    surface.registry.register(
        ONE.bind(
            observations={"read": zero}, actions={"act": nothing, "go": nothing}, procedures=[bind_procedure(RENAME)]
        )
    )
    executor.paths.clear()
    result = await surface.invoke(RENAME.id, {"id": "d-1", "name": "new"})
    assert refusal(result) == ("EXECUTION_FAILED", {"reason": "handler-error"})
    assert executor.ran == []
    surface.registry.close()
