"""Procedures over HTTP from Qt's own event loop, which no asyncio program runs."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import httpx
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from typing_extensions import override

from agent_surface import (
    AgentInvocation,
    AgentInvocationResult,
    AgentSurfaceRegistry,
    bind_procedure,
    define_agent_component_contract,
    define_agent_procedure_contract,
    from_type,
    observation_contract,
)
from agent_surface.procedures import HttpExecutor
from agent_surface.testing import contract_authority
from qt_binding import create_qt_registry
from qt_binding._runtime import runtime_of_application
from tests.core.surface_fixtures import ANY_FIELDS, output, refusal

SAVE = define_agent_procedure_contract(
    id="domain:devices.save",
    description="Save a device",
    input=ANY_FIELDS,
    output=from_type(int),
    effect="server-mutation",
    confirmation="never",
)
FORM = define_agent_component_contract(
    type="devices.form",
    description="The form of a device",
    observations={"read": observation_contract(description="Read", output=from_type(int))},
)


@contextmanager
def back_end(release: Event) -> Generator[str]:
    """A server on threads of its own; it answers ``slow`` when it is released."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Answer with the length of what was sent."""
            body = self.rfile.read(int(self.headers["content-length"]))
            if b"slow" in body:
                release.wait(30)
            answer = str(len(body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        release.set()
        server.shutdown()
        thread.join()
        server.server_close()


async def calls(registry: AgentSurfaceRegistry, url: str) -> tuple[AgentInvocationResult, AgentInvocationResult]:
    """One call that is answered, and one that is too slow for its caller."""
    async with httpx.AsyncClient(trust_env=False) as client:
        registry.set_procedure_executor(HttpExecutor(client=client, base_url=url, paths=["devices.save"]))
        registry.register(FORM.bind(observations={"read": lambda: 0}, procedures=[bind_procedure(SAVE)]))
        quick = await registry.invoke(AgentInvocation(capability_id="domain:devices.save", input={"id": "1"}))
        slow = await registry.invoke(
            AgentInvocation(capability_id="domain:devices.save", input={"id": "slow"}), timeout_ms=50
        )
        registry.close()
        assert await registry.wait_closed(5_000)
    return quick, slow


def test_a_back_end_is_called_and_given_up_from_qts_loop(qapp: QApplication, qtbot: QtBot) -> None:
    """The client's cancel scopes and sockets work where Qt runs and asyncio is a guest."""
    del qapp
    registry = create_qt_registry(authority=contract_authority(FORM, SAVE), environment="test")
    with back_end(Event()) as url:
        task: asyncio.Task[tuple[AgentInvocationResult, AgentInvocationResult]] = runtime_of_application(
            "test"
        ).loop.create_task(calls(registry, url))
        qtbot.waitUntil(task.done, timeout=20_000)
    quick, slow = task.result()
    assert output(quick) == len('{"id":"1"}')
    assert refusal(slow)[0] == "TIMEOUT"
