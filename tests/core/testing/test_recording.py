"""A session of a running application as a test: what is written, that it replays, and what is left out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import cast

import pytest

from agent_surface import (
    AgentConsumer,
    AgentInvocation,
    AgentSurfaceDefectError,
    AuditRecord,
    CapabilityErrorPayload,
    ConsumerKind,
    ErrorCode,
    InvocationError,
    InvocationOk,
    Retry,
    create_agent_toolset,
    redact_paths,
)
from agent_surface.testing import (
    RecordedCall,
    SessionRecorder,
    SessionRecording,
    SurfaceHarness,
    assert_fails_with,
    assert_ok,
    call_as_test,
    record_session,
    session_as_test,
)
from agent_surface.testing._secrets import Secrets
from tests.core.testing.parts import READ, RESET, SAVE, SET, Counter, harness


@pytest.fixture
def counter() -> Counter:
    """The number."""
    return Counter()


@pytest.fixture
async def hands(counter: Counter) -> AsyncIterator[SurfaceHarness]:
    """The running application, made on the event loop, where other threads find it."""
    with harness(counter) as made:
        made.mount(counter.bound(when=lambda: counter.value != 0, save=True))
        yield made


def written(recorder: SessionRecorder) -> str:
    """The file, which has to be a program."""
    source = session_as_test(recorder.recording)
    compile(source, "test_recorded.py", "exec")
    assert max(map(len, source.splitlines())) <= 120
    return source


async def replay(source: str, counter: Counter | None = None) -> None:
    """Run the replay of a file against the application as it was at the beginning."""
    names: dict[str, object] = {}
    exec(compile(source, "test_recorded.py", "exec"), names)
    again = counter if counter is not None else Counter()
    with harness(again) as hands:
        hands.mount(again.bound(when=lambda: again.value != 0, save=True))
        await cast("Callable[[SurfaceHarness], Awaitable[None]]", names["replay"])(hands)


async def use(hands: SurfaceHarness) -> None:
    """A session: calls that succeed and that are refused, each decision of a person, a change of the surface."""
    assert_ok(await hands.invoke(SET, {"value": 54321}))
    await hands.invoke(SET, {"value": "much"})
    await hands.invoke("view:t.counter.missing")
    await hands.observe(READ)
    for decide in (hands.confirmations.deny, hands.confirmations.expire, hands.confirmations.approve):
        await hands.invoke(SAVE.id)
        await hands.invoke(SAVE.id, confirmation_id=decide())
    await hands.invoke(RESET)
    assert_ok(await hands.invoke(RESET, confirmation_id=hands.confirmations.approve(note="it was 54321")))
    await hands.invoke(RESET)


@pytest.mark.requirement("AS-TEST-003")
async def test_a_recorded_session_replays_against_the_application_as_it_was(hands: SurfaceHarness) -> None:
    """Every call, decision and answer, and what the surface exposed, without whoever chose the calls."""
    with record_session(hands.registry, consumer=hands.consumer) as recorder:
        await use(hands)
        recorder.checkpoint()
    source = written(recorder)
    await replay(source)
    assert source.count("await surface.invoke(") == 13
    assert source.count("surface.confirmations.approve(") == 2
    assert source.count("surface.confirmations.deny(") == source.count("surface.confirmations.expire(") == 1
    assert f'assert_exposes_unavailable(seen, "{RESET}", reason="it is zero already")' in source


@pytest.mark.requirement("AS-TEST-003")
async def test_a_replay_names_what_is_different_now(hands: SurfaceHarness) -> None:
    """A renamed capability, another output, another refusal: in words, with what the surface exposes."""
    with record_session(hands.registry, consumer=hands.consumer) as recorder:
        await use(hands)
    source = written(recorder)
    exposed = r"(?:.|\n)*The surface exposes\n"
    with pytest.raises(
        AssertionError, match=rf"view:t.counter.put is not exposed\.{exposed}(?:.|\n)*{SET} \(default\): avail"
    ):
        await replay(source.replace(SET, "view:t.counter.put"))
    started_elsewhere = Counter()
    started_elsewhere.value = 3
    with pytest.raises(AssertionError, match=rf"{RESET} is available\.{exposed}"):
        await replay(source, started_elsewhere)
    with pytest.raises(AssertionError, match=rf"{SAVE.id} returned 1\nand not 2{exposed}"):
        await replay(source.replace("assert_ok(result, 1)", "assert_ok(result, 2)"))
    with pytest.raises(AssertionError, match=r"INVALID_INPUT, not TIMEOUT"):
        await replay(source.replace("INVALID_INPUT", "TIMEOUT"))


@pytest.mark.requirement("AS-TEST-003")
async def test_no_value_that_was_declared_secret_is_in_the_file(hands: SurfaceHarness, counter: Counter) -> None:
    """Neither where it was declared nor where it turns up: an output, a note, what the screen supplied."""
    redact = redact_paths({SET: ["/value"], SAVE.id: ["/value"]})
    with record_session(hands.registry, consumer=hands.consumer, redact=redact) as recorder:
        await use(hands)
        counter.value = 987654  # the screen supplies it; no call of the agent has it
        await hands.invoke(SAVE.id)
        hands.confirmations.deny(note="not 987654")
        await hands.observe(READ)
    source = written(recorder)
    assert "54321" not in source
    assert "987654" not in source
    assert '"[redacted]"' in source
    assert 'note="not [redacted]"' in source
    assert source.count("assert_ok(result, ANY)") == 2
    assert "Values that were declared secret stand here as [redacted]" in source


async def test_an_output_that_was_declared_secret_equals_anything(hands: SurfaceHarness, counter: Counter) -> None:
    """What is secret about an output is declared by itself: an output is no input."""
    counter.value = 77_777
    with record_session(hands.registry, consumer=hands.consumer, redact_output=redact_paths({READ: [""]})) as recorder:
        await hands.observe(READ)
        await hands.invoke(SET, {"value": 77_777})
    source = written(recorder)
    assert "77777" not in source
    assert "assert_ok(result, ANY)" in source


def test_a_secret_is_taken_out_of_every_part_of_a_step() -> None:
    """Texts that contain it, keys, numbers and lists; what is too short to be a part of a text only by itself."""
    secrets = Secrets(redact=redact_paths({"view:a.b": ["/pin", "/words", "/none"]}), redact_output=None)
    result = InvocationOk(invocation_id="i", capability_id="view:a.b", surface_version="1", output=None)
    call = RecordedCall(
        capability_id="view:a.b",
        input={"pin": 12, "words": ("sesame", "x"), "none": None, "kept": 5},
        result=result,
        consumer=AgentConsumer(id="sesame street", kind=ConsumerKind.OTHER),
    )
    learnt = secrets.learn(call)
    assert learnt.input == {"pin": "[redacted]", "words": "[redacted]", "none": "[redacted]", "kept": 5}
    told = RecordedCall(
        capability_id="view:a.b",
        input={"sesame": (12, 123, "12", "opens sesame", "x", "box", True, None)},
        result=result,
        consumer=call.consumer,
        instance_id="sesame",
    )
    assert secrets.scrub(told) == RecordedCall(
        capability_id="view:a.b",
        input={
            "[redacted]": ("[redacted]", 123, "[redacted]", "opens [redacted]", "[redacted]", "box", True, None),
        },
        result=result,
        consumer=AgentConsumer(id="[redacted] street", kind=ConsumerKind.OTHER),
        instance_id="[redacted]",
    )


@pytest.mark.allow_logs("agent_surface.audit")
def test_a_redaction_that_fails_costs_the_whole_input() -> None:
    """What cannot be judged is not written."""

    def broken(record: AuditRecord) -> AuditRecord:
        raise KeyError(record.kind)

    secrets = Secrets(redact=broken, redact_output=None)
    assert secrets.learn_input("view:a.b", {"password": "sesame"}) is None


async def test_what_a_toolset_and_other_threads_call_is_recorded(hands: SurfaceHarness, counter: Counter) -> None:
    """Whoever holds the registry is heard, and nobody any more when the recorder is closed."""
    toolset = create_agent_toolset(hands.registry, consumer=AgentConsumer(id="model"), topology="embedded")
    with record_session(hands.registry, consumer=hands.consumer) as outer:
        with record_session(hands.registry, consumer=hands.consumer) as inner:
            tool = next(tool for tool in toolset.tools() if tool.definition.capability_id == SET)
            await tool.execute({"value": 1})
            assert_ok(await hands.invoke(SET, {"value": 2}))
            await asyncio.wrap_future(hands.registry.invoke_threadsafe(AgentInvocation(capability_id=READ)))
            given_up = hands.registry.invoke_threadsafe(AgentInvocation(capability_id=READ))
            given_up.cancel()
        assert_ok(await hands.invoke(SET, {"value": 3}))
    await hands.observe(READ)
    toolset.close()
    calls = [
        [step.capability_id for step in one.recording.steps if isinstance(step, RecordedCall)] for one in (outer, inner)
    ]
    assert calls == [[SET, SET, READ, SET], [SET, SET, READ]]
    source = written(outer)
    assert 'CONSUMER_2 = AgentConsumer(id="model", kind=ConsumerKind.EMBEDDED)' in source
    assert 'CONSUMER_3 = AgentConsumer(id="anonymous", kind=ConsumerKind.EMBEDDED)' in source
    await replay(source)


async def test_recorders_may_be_closed_in_any_order(hands: SurfaceHarness) -> None:
    """And twice: what one of them heard stays, and the registry answers as before."""
    first = record_session(hands.registry, consumer=hands.consumer)
    second = record_session(hands.registry, consumer=hands.consumer)
    first.close()
    first.close()
    await hands.observe(READ)
    second.close()
    await hands.observe(READ)
    assert [len(one.recording.steps) for one in (first, second)] == [1, 2]


async def test_a_decision_about_an_earlier_request_is_left_out(hands: SurfaceHarness) -> None:
    """Nothing in the test has asked for it."""
    await hands.invoke(SAVE.id)
    with record_session(hands.registry, consumer=hands.consumer) as recorder:
        hands.confirmations.deny()
    assert "deny" not in written(recorder)


def test_details_that_are_no_python_names_are_compared_too() -> None:
    """An author's precondition may say what it wants."""
    payload = CapabilityErrorPayload(
        code=ErrorCode.PRECONDITION_FAILED,
        message="No.",
        retry=Retry.WITH_CHANGES,
        details={"not a name": 1, "code": 2},
    )
    result = InvocationError(invocation_id="i", capability_id=SET, surface_version="1", error=payload)
    source = call_as_test(RecordedCall(capability_id=SET, result=result))
    assert 'assert_fails_with(result, "PRECONDITION_FAILED", **{"not a name": 1, "code": 2})' in source


