"""Registration ids that a registry recognises as its own without remembering them."""

from __future__ import annotations

import hashlib
import hmac

from agent_surface._base._ports import IdSource

_TAG_CHARACTERS = 16


class RegistrationIds:
    """Issues ``reg_<number>_<tag>``: the tag is keyed with a secret of this registry.

    So an id that was issued long ago, and whose tombstone is forgotten, can still be told from one of another
    registry (AS-STALE-001), at no cost in memory.
    """

    __slots__ = ("_issued", "_keyed")

    def __init__(self, ids: IdSource) -> None:
        self._keyed = hashlib.blake2b(key=ids.token(32).encode(), digest_size=_TAG_CHARACTERS // 2)
        self._issued = 0

    def issue(self) -> str:
        """A new id."""
        self._issued += 1
        return f"reg_{self._issued}_{self._tag(self._issued)}"

    def issued(self, registration_id: str) -> bool:
        """Whether this registry issued the id."""
        prefix, _, rest = registration_id.partition("_")
        number, _, tag = rest.partition("_")
        if prefix != "reg" or not (number.isascii() and number.isdigit()) or len(number) > 18:
            return False
        count = int(number)
        return 0 < count <= self._issued and hmac.compare_digest(
            tag.encode("utf-8", "replace"), self._tag(count).encode()
        )

    def _tag(self, number: int) -> str:
        tag = self._keyed.copy()
        tag.update(str(number).encode())
        return tag.hexdigest()
