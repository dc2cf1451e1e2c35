"""A server that speaks OpenAI's chat completions over loopback, word for word as a test wants it, from its own thread.

It waits for nothing but gates, which a test opens, and for the client, which may go away.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self, TypeAlias, cast

import pytest
from typing_extensions import override

from agent_surface._base._json import JsonValue

PATIENCE_S = 20
"""After this a test that opens no gate has failed anyway, and the thread must end."""


class Gate:
    """A place in an answer where the server stops until the test opens it."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.left = threading.Event()
        """The client went away while the server stood here."""
        self._reader, self._writer = socket.socketpair()

    def open(self) -> None:
        """Let the server go on."""
        self._writer.send(b"!")

    def close(self) -> None:
        """Free what the system keeps for it."""
        self._reader.close()
        self._writer.close()

    def pass_through(self, client: socket.socket) -> bool:
        """Stand here; whether the client is still there when it goes on."""
        self.reached.set()
        ready, _, _ = select.select([client, self._reader], [], [], PATIENCE_S)
        if client in ready:
            self.left.set()
            return False
        return bool(ready)


class Hangup:
    """The place in an answer where the server breaks the connection."""


HANGUP = Hangup()
Step: TypeAlias = "bytes | Gate | Hangup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An answer of server-sent events."""

    steps: Sequence[Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """An answer at once."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    first: Gate | None = None


Answer: TypeAlias = Stream | Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, JsonValue]:
        """The body."""
        return cast("dict[str, JsonValue]", json.loads(self.body))

    @property
    def messages(self) -> list[dict[str, JsonValue]]:
        """What the model is told, in order."""
        return cast("list[dict[str, JsonValue]]", self.json["messages"])

    @property
    def tool_block(self) -> bytes:
        """The bytes of the block of tools, as they went over the wire."""
        start = self.body.index(b'"tools":')
        decoded, length = json.JSONDecoder().raw_decode(self.body[start + len(b'"tools":') :].decode())
        assert isinstance(decoded, list)
        return self.body[start : start + len(b'"tools":') + length]


class OpenAIServer:
    """Gives one answer for each request, in order; a request too many is refused and counted."""

    def __init__(self) -> None:
        self.answers: deque[Answer] = deque()
        self.requests: list[Received] = []
        self.asked_too_often = 0
        self._gates: list[Gate] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                received = Received(path=self.path, headers=dict(self.headers.items()), body=self.rfile.read(length))
                server.requests.append(received)
                if not server.answers:
                    server.asked_too_often += 1
                    _plain(self, error(500, "nobody expected this request"))
                    return
                answer = server.answers.popleft()
                if isinstance(answer, Plain):
                    _plain(self, answer)
                else:
                    _stream(self, answer)

            @override
            def log_message(self, format: str, *args: object) -> None:
                """Nobody reads it."""

        self._http = _Threads(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address a person writes into the settings."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def gate(self) -> Gate:
        """A new gate, opened at the end at the latest."""
        made = Gate()
        self._gates.append(made)
        return made

    def will(self, *answers: Answer) -> None:
        """Give these answers next."""
        self.answers.extend(answers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for gate in self._gates:
            gate.open()
        self._http.shutdown()
        self._http.hang_up()
        self._http.server_close()
        self._thread.join()
        for gate in self._gates:
            gate.close()


class _Threads(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(address, handler)

    @override
    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        self._open.add(cast("socket.socket", request))
        super().process_request(request, client_address)

    @override
    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        self._open.discard(cast("socket.socket", request))
        super().shutdown_request(request)

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is part of most tests."""

    def hang_up(self) -> None:
        """End the connections that clients keep open."""
        for connection in tuple(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


def _plain(handler: BaseHTTPRequestHandler, answer: Plain) -> None:
    if answer.first is not None and not answer.first.pass_through(handler.connection):
        handler.close_connection = True
        return
    handler.send_response(answer.status)
    for name, value in {"Content-Type": "application/json", **answer.headers}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(answer.body)))
    handler.end_headers()
    handler.wfile.write(answer.body)


def _stream(handler: BaseHTTPRequestHandler, answer: Stream) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for step in answer.steps:
        if isinstance(step, Hangup):
            handler.close_connection = True
            return
        if isinstance(step, Gate):
            if not step.pass_through(handler.connection):
                handler.close_connection = True
                return
            continue
        handler.wfile.write(f"{len(step):x}\r\n".encode() + step + b"\r\n")
        handler.wfile.flush()
    handler.wfile.write(b"0\r\n\r\n")


# What a server says.


def event(value: object) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(delta: Mapping[str, object], finish: str | None = None) -> bytes:
    """A piece of an answer."""
    return event(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "test-model",
            "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}],
        }
    )


def end(finish: str = "stop", *, tokens: tuple[int, int] = (11, 7)) -> list[bytes]:
    """The end of an answer with its usage."""
    return [
        chunk({}, finish),
        event(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "test-model",
                "choices": [],
                "usage": {
                    "prompt_tokens": tokens[0],
                    "completion_tokens": tokens[1],
                    "total_tokens": sum(tokens),
                },
            }
        ),
        b"data: [DONE]\n\n",
    ]


def words(*pieces: str) -> list[bytes]:
    """Text in pieces."""
    return [chunk({"content": piece}) for piece in pieces]


def says(*pieces: str) -> Stream:
    """A whole answer of text."""
    return Stream(steps=[*words(*pieces), *end()])


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call of the model; ``arguments`` is what it sends, which need be no JSON."""

    name: str
    arguments: str = "{}"
    call_id: str = "call_1"


def wants(calls: Iterable[Call]) -> Iterator[bytes]:
    """The pieces of tool calls: the name first, the arguments in halves, as providers do."""
    for index, call in enumerate(calls):
        middle = len(call.arguments) // 2
        opening = {"name": call.name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call.call_id, "type": "function", "function": opening}]})
        for half in (call.arguments[:middle], call.arguments[middle:]):
            if half:
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": half}}]})


def uses(*calls: Call, saying: str = "") -> Stream:
    """A whole answer of tool calls."""
    return Stream(steps=[*(words(saying) if saying else []), *wants(calls), *end("tool_calls")])


def error(
    status: int, message: str = "no", *, code: str | None = None, headers: Mapping[str, str] | None = None
) -> Plain:
    """An error as OpenAI sends it."""
    body = {"error": {"message": message, "type": "some_error", "code": code, "param": None}}
    return Plain(status=status, body=json.dumps(body).encode(), headers=dict(headers or {}))


def serving() -> Iterator[OpenAIServer]:
    """A server for one test, which fails if it was asked for more than it was to answer.

    What asks it is loaded first: that can take longer than a turn may.
    """
    pytest.importorskip("pydantic_ai.direct")
    pytest.importorskip("pydantic_ai.models.openai")
    with OpenAIServer() as made:
        yield made
        assert made.asked_too_often == 0
