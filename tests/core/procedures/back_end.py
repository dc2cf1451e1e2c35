"""A real HTTP server on the loopback interface, whose every byte is in the hands of the test."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

from agent_surface import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came in; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> JsonValue:
        """The body as JSON."""
        value: JsonValue = json.loads(self.body)
        return value


Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class BackEnd:
    """What it answers next, what it was asked, and who hung up."""

    answer: Answer
    url: str = ""
    received: list[Received] = field(default_factory=list[Received])
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while not writer.is_closing():
                self.received.append(await _request(reader))
                self.asked.set()
                await self.answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.hung_up.set()
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def _request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method=method, target=target, headers=headers, body=body)


def answering(status: int = 200, value: JsonValue = None, **headers: str) -> Answer:
    """An ordinary answer with a JSON body; a header ``retry_after`` is sent as ``retry-after``."""
    return raw(status, json.dumps(value).encode(), **{"content_type": "application/json", **headers})


def raw(status: int, body: bytes, **headers: str) -> Answer:
    """An answer with any body."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        with contextlib.suppress(ConnectionError):
            await writer.drain()

    return answer


def bytes_then_hang_up(data: bytes) -> Answer:
    """Some bytes, and the connection is gone."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    return answer


async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """No answer, until the caller hangs up."""
    await reader.read()
    writer.close()


@contextlib.asynccontextmanager
async def back_end(answer: Answer) -> AsyncGenerator[BackEnd]:
    """A server for the time of the ``with`` statement."""
    made = BackEnd(answer=answer)
    serving: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.ensure_future(made.serve(reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    made.url = f"http://{host}:{port}"
    try:
        yield made
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
