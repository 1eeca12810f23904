"""What all array records share: frozen arrays, equality by content, one way to and from disk."""

import dataclasses
import os
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.records.npz import load_npz, save_npz

__all__ = ["ArrayRecord", "frozen_array"]


def frozen_array(values: Any, dtype: Any) -> NDArray[Any]:
    """Return a read-only, contiguous copy of ``values``."""
    array = np.array(values, dtype=dtype, order="C", copy=True)
    array.setflags(write=False)
    return array


@dataclasses.dataclass(frozen=True, eq=False)
class ArrayRecord:
    """Base of the frozen dataclasses that hold numpy arrays.

    A subclass declares fields that are arrays, ``None``, or values JSON can hold, and validates
    them in ``__post_init__``. Two records are equal when all their fields are.
    """

    layout_version: ClassVar[int] = 1

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record atomically to an ``.npz`` file without pickle."""
        self._write(path, *self.parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a record that :meth:`save` wrote; the result equals the original."""
        return cls.from_parts(cls._read(path), path)

    def parts(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Take the record apart into its arrays and its other values, leaving out ``None``."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        arrays = {name: v for name, v in fields.items() if isinstance(v, np.ndarray)}
        values = {name: v for name, v in fields.items() if name not in arrays and v is not None}
        return arrays, values

    @classmethod
    def from_parts(cls, parts: dict[str, Any], source: str | os.PathLike[str]) -> Self:
        """Put a record together from named parts; ``source`` is named if one is missing."""
        known = {field.name for field in dataclasses.fields(cls)}
        try:
            return cls(**{name: value for name, value in parts.items() if name in known})
        except TypeError as error:
            raise FormatError(f"{source} lacks a part of {cls.__name__}: {error}") from error

    @classmethod
    def _read(cls, path: str | os.PathLike[str]) -> dict[str, Any]:
        arrays, values = load_npz(path, cls.__name__, cls.layout_version)
        return {**values, **arrays}

    def _write(
        self, path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]], values: dict[str, Any]
    ) -> None:
        save_npz(path, type(self).__name__, self.layout_version, arrays, values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _same(getattr(self, field.name), getattr(other, field.name))
            for field in dataclasses.fields(self)
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, too large to hash


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return (
            isinstance(one, np.ndarray)
            and isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and np.array_equal(one, other)
        )
    return bool(one == other)
