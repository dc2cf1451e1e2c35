"""Procedures over HTTP: JSON there and back, and nothing of what the back end says on its way to an agent."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing
from types import MappingProxyType
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote, urlsplit

from agent_surface._base._json import JsonValue, NotJsonError, check_json, compact_json
from agent_surface._failures import execution_failed
from agent_surface.errors import AgentCapabilityError
from agent_surface.procedures._executor import ProcedureInfo
from agent_surface.procedures._http_refusals import HttpFailure, refusal_of

if TYPE_CHECKING:
    import httpx

logger = logging.getLogger("agent_surface.procedures")

MAX_FAILURE_BYTES = 65_536
"""How much of the body of a refusal is read, for the application's own mapping and for issues."""

_JSON_TYPE = re.compile(r"application/(?:[\w.+-]+\+)?json\Z", re.IGNORECASE)
_SUCCESS = range(200, 300)
_NO_CONTENT = 204


class HttpExecutor:
    """Runs procedures by HTTP: ``POST`` of the effective input as JSON, answered with the output as JSON or with 204.

    ========  ===================================================================================================
    status    what the agent is told
    ========  ===================================================================================================
    401       ``NOT_AUTHENTICATED``
    403       ``NOT_AUTHORIZED``, origin ``server``
    409       ``PRECONDITION_FAILED``
    422       ``INVALID_INPUT``; of the body only which parts of the input were refused
    428       ``CONFIRMATION_REQUIRED``, origin ``server``: the person is asked, the evidence goes along with the retry
    429       ``RATE_LIMITED``, with ``Retry-After`` in seconds or as a date
    others    ``EXECUTION_FAILED``, transport; transient for 5xx and when the network failed
    ========  ===================================================================================================

    Redirects are not followed. Bodies are never forwarded (AS-ERR-002); ``map_server_error`` may read them.

    Each request carries the invocation id as ``Idempotency-Key``, and, when a person approved this very input,
    ``Agent-Confirmation-Id`` and ``Agent-Confirmation-Approved-At``: information for the back end, never authority.

    When the call times out or is cancelled, so is the request: its connection is closed.

    Needs ``httpx`` (extra ``http``), and so does whoever makes the client; nothing is imported otherwise.

    Args:
        client: Made, configured (credentials, time-outs, certificates, proxies) and closed by the application, and
            used on the registry's loop only.
        base_url: ``http://`` or ``https://``, host and perhaps a path; everything is below it.
        paths: The procedure paths it runs. As a mapping, each with the URL it has below ``base_url``; otherwise
            ``devices.disable`` has the URL ``devices/disable``.
        map_server_error: Asked first about every status that is no success; returns what to refuse with (made by
            ``capability_error``), or ``None`` for the table above.
        idempotency_key: Makes the key in place of the invocation id. An invocation id is unique for one consumer: give
            a key of your own when several consumers reach one back end and choose their own ids.
        max_response_bytes: An answer that is larger is not read to its end.

    Raises:
        ValueError: ``base_url`` or a URL is not what it should be.
    """

    def __init__(
        self,
        *,
        client: httpx.AsyncClient,
        base_url: str,
        paths: Collection[str] | Mapping[str, str],
        map_server_error: Callable[[HttpFailure], AgentCapabilityError | None] | None = None,
        idempotency_key: Callable[[ProcedureInfo], str] | None = None,
        max_response_bytes: int = 1_048_576,
    ) -> None:
        # A client is here, so the module is loaded; it is bound here to keep it out of everybody else's import.
        import httpx

        self._httpx = httpx
        self._client = client
        self._urls = MappingProxyType(_urls(base_url, paths))
        self._map_server_error = map_server_error
        self._idempotency_key = idempotency_key
        self._max_response_bytes = max_response_bytes

    @property
    def paths(self) -> Collection[str]:
        """The procedure paths it can run."""
        return self._urls.keys()

    async def execute(self, path: str, input: Mapping[str, JsonValue], info: ProcedureInfo) -> object:
        """Send one request and return the JSON of its answer; ``None`` when there is none.

        Raises:
            AgentCapabilityError: The back end refused, could not be reached, or did not answer properly.
        """
        request = self._client.build_request(
            "POST", self._urls[path], content=compact_json(dict(input)).encode(), headers=self._headers(info)
        )
        try:
            response = await self._client.send(request, stream=True, follow_redirects=False)
            try:
                return await self._answer(path, input, response)
            finally:
                await response.aclose()
        except self._httpx.HTTPError as error:
            # What went wrong on the way may be gone next time; what we or the client did wrong will not be.
            transient = isinstance(error, self._httpx.TransportError) and not isinstance(
                error, self._httpx.UnsupportedProtocol | self._httpx.LocalProtocolError
            )
            raise self._failed(path, type(error).__name__, transient=transient) from error

    def _headers(self, info: ProcedureInfo) -> dict[str, str]:
        key = self._idempotency_key(info) if self._idempotency_key is not None else info.invocation_id
        headers = {
            "Accept": "application/json",
            # A small body could unpack to any size.
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "Idempotency-Key": _header(key),
        }
        if info.confirmation is not None:
            headers["Agent-Confirmation-Id"] = _header(info.confirmation.id)
            headers["Agent-Confirmation-Approved-At"] = _header(info.confirmation.approved_at)
        return headers

    async def _answer(self, path: str, input: Mapping[str, JsonValue], response: httpx.Response) -> object:
        if response.status_code not in _SUCCESS:
            raise await self._refusal(path, input, response)
        body = await _read(response, self._max_response_bytes)
        if body is None:
            raise execution_failed(
                "output-too-large", log_facts={"procedure": path, "max_response_bytes": self._max_response_bytes}
            )
        if not body:
            return None
        if _encoded(response):
            raise self._failed(path, "content-encoding", status=response.status_code)
        if not _is_json(response):
            raise self._failed(path, "content-type", status=response.status_code)
        try:
            return _parsed(body)
        except (ValueError, RecursionError) as error:
            raise self._failed(path, "malformed-json", status=response.status_code) from error

    async def _refusal(
        self, path: str, input: Mapping[str, JsonValue], response: httpx.Response
    ) -> AgentCapabilityError:
        failure = HttpFailure(
            path=path,
            status=response.status_code,
            headers=MappingProxyType({name.lower(): value for name, value in response.headers.items()}),
            body=await self._failure_body(response),
            input=dict(input),
        )
        logger.info("the back end answered %s with %d", path, failure.status)
        if self._map_server_error is not None:
            try:
                mapped = self._map_server_error(failure)
            except Exception:
                logger.exception("mapping a refusal of %s raised; the usual mapping is used", path)
            else:
                if isinstance(mapped, AgentCapabilityError):
                    return mapped
        return refusal_of(failure)

    async def _failure_body(self, response: httpx.Response) -> JsonValue:
        try:
            body = await _read(response, MAX_FAILURE_BYTES)
            return _parsed(body) if body and _is_json(response) and not _encoded(response) else None
        except (self._httpx.HTTPError, ValueError, RecursionError):
            # The status has said what matters.
            return None

    def _failed(
        self, path: str, cause: str, *, transient: bool = False, status: int | None = None
    ) -> AgentCapabilityError:
        logger.info("the back end did not answer %s properly: %s", path, cause)
        return execution_failed(
            "transport", transient=transient, log_facts={"procedure": path, "cause": cause, "status": status}
        )


