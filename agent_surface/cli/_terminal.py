"""The terminal: colours, a table and progress where a person looks, plain text everywhere else."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from typing_extensions import override

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
    return not _is_screen(sys.stdout) or bool(os.environ.get("NO_COLOR"))


def _is_screen(stream: TextIO) -> bool:
    """Whether somebody looks at it on a terminal that knows more than text."""
    environment = os.environ
    return (
        stream.isatty()
        and environment.get("CI", "").lower() in ("", "0", "false")
        and environment.get("TERM", "dumb") != "dumb"
    )


@contextmanager
def progress_shown() -> Generator[None]:
    """While it lasts, one line on standard error says what the compiler is doing; none where nobody looks."""
    if not _is_screen(sys.stderr):
        yield
        return
    handler = _StatusLine(sys.stderr)
    level = _COMPILER.level
    _COMPILER.addHandler(handler)
    _COMPILER.setLevel(logging.INFO)
    try:
        yield
    finally:
        _COMPILER.setLevel(level)
        _COMPILER.removeHandler(handler)
        handler.clear()


class _StatusLine(logging.Handler):
    """Writes each record over the one before."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    @override
    def emit(self, record: logging.LogRecord) -> None:
        columns = shutil.get_terminal_size().columns
        self._write(f"agent-surface: {record.getMessage()} ..."[: columns - 1])

    def clear(self) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        self._stream.write(f"\r{text}\x1b[K")
        self._stream.flush()


_COMPILER: Final = logging.getLogger("agent_surface.compiler")


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
    """Write lines, in colour and broken between words where somebody looks at them."""
    if is_plain():
        write_text("".join(f"{item.text}\n" for item in lines))
        return
    console = _console()
    for item in lines:
        for part in _broken(item, console):
            console.print(part, soft_wrap=True)


def _broken(item: Line, console: Console) -> list[Text]:
    """A line in pieces that fit, the further ones further in."""
    text = _text(item)
    if text.cell_len <= console.width:
        return [text]
    indent = len(item.text) - len(item.text.lstrip()) + _HANGING
    parts = list(text.wrap(console, max(console.width - indent, _NARROWEST)))
    for number, part in enumerate(parts):
        part.rstrip()
        if number:
            part.pad_left(indent)
    return parts


_HANGING: Final = 2
_NARROWEST: Final = 20


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
