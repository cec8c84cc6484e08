"""Seeds for everything random, derived and never drawn: what is seeded does not depend on what ran before it."""

from __future__ import annotations

import hashlib


def derive_seed(seed: int, *names: str | int) -> int:
    """A seed in [0, 2**63) for the use that `names` describe, such as `derive_seed(0, step, "candidates")`."""
    text = "/".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1
