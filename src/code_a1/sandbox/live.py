"""Decoding inside a child: arrays and iterators come back as what they were, since code works on them there."""

from __future__ import annotations

from typing import Any

from code_a1.errors import CodecError
from code_a1.sandbox import decoder
from code_a1.sandbox.values import Array, Iterated


def decode_live(content: bytes) -> Any:
    """The value, with numpy arrays, iterators and dictionary views in place of the records for them."""
    return decoder.decode(content, revive)


def revive(record: Array | Iterated) -> Any:
    """What the record stands for; the record itself where that cannot be had."""
    if type(record) is Iterated:
        return _VIEWS[record.kind](record.items)
    try:
        import numpy  # noqa: PLC0415 - most children never need it
    except ImportError:
        return record
    assert isinstance(record, Array)
    try:
        return numpy.array(record.items, dtype=record.dtype).reshape(record.shape)
    except (TypeError, ValueError) as error:
        raise CodecError(f"an array of type {record.dtype!r} cannot be made here: {error}") from None


_VIEWS: dict[str, Any] = {
    "iterator": iter,
    "dict_keys": lambda items: dict.fromkeys(items).keys(),
    "dict_values": lambda items: dict(enumerate(items)).values(),
    "dict_items": lambda items: dict(items).items(),
}
