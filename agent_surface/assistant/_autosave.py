"""A conversation in a file that is never half written, kept up to date while it goes on."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from agent_surface._base._json import JsonValue, compact_json
from agent_surface._base._ports import TimerHandle
from agent_surface.assistant._files import replace_file
from agent_surface.assistant._persistence import conversation_head, entry_to_json
from agent_surface.assistant._session import AssistantSession
from agent_surface.assistant._values import (
    SessionEvent,
    StateChanged,
    TextDelta,
    TokenUsage,
    ToolsChanged,
    TranscriptEntry,
)

_log = logging.getLogger(__name__)

WRITE_FAILED = "The conversation could not be saved. Check that there is room and that the folder may be written to."


class Autosave:
    """Saves the conversation of a session after each change that counts, and now and then while an answer streams.

    A file is written aside and put in place as a whole, in a thread of its own; the session's thread only hands over
    the entries, which nobody changes. While one is being written, what follows is joined to one more. The beginning of
    a tool call is handed over before it is made. Belongs to the session's thread.

    Args:
        session: Whose conversation.
        path: The file; its folder exists.
        delay_ms: How old a streaming answer in the file may be, in milliseconds.
        failed: Hears, in the writing thread, a sentence for the person when a save fails; the next change tries again.
    """

    def __init__(
        self,
        session: AssistantSession,
        path: Path,
        *,
        delay_ms: int = 1_000,
        failed: Callable[[str], None] | None = None,
    ) -> None:
        self._session = session
        self._delay_ms = delay_ms
        self._timer: TimerHandle | None = None
        self._writer = _Writer(path, failed)
        self._forget = session.subscribe(self._heard)

    def save(self) -> None:
        """Hand over the conversation as it is now, without waiting for the disk."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._writer.put(self._session.transcript, self._session.usage)

    def flush(self, timeout_ms: int = 5_000) -> bool:
        """Save, and wait until it is on the disk; ``False`` when that failed or took longer.

        Args:
            timeout_ms: How long to wait, in milliseconds.
        """
        self.save()
        return self._writer.wait(timeout_ms)

    def close(self) -> bool:
        """Save a last time, wait for it, and hear no more; as :meth:`flush`. Idempotent."""
        self._forget()
        saved = self.flush() if not self._writer.closed else True
        self._writer.close()
        return saved

    def _heard(self, event: SessionEvent) -> None:
        if isinstance(event, TextDelta):
            if self._timer is None:
                self._timer = self._session.clock.call_later(self._delay_ms, self.save)
        elif not isinstance(event, StateChanged | ToolsChanged):
            self.save()


def find_saved(path: Path) -> dict[str, JsonValue] | None:
    """What :meth:`AssistantSession.restore` takes; ``None`` when there is no file.

    Raises:
        ValueError: The file cannot be read or is no JSON object; it is left as it is.
    """
    try:
        saved: JsonValue = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"the saved conversation {path.name} cannot be read ({type(error).__name__})") from error
    if not isinstance(saved, dict):
        raise ValueError(f"the saved conversation {path.name} is no JSON object")  # noqa: TRY004  bad content
    return saved


class _Writer:
    """Writes the last of what it is given, in a thread that lives while there is something to write."""

    def __init__(self, path: Path, failed: Callable[[str], None] | None) -> None:
        self._path = path
        self._failed = failed
        self._changed = threading.Condition()
        self._next: tuple[Sequence[TranscriptEntry], TokenUsage] | None = None
        self._writing = False
        self._good = True
        self.closed = False
        # An entry is a value: what was once turned into text stays that text.
        self._texts: dict[str, tuple[TranscriptEntry, str]] = {}

    def put(self, entries: Sequence[TranscriptEntry], usage: TokenUsage) -> None:
        """Write these entries next, in place of others that were to be written."""
        with self._changed:
            if self.closed:
                return
            self._next = (entries, usage)
            if self._writing:
                return
            self._writing = True
        threading.Thread(target=self._write_all, name="agent-surface-autosave", daemon=False).start()

    def wait(self, timeout_ms: int) -> bool:
        """Wait until everything is written; whether the last write was good."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._writing, timeout_ms / 1_000) and self._good

    def close(self) -> None:
        """Take nothing more."""
        with self._changed:
            self.closed = True

    def _write_all(self) -> None:
        while True:
            with self._changed:
                following, self._next = self._next, None
                if following is None:
                    self._writing = False
                    self._changed.notify_all()
                    return
            self._good = self._write(*following)

    def _write(self, entries: Sequence[TranscriptEntry], usage: TokenUsage) -> bool:
        try:
            replace_file(self._path, self._render(entries, usage))
        except Exception:  # noqa: BLE001  whatever it was, the conversation goes on; logged with its traceback
            _log.warning("the conversation could not be saved", exc_info=True)
            if self._failed is not None:
                self._failed(WRITE_FAILED)
            return False
        return True

    def _render(self, entries: Sequence[TranscriptEntry], usage: TokenUsage) -> str:
        texts: dict[str, tuple[TranscriptEntry, str]] = {}
        for entry in entries:
            known = self._texts.get(entry.message_id)
            texts[entry.message_id] = (
                known if known is not None and known[0] is entry else (entry, compact_json(entry_to_json(entry)))
            )
        self._texts = texts
        head = compact_json(conversation_head(usage))
        return f'{head[:-1]},"entries":[\n' + ",\n".join(text for _, text in texts.values()) + "\n]}\n"
