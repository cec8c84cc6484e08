"""One task in several ways to say it."""

from __future__ import annotations

from random import Random

VERBS = {
    "Add": "adds",
    "Clamp": "clamps",
    "Collapse": "collapses",
    "Compare": "compares",
    "Count": "counts",
    "Cut": "cuts",
    "Drop": "drops",
    "Filter": "filters",
    "Find": "finds",
    "Grade": "grades",
    "Group": "groups",
    "Join": "joins",
    "Keep": "keeps",
    "Limit": "limits",
    "List": "lists",
    "Merge": "merges",
    "Move": "moves",
    "Multiply": "multiplies",
    "Pad": "pads",
    "Put": "puts",
    "Remove": "removes",
    "Repeat": "repeats",
    "Replace": "replaces",
    "Return": "returns",
    "Rotate": "rotates",
    "Round": "rounds",
    "Score": "scores",
    "Shorten": "shortens",
    "Sort": "sorts",
    "Sum": "sums",
    "Swap": "swaps",
    "Take": "takes",
    "Turn": "turns",
    "Write": "writes",
}
"""First words of statements that are orders, and their third person."""

QUESTIONS = frozenset({"Are", "At", "Do", "Does", "How", "Is", "Which", "With", "By"})
"""First words of statements that are questions."""


def rephrase(statement: str, rng: Random) -> str:
    """The statement itself or, as often, another way to ask for the same; what it says is not touched."""
    first, _, rest = statement.partition(" ")
    if first in VERBS:
        others = (f"Write a function that {VERBS[first]} {rest}", f"Please {first.lower()} {rest}")
    elif first in QUESTIONS:
        others = (f"Write a function that answers: {statement}", f"Answer for any input: {statement}")
    else:
        others = (f"Write a function for this: {statement}", f"Solve this: {statement}")
    return rng.choice((statement, statement, *others))
