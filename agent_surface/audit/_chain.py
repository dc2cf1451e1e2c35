"""The chain of an audit file: how a line is written, and how a file is read back.

A line is one JSON object, ``{"prev":…,"record":…,"seq":…,"hash":…}``. ``hash`` is the SHA-256 of the bytes of the line
without it, ``prev`` the hash of the line before, ``seq`` counts from 1. Bytes are hashed and not values, so a line that
means the same and looks different is an altered one.

What a crash left of a line stays where it is. The first line written afterwards says how many bytes that was and what
they hash to (a record of kind ``torn-line``), so they are part of the chain from then on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import JsonValue

FIRST_PREV = "0" * 64
TORN_LINE = "torn-line"

_HASH = re.compile(rb',"hash":"([0-9a-f]{64})"\}\Z')


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditProblem:
    """Where a file stops being what was written.

    Attributes:
        kind: ``altered``: this line is not the one that was written here. ``missing``: lines before this one were
            taken out. ``reordered``: this line belongs elsewhere in the file. ``cut``: the entry the head names is not
            in the file, so its end was taken away, or all of it was replaced.
        line: The first line of the file concerned, from 1.
        seq: The entry that should be there.
    """

    kind: Literal["altered", "missing", "reordered", "cut"]
    line: int
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TornLine:
    """What a crash left of the last line.

    Attributes:
        line: Its number in the file, from 1.
        size_bytes: How much of it there is.
        sha256: What it hashes to.
    """

    line: int
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEnd:
    """The last good entry: number, hash, and where its line ends; ``open`` when that line lacks its line break."""

    seq: int = 0
    hash: str = FIRST_PREV
    offset: int = 0
    line: int = 0
    open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainScan:
    """What reading a file found.

    Attributes:
        end: The last good entry.
        problem: Where the chain breaks.
        torn: What a crash left after the last good entry.
        repaired: How many torn lines inside the file are accounted for.
        wanted_seq: Which entry has the hash that was looked for.
    """

    end: ChainEnd
    problem: AuditProblem | None = None
    torn: TornLine | None = None
    repaired: int = 0
    wanted_seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    seq: int
    prev: str
    hash: str
    record: JsonValue


def chained_line(seq: int, prev: str, record: JsonValue) -> tuple[bytes, str]:
    """The line of one entry, without its line break, and its hash."""
    body = canonical_json({"prev": prev, "record": record, "seq": seq}).encode()
    digest = hashlib.sha256(body).hexdigest()
    return b'%s,"hash":"%s"}' % (body[:-1], digest.encode()), digest


def scan_chain(lines: Iterable[bytes], *, start: ChainEnd, wanted: str | None = None, own: bool = False) -> ChainScan:
    """Follow the chain through the lines of a file.

    Args:
        lines: Each with its line break; only the last may lack it.
        start: Where to begin; the beginning of the file when it is fresh.
        wanted: A hash to look for.
        own: Everything since ``start`` is the caller's own, so whatever is no entry there is torn and not altered.
    """
    reader = _Reader(end=start, wanted=wanted)
    for raw in lines:
        reader.read(raw)
    if own and reader.gap is not None and reader.gap.whole:
        reader.gap.add(b"")
    return reader.finish()


@dataclass(slots=True)
class _Reader:
    """Reads one line after the other; the first problem stays, what follows only tells missing from reordered."""

    end: ChainEnd
    wanted: str | None
    line: int = 0
    problem: AuditProblem | None = None
    repaired: int = 0
    wanted_seq: int | None = None
    gap: _Gap | None = None

    def __post_init__(self) -> None:
        self.line = self.end.line

    def read(self, raw: bytes) -> None:
        self.line += 1
        text = raw.removesuffix(b"\n")
        if not text and self.gap is None and self.end.open:
            # The line break that the last good line of an earlier reading lacked.
            self.line -= 1
            self._advance(self.end.seq, self.end.hash, len(raw), opened=False)
            return
        entry = _parsed(text)
        if self.problem is not None:
            if entry is not None and entry.seq == self.problem.seq and self.problem.kind == "missing":
                self.problem = AuditProblem(kind="reordered", line=self.problem.line, seq=self.problem.seq)
            return
        if entry is None:
            self.gap = self.gap or _Gap(line=self.line)
            self.gap.add(raw)
            return
        if self.gap is not None and not self._accounts_for(self.gap, entry):
            self.problem = AuditProblem(kind="altered", line=self.gap.line, seq=self.end.seq + 1)
            return
        self._follow(entry, raw)

    def finish(self) -> ChainScan:
        torn: TornLine | None = None
        if self.gap is not None and self.problem is None:
            if self.gap.whole:
                self.problem = AuditProblem(kind="altered", line=self.gap.line, seq=self.end.seq + 1)
            else:
                torn = self.gap.torn()
        return ChainScan(
            end=self.end, problem=self.problem, torn=torn, repaired=self.repaired, wanted_seq=self.wanted_seq
        )

    def _follow(self, entry: _Entry, raw: bytes) -> None:
        expected = self.end.seq + 1
        if entry.seq != expected:
            kind: Literal["missing", "reordered"] = "missing" if entry.seq > expected else "reordered"
            self.problem = AuditProblem(kind=kind, line=self.line, seq=expected)
            return
        if entry.prev != self.end.hash:
            # Either of the two was made anew; the earlier one is where trust ends.
            self.problem = AuditProblem(kind="altered", line=max(1, self.end.line), seq=max(1, self.end.seq))
            return
        skipped = 0
        if self.gap is not None:
            self.repaired += 1
            skipped, self.gap = self.gap.size_bytes + 1, None
        self._advance(entry.seq, entry.hash, skipped + len(raw), opened=not raw.endswith(b"\n"))
        if entry.hash == self.wanted:
            self.wanted_seq = entry.seq

    def _advance(self, seq: int, digest: str, size_bytes: int, *, opened: bool) -> None:
        self.end = ChainEnd(seq=seq, hash=digest, offset=self.end.offset + size_bytes, line=self.line, open=opened)

    def _accounts_for(self, gap: _Gap, entry: _Entry) -> bool:
        record = entry.record
        torn = gap.torn()
        return (
            gap.whole
            and entry.seq == self.end.seq + 1
            and isinstance(record, dict)
            and record.get("kind") == TORN_LINE
            and record.get("bytes") == torn.size_bytes
            and record.get("sha256") == torn.sha256
        )


class _Gap:
    """Bytes between two entries that are no entry: what a crash left, or what somebody made of a line."""

    def __init__(self, *, line: int) -> None:
        self.line = line
        self.size_bytes = 0
        self.whole = False
        self._digest = hashlib.sha256()

    def add(self, raw: bytes) -> None:
        if self.whole:
            self._digest.update(b"\n")
            self.size_bytes += 1
        text = raw.removesuffix(b"\n")
        self._digest.update(text)
        self.size_bytes += len(text)
        self.whole = raw.endswith(b"\n")

    def torn(self) -> TornLine:
        return TornLine(line=self.line, size_bytes=self.size_bytes, sha256=self._digest.hexdigest())


def _parsed(text: bytes) -> _Entry | None:
    """The entry of a line that hashes to what it says; ``None`` for anything else."""
    found = _HASH.search(text)
    if found is None:
        return None
    body = text[: found.start()] + b"}"
    digest = hashlib.sha256(body).hexdigest()
    if digest != found[1].decode():
        return None
    try:
        # JSON that ends in a brace is an object.
        said = cast("dict[str, JsonValue]", json.loads(body))
    except (ValueError, RecursionError):
        return None
    seq, prev = said.get("seq"), said.get("prev")
    if isinstance(seq, bool) or not isinstance(seq, int) or not isinstance(prev, str):
        return None
    return _Entry(seq=seq, prev=prev, hash=digest, record=said.get("record"))
