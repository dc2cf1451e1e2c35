"""The window of the how-to becomes operable with as little code as the page promises."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "how-to" / "make-an-existing-window-operable.md"

DRIVER = """
import asyncio, json
from PySide6.QtCore import QTimer
import page
from agent_surface import AgentConsumer, create_agent_toolset
from qt_binding import run

answers = {}

async def play():
    tools = create_agent_toolset(page.registry, consumer=AgentConsumer(id="assistant"), topology="embedded")

    async def use(name, value=None):
        tool = next(item for item in tools.tools() if item.name == f"view_shop__orders__{name}")
        return (await tool.execute(value or {})).to_json()

    answers["too early"] = await use("addOrder")
    answers["turned"] = await use("showPage", {"page": "new"})
    answers["filled"] = await use("fillForm", {"customer": "Ada", "amount": 3})
    answers["form"] = await use("readForm")
    answers["added"] = await use("addOrder")
    answers["orders"] = await use("readOrders")
    answers["grid"] = await use("showGrid", {"checked": False})
    clearing = asyncio.ensure_future(use("clear"))
    while not page.registry.confirmations.pending():
        await asyncio.sleep(0.01)
    answers["rows before"] = page.orders.table.rowCount()
    page.registry.confirmations.resolve(page.registry.confirmations.pending()[0].confirmation_id, approved=True)
    answers["cleared"] = await clearing
    answers["window"] = [page.orders.table.rowCount(), page.orders.table.showGrid(), page.orders.tabs.currentIndex()]
    tools.close()
    page.app.quit()

QTimer.singleShot(0, page.app, lambda: answers.update(task=asyncio.ensure_future(play())))
code = run(lambda: page.orders.window, registry=page.registry, application=page.app)
answers.pop("task").result()
print(json.dumps({"code": code, "answers": answers}))
"""


def blocks() -> list[str]:
    """The Python of the page, part by part: the window, the contract, the bindings."""
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_a_window_is_made_operable_in_few_lines() -> None:
    """Imports and all; blank lines do not count."""
    _, _, bindings = blocks()
    assert len([line for line in bindings.splitlines() if line.strip()]) < 40


def test_an_assistant_operates_the_window_of_the_page(tmp_path: Path) -> None:
    """Pasted as it stands: by page, form, button, menu and question, through the tools a model gets."""
    (tmp_path / "page.py").write_text("\n".join(blocks()), encoding="utf-8")
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
    assert answers["too early"]["error"]["details"] == {"reason": "Turn to the page new first."}
    assert [answers[name]["status"] for name in ("turned", "filled", "added", "grid", "cleared")] == ["ok"] * 5
    assert answers["form"]["output"] == {"text": "Ada"}
    assert answers["orders"]["output"]["rows"] == [{"key": "order-1", "customer": "Ada", "amount": "3"}]
    assert answers["rows before"] == 1
    assert answers["window"] == [0, False, 0]
