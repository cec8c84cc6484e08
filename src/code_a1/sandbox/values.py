"""Plain records for values that have no built-in data type of their own once they left the process that made them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _not_yet(_a: object, _b: object) -> bool:
    raise RuntimeError("code_a1.sandbox.comparator has not been imported")


class Record:
    """Equality of records is the comparator's, so that `==` inside a clean process means what `codec.equal` means."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return COMPARE[0](self, other)

    __hash__ = object.__hash__


COMPARE: list[Callable[[object, object], bool]] = [_not_yet]
"""The comparator's function, which puts itself here: it imports this module, and a child can import neither."""


@dataclass(frozen=True, slots=True, eq=False)
class Structure(Record):
    """An instance of a class that only its own process knows: the class's bare name and its fields, sorted by name.

    `kind` is "object" (dataclasses included), "namedtuple" (fields in their own order), "enum" or "exception".
    Fields are readable as attributes; a named tuple also has the length and the items of a tuple.
    """

    type_name: str
    fields: tuple[tuple[str, object], ...]
    kind: str = "object"

    def __getattr__(self, name: str) -> object:
        for field_name, value in object.__getattribute__(self, "fields"):
            if field_name == name:
                return value
        raise AttributeError(f"{self.type_name!r} object has no attribute {name!r}")

    def items(self) -> tuple[object, ...]:
        """The values of the fields, in order."""
        return tuple([value for _, value in self.fields])

    def __hash__(self) -> int:
        try:
            if self.kind == "namedtuple":  # equal to the bare tuple, so hashed like it
                return hash(self.items())
            return hash((self.type_name, self.fields))
        except TypeError:
            return hash((self.type_name, len(self.fields)))

    def __bool__(self) -> bool:
        return self.kind != "namedtuple" or bool(self.fields)

    def __getitem__(self, index: int) -> object:
        if self.kind != "namedtuple":
            raise TypeError(f"{self.type_name!r} object is not subscriptable")
        return self.items()[index]

    def __len__(self) -> int:
        if self.kind != "namedtuple":
            raise TypeError(f"object of type {self.type_name!r} has no len()")
        return len(self.fields)


@dataclass(frozen=True, slots=True, eq=False)
class Array(Record):
    """A numpy array as data: `items` in C order, as Python values; their number is the product of `shape`."""

    dtype: str
    shape: tuple[int, ...]
    items: tuple[object, ...]

    def __hash__(self) -> int:
        return hash((self.shape, len(self.items)))


@dataclass(frozen=True, slots=True, eq=False)
class Iterated(Record):
    """What came out of an iterator or a dictionary view. `kind`: "iterator", "dict_keys", "dict_values", "dict_items".

    Equal to the same kind with equal items in the same order; keys and items compare as sets, also with sets, as in
    Python. Never equal to a list or tuple.
    """

    kind: str
    items: tuple[object, ...]

    def __hash__(self) -> int:
        return hash((self.kind, len(self.items)))
