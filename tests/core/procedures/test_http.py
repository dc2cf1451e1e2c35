"""Procedures over HTTP, against a real server."""

from __future__ import annotations

import asyncio
import gzip
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from agent_surface import (
    AgentCapabilityError,
    AgentInvocationResult,
    InvocationError,
    JsonValue,
    ProcedureInfo,
    bind_procedure,
    capability_error,
    define_agent_procedure_contract,
    from_json_schema,
)
from agent_surface.errors import ErrorCode
from agent_surface.procedures import HttpExecutor, HttpFailure
from tests.core.procedures.back_end import Answer, BackEnd, answering, back_end, bytes_then_hang_up, never, raw
from tests.core.surface_fixtures import ONE, Surface, output, refusal, turns

SECRET = "Traceback: SELECT token FROM users at /srv/app/db.py"

SAVE = define_agent_procedure_contract(
    id="domain:devices.save",
    description="Save a device",
    input=from_json_schema(
        {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["id"],
            "additionalProperties": False,
        }
    ),
    output=from_json_schema({}),
    effect="server-mutation",
    confirmation="never",
)
SAVE_ID = "domain:devices.save"
INPUT: JsonValue = {"id": "d1", "tags": ["a", "b"]}


@pytest.fixture
async def server() -> AsyncIterator[BackEnd]:
    """A back end that accepts everything."""
    async with back_end(answering(200, {"saved": True})) as made:
        yield made


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """The application's client."""
    async with httpx.AsyncClient(trust_env=False) as made:
        yield made


def surface_over(
    server: BackEnd,
    client: httpx.AsyncClient,
    *,
    map_server_error: Callable[[HttpFailure], AgentCapabilityError | None] | None = None,
    idempotency_key: Callable[[ProcedureInfo], str] | None = None,
    max_response_bytes: int = 10_000,
) -> Surface:
    """A registry whose one procedure goes to the server."""
    made = Surface(
        ONE,
        SAVE,
        procedures=HttpExecutor(
            client=client,
            base_url=server.url + "/api/",
            paths=["devices.save"],
            map_server_error=map_server_error,
            idempotency_key=idempotency_key,
            max_response_bytes=max_response_bytes,
        ),
    )
    made.mount(procedures=[bind_procedure(SAVE)])
    return made


async def save(
    surface: Surface, *, invocation_id: str | None = None, confirmation_id: str | None = None
) -> AgentInvocationResult:
    """Invoke the procedure."""
    return await surface.invoke(SAVE_ID, INPUT, invocation_id=invocation_id, confirmation_id=confirmation_id)


async def answer_to(
    answer: Answer, *, map_server_error: Callable[[HttpFailure], AgentCapabilityError | None] | None = None
) -> tuple[AgentInvocationResult, Surface]:
    """What one call is told of one answer."""
    async with back_end(answer) as server, httpx.AsyncClient(trust_env=False) as client:
        surface = surface_over(server, client, map_server_error=map_server_error)
        result = await save(surface)
        surface.registry.close()
        # What httpx leaves of a body that was not read to its end is finished by the loop.
        await turns()
    return result, surface


async def test_the_effective_input_goes_there_and_the_output_comes_back(
    server: BackEnd, client: httpx.AsyncClient
) -> None:
    """One POST below the base URL, JSON both ways, with the invocation id as its idempotency key."""
    surface = surface_over(server, client)
    result = await save(surface, invocation_id="inv-1")
    (request,) = server.received
    assert output(result) == {"saved": True}
    assert (request.method, request.target, request.json()) == ("POST", "/api/devices/save", INPUT)
    assert request.headers["content-type"] == "application/json"
    assert request.headers["idempotency-key"] == "inv-1"
    assert not [name for name in request.headers if name.startswith("agent-confirmation")]
    surface.registry.close()