async def test_a_repeated_call_is_repeated_with_its_id(hands: SurfaceHarness, counter: Counter) -> None:
    """Else a replay would execute twice what ran once."""
    with record_session(hands.registry, consumer=hands.consumer) as recorder:
        for _ in range(2):
            assert_ok(
                await hands.invoke(SET, {"value": counter.value + 1 if not counter.value else 1}, invocation_id="a")
            )
        await hands.invoke(SET, {"value": 9}, invocation_id="a")
    source = written(recorder)
    assert source.count('invocation_id="a"') == 3
    await replay(source)


async def test_what_depends_on_the_moment_is_named_and_not_repeated(hands: SurfaceHarness, counter: Counter) -> None:
    """A stale reference, a component that went, an approval of before the recording."""
    await hands.invoke(SAVE.id)
    before = hands.confirmations.approve()
    with record_session(hands.registry, consumer=hands.consumer) as recorder:
        await hands.invoke(SAVE.id, confirmation_id=before)
        await hands.invoke(SET, {"value": 1}, registration_id="reg_of_yesterday")
        await hands.invoke(READ)
        other = hands.mount(counter.bound("other"))
        recorder.checkpoint()
        assert_fails_with(await hands.invoke(READ), "AMBIGUOUS_INSTANCE", instances=["default", "other"])
        await hands.invoke(READ, instance_id="other")
        other.unregister()
        hands.registry.set_procedure_executor(None)
        recorder.checkpoint()
    source = written(recorder)
    assert f'# Not repeated: "{SET}" was STALE_CAPABILITY at that moment.' in source
    assert f'# Not repeated: "{SAVE.id}" used an approval of before the recording.' in source
    assert f'assert_exposes(seen, "{SET}", instance_id="other")' in source
    assert f'result = await surface.invoke("{READ}", instance_id="other", consumer=CONSUMER)' in source
    assert f'assert_hidden(seen, "{SAVE.id}")' in source


