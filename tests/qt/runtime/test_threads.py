from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from qt_binding._runtime import DaemonThreadPool


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


@pytest.mark.requirement("QT-LOOP-002")
def test_a_job_that_never_returns_does_not_hold_up_the_end_of_the_process() -> None:
    """``ThreadPoolExecutor`` joins its threads when the interpreter ends."""
    program = (
        "import threading\n"
        "from qt_binding._runtime import DaemonThreadPool\n"
        "begun = threading.Event()\n"
        "DaemonThreadPool().submit(lambda: (begun.set(), threading.Event().wait()))\n"
        "begun.wait(10)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