async def test_an_id_that_no_header_can_carry_is_encoded(server: BackEnd, client: httpx.AsyncClient) -> None:
    """An id is the caller's text; it cannot smuggle a header in, and different ids stay different."""
    surface = surface_over(server, client)
    await save(surface, invocation_id="a\r\nx-evil: 1\té")
    assert server.received[0].headers["idempotency-key"] == "a%0D%0Ax-evil:%201%09%C3%A9"
    assert "x-evil" not in server.received[0].headers
    surface.registry.close()


async def test_the_application_can_make_the_idempotency_key(server: BackEnd, client: httpx.AsyncClient) -> None:
    """Two consumers may choose the same invocation id."""
    surface = surface_over(server, client, idempotency_key=lambda info: f"{info.consumer.key}/{info.invocation_id}")
    await save(surface, invocation_id="1")
    assert server.received[0].headers["idempotency-key"] == "embedded:anonymous/1"
    surface.registry.close()


@pytest.mark.parametrize("answer", [raw(204, b""), raw(200, b"")], ids=["204", "200"])
async def test_an_answer_without_a_body_is_no_output(answer: Answer) -> None:
    """204, or an empty body whatever its type."""
    result, _ = await answer_to(answer)
    assert output(result) is None


FAILED: dict[str, JsonValue] = {"reason": "transport", "transient": False}
FAILED_FOR_NOW: dict[str, JsonValue] = {"reason": "transport", "transient": True}
NOT_ACCEPTED: dict[str, JsonValue] = {"issues": [{"path": "", "message": "was not accepted by the back end"}]}
REFUSALS: list[tuple[int, str, dict[str, JsonValue], str]] = [
    (401, "NOT_AUTHENTICATED", {}, "no"),
    (403, "NOT_AUTHORIZED", {"origin": "server"}, "no"),
    (409, "PRECONDITION_FAILED", {}, "with-changes"),
    (422, "INVALID_INPUT", NOT_ACCEPTED, "with-changes"),
    (429, "RATE_LIMITED", {"reason": "rate"}, "after-delay"),
    *[(status, "EXECUTION_FAILED", FAILED, "no") for status in (301, 304, 400, 404, 418)],
    *[(status, "EXECUTION_FAILED", FAILED_FOR_NOW, "after-delay") for status in (500, 502, 503, 599)],
]


@pytest.mark.requirement("AS-ERR-001")
@pytest.mark.parametrize(("status", "code", "details", "retry"), REFUSALS, ids=[str(case[0]) for case in REFUSALS])
async def test_a_status_has_its_code_and_its_body_stays_here(
    status: int, code: str, details: dict[str, JsonValue], retry: str
) -> None:
    """Nothing the back end said reaches the agent; status and procedure are in the audit."""
    answer = answering(status, {"message": SECRET, "detail": SECRET, "issues": [{"path": SECRET, "message": SECRET}]})
    result, surface = await answer_to(answer)
    assert refusal(result) == (code, details)
    assert isinstance(result, InvocationError)
    assert result.error.retry.value == retry
    assert "SELECT" not in str(result.to_json())
    (record,) = surface.audited()
    assert record.phase == 9
    assert code == "INVALID_INPUT" or (record.facts["status"], record.facts["procedure"]) == (status, "devices.save")


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({"issues": [{"path": "/tags/1", "message": SECRET}, {"path": "/id"}]}, ["/tags/1", "/id"]),
        ({"errors": [{"pointer": "#/id", "detail": SECRET}]}, ["/id"]),
        ({"detail": [{"loc": ["body", "tags", 0], "msg": SECRET, "input": SECRET}]}, ["/tags/0"]),
        ({"issues": [{"path": "/tags/7"}, {"path": f"/id/{SECRET}"}, {"path": f"/{SECRET}"}]}, ["/tags", "/id"]),
        ({"issues": [{"path": 3}, 4, {"path": "id"}, {}], "errors": 5, "detail": "no"}, [""]),
        (SECRET, [""]),
        ([SECRET], [""]),
    ],
    ids=["issues", "problem details", "detail", "beyond the input", "other shapes", "text", "list"],
)
async def test_of_refused_input_only_places_in_the_input_are_told(body: JsonValue, paths: list[str]) -> None:
    """A path could say anything: as much of it is told as leads through what was sent, and in words of ours."""
    result, _ = await answer_to(answering(422, body))
    assert refusal(result) == (
        "INVALID_INPUT",
        {"issues": [{"path": path, "message": "was not accepted by the back end"} for path in paths]},
    )


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry_after": "7"}, 7_000),
        ({"retry_after": "99999999999999999999"}, 86_400_000),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30_000),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT", "date": "Wed, 21 Oct 2015 07:28:30 GMT"}, 0),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:30 GMT"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-1"}, None),
    ],
    ids=["seconds", "for ever", "date", "past date", "date alone", "words", "negative"],
)
async def test_the_wait_a_back_end_asks_for_is_told(status: int, headers: dict[str, str], wait: int | None) -> None:
    """Seconds, or a date that counts from the date of the same answer; never more than a day."""
    result, _ = await answer_to(answering(status, None, **headers))
    assert refusal(result)[1].get("retryAfterMs") == wait


