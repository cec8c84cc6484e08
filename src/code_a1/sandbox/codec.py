"""A bounded, typed, data-only format for values that cross a process boundary.

A value is a tag byte and what the tag says: fixed-width numbers, length-prefixed bytes, or a count and that many values
(all little-endian; the tags are listed below). Decoding runs nothing but constructors of built-in and of three record
types (`code_a1.sandbox.values`), allocates at most in proportion to the bytes given, and fails with CodecError.

Encoding reads the data of a subclass of a built-in through the built-in's own methods: overriding `__iter__`, `__eq__`
or `__index__` changes nothing here.
"""

from __future__ import annotations

from code_a1.errors import CodecError
from code_a1.sandbox.comparator import equal
from code_a1.sandbox.decoder import decode
from code_a1.sandbox.encoder import TooLarge, encode

__all__ = ["CodecError", "TooLarge", "decode", "encode", "equal"]
