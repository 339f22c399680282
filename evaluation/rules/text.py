"""Texts and ids as values: an order that a seed decides."""

import hashlib


def shuffled(seed: str, public_ids: list[str]) -> list[str]:
    """Return ids in the order of their hashes with a seed, so that the same question has the same answer.

    Ids are random themselves: the order tells nothing of what they stand for.
    """
    return sorted(public_ids, key=lambda one: hashlib.sha256(f"{seed}|{one}".encode()).digest())
