"""The first component of the README does what the README says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent.parent / "README.md"

DRIVER = """
import asyncio, json
from PySide6.QtCore import QTimer
import counter
from agent_surface import AgentInvocation
from qt_binding import run

answers = {}

async def call(name, **keywords):
    result = await counter.registry.invoke(AgentInvocation(capability_id=f"view:demo.counter.{name}", **keywords))
    return result.to_json()

async def play():
    answers["at zero"] = await call("reset")
    answers["set"] = await call("set", input={"value": 5})
    answers["wrong"] = await call("set", input={"value": "much"})
    answers["read"] = await call("read")
    asked = answers["asked"] = await call("reset")
    confirmation_id = asked["error"]["details"]["confirmationId"]
    answers["before"] = await call("read")
    counter.registry.confirmations.resolve(confirmation_id, approved=True)
    answers["approved"] = await call("reset", confirmation_id=confirmation_id)
    answers["after"] = await call("read")
    counter.app.quit()

QTimer.singleShot(0, counter.app, lambda: answers.update(task=asyncio.ensure_future(play())))
code = run(lambda: counter.window, registry=counter.registry, application=counter.app)
task = answers.pop("task")
task.result()
print(json.dumps({"code": code, "answers": answers}))
"""


def test_the_first_component_of_the_readme_is_as_short_as_it_says() -> None:
    """Thirty lines, not counting blank ones."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in blocks[0].splitlines() if line.strip()]) <= 30


def test_the_first_component_of_the_readme_reads_sets_and_asks_before_it_resets(tmp_path: Path) -> None:
    """Pasted as it stands, it keeps every promise of the text around it."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "counter.py").write_text("\n".join(blocks), encoding="utf-8")
    (tmp_path / "driver.py").write_text(DRIVER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "driver.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    answers = report["answers"]
    assert report["code"] == 0
    assert answers["at zero"]["error"] == {
        "code": "CAPABILITY_NOT_AVAILABLE",
        "message": "The capability cannot be used right now.",
        "retry": "after-refresh",
        "details": {"reason": "it is zero already"},
    }
    assert answers["set"]["status"] == "ok"
    assert answers["wrong"]["error"]["details"]["issues"] == [{"path": "/value", "message": "must be an integer"}]
    assert answers["read"]["output"] == 5
    assert answers["asked"]["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert answers["before"]["output"] == 5
    assert answers["approved"]["status"] == "ok"
    assert answers["after"]["output"] == 0