BROKEN: list[tuple[str, Answer, str]] = [
    ("malformed", raw(200, b'{"saved":', content_type="application/json"), "malformed-json"),
    ("not finite", raw(200, b'{"saved": NaN}', content_type="application/json"), "malformed-json"),
    ("surrogate", raw(200, b'"\\ud800"', content_type="application/json"), "malformed-json"),
    ("deep", raw(200, b"[" * 9_000, content_type="application/json"), "malformed-json"),
    ("no utf-8", raw(200, b'"\xff"', content_type="application/json"), "malformed-json"),
    ("html", raw(200, b"<html>", content_type="text/html"), "content-type"),
    ("no type", raw(200, b"{}"), "content-type"),
    (
        "packed",
        raw(200, gzip.compress(b"{}"), content_type="application/json", content_encoding="gzip"),
        "content-encoding",
    ),
]


@pytest.mark.parametrize(("answer", "cause"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
async def test_an_answer_that_is_no_json_is_a_failed_transport(answer: Answer, cause: str) -> None:
    """It will not be better next time, so it is not transient; the cause is for the audit."""
    result, surface = await answer_to(answer)
    assert refusal(result) == ("EXECUTION_FAILED", FAILED)
    assert surface.audited()[0].facts["cause"] == cause


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "Application/Vnd.Acme+JSON"])
async def test_json_by_any_of_its_names_is_read(media_type: str) -> None:
    """Parameters and structured suffixes are part of the type."""
    result, _ = await answer_to(raw(200, b"1", content_type=media_type))
    assert output(result) == 1