async def test_texts_of_agents_and_applications_stay_texts(hands: SurfaceHarness) -> None:
    """Whatever a model sends, the file is data and no code of its."""
    nasty = '"); import os  # \n\r\u2028\\'
    with record_session(hands.registry, consumer=hands.consumer) as recorder:
        await hands.invoke(nasty, {nasty: [nasty, 1.5, False, None, {}]})
        await hands.invoke(SET, {"value": 1}, registration_id=nasty)
        await hands.invoke(SET, cast("Mapping[str, int]", {"value": {1, 2}}))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - no JSON; nobody could repeat it
        await hands.invoke("view:t.counter.\ud800")
    source = written(recorder)
    assert json.dumps(nasty, ensure_ascii=False) in source
    assert sum(isinstance(step, RecordedCall) for step in recorder.recording.steps) == 3
    source.encode()
    await replay(source)


async def test_a_call_that_raises_is_not_recorded(hands: SurfaceHarness) -> None:
    """A defect of the application has no answer to compare with; it reaches the caller as ever."""
    counter = Counter()
    hands.mount(counter.bound("broken", read=lambda: cast("int", object())))
    with record_session(hands.registry, consumer=hands.consumer) as recorder:
        with pytest.raises(AgentSurfaceDefectError):
            await hands.invoke(READ, instance_id="broken")
        assert recorder.recording.steps[1:] == ()


