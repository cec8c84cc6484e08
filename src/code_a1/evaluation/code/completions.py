"""The program in a completion. Nothing of a program is ever removed or mended: a wrong one stays wrong.

What is taken away is what surrounds a program (reasoning, prose, fences, other blocks), and it is named. No rule looks
at whether the program works; lines at its end that do not compile, or asserts that fail when it is loaded, stay.
"""

from __future__ import annotations

import re

from code_a1.problems.entry_points import defined_names, parse_source
from code_a1.prompts import PYTHON_TAGS, fenced_blocks, without_reasoning

_BEGINS = re.compile(r"(?:def|class|import|from|async def) |@|if __name__")
_PROSE = re.compile(r"[A-Z*#`][^\n()=\[\]{}]*(?: [A-Za-z'’,-]+){3,}.*")


def program_of(text: str, entry_point: str = "") -> tuple[str | None, tuple[str, ...]]:
    """The program that a completion holds, None if it holds none, and what was taken away around it.

    Of several Python blocks, the first that defines the entry point, or else the first; where no name is asked for, the
    last. Text without any fence, or before one that was never opened, is the program if it compiles; else the prose
    before the first line that begins like a program, and behind it from the first line of prose at the left margin, is
    taken away.
    """
    answer = without_reasoning(text)
    removed = ["reasoning"] if answer.strip() != text.strip() else []
    if (unfenced := _closed_only(answer)) is not None:
        program, around = _without_fence(unfenced, removed)
        after = answer[len(unfenced) :].strip().strip("`")
        return program, (*around, "text after the program" if after else "a fence that was not opened")
    blocks = ["\n".join(lines) for tag, lines in fenced_blocks(answer) if tag.lower() in PYTHON_TAGS]
    blocks = [block for block in blocks if block.strip()]
    if not blocks:
        if "```" in answer or not answer.strip():
            return None, tuple(removed)
        return _without_fence(answer, removed)
    chosen = _chosen(blocks, entry_point)
    if len(blocks) > 1:
        removed.append(f"{len(blocks) - 1} other blocks")
    first = next(line for line in chosen.split("\n") if line.strip())
    before, _, after = answer.partition(first)
    if before.replace("`", "").strip().removeprefix("python").strip():
        removed.append("text before the program")
    if after.rpartition("```")[2].strip() and "```" in after:
        removed.append("text after the program")
    return chosen, tuple(removed)


def _closed_only(answer: str) -> str | None:
    """What stands before the first fence, where that one closes a block that was never opened; None elsewhere.

    So it is with a bare fence behind lines of a program, when not every fence has its partner.
    """
    lines = answer.split("\n")
    fences = [i for i, line in enumerate(lines) if line.lstrip().startswith("```")]
    if len(fences) % 2 == 0 or lines[fences[0]].strip().strip("`"):
        return None
    head = lines[: fences[0]]
    return "\n".join(head) if any(map(_BEGINS.match, head)) else None


def _chosen(blocks: list[str], entry_point: str) -> str:
    if not entry_point:
        return blocks[-1]
    return next((block for block in blocks if _defines(block, entry_point)), blocks[0])


def _defines(block: str, name: str) -> bool:
    try:
        return name in defined_names(parse_source(block))
    except ValueError:
        return False


def _without_fence(answer: str, removed: list[str]) -> tuple[str | None, tuple[str, ...]]:
    if _compiles(answer):
        return answer, tuple(removed)
    lines = answer.split("\n")
    start = next((i for i, line in enumerate(lines) if _BEGINS.match(line)), None)
    if start is None:
        return None, tuple(removed)
    end = next((i for i in range(start + 1, len(lines)) if _PROSE.fullmatch(lines[i])), len(lines))
    if any(line.strip() for line in lines[:start]):
        removed.append("text before the program")
    if end < len(lines):
        removed.append("text after the program")
    return "\n".join(lines[start:end]), tuple(removed)


def _compiles(source: str) -> bool:
    try:
        parse_source(source)
    except ValueError:
        return False
    return True
