"""Every family of the lab, by topic."""

from __future__ import annotations

from code_a1.lab.families import (
    arithmetic,
    characters,
    combining,
    conditions,
    lookups,
    rows,
    runs,
    selecting,
    sequences,
    slices,
    strings,
    tables,
    texts,
    words,
)
from code_a1.lab.family import Family

TOPICS: dict[str, tuple[Family, ...]] = {
    "conditions": conditions.FAMILIES,
    "arithmetic": arithmetic.FAMILIES,
    "selecting": selecting.FAMILIES,
    "runs": runs.FAMILIES,
    "sequences": sequences.FAMILIES,
    "slices": slices.FAMILIES,
    "combining": combining.FAMILIES,
    "rows": rows.FAMILIES,
    "characters": characters.FAMILIES,
    "strings": strings.FAMILIES,
    "texts": texts.FAMILIES,
    "words": words.FAMILIES,
    "tables": tables.FAMILIES,
    "lookups": lookups.FAMILIES,
}

FAMILIES: tuple[Family, ...] = tuple(family for topic in TOPICS.values() for family in topic)
"""All of them, in a fixed order."""
