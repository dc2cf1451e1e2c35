"""Worker threads are bounded and hold no process back."""

from __future__ import annotations

import concurrent.futures
import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest

from agent_surface import DaemonThreadPool

ROOT = Path(__file__).parents[3]


def test_results_and_errors_of_every_kind_reach_the_future() -> None:
    """Plain qasync's executor leaves the future of a ``BaseException`` pending."""
    pool = DaemonThreadPool(max_workers=2)

    def leave() -> None:
        raise SystemExit(4)

    assert pool.submit(pow, 2, 5).result(10) == 32
    assert isinstance(pool.submit(leave).exception(10), SystemExit)
    pool.shutdown()
    with pytest.raises(RuntimeError):
        pool.submit(pow, 1, 1)


def test_no_more_threads_run_than_asked_for_and_idle_ones_are_used_again() -> None:
    """Ten jobs that wait for each other in pairs need two threads and get no third."""
    pool = DaemonThreadPool(max_workers=2)
    barrier = threading.Barrier(2, timeout=10)
    names = {pool.submit(lambda: (barrier.wait(), threading.current_thread().name)[1]) for _ in range(10)}
    assert len({future.result(10) for future in names}) == 2
    pool.shutdown()


def test_what_has_not_begun_can_be_cancelled_on_shutdown() -> None:
    """Nobody is left waiting for a job that will never run."""
    pool = DaemonThreadPool(max_workers=1)
    release, begun = threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        release.wait(10)

    busy = pool.submit(job)
    assert begun.wait(10)
    waiting = pool.submit(pow, 2, 2)
    pool.shutdown(cancel_futures=True)
    assert waiting.cancelled()
    release.set()
    busy.result(10)


def test_workers_that_never_come_back_leave_no_queue_that_only_grows() -> None:
    """What was cancelled while it waited is not kept for a thread that may never be free."""
    pool = DaemonThreadPool(max_workers=1)
    release, begun = threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        release.wait(30)

    busy = pool.submit(job)
    assert begun.wait(30)
    given_up = [pool.submit(pow, 2, 2) for _ in range(5)]
    assert all(future.cancel() for future in given_up)
    last = pool.submit(pow, 2, 5)
    assert concurrent.futures.wait(given_up, timeout=0).done == set(given_up)
    kept = [weakref.ref(future) for future in given_up]
    given_up.clear()
    gc.collect()
    assert [reference() for reference in kept] == [None] * 5
    release.set()
    assert (busy.result(30), last.result(30)) == (None, 32)
    pool.shutdown()


def test_what_is_waiting_when_a_pool_is_shut_down_still_runs_unless_it_is_cancelled() -> None:
    """As any executor does it; a job that was cancelled by its owner runs in no case."""
    pool = DaemonThreadPool(max_workers=1)
    release, begun = threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        release.wait(30)

    pool.submit(job)
    assert begun.wait(30)
    waiting, given_up = pool.submit(pow, 2, 5), pool.submit(pow, 2, 6)
    given_up.cancel()
    pool.shutdown()
    release.set()
    assert waiting.result(30) == 32
    assert given_up.cancelled()


@pytest.mark.parametrize("most", [0, -1])
def test_a_pool_without_threads_is_refused(most: int) -> None:
    """It would keep every job for ever."""
    with pytest.raises(ValueError, match="at least 1"):
        DaemonThreadPool(max_workers=most)


PROGRAM = """
import asyncio, sys, threading
from agent_surface import ActionBinding
from tests.core.surface_fixtures import ACT, Surface, turns

begun = threading.Event()

def act(_):
    begun.set()
    threading.Event().wait()

async def main():
    surface = Surface()
    surface.mount(act=ActionBinding(execute=act, thread=True))
    call = surface.start(timeout_ms=10)
    await asyncio.to_thread(begun.wait)
    if "timed out" in sys.argv:
        surface.clock.advance(10)
        await turns()
    if "closed" in sys.argv:
        surface.registry.close()
    await turns()
    print(call.result().error.code.value if call.done() else "open")

asyncio.run(main())
sys.exit(7)
"""


@pytest.mark.requirement("QT-LOOP-002")
@pytest.mark.parametrize(
    ("ends", "said"),
    [([], "open"), (["closed"], "CANCELLED"), (["timed out"], "TIMEOUT"), (["timed out", "closed"], "TIMEOUT")],
)
def test_a_handler_that_never_returns_does_not_hold_up_the_end_of_the_process(ends: list[str], said: str) -> None:
    """Neither the loop that ends its tasks waits for it, nor the interpreter, which joins ``ThreadPoolExecutor``'s."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, *ends],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, f"{said}\n", "")
