"""Text that may be Python → statements, whatever the text is.

What a language model writes is cut off in mid-line, mixed with prose or nested a thousand levels deep. Everything that
parses is kept; a broken piece that begins with `assert` is reported, other broken lines are dropped. Never raises.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

MAX_CHARS = 200_000
"""Characters of a suite that are read; more is cut at the end of a line. 64 tests need far less."""
MAX_DEPTH = 90
"""Nesting of a statement's syntax tree; deeper ones would exhaust the stack when they are printed again."""
MAX_PARSED_CHARS = 1_000_000
"""Characters handed to the parser, each time counted as 1,000 more, in search of what can be kept of a broken suite."""
MAX_JOINED_BLOCKS = 12
"""Unindented lines over which a bracket or string may stay open in a broken suite."""
MAX_INT_BITS = 14_000
"""Integers beyond this (about 4,214 digits) are printed in hexadecimal, which Python reads back without a limit."""

_ASSERT = re.compile(r"assert\b(?!\s*=[^=])")
_CONTINUATIONS = re.compile(r"(?:\\\n){2,}")  # the tokenizer takes quadratic time over a run of them
_CONTINUES = re.compile(r"[)\]}]|(else|elif|except|finally)\b")


@dataclass(frozen=True, slots=True)
class Broken:
    """A piece of the text that begins with `assert` and is not a statement."""

    text: str
    reason: str


Piece = ast.stmt | Broken


def parse_module(source: str) -> list[ast.stmt]:
    """Statements of a whole program. Raises SyntaxError for whatever reason it is none; warns about nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source).body
    except SyntaxError:
        raise
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        raise SyntaxError(f"{type(error).__name__}: {error}") from error


def parse_expression(source: str) -> ast.expr:
    """One expression. Raises SyntaxError for whatever reason it is none."""
    body = parse_module(source.strip())
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        raise SyntaxError("not an expression")
    if len(source) >= MAX_DEPTH - 5 and is_too_deep(body[0]):  # a level takes a character at least
        raise SyntaxError(f"nested more than {MAX_DEPTH} levels deep")
    return body[0].value


def compiles(source: str, mode: Literal["exec", "eval"]) -> bool:
    """Whether Python accepts the source; parsing alone allows an `await` outside a function and more."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<test>", mode, dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError):
        return False
    return True


def is_too_deep(tree: ast.AST) -> bool:
    """Whether a branch has more than `MAX_DEPTH` levels; found without recursion."""
    level, levels = [tree], 0
    while level:
        if levels > MAX_DEPTH:
            return True
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        levels += 1
    return False


def read_pieces(source: str) -> list[Piece]:
    """Everything in `source` that parses, in order, with the broken asserts between."""
    text = _clean(source)
    try:
        return list(parse_module(text))
    except SyntaxError:
        return _Salvage().pieces(text)


def _clean(source: str) -> str:
    text = source.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n").lstrip("\ufeff")
    if len(text) > MAX_CHARS:
        text = text[:MAX_CHARS].rpartition("\n")[0] or text[:MAX_CHARS]
    return textwrap.dedent(_CONTINUATIONS.sub("\\\\\n", text))


class _Salvage:
    """Reads a text that does not parse as a whole: block by block, and line by line where a block is broken."""

    def __init__(self) -> None:
        self.chars_left = MAX_PARSED_CHARS

    def pieces(self, text: str) -> list[Piece]:
        blocks = list(_blocks(text.split("\n")))
        found: list[Piece] = []
        at = 0
        while at < len(blocks):
            taken, pieces = self._block(blocks, at)
            found += pieces
            at += taken
        return found

    def _block(self, blocks: Sequence[list[str]], at: int) -> tuple[int, list[Piece]]:
        """How many blocks belong together from `at`, and what is in them."""
        joined: list[str] = []
        for taken, lines in enumerate(blocks[at : at + MAX_JOINED_BLOCKS], start=1):
            joined += lines
            statements = self._parse(joined)
            if not isinstance(statements, int):
                return taken, list(statements)
            if not _stays_open(joined):
                break
        return 1, self._without_broken_lines(blocks[at])

    def _parse(self, lines: Sequence[str]) -> list[ast.stmt] | int:
        """The statements, or the index of the line that the parser stumbles over."""
        text = "\n".join(lines)
        self.chars_left -= len(text) + 1_000
        if self.chars_left < 0:
            return 0
        try:
            return parse_module(text)
        except SyntaxError as error:
            return min(max((error.lineno or 1) - 1, 0), len(lines) - 1)

    def _without_broken_lines(self, block: Sequence[str]) -> list[Piece]:
        """Put `pass` for the line that the parser stumbles over, or the nearest above it, until the block parses."""
        lines, broken = list(block), dict[int, Piece]()
        while self.chars_left > 0:
            at = self._parse(lines)
            if not isinstance(at, int):
                numbered = [(statement.lineno - 1, statement) for statement in at]
                return [piece for _, piece in sorted([*numbered, *broken.items()], key=lambda pair: pair[0])]
            if lines[at].strip() == "pass":  # its indentation alone is wrong
                lines[at] = ""
                continue
            while at > 0 and not lines[at].strip():
                at -= 1
            if not lines[at].strip():
                break
            if (text := _broken(lines[at])) is not None:
                broken[at] = text
            lines[at] = lines[at][: len(lines[at]) - len(lines[at].lstrip())] + "pass"
        rest = {at: piece for at, line in enumerate(lines) if (piece := _broken(line)) is not None}
        return [piece for _, piece in sorted([*rest.items(), *broken.items()], key=lambda pair: pair[0])]


def _broken(line: str) -> Broken | None:
    return Broken(line.strip(), "it is not a Python statement") if _ASSERT.match(line.strip()) else None


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Lines grouped so that each group starts with an unindented line that can start a statement."""
    group: list[str] = []
    decorated = False
    for line in lines:
        starts = bool(line) and not line[0].isspace() and not _CONTINUES.match(line)
        if starts and group and not decorated:
            yield group
            group = []
        group.append(line)
        if starts:
            decorated = line.startswith("@")
    if group:
        yield group


def _stays_open(lines: Sequence[str]) -> bool:
    """Whether the lines may end inside a bracket or a triple-quoted string (a cheap test that errs towards yes)."""
    text = "\n".join(lines)
    opened = sum(text.count(c) for c in "([{") > sum(text.count(c) for c in ")]}")
    return opened or text.count('"""') % 2 == 1 or text.count("'''") % 2 == 1 or text.endswith("\\")


class _Printable(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, int) and node.value.bit_length() > MAX_INT_BITS:
            return ast.Name(hex(node.value), ast.Load())
        return node


def to_text(tree: ast.AST) -> str:
    """Source of a tree, on one line where it is an expression. Raises ValueError or RecursionError if it has none."""
    if any(
        isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > MAX_INT_BITS
        for node in ast.walk(tree)
    ):
        tree = _Printable().visit(copy.deepcopy(tree))
    return ast.unparse(tree)