@pytest.mark.parametrize(
    "answer",
    [
        bytes_then_hang_up(b""),
        bytes_then_hang_up(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"),
        bytes_then_hang_up(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{"),
        bytes_then_hang_up(b"this is no HTTP\r\n\r\n"),
    ],
    ids=["at once", "in the body", "in a chunk", "no HTTP"],
)
async def test_a_connection_that_breaks_is_a_transient_failure(answer: Answer) -> None:
    """The next attempt may get through."""
    result, _ = await answer_to(answer)
    assert refusal(result) == ("EXECUTION_FAILED", FAILED_FOR_NOW)


async def test_a_back_end_that_is_not_there_is_a_transient_failure(client: httpx.AsyncClient) -> None:
    """Nobody listens on the port."""
    async with back_end(never) as gone:
        pass
    surface = surface_over(gone, client)
    result = await save(surface)
    assert refusal(result) == ("EXECUTION_FAILED", FAILED_FOR_NOW)
    assert gone.url not in str(result.to_json())
    surface.registry.close()


async def test_the_clients_own_time_out_is_a_transient_failure(server: BackEnd) -> None:
    """The application's client is slower to give up, or quicker; then the call ends with it."""
    server.answer = never
    async with httpx.AsyncClient(trust_env=False, timeout=httpx.Timeout(None, read=0.01)) as client:
        surface = surface_over(server, client)
        result = await save(surface)
    assert refusal(result) == ("EXECUTION_FAILED", FAILED_FOR_NOW)
    surface.registry.close()


async def test_an_answer_that_is_too_large_is_not_read_to_its_end(server: BackEnd, client: httpx.AsyncClient) -> None:
    """A stream without an end is given up, and its connection closed."""
    written = 0

    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1000\r\n" + b" " * 0x1000 + b"\r\n")
            written += 0x1000
            await writer.drain()

    server.answer = endless
    surface = surface_over(server, client)
    assert refusal(await save(surface)) == ("EXECUTION_FAILED", {"reason": "output-too-large"})
    await asyncio.wait_for(server.hung_up.wait(), 10)
    surface.registry.close()


async def test_a_refusal_with_a_huge_body_is_still_that_refusal() -> None:
    """The status has said what matters; the body is not read to its end."""
    seen: list[JsonValue] = []

    def look(failure: HttpFailure) -> None:
        seen.append(failure.body)

    result, _ = await answer_to(answering(403, "x" * 100_000), map_server_error=look)
    assert refusal(result) == ("NOT_AUTHORIZED", {"origin": "server"})
    assert seen == [None]


async def test_a_redirect_is_not_followed(server: BackEnd) -> None:
    """Also when the application's client would: input must not go where nobody meant it to."""
    server.answer = answering(307, None, location="/elsewhere")
    async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as client:
        surface = surface_over(server, client)
        result = await save(surface)
    assert refusal(result) == ("EXECUTION_FAILED", FAILED)
    assert [request.target for request in server.received] == ["/api/devices/save"]
    surface.registry.close()


async def test_a_call_that_times_out_hangs_up(server: BackEnd, client: httpx.AsyncClient) -> None:
    """The request ends with the call, and the client can be used again."""
    server.answer = never
    surface = surface_over(server, client)
    call = asyncio.ensure_future(save(surface))
    await asyncio.wait_for(server.asked.wait(), 10)
    surface.clock.advance(30_000)
    assert refusal(await call) == ("TIMEOUT", {"timeoutMs": 30_000, "idempotent": False})
    await asyncio.wait_for(server.hung_up.wait(), 10)
    server.answer = answering(200, 1)
    assert output(await save(surface)) == 1
    surface.registry.close()
    assert await surface.registry.wait_closed()


async def test_a_cancelled_call_hangs_up(server: BackEnd, client: httpx.AsyncClient) -> None:
    """Nobody waits for the answer any more."""
    server.answer = never
    surface = surface_over(server, client)
    call = asyncio.ensure_future(save(surface))
    await asyncio.wait_for(server.asked.wait(), 10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.wait_for(server.hung_up.wait(), 10)
    assert surface.audited()[0].code is ErrorCode.CANCELLED
    surface.registry.close()
    assert await surface.registry.wait_closed()


async def test_a_back_ends_own_demand_is_put_to_the_person_and_the_evidence_goes_along(
    server: BackEnd, client: httpx.AsyncClient
) -> None:
    """An ordinary record, origin server; the approval is told to the back end with the retry."""
    server.answer = answering(428, {"summary": SECRET})
    surface = surface_over(server, client)
    code, details = refusal(await save(surface, invocation_id="i"))
    assert (code, details["origin"], details["effect"]) == ("CONFIRMATION_REQUIRED", "server", "server-mutation")
    assert "SELECT" not in str(details)
    confirmation_id = surface.approve()
    server.answer = answering(200, 1)
    assert output(await save(surface, invocation_id="i", confirmation_id=confirmation_id)) == 1
    headers = server.received[-1].headers
    assert headers["agent-confirmation-id"] == confirmation_id
    assert headers["agent-confirmation-approved-at"].endswith("Z")
    surface.registry.close()


async def test_the_application_maps_what_it_knows_better() -> None:
    """The hook sees the whole answer and decides; ``None`` leaves it to the table."""
    seen: list[HttpFailure] = []

    def map_it(failure: HttpFailure) -> AgentCapabilityError | None:
        seen.append(failure)
        if failure.headers.get("x-kind") == "locked":
            return capability_error(ErrorCode.PRECONDITION_FAILED, message="The device is locked.")
        return None

    result, _ = await answer_to(answering(423, {"by": "bob"}, x_kind="locked"), map_server_error=map_it)
    assert refusal(result)[0] == "PRECONDITION_FAILED"
    assert (seen[0].path, seen[0].status, seen[0].body, seen[0].input) == ("devices.save", 423, {"by": "bob"}, INPUT)
    result, _ = await answer_to(answering(403), map_server_error=map_it)
    assert refusal(result)[0] == "NOT_AUTHORIZED"


async def test_a_mapping_that_raises_falls_back_on_the_table(expected_logs: list[logging.LogRecord]) -> None:
    """Its mistake is in the log and no concern of the agent."""

    def broken(_: HttpFailure) -> None:
        raise RuntimeError(SECRET)

    result, _ = await answer_to(answering(403), map_server_error=broken)
    assert refusal(result) == ("NOT_AUTHORIZED", {"origin": "server"})
    assert [record.levelname for record in expected_logs] == ["ERROR"]


@pytest.mark.parametrize(
    "base_url",
    ["", "back.end/api", "ftp://back.end", "https://", "https://u:p@back.end", "https://b.e/?a=1", "https://b.e/#a"],
)
async def test_a_base_url_is_a_place_and_nothing_else(base_url: str, client: httpx.AsyncClient) -> None:
    """No credentials, no query: those belong to the client."""
    with pytest.raises(ValueError, match="base URL"):
        HttpExecutor(client=client, base_url=base_url, paths=["a"])


@pytest.mark.parametrize("url", ["", "/", "..", "a/../../b", "a/%2e%2e/b", "//evil.example", "a//b", "a\\b", "./a"])
async def test_no_url_leads_out_of_the_base_url(url: str, client: httpx.AsyncClient) -> None:
    """What a mapping says is below the base URL stays there."""
    with pytest.raises(ValueError, match="does not stay below"):
        HttpExecutor(client=client, base_url="https://b.e/api", paths={"a": url})


async def test_paths_can_have_urls_of_their_own(server: BackEnd, client: httpx.AsyncClient) -> None:
    """A back end that was there before keeps its URLs."""
    executor = HttpExecutor(client=client, base_url=server.url, paths={"devices.save": "/v1/devices:save"})
    surface = Surface(ONE, SAVE, procedures=executor)
    surface.mount(procedures=[bind_procedure(SAVE)])
    await save(surface)
    assert server.received[0].target == "/v1/devices:save"
    assert list(executor.paths) == ["devices.save"]
    surface.registry.close()


async def test_a_path_without_a_url_of_its_own_becomes_segments(client: httpx.AsyncClient) -> None:
    """A path is opaque; one that would make an empty segment needs a URL of its own."""
    with pytest.raises(ValueError, match="does not stay below"):
        HttpExecutor(client=client, base_url="https://b.e", paths=["a..b"])


def test_httpx_is_not_imported_unless_an_executor_is_made() -> None:
    """An application whose services are in process does not pay for it, and need not have it."""
    code = (
        "import sys, agent_surface, agent_surface.telemetry\n"
        "sys.exit(bool({'httpx', 'opentelemetry'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b"\xff"], ids=["cut off", "endless", "no text"])
async def test_a_refusal_whose_body_is_broken_is_told_by_its_status(body: bytes) -> None:
    """The status has said what matters."""
    result, _ = await answer_to(raw(409, body, content_type="application/json"))
    assert refusal(result) == ("PRECONDITION_FAILED", {})
