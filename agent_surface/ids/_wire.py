"""Wire names: capability ids in the alphabet and length that model providers accept.

An ordinary id is written so that it can be read back: ``:`` as ``_``, ``.`` as ``__``, and ``_at_<instance>`` behind it
where several entries of a catalogue share the id. What does not fit, or could be read in two ways, keeps its beginning
and ends in ``_0_`` and a hash; such a name is only reversed by the catalogue that holds it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent_surface.ids._grammar import find_capability_id

MAX_WIRE_NAME_LENGTH: Final = 64
"""How many characters a wire name may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireEntry:
    """One entry of a catalogue: a capability as one live component offers it."""

    capability_id: str
    component_type: str
    instance_id: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class WireKey:
    """What one wire name is made of.

    Attributes:
        capability_id: A valid id.
        instance_id: The instance to append, or empty.
        hashed: Whether the name is hashed even if it would fit.
        tie_break: Orders keys that are equal otherwise and have to be ranked.
    """

    capability_id: str
    instance_id: str = ""
    hashed: bool = False
    tie_break: str = ""


def encode_wire_names(entries: Sequence[WireEntry]) -> tuple[str, ...]:
    """The wire names of a catalogue, one for each entry and no two alike.

    The names depend on the set of entries alone: in another order each entry gets the same name.

    Args:
        entries: Everything in the catalogue; the ids are valid.

    Returns:
        Names in the order of ``entries``, of letters, digits, ``_`` and ``-``, each at most 64 characters long.
    """
    return encode_wire_keys(_keys(entries))


def encode_wire_keys(keys: Sequence[WireKey]) -> tuple[str, ...]:
    """Like ``encode_wire_names``, for a caller that has decided which entries carry an instance.

    Args:
        keys: What the names are made of; equal keys get different names, in their order.
    """
    levels = [0] * len(keys)
    names = [_name(key, 0) for key in keys]
    while True:
        colliding = [indices for indices in _by_name(names).values() if len(indices) > 1]
        raised = [index for indices in colliding for index in indices if levels[index] < _MAX_LEVEL]
        if not raised:
            break
        for index in raised:
            levels[index] += 1
            names[index] = _name(keys[index], levels[index])
    for indices in colliding:
        _rank(sorted(indices, key=lambda index: keys[index]), names)
    return tuple(names)


def encode_wire_name(capability_id: str, instance_id: str | None, level: int = 0) -> str:
    """The wire name of one capability, apart from any catalogue.

    Args:
        capability_id: A valid id.
        instance_id: The instance to append, or ``None`` when the id is alone in its catalogue.
        level: 0 to 3; from 1 on the name is always hashed, with two more characters per level.
    """
    return _name(WireKey(capability_id=capability_id, instance_id=instance_id or ""), level)


def decode_wire_name(name: str) -> str | None:
    """The capability id that ``name`` stands for, or ``None``.

    Only what encodes back to ``name`` byte for byte is decoded. Names with an instance or a hash never are: ask the
    catalogue they belong to.
    """
    plane, mark, rest = name.partition("_")
    if not mark or _LONG_RUN.search(name):
        return None
    segments = rest.split("__")
    if not all(segments):
        return None
    capability_id = f"{plane}:{'.'.join(segments)}"
    if find_capability_id(capability_id) is None or encode_wire_name(capability_id, None) != name:
        return None
    return capability_id


_MAX_LEVEL: Final = 3
_HASH_MARK: Final = "_0_"
_INSTANCE_MARK: Final = "_at_"
_LONG_RUN: Final = re.compile("___")
_FOREIGN: Final = re.compile("[^a-zA-Z0-9_-]")
_BASE_HASH_LENGTH: Final = 7
_HASH_LENGTH_STEP: Final = 2
_ROUND_DIGITS: Final = 7
_FNV_OFFSET: Final = 0x811C9DC5
_FNV_PRIME: Final = 0x01000193
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def _keys(entries: Sequence[WireEntry]) -> list[WireKey]:
    ids = Counter(entry.capability_id for entry in entries)
    instances = Counter((entry.capability_id, entry.instance_id) for entry in entries)
    keys: list[WireKey] = []
    for entry in entries:
        capability_id, instance_id = entry.capability_id, entry.instance_id
        if instances[capability_id, instance_id] > 1:
            # Components with one instance id that reference one procedure: only their types tell them apart.
            both = f"{entry.component_type}-{instance_id}"
            keys.append(
                WireKey(capability_id=capability_id, instance_id=both, hashed=True, tie_break=entry.component_type)
            )
        elif ids[capability_id] > 1:
            keys.append(WireKey(capability_id=capability_id, instance_id=instance_id))
        else:
            keys.append(WireKey(capability_id=capability_id))
    return keys


def _rank(indices: Sequence[int], names: list[str]) -> None:
    """Tell apart what collided at every level: put a number in place of the end of each name."""
    taken = set(names)
    rank = 0
    for index in indices:
        name = names[index]
        while name in taken:
            ending = f"{_HASH_MARK}{rank}"
            name = names[index][: MAX_WIRE_NAME_LENGTH - len(ending)] + ending
            rank += 1
        taken.add(name)
        names[index] = name


def _by_name(names: Sequence[str]) -> dict[str, list[int]]:
    indices: dict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(names):
        indices[name].append(index)
    return indices


def _name(key: WireKey, level: int) -> str:
    plain = _spelled(key.capability_id.replace(":", "_", 1))
    if key.instance_id:
        plain += _INSTANCE_MARK + _spelled(key.instance_id)
    kept = _FOREIGN.sub("-", plain)
    ambiguous = "_" in key.capability_id or kept != plain
    if level == 0 and not key.hashed and not ambiguous and len(plain) <= MAX_WIRE_NAME_LENGTH:
        return plain
    ending = _HASH_MARK + _hash(
        f"{key.capability_id}#{key.instance_id}#{level}", _BASE_HASH_LENGTH + _HASH_LENGTH_STEP * level
    )
    return kept[: MAX_WIRE_NAME_LENGTH - len(ending)] + ending


def _spelled(text: str) -> str:
    return text.replace(".", "__")


def _hash(text: str, length: int) -> str:
    digits = ""
    rounds = 0
    while len(digits) < length:
        digits += _base36(_fnv1a(text, _FNV_OFFSET ^ rounds)).rjust(_ROUND_DIGITS, "0")
        rounds += 1
    return digits[:length]


def _fnv1a(text: str, seed: int) -> int:
    """FNV-1a, 32 bits, over UTF-16 code units."""
    units = text.encode("utf-16-le")
    value = seed
    for index in range(0, len(units), 2):
        value = ((value ^ (units[index] | units[index + 1] << 8)) * _FNV_PRIME) & 0xFFFFFFFF
    return value


def _base36(value: int) -> str:
    digits = ""
    while value:
        value, digit = divmod(value, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
