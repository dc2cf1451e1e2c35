"""Interpreters that have imported the library already and fork for each evaluation.

Most tests ask what the compiler makes of a program, and each would wait for two interpreters to start. What the start
itself promises (hash seed, time zone, display, folder) is tested with ``cold_interpreters``.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import pytest

from agent_surface.compiler import _evaluation

CHECKOUT = Path(__file__).parents[3]

SERVER = """
import json, os, sys, time, traceback
from agent_surface.compiler._child import main

import agent_surface
for name in agent_surface.__all__:
    getattr(agent_surface, name)


def answer(asked):
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    os.chdir(asked["folder"])
    noise = os.open(asked["noise"], os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in ((0, nothing), (1, noise), (2, noise)):
        os.dup2(file, number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w") for number in (1, 2))
    sys.path[:] = json.loads(asked["request"])["path"]
    main(asked["request"])


for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            answer(json.loads(line))
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class WarmInterpreter:
    """One of them."""

    def __init__(self, surroundings: Mapping[str, str]) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVER],
            cwd=CHECKOUT,
            env={**os.environ, **surroundings, "PYTHONPATH": str(CHECKOUT), "QT_QPA_PLATFORM": "offscreen"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # select would not see a line that a buffer has taken already
        )

    def run(self, asked: Mapping[str, object], timeout_ms: int) -> int:
        """The exit code of a fork that answers."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(asked).encode() + b"\n")
        self._server.stdin.flush()
        child = int(self._server.stdout.readline())
        ended, _, _ = select.select([self._server.stdout], [], [], timeout_ms / 1000)
        if not ended:
            os.kill(child, signal.SIGKILL)
        code = int(self._server.stdout.readline())
        if not ended:
            raise subprocess.TimeoutExpired("python", timeout_ms / 1000)
        return code

    def close(self) -> None:
        """End it."""
        self._server.communicate()


@pytest.fixture(scope="session")
def warm_interpreters() -> Iterator[Mapping[str, WarmInterpreter]]:
    """One for each hash seed."""
    warm = {surroundings["PYTHONHASHSEED"]: WarmInterpreter(surroundings) for surroundings in _evaluation.SURROUNDINGS}
    yield warm
    for interpreter in warm.values():
        interpreter.close()


@pytest.fixture
def cold_interpreters() -> None:
    """Ask for this to have the compiler start its own interpreters."""


@pytest.fixture(autouse=True)
def _evaluate_warm(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    warm_interpreters: Mapping[str, WarmInterpreter],
) -> None:
    if "cold_interpreters" in request.fixturenames:
        return

    def run(request: str, environment: Mapping[str, str], folder: Path, noise: BinaryIO, timeout_ms: int) -> int:
        asked = {"request": request, "environment": environment, "folder": str(folder), "noise": noise.name}
        return warm_interpreters[environment["PYTHONHASHSEED"]].run(asked, timeout_ms)

    monkeypatch.setattr(_evaluation, "run_interpreter", run)
