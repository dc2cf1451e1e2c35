from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

SCENARIOS = {
    "idle": "",
    "window_closed": "",
    "in_plain_handler": "plain: CANCELLED\n",
    "while_async_handler_runs": "later: CANCELLED\n",
    "while_calls_are_queued": "later: CANCELLED\nplain: CANCELLED\nplain: CANCELLED\n",
    "while_thread_handler_runs": "heavy: CANCELLED\n",
    "while_a_confirmation_is_pending": "asked: CONFIRMATION_REQUIRED\n",
    "while_a_dialog_is_open": "",
    "inside_a_nested_exec": "plain: CANCELLED\n",
    "inside_a_nested_exec_in_a_task": "",
    "with_background_tasks": "cleaned up\n",
    "with_timers_pending": "",
    "while_a_thread_calls": "thread: CANCELLED\n",
}


def start(program: str) -> subprocess.CompletedProcess[str]:
    """Run an application in a process of its own, with every warning an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-X", "faulthandler", "-c", program],
        capture_output=True,
        text=True,
        timeout=50,
        cwd=ROOT,
        check=False,
    )


def quit_in(scenario: str) -> subprocess.CompletedProcess[str]:
    """Quit an application at an awkward moment."""
    return start(f"from tests.qt.runtime.programs import main; main({scenario!r})")


def complaints(stderr: str) -> str:
    """What was said on stderr, without what the offscreen plugin says of itself."""
    return "".join(
        line for line in stderr.splitlines(keepends=True) if not line.startswith("This plugin does not support")
    )


@pytest.mark.requirement("QT-LOOP-002")
@pytest.mark.requirement("QT-LOOP-006")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_quitting_ends_cleanly_at_every_awkward_moment(scenario: str) -> None:
    """Calls are settled, tasks ended, the exit code is zero, and stderr stays empty."""
    done = quit_in(scenario)
    assert (complaints(done.stderr), done.returncode) == ("", 0)
    # A handler that quits may still be the last thing that succeeds.
    said = done.stdout.replace("plain: ok", "plain: CANCELLED") if scenario == "in_plain_handler" else done.stdout
    assert sorted(said.splitlines()) == sorted([*SCENARIOS[scenario].splitlines(), "ended"])


@pytest.mark.requirement("QT-LOOP-002")
def test_the_exit_code_of_the_application_is_returned() -> None:
    """Whatever it is."""
    done = quit_in("with_an_exit_code")
    assert (complaints(done.stderr), done.returncode, done.stdout) == ("", 7, "ended\n")


@pytest.mark.requirement("QT-LOOP-002")
def test_a_handler_that_never_returns_holds_no_application_back() -> None:
    """Its thread dies with the process; its call is settled before."""
    done = quit_in("with_a_thread_handler_that_never_returns")
    assert (complaints(done.stderr), done.returncode, done.stdout) == ("", 7, "stuck: CANCELLED\nended\n")


@pytest.mark.requirement("QT-LOOP-002")
def test_a_mistake_in_a_slot_is_printed_once_and_changes_nothing() -> None:
    """By Python's own hook, as without the binding."""
    done = quit_in("after_a_slot_raised")
    assert (done.returncode, done.stdout) == (0, "ended\n")
    assert complaints(done.stderr).count("ZeroDivisionError: a slot's mistake") == 1


@pytest.mark.requirement("QT-LOOP-002")
def test_a_mistake_in_a_handler_fails_its_call_and_not_the_application() -> None:
    """The log has the traceback."""
    done = quit_in("after_a_handler_raised")
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, ["ended", "plain: EXECUTION_FAILED"])
    assert complaints(done.stderr).count("ZeroDivisionError: a handler's mistake") == 1


@pytest.mark.requirement("QT-LOOP-002")
def test_a_task_that_will_not_end_is_named_and_left_behind() -> None:
    """The time for the last tasks is bounded."""
    done = quit_in("with_a_task_that_will_not_end")
    assert (done.returncode, done.stdout) == (0, "ended\n")
    assert complaints(done.stderr).count("did not end within 500 ms") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.requirement("QT-LOOP-002")
def test_a_system_exit_in_a_handler_ends_the_application_in_order() -> None:
    """Out of a Qt slot it would end the process on the spot."""
    done = quit_in("by_system_exit_in_a_handler")
    assert done.returncode == 3
    assert "ended" not in done.stdout
    for unwanted in ("was destroyed", "never retrieved", "event loop is closed"):
        assert unwanted not in done.stderr


@pytest.mark.requirement("QT-LOOP-006")
def test_a_plain_exec_needs_nothing_of_ours_to_start_or_to_end() -> None:
    """An application that exists already is not rebuilt around an event loop."""
    done = start("from tests.qt.runtime.programs import plain_exec; plain_exec()")
    assert (complaints(done.stderr), done.returncode, done.stdout) == ("", 0, "read: ok\n")