def _urls(base_url: str, paths: Collection[str] | Mapping[str, str]) -> dict[str, str]:
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("a base URL is http:// or https://, a host and perhaps a path")
    if parts.username is not None or parts.password is not None:
        raise ValueError("credentials belong to the client, not into the base URL")
    below = (
        cast("Mapping[str, str]", paths)
        if isinstance(paths, Mapping)
        else {path: quote(path, safe=".").replace(".", "/") for path in paths}
    )
    for path, url in below.items():
        if not url or "\\" in url or "//" in url or _leaves(url):
            raise ValueError(f"the URL of {path} does not stay below the base URL")
    return {path: f"{base_url.rstrip('/')}/{url.lstrip('/')}" for path, url in below.items()}


def _leaves(url: str) -> bool:
    return any(unquote(part) in {"", ".", ".."} for part in url.strip("/").split("/"))


def _header(value: str) -> str:
    """Whatever somebody chose as an id, as text a header can carry; the usual ids stay as they are."""
    return quote(value.encode("utf-8", "replace"), safe="!#$&'()*+,/:;=?@[]|~")


def _is_json(response: httpx.Response) -> bool:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip()
    return _JSON_TYPE.match(media_type) is not None


def _encoded(response: httpx.Response) -> bool:
    return response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}


async def _read(response: httpx.Response, limit: int) -> bytes | None:
    """The body as it is on the wire; ``None`` when it is larger than ``limit`` bytes."""
    if response.status_code == _NO_CONTENT:
        return b""
    body = bytearray()
    # Closed here: a generator that is left halfway is finished some time, in a task of nobody's.
    async with aclosing(cast("AsyncGenerator[bytes]", response.aiter_raw())) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > limit:
                return None
    return bytes(body)


def _parsed(body: bytes) -> JsonValue:
    def refuse(constant: str) -> object:
        raise NotJsonError("", f"{constant} is no JSON")

    return check_json(cast("object", json.loads(body, parse_constant=refuse)))
