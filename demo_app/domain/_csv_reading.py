"""Reading a CSV file of unknown origin: encoding, delimiter, header, and lines with their numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from typing_extensions import override

from demo_app.domain._errors import CsvFormatError
from demo_app.domain._text import fold_text

ImportField = Literal["id", "name", "status", "city", "country", "model", "firmware", "last_seen"]
"""The fields of a device a CSV column can be mapped to."""

IMPORT_FIELDS: tuple[ImportField, ...] = ("id", "name", "status", "city", "country", "model", "firmware", "last_seen")
REQUIRED_FIELDS: tuple[ImportField, ...] = ("id", "name")

_ALIASES: dict[ImportField, tuple[str, ...]] = {
    "id": ("id", "device id", "station id", "station", "code", "serial", "serial number"),
    "name": ("name", "device name", "station name", "device", "title", "label"),
    "status": ("status", "state"),
    "city": ("city", "town", "location", "place"),
    "country": ("country", "nation"),
    "model": ("model", "product", "type", "hardware"),
    "firmware": ("firmware", "firmware version", "version", "software"),
    "last_seen": ("last seen", "last contact", "seen", "last report", "timestamp"),
}

_DELIMITERS = ",;\t|"
_SNIFF_BYTES = 65_536
_MAX_COLUMNS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvLine:
    """One record of the file. ``problem`` is set, and ``cells`` empty, when the text is not well-formed CSV.

    Attributes:
        number: The line the record starts on, counting from 1; a quoted cell may span several lines.
        cells: Its cells as they stand in the file.
        problem: Why the record could not be read, or ``None``.
        read_bytes: How far into the file the reader has come, roughly.
    """

    number: int
    cells: tuple[str, ...]
    problem: str | None
    read_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvPreview:
    """What a person needs to see before importing a file.

    Attributes:
        header: Names of the columns, in the file's order; they may repeat or be empty.
        lines: The first records after the header.
        mapping: The suggested column (by position) of each field; fields without one are missing.
        size_bytes: Size of the file.
    """

    header: tuple[str, ...]
    lines: tuple[CsvLine, ...]
    mapping: dict[ImportField, int]
    size_bytes: int


def preview_csv(path: Path, *, limit: int = 20) -> CsvPreview:
    """Read the header and the first ``limit`` records of a file.

    Raises:
        CsvFormatError: The file cannot be read, is empty, or is no text.
    """
    records = read_csv(path)
    try:
        header = _header(next(records, None), path)
        lines: list[CsvLine] = []
        for record in records:
            lines.append(record)
            if len(lines) >= limit:
                break
    finally:
        records.close()
    return CsvPreview(
        header=header, lines=tuple(lines), mapping=suggest_mapping(header), size_bytes=path.stat().st_size
    )


def suggest_mapping(header: Sequence[str]) -> dict[ImportField, int]:
    """The column of each field, judged by the column names; the first fitting column wins, none serves two fields."""
    names = [" ".join(fold_text(name).replace("_", " ").replace("-", " ").split()) for name in header]
    mapping: dict[ImportField, int] = {}
    for field in IMPORT_FIELDS:
        taken = set(mapping.values())
        for alias in _ALIASES[field]:
            if alias in names and names.index(alias) not in taken:
                mapping[field] = names.index(alias)
                break
    return mapping


def read_csv(path: Path) -> _Records:
    """All records of a file, the header first, one by one.

    Bytes that are no UTF-8 arrive as lone surrogates, which every field refuses, so one bad cell is a mistake of
    its line and not of the file.

    Raises:
        CsvFormatError: The file cannot be read, or is no text.
    """
    return _Records(path)


class _Records(Iterator[CsvLine]):
    """An open file. Closes itself at the end; :meth:`close` ends it early."""

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as head_file:
                head = head_file.read(_SNIFF_BYTES)
            encoding = _encoding(head, path)
            self._bytes = path.open("rb")
        except OSError as error:
            raise CsvFormatError(f"The file {path.name} cannot be read: {error.strerror or error}.") from error
        self._file = io.TextIOWrapper(self._bytes, encoding, errors="surrogateescape", newline="")
        # Strict, because a lenient reader turns a stray quote into wrong cells without a word.
        self._reader = csv.reader(self._file, delimiter=_delimiter(head.decode(encoding, "replace")), strict=True)

    @override
    def __iter__(self) -> _Records:
        return self

    @override
    def __next__(self) -> CsvLine:
        while True:
            first_line = self._reader.line_num + 1
            problem: str | None = None
            cells: tuple[str, ...] = ()
            try:
                cells = tuple(next(self._reader))
            except StopIteration:
                self.close()
                raise
            except csv.Error as error:
                problem = f"is not well-formed CSV ({error})"
            except (OSError, UnicodeError) as error:
                self.close()
                raise CsvFormatError(f"The file cannot be read beyond line {first_line}: {error}.") from error
            if problem is None and not any(cell.strip() for cell in cells):
                continue
            return CsvLine(number=first_line, cells=cells, problem=problem, read_bytes=self._bytes.tell())

    def close(self) -> None:
        """Close the file; does nothing when it is closed."""
        self._file.close()


def _header(record: CsvLine | None, path: Path) -> tuple[str, ...]:
    if record is None:
        raise CsvFormatError(f"The file {path.name} is empty.")
    if record.problem is not None:
        raise CsvFormatError(f"The header of {path.name} {record.problem}.")
    if len(record.cells) > _MAX_COLUMNS:
        raise CsvFormatError(f"The header of {path.name} has more than {_MAX_COLUMNS} columns.")
    return tuple(cell.encode("utf-8", "replace").decode().strip() for cell in record.cells)


def _encoding(head: bytes, path: Path) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"  # what spreadsheets call "Unicode text"
    # Only the header decides: further down, a zero byte is a mistake of its line.
    if b"\x00" in head.partition(b"\n")[0]:
        raise CsvFormatError(f"The file {path.name} is not a text file.")
    return "utf-8-sig"


def _delimiter(head: str) -> str:
    """The candidate that occurs most often in the first line outside quotes; ``csv.Sniffer`` guesses too freely."""
    first_line = head.lstrip("\r\n").partition("\n")[0]
    unquoted = "".join(first_line.split('"')[::2])
    return max(_DELIMITERS, key=unquoted.count)
