"""Proof that an object was made by this library, kept where nothing about the object can reach it."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

ProofT = TypeVar("ProofT")


class ProofStore(Generic[ProofT]):
    """Maps the identity of an object to a proof, for as long as that very object lives (AS-AUTHORITY-002).

    A ``WeakKeyDictionary`` would ask ``__eq__`` and ``__hash__`` of the candidate and can be fooled by them. Here a
    proof holds only while the weak reference taken when it was given still returns the candidate itself, so copies,
    pickles, subclasses, ``object.__new__`` and attributes carry nothing over.
    """

    __slots__ = ("_proofs",)

    def __init__(self) -> None:
        self._proofs: dict[int, tuple[weakref.ref[object], ProofT]] = {}

    def attest(self, subject: object, proof: ProofT) -> None:
        """Remember ``proof`` for ``subject`` until it dies."""
        key = id(subject)
        proofs = self._proofs

        def forget(_: weakref.ref[object]) -> None:
            # Called before the id can be anybody else's; a wrong call could only take a proof away.
            proofs.pop(key, None)

        proofs[key] = (weakref.ref(subject, forget), proof)

    def find(self, candidate: object) -> ProofT | None:
        """The proof of exactly this object, or ``None``."""
        entry = self._proofs.get(id(candidate))
        return entry[1] if entry is not None and entry[0]() is candidate else None