def test_one_call_becomes_a_test_of_its_own() -> None:
    """For an inspector that shows calls: what it shows, as a file."""
    result = InvocationOk(invocation_id="i", capability_id=READ, surface_version="1", output=5, has_output=True)
    call = RecordedCall(capability_id=READ, result=result, consumer=AgentConsumer(id="model", grants=("read",)))
    source = call_as_test(call, name="reading")
    assert source.endswith(
        "\n\nasync def replay(surface: SurfaceHarness) -> None:\n"
        '    """Repeat what was recorded."""\n'
        f'    result = await surface.invoke("{READ}", consumer=CONSUMER)\n'
        "    assert_ok(result, 5)\n\n\n"
        "def test_reading(surface: SurfaceHarness) -> None:\n"
        '    """Every answer is the one that was recorded."""\n'
        "    asyncio.run(replay(surface))\n"
    )
    assert 'CONSUMER = AgentConsumer(id="model", kind=ConsumerKind.EMBEDDED, grants=tuple(["read"]))' in source
    with pytest.raises(ValueError, match="'two words' cannot be a part of a function's name"):
        call_as_test(call, name="two words")


def test_an_empty_recording_is_an_empty_test() -> None:
    """Valid, and says nothing."""
    source = session_as_test(SessionRecording())
    compile(source, "test_recorded.py", "exec")


async def test_a_recording_is_bounded(hands: SurfaceHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorder that was forgotten does not eat the memory of the application."""
    monkeypatch.setattr("agent_surface.testing._recorder.MAX_STEPS", 3)
    with record_session(hands.registry, consumer=hands.consumer) as recorder:
        for _ in range(4):
            await hands.observe(READ)
    assert len(recorder.recording.steps) == 3
    assert recorder.lost == 2
