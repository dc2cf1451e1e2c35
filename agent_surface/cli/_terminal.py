"""Standard output: colours and a table where a person looks at it, plain text everywhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from agent_surface.cli._lines import Line, line
from agent_surface.cli._report import Inventory

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_TONES: Final[Mapping[str, str]] = {
    "bad": "bold red",
    "both": "bold magenta",
    "evaluated": "yellow",
    "good": "green",
    "high": "bold red",
    "low": "green",
    "medium": "yellow",
    "narrowing": "cyan",
    "neutral": "dim",
    "proven": "green",
    "subject": "bold",
    "test": "yellow",
    "widening": "bold red",
    "wording": "yellow",
}


def is_plain() -> bool:
    """Whether output has no colours: piped, in CI, on a dumb terminal, or because ``NO_COLOR`` is set."""
    environment = os.environ
    return (
        not sys.stdout.isatty()
        or bool(environment.get("NO_COLOR"))
        or environment.get("CI", "").lower() not in ("", "0", "false")
        or environment.get("TERM") == "dumb"
    )


def write_text(text: str) -> None:
    """Write a machine format as it is, the same bytes on every system."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        buffer.write(text.encode())
        buffer.flush()


def write_lines(lines: Iterable[Line]) -> None:
    """Write lines, in colour where that is right."""
    if is_plain():
        write_text("".join(f"{item.text}\n" for item in lines))
        return
    console = _console()
    for item in lines:
        console.print(_text(item), soft_wrap=True)


def write_inventory(inventory: Inventory, verbosity: str) -> None:
    """Write the inventory: a table as wide as the terminal, or columns as wide as their contents."""
    from agent_surface.cli._formats import COLUMNS, cells, headline, inventory_lines, stacked_lines, table_lines

    if is_plain() or verbosity != "normal":
        write_lines(inventory_lines(inventory, verbosity))
        return
    console = _console()
    if max(len(row.text) for row in table_lines(inventory)) > console.width:
        write_lines([*headline(inventory), line(""), *stacked_lines(inventory)])
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold underline")
    for column in COLUMNS:
        table.add_column(column, no_wrap=True)
    for row in inventory.rows:
        table.add_row(*(Text(cell, style=_TONES.get(cell, "") if cell == row.reach else "") for cell in cells(row)))
    write_lines([*headline(inventory), line("")])
    console.print(table)


def _console() -> Console:
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def _text(item: Line) -> Text:
    from rich.text import Text

    text = Text()
    for word in item.words:
        text.append(word.text, style=_TONES.get(word.tone, ""))
    return text
