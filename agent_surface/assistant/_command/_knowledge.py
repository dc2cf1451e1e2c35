"""What observations have told: things with an id and a name, values per field, and what is selected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_surface._base._json import FrozenJson
from agent_surface.assistant._command._words import Token, find_run, stem, words_of

MAX_ENTITIES = 2_000
MAX_VALUES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A thing on the screen: its id for the application, its name for the person, and what else is known of it."""

    entity_id: str
    name: str
    selected: bool = False


@dataclass(slots=True)
class Knowledge:
    """Facts of one moment; thrown away when something was changed."""

    entities: dict[str, Entity] = field(default_factory=dict[str, Entity])
    values: dict[str, dict[str, None]] = field(default_factory=dict[str, "dict[str, None]"])
    selected_ids: list[str] | None = None

    def learn(self, output: FrozenJson) -> None:
        """Take in the output of an observation."""
        self._walk(output, key="")

    def names(self) -> tuple[str, ...]:
        """Names of the things that are known, in the order in which they were seen."""
        return tuple(entity.name for entity in self.entities.values())

    def known_values(self, key: str) -> tuple[str, ...]:
        """Texts seen under a field of this name."""
        return tuple(self.values.get(stem(key), ()))

    def selection(self) -> tuple[str, ...]:
        """The ids that are selected now, as far as observations say."""
        if self.selected_ids is not None:
            return tuple(self.selected_ids)
        return tuple(entity.entity_id for entity in self.entities.values() if entity.selected)

    def mentioned(self, tokens: Sequence[Token], free: Iterable[int]) -> list[tuple[range, list[Entity]]]:
        """Things whose id or name stands in the message, longest first; several of one name come together."""
        left = set(free)
        spoken: dict[tuple[str, ...], list[Entity]] = {}
        for entity in self.entities.values():
            for said in {words_of(entity.name), words_of(entity.entity_id)}:
                if said:
                    spoken.setdefault(said, []).append(entity)
        found: list[tuple[range, list[Entity]]] = []
        for said in sorted(spoken, key=lambda item: (-len(item), item)):
            run = find_run(tokens, said, left)
            if run is not None:
                left -= set(run)
                found.append((run, spoken[said]))
        return sorted(found, key=lambda item: item[0].start)

    def _walk(self, value: FrozenJson, key: str) -> None:
        if isinstance(value, Mapping):
            self._add_entity(value)
            for name, item in value.items():
                self._walk(item, name)
        elif isinstance(value, tuple):
            ids = [item for item in value if isinstance(item, str)]
            folded = key.casefold()
            if "selected" in folded and len(ids) == len(value) and folded.endswith(("ids", "id", "selected")):
                self.selected_ids = ids
            for item in value:
                self._walk(item, key)
        elif isinstance(value, str) and key:
            seen = self.values.setdefault(stem(key), {})
            if value and len(seen) < MAX_VALUES:
                seen[value] = None

    def _add_entity(self, value: Mapping[str, FrozenJson]) -> None:
        entity_id = _first_text(value, ("id", "key", "uuid")) or _id_like(value)
        name = _first_text(value, ("name", "title", "label", "number", "subject", "displayName", "text"))
        if entity_id is None or len(self.entities) >= MAX_ENTITIES:
            return
        self.entities[entity_id] = Entity(
            entity_id=entity_id, name=name or entity_id, selected=value.get("selected") is True
        )


def _first_text(value: Mapping[str, FrozenJson], keys: Sequence[str]) -> str | None:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
    return None


def _id_like(value: Mapping[str, FrozenJson]) -> str | None:
    return next(
        (item for key, item in value.items() if key.endswith(("Id", "_id")) and isinstance(item, str) and item), None
    )
