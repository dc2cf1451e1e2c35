"""The conversation while it grows: values outside, and only here something that changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agent_surface.assistant._values import AssistantMessage, ToolCall, TranscriptEntry


class Transcript:
    """Entries in order, found by id; at most one of them is a message that is being written."""

    def __init__(self, entries: Iterable[TranscriptEntry] = ()) -> None:
        self._entries: list[TranscriptEntry] = []
        self._places: dict[str, int] = {}
        self._next = 1
        self._streaming: str | None = None
        # A message of 10,000 tokens is joined once when somebody reads it, not 10,000 times.
        self._chunks: list[str] = []
        self._read: tuple[TranscriptEntry, ...] | None = ()
        for entry in entries:
            self.add(entry)

    def new_id(self, prefix: str) -> str:
        """An id no entry has."""
        while True:
            found = f"{prefix}{self._next}"
            self._next += 1
            if found not in self._places:
                return found

    def free_call_id(self, wanted: str | None) -> str:
        """``wanted`` if no entry has it yet, else a new one."""
        return wanted if wanted and wanted not in self._places else self.new_id("c")

    def entries(self) -> tuple[TranscriptEntry, ...]:
        """All entries, oldest first."""
        if self._read is None:
            self._join()
            self._read = tuple(self._entries)
        return self._read

    def add(self, entry: TranscriptEntry) -> None:
        """Append an entry.

        Raises:
            ValueError: Another entry has its id.
        """
        if entry.message_id in self._places:
            raise ValueError(f"two entries of one conversation have the id {entry.message_id!r}")
        self._places[entry.message_id] = len(self._entries)
        self._entries.append(entry)
        self._read = None
        if isinstance(entry, AssistantMessage) and entry.streaming:
            self._streaming = entry.message_id

    @property
    def streaming(self) -> str | None:
        """The id of the message that is being written."""
        return self._streaming

    def append_text(self, text: str) -> None:
        """Add text to the message that is being written."""
        self._chunks.append(text)
        self._read = None

    def complete(self) -> AssistantMessage | None:
        """End the message that is being written and return it, if there is one."""
        if self._streaming is None:
            return None
        self._join()
        place = self._places[self._streaming]
        message = self._entries[place]
        self._streaming = None
        self._read = None
        if not isinstance(message, AssistantMessage):
            raise TypeError("only an assistant's message streams")
        message = replace(message, streaming=False)
        self._entries[place] = message
        return message

    def call(self, call_id: str) -> ToolCall | None:
        """The tool call of this id."""
        place = self._places.get(call_id)
        entry = None if place is None else self._entries[place]
        return entry if isinstance(entry, ToolCall) else None

    def replace_call(self, call: ToolCall) -> None:
        """Put the newer value of a call in the place of the older."""
        self._entries[self._places[call.call_id]] = call
        self._read = None

    def _join(self) -> None:
        if self._streaming is None or not self._chunks:
            return
        place = self._places[self._streaming]
        message = self._entries[place]
        if isinstance(message, AssistantMessage):
            self._entries[place] = replace(message, text=message.text + "".join(self._chunks))
        self._chunks.clear()
